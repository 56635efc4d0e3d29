#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codec/image.h"
#include "pipeline/augment.h"
#include "pipeline/resize.h"

// DALI's own types, so that its headers stay in one file.
struct _DALIPipeline;

namespace feedrate::dali {

// One sample of a batch, as DALI gets it. The bytes must stay until the batch has been taken.
struct Input {
  std::span<const std::byte> encoded;
  pipeline::Augmentation augmentation;
};

// A DALI pipeline on the CPU, asynchronous, its inputs fed from outside: decode the window, resize,
// flip. Used by one thread; DALI works in threads of its own. Errors: feedrate::Error with DALI's
// message.
class Pipeline {
 public:
  Pipeline(int batch_size, int threads, int prefetch, codec::PixelSize output,
           pipeline::ResizeFilter filter);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Hands a batch over. DALI works on several batches at once; at most `prefetch` may be handed
  // over and not yet taken.
  void feed(std::span<const Input> batch);
  // Waits for the batch fed first, and copies its pixels to `out`: batch_size x height x width x 3
  // bytes. `copying_ns`: the part of the time that went into the copy.
  void take(std::span<std::byte> out, std::int64_t& copying_ns);

 private:
  void add_decoder();
  void add_resize(codec::PixelSize output, pipeline::ResizeFilter filter);
  void add_flip();

  _DALIPipeline* pipeline_ = nullptr;
};

}  // namespace feedrate::dali
