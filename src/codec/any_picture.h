#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "codec/decoders.h"

namespace feedrate::codec {

// As typed after --data: pictures of several formats beside each other.
inline constexpr std::string_view kAnyPicture = "auto";

// What reads a user's own pictures: each is decoded as its first bytes say (sniff.h), whatever its
// name or --data says. Its decoder makes one of a format with the first picture of it. None of
// picture_formats(): nothing is encoded in it, and `encode` is null. Errors: as Decoder, and of a
// picture that is of no format which is decoded here, an Error that says which. Thread-safe,
// immutable.
const Format& any_picture_format();
// Its decoder with those of `by`, and of feedrate's own where `by` decodes no such format.
std::unique_ptr<Decoder> make_any_picture_decoder(DecoderKind by);

// What `data` names: a format, kAnyPicture's included; or nullptr.
const Format* find_format_of_data(std::string_view data);

// The endings of file names that `data` takes in a user's own folder: of a format, its endings; of
// kAnyPicture, those of the formats that photographs are stored in (jpeg, png, bmp, webp). Empty:
// it names no format.
std::vector<std::string_view> endings_of(std::string_view data);

}  // namespace feedrate::codec
