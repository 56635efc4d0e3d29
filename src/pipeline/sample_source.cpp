#include "pipeline/sample_source.h"

#include <cstring>
#include <optional>
#include <string>

#include "measure/error.h"
#include "pipeline/encoded_slot.h"
#include "pipeline/jitter.h"
#include "storage/container.h"

namespace feedrate {
namespace {

// Copies a finished sample into its slot; uint8 samples are normalised where the batch asks for it.
void collate(std::span<const std::byte> sample, Dtype from, const BatchSpec& spec, std::byte* out) {
  if (from == spec.dtype) {
    std::memcpy(out, sample.data(), spec.sample_bytes());
  } else {
    normalise(reinterpret_cast<const std::uint8_t*>(sample.data()), spec.sample_elements() / 3, spec.dtype, out);
  }
}

// name -> bytes, from storage or from the `encoded` cache.
class Bytes {
 public:
  explicit Bytes(const SampleRecipe& recipe) : recipe_(recipe), prefix_(sample_prefix(*recipe.dataset)) {
    if (recipe.encoded_cache) return;
    storage_ = make_storage(*recipe.dataset);
    if (recipe.reads) storage_->tell(recipe.reads->add());
  }
  std::span<const std::byte> get(const Draw& draw, StageTimer& timer, PlantedDelay& planted) {
    if (recipe_.encoded_cache) return (*recipe_.encoded_cache)[static_cast<std::size_t>(draw.sample)].bytes();
    return read(draw, {}, timer, planted);
  }
  // The bytes before the last tail.size(), and those to `tail`. Nothing, if they have to be got by get().
  std::optional<std::span<const std::byte>> get_apart(const Draw& draw, std::size_t head, std::span<std::byte> tail,
                                                      StageTimer& timer, PlantedDelay& planted) {
    if (recipe_.encoded_cache || file_of(draw).bytes != head + tail.size()) return std::nullopt;
    return read(draw, tail, timer, planted);
  }
  std::size_t length(const Draw& draw) const {
    if (recipe_.encoded_cache) return (*recipe_.encoded_cache)[static_cast<std::size_t>(draw.sample)].bytes().size();
    return file_of(draw).bytes;
  }
  void expect(const Draw& draw, StageTimer& timer) {
    if (!storage_) return;
    timer.start();
    storage_->expect(file_of(draw));
    timer.more(Stage::read);
  }
  // What an error is to name; valid until the next call.
  std::string_view name(const Draw& draw) {
    return name_.assign(prefix_).append(file_of(draw).path);
  }

 private:
  const SampleFile& file_of(const Draw& draw) const {
    return recipe_.dataset->samples[static_cast<std::size_t>(draw.sample)];
  }
  std::span<const std::byte> read(const Draw& draw, std::span<std::byte> tail, StageTimer& timer, PlantedDelay& planted) {
    const SampleFile& file = file_of(draw);
    const std::int64_t lock_ns = storage_->read(file, buffer_, tail);
    if (recipe_.dataset->container->locks) timer.take(Stage::lock, lock_ns);
    planted.serve(Stage::read, draw.index);
    timer.lap(Stage::read, static_cast<std::int64_t>(file.bytes));
    return buffer_.bytes();
  }

  const SampleRecipe& recipe_;
  const std::string prefix_;
  std::string name_;  // reused, so that a sample allocates nothing
  std::unique_ptr<Storage> storage_;
  Buffer buffer_;
};

[[noreturn]] void refuse_size(std::string_view name, PixelSize stored, const char* remedy) {
  throw Error(std::string(name), "has " + std::to_string(stored.width) + "x" + std::to_string(stored.height) +
                                     " pixels, not those of its folder; the device takes pictures of one size", remedy);
}

class PictureSource : public SampleSource {
 public:
  PictureSource(const SampleRecipe& recipe, StageCounters& counters)
      : recipe_(recipe), bytes_(recipe), decoder_(recipe.format->make_decoder()), timer_(counters),
        planted_(recipe.planted) {}

