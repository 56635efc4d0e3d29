#pragma once
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "storage/buffer.h"

namespace feedrate {

// One object to read whole: `path` below the storage's root, `bytes` long as the manifest says.
struct ReadRequest {
  std::uint64_t tag = 0;  // handed back with the completion
  std::string_view path;  // must stay valid until the completion
  std::uint64_t bytes = 0;
  Buffer* into = nullptr;  // resized to what it takes: the object, or what of it does not go to `tail`
  std::span<std::byte> tail{};  // where the object's last bytes go, that many; at most `bytes`
};

struct ReadCompletion {
  std::uint64_t tag = 0;
  std::exception_ptr error;  // an Error naming path, offset and reason; null: the bytes are there
};

// Name to bytes, asynchronously and in batches, so that io_uring or an object store fits as well as
// plain reads. One per worker, not thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual void submit(std::span<const ReadRequest> requests) = 0;
  // Writes completions of submitted requests, in any order, and returns how many. Waits for at least
  // one if `wait` and any is outstanding.
  virtual std::size_t poll(std::span<ReadCompletion> done, bool wait) = 0;

  // Reads one object; for callers with nothing to overlap. Throws the read's Error: then what `into` and
  // `tail` hold means nothing.
  void read(std::string_view path, std::uint64_t bytes, Buffer& into, std::span<std::byte> tail = {});
};

// Files below `root`, read by open/pread/close. A file whose length is not the expected one is an Error.
std::unique_ptr<Storage> make_buffered_files(std::filesystem::path root);

}  // namespace feedrate
