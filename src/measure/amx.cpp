#include "measure/amx.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace feedrate::measure {

// Leaves and bits: Intel's Software Developer's Manual, volume 2A, CPUID.
bool amx_lacks_tiles() {
#ifdef __x86_64__
  constexpr unsigned kFeatures = 7, kAmxTile = 1U << 24, kTiles = 0x1D;
  unsigned palettes = 0, b = 0, c = 0, features = 0;
  if (!__get_cpuid_count(kFeatures, 0, &palettes, &b, &c, &features)) return false;
  if ((features & kAmxTile) == 0) return false;
  // Fails where the CPU says that it has no such leaf.
  return !__get_cpuid_count(kTiles, 0, &palettes, &b, &c, &features) || palettes == 0;
#else
  return false;
#endif
}

}  // namespace feedrate::measure
