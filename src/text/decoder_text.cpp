#include "text/decoder_text.h"

#include "base/text.h"
#include "codec/any_picture.h"
#include "text/result_text.h"

namespace feedrate::text {
namespace {

std::string library_of(const std::string& data) {
  return data == "jpeg"               ? "libjpeg-turbo"
         : data == codec::kAnyPicture ? "libjpeg-turbo or libspng"
                                      : "libspng";
}

bool decodes_a_crop(const plan::CellSettings& settings) {
  return settings.augment.crop_and_flip && !settings.augment_on_device &&
         settings.augment.mask_colour != pipeline::MaskColour::whole;
}

}  // namespace

std::string decoder_text(const plan::CellSettings& settings) {
  const codec::Format* format = codec::find_format_of_data(settings.data);
  const bool decodes =
      settings.cache == "none" || settings.cache == "encoded" || settings.cache == "discard";
  if (!format || !decodes || settings.raw_read) return "";
  if (settings.decode_on_device) return "nvJPEG, on the GPU";
  if (settings.loader == "dali") return "NVIDIA DALI";
  if (settings.decoder == codec::DecoderKind::opencv) return "OpenCV's imdecode, whole pictures";
  if (settings.decoder == codec::DecoderKind::library)
    return library_of(settings.data) + ", whole pictures";
  if (settings.data == "webp") return "libwebp";
  if (!codec::decodes(codec::DecoderKind::library, *format)) return "";  // the files hold pixels
  return std::string("feedrate's own for common files") +
         (decodes_a_crop(settings) ? ", skipping what lies outside the crop" : "");
}

std::string loader_text(const std::string& data, const session::DecoderRates& rates) {
  return format("alone on this machine, %g s each: ", session::kComparedSeconds) +
         thousands(rates.library) + " img/s with " + library_of(data) + " and a whole decode; " +
         thousands(rates.own) + " img/s with --decoder auto";
}

std::string decoder_lines(const plan::Cell& cell,
                          const std::optional<session::DecoderRates>& rates) {
  const std::string decoder = decoder_text(plan::settings_of(cell));
  std::string text = decoder.empty() ? "" : line_of("decoder", decoder);
  if (rates) text += line_of("loader", loader_text(cell["data"].value(), *rates));
  return text;
}

}  // namespace feedrate::text