  void expect(const Draw& draw) override { bytes_.expect(draw, timer_); }
  void give_up() override { timer_.more(Stage::decode); }
  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const auto encoded = bytes_.get(draw, timer_, planted_);
    const PixelSize stored = decoder_->open(encoded, bytes_.name(draw));
    if (recipe_.augment_on_device && stored != recipe_.spec.size) refuse_size(bytes_.name(draw), stored, "use --augment-on host");
    const AugmentPolicy policy = recipe_.augment_on_device ? AugmentPolicy{false, false} : recipe_.augment;
    const Augmentation augmentation = draw_augmentation(policy, stored, draw.augment_seed);
    const Rect& wanted = augmentation.window;
    const ReducedPixels window = decoder_->decode_reduced(wanted, recipe_.decode_scale ? reduction_of(wanted) : 1);
    planted_.serve(Stage::decode, draw.index);
    timer_.lap(Stage::decode, static_cast<std::int64_t>(encoded.size()));

    // uint8 batches are resized straight into their slot; the others pass through `pixels_`.
    const BatchSpec& spec = recipe_.spec;
    const bool direct = spec.dtype == Dtype::uint8;
    std::byte* resized = direct ? out : pixels_.resize(spec.sample_elements());
    resizer_.resize_window(window, spec.size, augmentation.flip, recipe_.filter,
                           reinterpret_cast<std::uint8_t*>(resized));
    jitter_colours(reinterpret_cast<std::uint8_t*>(resized), spec.sample_elements() / 3, augmentation.jitter);
    planted_.serve(Stage::augment, draw.index);
    timer_.lap(Stage::augment, static_cast<std::int64_t>(wanted.width) * wanted.height * 3);

    if (!direct) collate(pixels_.bytes(), Dtype::uint8, spec, out);
    planted_.serve(Stage::collate, draw.index);
    timer_.lap(Stage::collate, static_cast<std::int64_t>(spec.sample_elements()));
  }

 private:
  // The largest that leaves both sides at least as long as the output's.
  int reduction_of(const Rect& window) const {
    const PixelSize to = recipe_.spec.size;
    int reduction = 1;
    while (reduction < 8 && window.width >= 2 * reduction * to.width && window.height >= 2 * reduction * to.height) reduction *= 2;
    return reduction;
  }

  const SampleRecipe& recipe_;
  Bytes bytes_;
  std::unique_ptr<Decoder> decoder_;
  Resizer resizer_;
  Buffer pixels_;
  StageTimer timer_;
  PlantedDelay planted_;
};

// For a decoder on the device: the file's bytes go into the batch; only its header is looked at here.
class EncodedSource : public SampleSource {
 public:
  EncodedSource(const SampleRecipe& recipe, StageCounters& counters)
      : recipe_(recipe), bytes_(recipe), decoder_(recipe.format->make_decoder()), timer_(counters),
        planted_(recipe.planted) {}

  void expect(const Draw& draw) override { bytes_.expect(draw, timer_); }
  void give_up() override { timer_.more(Stage::read); }
  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const std::size_t length = bytes_.length(draw);
    if (length + kEncodedSlotHeader > recipe_.spec.encoded_slot) {
      throw Error(bytes_.name(draw), "is larger than its batch has room for", "run `feedrate verify`");
    }
    const std::span<std::byte> slot = open_encoded_slot(out, length);
    const bool in_place = bytes_.get_apart(draw, 0, slot, timer_, planted_).has_value();
    if (!in_place) {
      const auto encoded = bytes_.get(draw, timer_, planted_);
      std::memcpy(slot.data(), encoded.data(), encoded.size());
    }
    const PixelSize stored = decoder_->open(slot, bytes_.name(draw));
    if (stored != recipe_.spec.size) {
      refuse_size(bytes_.name(draw), stored, "use --decoder auto and --augment-on host");
    }
    planted_.serve(Stage::collate, draw.index);
    timer_.lap(Stage::collate, static_cast<std::int64_t>(length));
  }

