#pragma once
#include <string_view>

#include "codec/image.h"
#include "data_gen/picture_random.h"

namespace feedrate::data_gen {

// How a picture is stored.
struct StoredLike {
  codec::PixelSize size;
  int jpeg_quality = 0;          // libjpeg's scale
  std::string_view subsampling;  // 420 or 444
};

// One draw of what the pictures of ImageNet's training set (ILSVRC 2012) are stored as, so that
// sizes, shapes and bytes of many draws are distributed as theirs: see imagenet_like.cpp for the
// figures and their sources. A pure function of `random`.
StoredLike draw_like_imagenet(Random& random);

}  // namespace feedrate::data_gen
