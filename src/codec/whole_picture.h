#pragma once
#include <memory>
#include <string>
#include <utility>

#include "codec/checks.h"

namespace feedrate::codec {

// Has another decoder decode each picture whole and at its own size, whatever window is asked for,
// and gives the window of it.
class WholePictureDecoder : public Decoder {
 public:
  explicit WholePictureDecoder(std::unique_ptr<Decoder> decoder) : decoder_(std::move(decoder)) {}

  PixelSize open(std::span<const std::byte> encoded, std::string_view name) override {
    name_ = name;
    size_ = {};
    size_ = decoder_->open(encoded, name);
    return size_;
  }

  DecodedWindow decode(const Rect& window, int /*reduction*/) override {
    check_window(window, size_, name_);
    const PixelSize size = std::exchange(size_, {});  // once per open(), even if decode() fails
    const DecodedWindow whole = decoder_->decode({0, 0, size.width, size.height}, 1);
    return DecodedWindow(window_of(whole.pixels, window));
  }

  StrayBytes stray_bytes() const override { return decoder_->stray_bytes(); }

 private:
  std::unique_ptr<Decoder> decoder_;
  std::string name_;
  PixelSize size_;  // of the open picture; empty when there is none
};

}  // namespace feedrate::codec
