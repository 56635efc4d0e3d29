#pragma once
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "storage/buffer.h"
#include "storage/dataset.h"
#include "storage/outstanding_reads.h"

namespace feedrate::storage {

// One sample to read whole.
struct ReadRequest {
  std::uint64_t tag = 0;  // handed back with the completion
  const SampleFile* sample =
      nullptr;  // as the manifest has it; must stay valid until the completion
  Buffer* into =
      nullptr;  // resized to hold the sample, or the part of it that does not go to `tail`
  std::span<std::byte> tail{};  // receives the sample's last bytes, as many as it holds
};

struct ReadCompletion {
  std::uint64_t tag = 0;
  std::exception_ptr error{};  // an Error naming path, offset and reason; null: the bytes are there
  std::int64_t lock_ns =
      0;  // the part of its time in which it waited for a lock of the library that reads
};

// Name to bytes, asynchronously and in batches, so that io_uring or an object store fits as well as
// plain reads. One per worker, not thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual void submit(std::span<const ReadRequest> requests) = 0;
  // Writes completions of submitted requests, in any order, and returns how many. Waits for at
  // least one if `wait` and any is outstanding.
  virtual std::size_t poll(std::span<ReadCompletion> done, bool wait) = 0;

  // The sample will be asked for soon: the storage may begin to fetch it. Does nothing where it
  // cannot; never fails.
  virtual void expect(const SampleFile&) {}

  // Reads one sample; for callers with nothing to overlap. Returns ReadCompletion::lock_ns. Throws
  // the read's Error: then what `into` and `tail` hold means nothing.
  std::int64_t read(const SampleFile& sample, Buffer& into, std::span<std::byte> tail = {});

  // From now on what read() waits for is told to `slot`, which outlives this.
  void tell(OutstandingReads::Slot& slot) { slot_ = &slot; }

 private:
  OutstandingReads::Slot* slot_ = nullptr;
};

// The simplest case: a request is carried out when its completion is asked for.
class ReadsOnDemand : public Storage {
 public:
  void submit(std::span<const ReadRequest> requests) override;
  std::size_t poll(std::span<ReadCompletion> done, bool wait) override;

 private:
  // Returns ReadCompletion::lock_ns, or throws what becomes its error.
  virtual std::int64_t carry_out(const ReadRequest& request) = 0;

  std::vector<ReadRequest>
      pending_;  // from next_ on; no deque, which takes memory for every few requests
  std::size_t next_ = 0;
};

// Files below `root`, read by open/pread/close. A file whose length is not the expected one is an
// Error.
std::unique_ptr<Storage> make_buffered_files(std::filesystem::path root);

}  // namespace feedrate::storage
