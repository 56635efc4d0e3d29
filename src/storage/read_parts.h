#pragma once
#include <cstddef>
#include <span>

#include "storage/placed_files.h"

namespace feedrate::storage {

// Reads a sample from its open file to `head` and `tail`, by one system call where the kernel gives
// all at once. Throws an Error naming the sample and the place, also if it has another length than
// head and tail together.
void read_parts(PlacedFiles& files, const SampleFile& sample, int file, std::span<std::byte> head,
                std::span<std::byte> tail);

}  // namespace feedrate::storage
