#include "storage/variant_name.h"

#include <gtest/gtest.h>

namespace feedrate::tests {
namespace {

TEST(VariantName, ComesApartAndTogether) {
  const auto tensors = storage::variant_name_from("tensor-fp16.tar/224x224");
  EXPECT_EQ(tensors.format, "tensor");
  EXPECT_EQ(tensors.dtype, "fp16");
  EXPECT_EQ(tensors.container, "tar");
  EXPECT_EQ(tensors.size, "224x224");
  const auto pictures = storage::variant_name_from("jpeg/500x375-high");
  EXPECT_EQ(pictures.format, "jpeg");
  EXPECT_EQ(pictures.dtype, "");
  EXPECT_EQ(pictures.container, "");
  EXPECT_EQ(pictures.detail, "high");
  for (const char* name :
       {"tensor-fp16.tar/224x224", "jpeg/500x375-high", "png0.hdf5/mixed", "jpeg"})
    EXPECT_EQ(storage::variant_name_from(name).text(), name);
}

}  // namespace
}  // namespace feedrate::tests
