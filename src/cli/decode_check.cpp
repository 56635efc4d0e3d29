#include "cli/decode_check.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "codec/any_picture.h"
#include "codec/codec.h"
#include "codec/sniff.h"
#include "codec/tensor.h"
#include "storage/listing.h"

namespace feedrate::cli {
namespace {

constexpr std::string_view kTensorKind = "tensor", kTensorEnding = ".tensor";
constexpr std::string_view kUnknownKind = "of unknown formats, which were only read";

bool ends_in(std::string_view name, std::string_view ending) {
  return !ending.empty() && name.size() > ending.size() &&
         storage::is_in_any_case(name.substr(name.size() - ending.size()), ending);
}

// Null: none.
const codec::Format* format_of_file(std::string_view name) {
  const auto formats = codec::picture_formats();
  const auto found = std::ranges::find_if(
      formats, [&](const codec::Format& format) { return format.names(name); });
  return found == formats.end() ? nullptr : &*found;
}

// Pictures that `run` decodes by their contents.
bool is_photo(std::string_view name) {
  static const std::vector<std::string_view> endings = codec::endings_of(codec::kAnyPicture);
  return std::ranges::any_of(endings, [&](std::string_view end) { return ends_in(name, end); });
}

// The decoders of one thread.
class WholeDecoder {
 public:
  // Returns the kind of the file. Throws the Error of one that is bad.
  std::string_view decode(std::span<const std::byte> bytes, std::string_view name) {
    stray_ = {};
    if (ends_in(name, kTensorEnding)) {
      codec::parse_tensor(bytes, name);
      return kTensorKind;
    }
    const codec::Format* format =
        is_photo(name) ? &codec::any_picture_format() : format_of_file(name);
    if (format == nullptr) return kUnknownKind;
    auto& decoder = decoders_[format];
    if (!decoder) decoder = format->make_decoder();
    const codec::PixelSize size = decoder->open(bytes, name);
    decoder->decode({0, 0, size.width, size.height}, 1);
    stray_ = decoder->stray_bytes();
    return is_photo(name) ? codec::sniff(bytes).format : format->name;
  }

  // In the file that was decoded last.
  const codec::StrayBytes& stray_bytes() const { return stray_; }

 private:
  codec::StrayBytes stray_;
  std::map<const codec::Format*, std::unique_ptr<codec::Decoder>> decoders_;
};

}  // namespace

storage::CheckSample DecodeCheck::make() {
  return [this, decoder = std::make_shared<WholeDecoder>()](std::span<const std::byte> bytes,
                                                            const std::string& name) {
    try {
      count(decoder->decode(bytes, name));
      if (decoder->stray_bytes().any()) note(decoder->stray_bytes(), name);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.reason());
    }
  };
}

void DecodeCheck::count(std::string_view kind) {
  const std::lock_guard lock(mutex_);
  ++kinds_[kind];
}

void DecodeCheck::note(const codec::StrayBytes& stray, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto add = [&](Noted& noted) {
    ++noted.count;
    noted.first.insert(name);
    if (noted.first.size() > Noted::kNamed) noted.first.erase(std::prev(noted.first.end()));
  };
  if (stray.before_marker) add(before_marker_);
  if (stray.behind_end) add(behind_end_);
}

std::string DecodeCheck::notes() const {
  const std::lock_guard lock(mutex_);
  std::string lines;
  const auto say = [&](const Noted& noted, const std::string& where) {
    if (noted.count == 0) return;
    const bool is_one = noted.count == 1;
    lines += "note: " + std::to_string(noted.count) +
             (is_one ? " picture holds" : " pictures hold") + " stray bytes " + where +
             (is_one ? "; it decodes" : "; they decode") +
             " as in Pillow: " + listed(noted.first, escaped);
    if (noted.count > noted.first.size())
      lines += " and " + std::to_string(noted.count - noted.first.size()) + " more";
    lines += "\n";
  };
  say(before_marker_, "before a marker");
  say(behind_end_, "behind the end");
  return lines;
}

std::string DecodeCheck::decoded() const {
  const std::lock_guard lock(mutex_);
  if (kinds_.empty()) return "none";
  return listed(kinds_, [](const auto& kind) {
    return std::to_string(kind.second) + " " + std::string(kind.first);
  });
}

}  // namespace feedrate::cli
