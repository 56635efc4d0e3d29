#include "data_gen/generate_sample.h"

#include <system_error>

#include "base/file_remedy.h"
#include "base/whole_file.h"
#include "base/xxh3.h"
#include "data_gen/encode_to_size.h"

namespace feedrate::data_gen {

namespace fs = std::filesystem;

namespace {

// False: none is there. One that may be there, and cannot be read, must be neither made anew nor
// left out. Errors: UnreadableError.
bool read_existing(const fs::path& path, std::vector<std::byte>& out) {
  try {
    read_whole_file(path, out);
    return true;
  } catch (const std::system_error& error) {
    refuse_unreadable(path.string(), error.code());
    return false;
  }
}

}  // namespace

SampleMaker::SampleMaker(const GeneratePlan& plan)
    : plan_(plan), jpeg_(codec::find_picture_format("jpeg")->make_decoder()) {}

std::int64_t SampleMaker::make(std::int64_t index, const PictureKind& kind,
                               std::span<const PlannedVariant* const> variants,
                               std::span<storage::SampleFile> out) {
  pixels_.reset();
  std::int64_t written = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (const auto existing = find_existing(*variants[i], index)) {
      out[i] = *existing;
      continue;
    }
    jpeg_pixels(index, kind);
    out[i] = write(*variants[i], index);
    written += static_cast<std::int64_t>(out[i].bytes);
  }
  return written;
}

storage::SampleFile SampleMaker::line_of(const PlannedVariant& variant, std::int64_t index) const {
  return {.path = sample_path(*plan_.source, index, variant), .label = plan_.source->label(index)};
}

// A file of a variant that was complete is known by its size. One of a variant that was interrupted
// is read: renamed or not, a power cut may have left it empty.
std::optional<storage::SampleFile> SampleMaker::find_existing(const PlannedVariant& variant,
                                                              std::int64_t index) {
  storage::SampleFile line = line_of(variant, index);
  const fs::path path = plan_.data / variant.name / line.path;
  plan_.news.waits_for(path.string());
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  refuse_unreadable(path.string(), error);
  if (error) return std::nullopt;
  if (!variant.known.empty()) {
    const storage::SampleFile& known = variant.known[static_cast<std::size_t>(index)];
    if (known.bytes != bytes || known.path != line.path) return std::nullopt;
    return known;
  }
  if (!read_existing(path, file_) || !is_whole(variant, index, path.string())) return std::nullopt;
  line.bytes = file_.size();
  line.xxh3 = xxh3_of(file_);
  return line;
}

bool SampleMaker::is_whole(const PlannedVariant& variant, std::int64_t index,
                           const std::string& name) {
  const codec::PixelSize size = sample_size(*plan_.source, index, variant.size);
  try {
    if (variant.format == nullptr) {
      const codec::TensorView tensor = codec::parse_tensor(file_, name);
      return tensor.size == size && tensor.dtype == variant.dtype;
    }
    const auto decoder = variant.format->make_decoder();
    if (decoder->open(file_, name) != size) return false;
    decoder->decode({0, 0, size.width, size.height}, 1);
    return true;
  } catch (const Error&) {
    return false;
  }
}

codec::PixelView SampleMaker::decode_jpeg(codec::PixelSize size, const std::string& name) {
  if (jpeg_->open(jpeg_file_, name) != size)
    throw Error(name, "not of size " + codec::to_string(size));
  return jpeg_->decode({0, 0, size.width, size.height}, 1).pixels;
}

// The JPEG that lies in the dataset already is the one whose pixels the other formats have to hold,
// even where this build would synthesise others.
bool SampleMaker::load_stored_jpeg(const PictureKind& kind, std::int64_t index) {
  const fs::path path =
      plan_.data / "jpeg" / to_string(kind) / (sample_stem(*plan_.source, index) + ".jpg");
  plan_.news.waits_for(path.string());
  if (!read_existing(path, jpeg_file_)) return false;
  try {
    const auto known = plan_.jpegs.find(to_string(kind));
    if (known != plan_.jpegs.end() && !known->second.empty() &&
        known->second[static_cast<std::size_t>(index)].xxh3 != xxh3_of(jpeg_file_)) {
      return false;  // damaged since
    }
    pixels_ = decode_jpeg(sample_size(*plan_.source, index, kind.size), path.string());
    return true;
  } catch (const std::exception&) {  // it is not whole
    return false;
  }
}

void SampleMaker::encode_jpeg(const PictureKind& kind, std::int64_t index) {
  const Picture picture = plan_.source->make(index, sample_size(*plan_.source, index, kind.size),
                                             factor_of(kind.detail));
  if (plan_.bytes_per_sample > 0) {
    encode_to_size(picture.view(), plan_.encode, plan_.bytes_per_sample, index, jpeg_file_);
  } else {
    codec::find_picture_format("jpeg")->encode(
        picture.view(), plan_.source->encoding(index, plan_.encode), jpeg_file_);
  }
}

const codec::PixelView& SampleMaker::jpeg_pixels(std::int64_t index, const PictureKind& kind) {
  if (!pixels_ && !load_stored_jpeg(kind, index)) {
    encode_jpeg(kind, index);
    pixels_ = decode_jpeg(sample_size(*plan_.source, index, kind.size),
                          "sample " + std::to_string(index));
  }
  return *pixels_;
}

storage::SampleFile SampleMaker::write(const PlannedVariant& variant, std::int64_t index) {
  const bool is_jpeg = variant.format != nullptr && variant.format->name == "jpeg";
  if (variant.format == nullptr) {
    if (variant.size == sample_size(*plan_.source, index, variant.made_from.size)) {
      codec::encode_tensor(*pixels_, variant.dtype, file_);
    } else {
      codec::encode_tensor(crop_and_resize(*pixels_, variant.size).view(), variant.dtype, file_);
    }
  } else if (!is_jpeg) {
    variant.format->encode(*pixels_, plan_.encode, file_);
  }
  const std::vector<std::byte>& file = is_jpeg ? jpeg_file_ : file_;
  storage::SampleFile line = line_of(variant, index);
  const fs::path path = plan_.data / variant.name / line.path;
  plan_.news.waits_for(path.string());
  write_whole_file(path, file, false);
  line.bytes = file.size();
  line.xxh3 = xxh3_of(file);
  return line;
}

}  // namespace feedrate::data_gen
