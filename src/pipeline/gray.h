#pragma once

namespace feedrate::pipeline {

// Weights of red, green and blue in gray (ITU-R 601, as torchvision rounds them).
inline constexpr float kGray[3] = {0.2989f, 0.587f, 0.114f};

}  // namespace feedrate::pipeline
