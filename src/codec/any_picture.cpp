#include "codec/any_picture.h"

#include <map>
#include <string>

#include "codec/checks.h"
#include "codec/sniff.h"

namespace feedrate::codec {
namespace {

constexpr std::string_view kPhotoFormats[] = {"jpeg", "png", "bmp", "webp"};

[[noreturn]] void refuse_kind(std::string_view name, std::span<const std::byte> file,
                              const FileKind& kind) {
  if (file.empty()) refuse_picture(name, "is empty");
  const std::string reason =
      kind.name.empty() ? "is of no picture format that is known, by its first bytes"
                        : "is " + std::string(kind.name) + ", which feedrate does not decode";
  throw Error(name, reason,
              "convert it to JPEG or PNG, take it out, or pass over it: --on-bad skip (--loader "
              "pool or batch)");
}

class AnyPictureDecoder : public Decoder {
 public:
  explicit AnyPictureDecoder(DecoderKind by) : by_(by) {}

  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    open_ = nullptr;
    Decoder& decoder = decoder_for(encoded);
    const PixelSize size = decoder.open(encoded, name);
    open_ = &decoder;
    return size;
  }

  DecodedWindow decode(const Rect& window, int reduction) override {
    if (open_ == nullptr) throw Error(name_, "no picture is open");
    return open_->decode(window, reduction);  // once per open(), which that one looks after
  }

  StrayBytes stray_bytes() const override {
    return open_ == nullptr ? StrayBytes() : open_->stray_bytes();
  }

 private:
  Decoder& decoder_for(std::span<const std::byte> encoded) {
    const FileKind kind = sniff(encoded);
    if (kind.format.empty()) refuse_kind(name_, encoded, kind);
    std::unique_ptr<Decoder>& decoder = decoders_[kind.format];
    const Format& format = *find_picture_format(kind.format);
    if (!decoder) decoder = make_decoder(format, decodes(by_, format) ? by_ : DecoderKind::own);
    return *decoder;
  }

  const DecoderKind by_;
  std::map<std::string_view, std::unique_ptr<Decoder>> decoders_;  // by format
  Decoder* open_ = nullptr;  // the one that has the open picture; null when there is none
  std::string name_;
};

}  // namespace

std::unique_ptr<Decoder> make_any_picture_decoder(DecoderKind by) {
  return std::make_unique<AnyPictureDecoder>(by);
}

const Format& any_picture_format() {
  static const Format format{
      kAnyPicture,
      "",
      "pictures of your own of any of these formats, each told by its contents",
      false,
      [] { return make_any_picture_decoder(DecoderKind::own); },
      nullptr};
  return format;
}

const Format* find_format_of_data(std::string_view data) {
  return data == kAnyPicture ? &any_picture_format() : find_picture_format(data);
}

std::vector<std::string_view> endings_of(std::string_view data) {
  std::vector<std::string_view> endings;
  const auto add = [&](std::string_view name) {
    const Format* format = find_picture_format(name);
    if (format == nullptr) return;
    endings.push_back(format->extension);
    if (!format->other_extension.empty()) endings.push_back(format->other_extension);
  };
  if (data != kAnyPicture) {
    add(data);
  } else {
    for (const std::string_view name : kPhotoFormats) add(name);
  }
  return endings;
}

}  // namespace feedrate::codec