 private:
  const SampleRecipe& recipe_;
  Bytes bytes_;
  std::unique_ptr<Decoder> decoder_;
  StageTimer timer_;
  PlantedDelay planted_;
};

class TensorSource : public SampleSource {
 public:
  TensorSource(const SampleRecipe& recipe, StageCounters& counters)
      : recipe_(recipe), bytes_(recipe), timer_(counters), planted_(recipe.planted) {}

  void expect(const Draw& draw) override { bytes_.expect(draw, timer_); }
  void give_up() override { timer_.more(Stage::read); }
  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const TensorView tensor = get(draw, out);
    const auto bytes = static_cast<std::int64_t>(tensor.payload.size());
    const bool in_place = tensor.payload.data() == out;
    if (in_place && !planted_.planted()) return timer_.pass(Stage::collate, bytes);
    if (!in_place) collate(tensor.payload, tensor.dtype, recipe_.spec, out);
    planted_.serve(Stage::collate, draw.index);
    timer_.lap(Stage::collate, bytes);
  }

 private:
  // Where nothing is to be converted, the payload is read to where it belongs.
  TensorView get(const Draw& draw, std::byte* out) {
    const BatchSpec& spec = recipe_.spec;
    const std::span<std::byte> slot(out, spec.sample_bytes());
    const auto header = bytes_.get_apart(draw, kTensorHeaderBytes, slot, timer_, planted_);
    const TensorView tensor = header ? parse_tensor(*header, slot, bytes_.name(draw))
                                     : parse_tensor(bytes_.get(draw, timer_, planted_), bytes_.name(draw));
    if (tensor.size != spec.size) {
      throw Error(bytes_.name(draw), "holds another size than its folder says", "run `feedrate verify`");
    }
    if (tensor.dtype != Dtype::uint8 && tensor.dtype != spec.dtype) {
      throw Error(bytes_.name(draw), "holds another element type than its folder says", "run `feedrate verify`");
    }
    return tensor;
  }

  const SampleRecipe& recipe_;
  Bytes bytes_;
  StageTimer timer_;
  PlantedDelay planted_;
};

// cache=sample: everything but the collation is done.
class CachedSampleSource : public SampleSource {
 public:
  CachedSampleSource(const SampleRecipe& recipe, StageCounters& counters)
      : recipe_(recipe), timer_(counters), planted_(recipe.planted) {}

  void make(const Draw& draw, std::byte* out) override {
    timer_.start();
    const auto index = static_cast<std::size_t>(draw.sample);
    const auto sample = (*recipe_.sample_cache)[index].bytes();
    if (sample.empty()) {
      throw Error((recipe_.dataset->folder / recipe_.dataset->samples[index].path).string(),
                  "could not be decoded when the cache was filled", "run `feedrate verify`");
    }
    const bool pixels = sample.size() == recipe_.spec.sample_elements();
    collate(sample, pixels ? Dtype::uint8 : recipe_.spec.dtype, recipe_.spec, out);
    planted_.serve(Stage::collate, draw.index);
    timer_.lap(Stage::collate, static_cast<std::int64_t>(sample.size()));
  }

 private:
  const SampleRecipe& recipe_;
  StageTimer timer_;
  PlantedDelay planted_;
};

}  // namespace

std::unique_ptr<SampleSource> make_sample_source(const SampleRecipe& recipe, StageCounters& counters) {
  if (recipe.sample_cache) return std::make_unique<CachedSampleSource>(recipe, counters);
  if (!recipe.format) return std::make_unique<TensorSource>(recipe, counters);
  if (recipe.spec.encoded_slot != 0) return std::make_unique<EncodedSource>(recipe, counters);
  return std::make_unique<PictureSource>(recipe, counters);
}

}  // namespace feedrate
