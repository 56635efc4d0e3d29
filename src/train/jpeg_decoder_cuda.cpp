#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "codec/codec.h"
#include "device/accelerator.h"
#include "pipeline/encoded_slot.h"
#include "train/decode_plan.h"
#include "train/jpeg_decoder.h"
#include "train/nvjpeg_library_cuda.h"

namespace feedrate::train {
namespace {

void expect_success(nvjpegStatus_t status, const char* what) {
  if (status == NVJPEG_STATUS_SUCCESS) return;
  throw Error("nvJPEG", std::string(what) + " failed (status " + std::to_string(status) + ")",
              "run `feedrate verify`, or use --decoder auto");
}

using Encoded = std::span<const std::byte>;
const unsigned char* bytes_of(Encoded picture) {
  return reinterpret_cast<const unsigned char*>(picture.data());
}

// One of nvJPEG's ways of decoding, with what it keeps for each slot whose batch may still be under
// way.
class Decoding {
 public:
  // Not there (ready() is false) where the GPU has no such hardware; the engine also where the
  // driver does not hand it out, whatever it says then: others decode in its place.
  explicit Decoding(nvjpegBackend_t backend) {
    try {
      if (!start(backend)) close();
    } catch (const Error&) {
      close();
      if (backend != NVJPEG_BACKEND_HARDWARE) throw;
    }
  }
  ~Decoding() { close(); }
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  bool ready() const { return handle_ != nullptr; }

  // Whether it decodes this picture, of `size`, in a batch.
  bool takes(Encoded picture, codec::PixelSize size) {
    if (!ready() || library_.parse_header(handle_, bytes_of(picture), picture.size(), header_) !=
                        NVJPEG_STATUS_SUCCESS)
      return false;
    unsigned width = 0, height = 0;
    int refused = 1;
    if (library_.frame_dimensions(header_, &width, &height) != NVJPEG_STATUS_SUCCESS) return false;
    if (static_cast<int>(width) != size.width || static_cast<int>(height) != size.height)
      return false;
    return library_.batched_supported(handle_, header_, &refused) == NVJPEG_STATUS_SUCCESS &&
           refused == 0;
  }

  // Queues the decoding of `which` of the pictures to their places of `pitch` bytes a row. Unless
  // it succeeds, these hold anything.
  nvjpegStatus_t decode(std::size_t slot, std::span<const Encoded> pictures,
                        const std::vector<std::size_t>& which, unsigned char* pixels,
                        codec::PixelSize size, cudaStream_t stream) {
    if (which.empty()) return NVJPEG_STATUS_SUCCESS;
    std::vector<const unsigned char*> data;
    std::vector<std::size_t> lengths;
    std::vector<nvjpegImage_t> places;
    const std::size_t pitch = 3 * static_cast<std::size_t>(size.width);
    for (const std::size_t i : which) {
      data.push_back(bytes_of(pictures[i]));
      lengths.push_back(pictures[i].size());
      nvjpegImage_t place{};
      place.channel[0] = pixels + i * pitch * static_cast<std::size_t>(size.height);
      place.pitch[0] = pitch;
      places.push_back(place);
    }
    State& state = states_[slot];
    if (state.pictures != which.size()) {
      const nvjpegStatus_t started = library_.batched_initialize(
          handle_, state.handle, static_cast<int>(which.size()), 1, NVJPEG_OUTPUT_RGBI);
      if (started != NVJPEG_STATUS_SUCCESS) return started;
      state.pictures = which.size();
    }
    return library_.batched_decode(handle_, state.handle, data.data(), lengths.data(),
                                   places.data(), stream);
  }

  // It is not ready any more.
  void close() noexcept {
    if (header_) library_.stream_destroy(std::exchange(header_, nullptr));
    for (auto& state : states_) {
      if (state.handle) library_.state_destroy(std::exchange(state.handle, nullptr));
    }
    if (handle_) library_.destroy(std::exchange(handle_, nullptr));
  }

 private:
  struct State {
    nvjpegJpegState_t handle = nullptr;
    std::size_t pictures = 0;  // that it was initialised for
  };

  // False: the GPU does not know this way.
  bool start(nvjpegBackend_t backend) {
    const nvjpegStatus_t status =
        library_.create(backend, nullptr, nullptr, NVJPEG_FLAGS_DEFAULT, &handle_);
    if (status != NVJPEG_STATUS_SUCCESS) handle_ = nullptr;
    if (status == NVJPEG_STATUS_ARCH_MISMATCH ||
        status == NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED)
      return false;
    expect_success(status, "starting");
    for (auto& state : states_)
      expect_success(library_.state_create(handle_, &state.handle), "starting");
    expect_success(library_.stream_create(handle_, &header_), "starting");
    return true;
  }

  const NvjpegLibrary& library_ = nvjpeg_library();
  nvjpegHandle_t handle_ = nullptr;
  nvjpegJpegStream_t header_ = nullptr;
  std::array<State, CopyEngine::kSlots> states_;
};

class NvjpegDecoder {
 public:
  NvjpegDecoder(const device::StepSpec& spec, c10::DeviceIndex device)
      : batch_(spec.batch),
        share_(spec.engine_share),
        engine_(NVJPEG_BACKEND_HARDWARE),
        processors_(NVJPEG_BACKEND_GPU_HYBRID),
        beside_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device)),
        host_(codec::find_picture_format("jpeg")->make_decoder()) {}

