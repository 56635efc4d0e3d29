#pragma once
#include <nvjpeg.h>

namespace feedrate::train {

// The functions of libnvjpeg that are used here. It is loaded when it is asked for: nothing else
// needs it.
struct NvjpegLibrary {
  decltype(&nvjpegCreateEx) create = nullptr;
  decltype(&nvjpegDestroy) destroy = nullptr;
  decltype(&nvjpegJpegStateCreate) state_create = nullptr;
  decltype(&nvjpegJpegStateDestroy) state_destroy = nullptr;
  decltype(&nvjpegJpegStreamCreate) stream_create = nullptr;
  decltype(&nvjpegJpegStreamDestroy) stream_destroy = nullptr;
  decltype(&nvjpegJpegStreamParseHeader) parse_header = nullptr;
  decltype(&nvjpegJpegStreamGetFrameDimensions) frame_dimensions = nullptr;
  decltype(&nvjpegDecodeBatchedSupported) batched_supported = nullptr;
  decltype(&nvjpegDecodeBatchedInitialize) batched_initialize = nullptr;
  decltype(&nvjpegDecodeBatched) batched_decode = nullptr;
};

// Errors: Error where there is no such library, or one without a function of these.
const NvjpegLibrary& nvjpeg_library();

}  // namespace feedrate::train
