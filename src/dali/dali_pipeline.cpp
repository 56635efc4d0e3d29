#include "dali/dali_pipeline.h"

#include <dali/dali.h>

#include <array>

#include "base/error.h"
#include "measure/clock.h"

namespace feedrate::dali {
namespace {

constexpr auto kCpu = DALI_STORAGE_CPU;

void check(daliResult_t result, const char* what) {
  if (result >= DALI_SUCCESS) return;
  std::string message = daliGetLastErrorMessage();
  for (char& c : message) c = c == '\n' ? ' ' : c;
  throw Error("--loader dali", std::string(what) + ": " + message);
}

// A tensor list, held until it goes out of scope.
class List {
 public:
  List() = default;
  ~List() {
    if (handle_ != nullptr) daliTensorListDecRef(handle_, nullptr);
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  daliTensorList_h* out() { return &handle_; }
  operator daliTensorList_h() const { return handle_; }

 private:
  daliTensorList_h handle_ = nullptr;
};

class Outputs {
 public:
  ~Outputs() {
    if (handle != nullptr) daliPipelineOutputsDestroy(handle);
  }
  daliPipelineOutputs_h handle = nullptr;
};

daliArgDesc_t argument(const char* name, daliDataType_t type, std::int64_t value) {
  daliArgDesc_t a{};
  a.name = name, a.dtype = type, a.ivalue = value;
  return a;
}

void add(daliPipeline_h pipeline, const char* schema, std::span<const daliIODesc_t> inputs,
         daliIODesc_t output, std::span<const daliArgDesc_t> arguments,
         std::span<const daliArgInputDesc_t> argument_inputs = {}) {
  daliOperatorDesc_t op{};
  op.schema_name = schema, op.backend = DALI_BACKEND_CPU;
  op.num_inputs = static_cast<int>(inputs.size()), op.inputs = inputs.data();
  op.num_outputs = 1, op.outputs = &output;
  op.num_args = static_cast<int>(arguments.size()), op.args = arguments.data();
  op.num_arg_inputs = static_cast<int>(argument_inputs.size()),
  op.arg_inputs = argument_inputs.data();
  check(daliPipelineAddOperator(pipeline, &op), schema);
}

void add_input(daliPipeline_h pipeline, const char* name, daliDataType_t type, int dimensions) {
  daliPipelineIODesc_t input{};
  input.name = name, input.device = kCpu;
  input.dtype_present = 1, input.dtype = type;
  input.ndim_present = 1, input.ndim = dimensions;
  check(daliPipelineAddExternalInput(pipeline, &input), name);
}

void feed_input(daliPipeline_h pipeline, const char* name, int dimensions, daliDataType_t type,
                std::span<const daliTensorDesc_t> samples, daliFeedInputFlags_t copying) {
  List list;
  check(daliTensorListCreate(list.out(), {kCpu, 0, false}), name);
  check(daliTensorListAttachSamples(list, static_cast<int>(samples.size()), dimensions, type, "",
                                    samples.data(), nullptr),
        name);
  check(daliPipelineFeedInput(pipeline, name, list, nullptr, copying, nullptr), name);
}

}  // namespace

Pipeline::Pipeline(int batch_size, int threads, int prefetch, codec::PixelSize output,
                   pipeline::ResizeFilter filter) {
  check(daliInit(), "cannot start");
  daliPipelineParams_t parameters{};
  DALI_SET_PARAM(parameters, max_batch_size, batch_size);
  DALI_SET_PARAM(parameters, num_threads, threads);
  DALI_SET_PARAM(parameters, exec_type, DALI_EXEC_DYNAMIC);
  DALI_SET_PARAM(parameters, prefetch_queue_depths, daliPrefetchQueueSizes_t{prefetch, prefetch});
  check(daliPipelineCreate(&pipeline_, &parameters), "cannot make a pipeline");
  try {
    add_input(pipeline_, "encoded", DALI_UINT8, 1);
    add_input(pipeline_, "anchor", DALI_INT32, 1);
    add_input(pipeline_, "shape", DALI_INT32, 1);
    add_input(pipeline_, "flip", DALI_INT32, 0);
    add_decoder();
    add_resize(output, filter);
    add_flip();
    daliPipelineIODesc_t pixels{};
    pixels.name = "pixels", pixels.device = kCpu;
    check(daliPipelineSetOutputs(pipeline_, 1, &pixels), "outputs");
    check(daliPipelineBuild(pipeline_), "cannot build the pipeline");
  } catch (...) {
    daliPipelineDestroy(pipeline_);
    throw;
  }
}

Pipeline::~Pipeline() { daliPipelineDestroy(pipeline_); }

void Pipeline::add_decoder() {
  const std::array inputs{daliIODesc_t{"encoded", kCpu}, daliIODesc_t{"anchor", kCpu},
                          daliIODesc_t{"shape", kCpu}};
  daliArgDesc_t axes{};
  axes.name = "axis_names", axes.dtype = DALI_STRING, axes.str = "HW";
  // Upsamples chroma as libjpeg-turbo does by default, and as every other loader here does; DALI's
  // own default is faster.
  const std::array arguments{axes, argument("normalized_anchor", DALI_BOOL, 0),
                             argument("normalized_shape", DALI_BOOL, 0),
                             argument("jpeg_fancy_upsampling", DALI_BOOL, 1)};
  add(pipeline_, "decoders__ImageSlice", inputs, {"window", kCpu}, arguments);
}

void Pipeline::add_resize(codec::PixelSize output, pipeline::ResizeFilter filter) {
  const std::array inputs{daliIODesc_t{"window", kCpu}};
  const std::array size{static_cast<float>(output.height), static_cast<float>(output.width)};
  daliArgDesc_t wanted{};
  wanted.name = "size", wanted.dtype = DALI_FLOAT_VEC, wanted.size = size.size(),
  wanted.arr = size.data();
  const std::array arguments{
      wanted, argument("antialias", DALI_BOOL, filter == pipeline::ResizeFilter::antialias)};
  add(pipeline_, "Resize", inputs, {"resized", kCpu}, arguments);  // linear, as its default
}

void Pipeline::add_flip() {
  const std::array inputs{daliIODesc_t{"resized", kCpu}};
  const std::array by_sample{daliArgInputDesc_t{"horizontal", "flip"}};
  const std::array arguments{argument("vertical", DALI_INT32, 0)};
  add(pipeline_, "Flip", inputs, {"pixels", kCpu}, arguments, by_sample);
}

void Pipeline::feed(std::span<const Input> batch) {
  struct Sample {
    std::int64_t bytes;
    std::array<std::int32_t, 2> anchor, shape;
    std::int32_t flip;
  };
  static constexpr std::int64_t kTwo = 2;
  std::vector<Sample> samples(batch.size());
  std::vector<daliTensorDesc_t> encoded, anchors, shapes, flips;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const codec::Rect& window = batch[i].augmentation.window;
    Sample& s = samples[i] = {static_cast<std::int64_t>(batch[i].encoded.size()),
                              {window.y, window.x},
                              {window.height, window.width},
                              batch[i].augmentation.flip};
    auto* bytes = const_cast<std::byte*>(batch[i].encoded.data());  // it is only read
    encoded.push_back({1, &s.bytes, DALI_UINT8, "", bytes});
    anchors.push_back({1, &kTwo, DALI_INT32, "", s.anchor.data()});
    shapes.push_back({1, &kTwo, DALI_INT32, "", s.shape.data()});
    flips.push_back({0, nullptr, DALI_INT32, "", &s.flip});
  }
  feed_input(pipeline_, "encoded", 1, DALI_UINT8, encoded, DALI_FEED_INPUT_NO_COPY);
  feed_input(pipeline_, "anchor", 1, DALI_INT32, anchors, DALI_FEED_INPUT_FORCE_COPY);
  feed_input(pipeline_, "shape", 1, DALI_INT32, shapes, DALI_FEED_INPUT_FORCE_COPY);
  feed_input(pipeline_, "flip", 0, DALI_INT32, flips, DALI_FEED_INPUT_FORCE_COPY);
  check(daliPipelineRun(pipeline_), "cannot run");
}

void Pipeline::take(std::span<std::byte> out, std::int64_t& copying_ns) {
  Outputs outputs;
  check(daliPipelinePopOutputs(pipeline_, &outputs.handle), "a batch failed");
  const std::int64_t start = measure::now_ns();
  List pixels;
  check(daliPipelineOutputsGet(outputs.handle, pixels.out(), 0), "a batch has no pixels");
  std::size_t bytes = 0;
  check(daliTensorListGetByteSize(pixels, &bytes), "a batch has no pixels");
  if (bytes != out.size()) {
    throw Error("--loader dali", "gave " + std::to_string(bytes) + " bytes for a batch of " +
                                     std::to_string(out.size()));
  }
  check(daliTensorListCopyOut(pixels, out.data(), {kCpu, 0, false}, nullptr, DALI_COPY_SYNC),
        "cannot copy a batch");
  copying_ns = measure::now_ns() - start;
}

}  // namespace feedrate::dali