  device::DecodedBy put(std::size_t slot, const pipeline::HostBatch& batch,
                        const at::Tensor& pixels, const c10::cuda::CUDAStream& stream) {
    std::vector<Encoded> pictures;
    std::vector<CanDecode> can;
    for (int i = 0; i < batch_.batch_size; ++i) {
      pictures.push_back(pipeline::encoded_in_slot(batch.pixels + static_cast<std::size_t>(i) *
                                                                      batch_.encoded_slot));
      can.push_back(who_can(pictures.back()));
    }
    DecodePlan plan = plan_decoding(can, share_);
    auto* out = pixels.mutable_data_ptr<std::uint8_t>();
    before_.record(stream);
    before_.block(beside_);
    try {
      expect_success(
          processors_.decode(slot, pictures, plan.processors, out, batch_.size, beside_.stream()),
          "decoding a batch");
      decode_by_engine(slot, pictures, plan, out, stream);
      decode_on_host(pictures, plan.host, out, stream);
    } catch (...) {
      join(stream);  // who waits for `stream` then waits for what was queued beside it
      throw;
    }
    join(stream);
    return {std::ssize(plan.engine), std::ssize(plan.processors), std::ssize(plan.host)};
  }

 private:
  // A header is parsed for the processors only where they may get the picture.
  CanDecode who_can(Encoded picture) {
    const bool engine = share_ > 0 && engine_.takes(picture, batch_.size);
    return {engine, !(engine && share_ == 100) && processors_.takes(picture, batch_.size)};
  }

  // An engine that fails, whatever it says, is not asked again: the host decodes its part of this
  // batch, and the processors or the host that of later ones.
  void decode_by_engine(std::size_t slot, std::span<const Encoded> pictures, DecodePlan& plan,
                        std::uint8_t* out, const c10::cuda::CUDAStream& stream) {
    if (plan.engine.empty()) return;
    wait_for_readers(stream);
    if (engine_.decode(slot, pictures, plan.engine, out, batch_.size, stream.stream()) ==
        NVJPEG_STATUS_SUCCESS)
      return;
    wait_for_readers(stream);  // what it may still write comes before what the host does
    engine_.close();
    plan.host.insert(plan.host.end(), plan.engine.begin(), plan.engine.end());
    plan.engine.clear();
  }

  // The engine writes when nvJPEG is called, whatever its stream is still waiting for (seen on an
  // H100 with nvJPEG 12.3 to 13.2: github.com/meta-pytorch/torchcodec/pull/1634). `stream` waits
  // for the step before the last, which has ended, and for what it has decoded itself. Sleeps:
  // on an H200 a wait that spins took one of the loaders' CPUs.
  void wait_for_readers(const c10::cuda::CUDAStream& stream) {
    readers_.record(stream);
    readers_.synchronize();
  }

  void join(const c10::cuda::CUDAStream& stream) {
    after_.record(beside_);
    after_.block(stream);
  }

  // The copy is from ordinary memory: it has been read when the call returns.
  void decode_on_host(std::span<const Encoded> pictures, const std::vector<std::size_t>& which,
                      std::uint8_t* out, const c10::cuda::CUDAStream& stream) {
    for (const std::size_t i : which) {
      const codec::PixelSize stored = host_->open(pictures[i], "a picture that nvJPEG refuses");
      if (stored != batch_.size)
        throw Error("nvJPEG", "a picture has another size than its folder says",
                    "run `feedrate verify`");
      const codec::PixelView decoded = host_->decode({0, 0, stored.width, stored.height}, 1).pixels;
      const std::size_t row = 3 * static_cast<std::size_t>(stored.width);
      C10_CUDA_CHECK(cudaMemcpy2DAsync(out + i * batch_.sample_elements(), row, decoded.data,
                                       static_cast<std::size_t>(decoded.stride), row,
                                       static_cast<std::size_t>(stored.height),
                                       cudaMemcpyHostToDevice, stream));
    }
  }

  const pipeline::BatchSpec batch_;
  const int share_;
  Decoding engine_, processors_;
  const c10::cuda::CUDAStream beside_;
  c10::cuda::CUDAEvent before_{cudaEventDisableTiming}, after_{cudaEventDisableTiming},
      readers_{cudaEventDisableTiming | cudaEventBlockingSync};
  const std::unique_ptr<codec::Decoder> host_;
};

}  // namespace

PutPixels nvjpeg_decoder(const device::StepSpec& spec, c10::DeviceIndex device) {
  return [decoder = std::make_shared<NvjpegDecoder>(spec, device)](
             std::size_t slot, const pipeline::HostBatch& batch, const at::Tensor& pixels,
             const c10::cuda::CUDAStream& stream) {
    return decoder->put(slot, batch, pixels, stream);
  };
}

void check_nvjpeg() { nvjpeg_library(); }

}  // namespace feedrate::train
