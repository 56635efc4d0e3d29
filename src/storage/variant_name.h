#pragma once
#include <string>
#include <string_view>

namespace feedrate::storage {

// The name of a variant, which is its folder below the dataset's: "jpeg/500x375",
// "jpeg.tar/mixed-high", "tensor-fp16/224x224". What a part would say is not checked. Thread-safe.
struct VariantName {
  std::string format;     // "jpeg", "tensor"
  std::string dtype;      // of tensors; else empty
  std::string container;  // empty: plain files
  std::string size;       // "500x375", "mixed"
  std::string detail;     // empty: the usual one

  std::string text() const;
};
VariantName variant_name_from(std::string_view text);

}  // namespace feedrate::storage
