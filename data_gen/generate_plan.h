#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data_gen/generate.h"
#include "data_gen/generate_folder.h"
#include "data_gen/generate_source.h"
#include "storage/container.h"
#include "storage/manifest.h"

namespace feedrate::data_gen {

// One variant that was asked for, and what there is of it.
struct PlannedVariant {
  std::string name;                       // "jpeg/500x375"
  const codec::Format* format = nullptr;  // null: a tensor of `dtype`
  codec::Dtype dtype = codec::Dtype::uint8;
  codec::PixelSize size;  // kMixedSize: each picture's own
  PictureKind made_from;  // the pictures whose decoded JPEG pixels go into it
  std::vector<storage::SampleFile>
      known;                 // by index, from the manifest of a variant that was complete
  std::int64_t missing = 0;  // files that are not there, or not of their known size
};

// A variant in a container, packed from its files.
struct PlannedPack {
  std::string name;  // "jpeg.hdf5/500x375"
  std::string from;  // "jpeg/500x375"
  const storage::Container* container = nullptr;
  bool missing = true;
};

// What `feedrate gen` is going to do, checked before any of it is done.
struct GeneratePlan {
  std::filesystem::path data;
  codec::EncodeOptions encode;
  std::int64_t bytes_per_sample = 0;  // see GenerateOptions
  std::unique_ptr<PictureSource> source;
  storage::DatasetRecord record;         // as read from dataset.json, or new
  std::vector<PlannedVariant> variants;  // in the order in which they were asked for
  std::vector<PlannedPack> packs;
  // Manifests of the complete JPEG variants, by the name of their pictures: their files' pixels are
  // the dataset's.
  std::map<std::string, std::vector<storage::SampleFile>> jpegs;
  StorageNews news;
};

// Checks the options and finds the pictures; touches nothing in the dataset's folder.
// Errors: UsageError for options that make no sense; feedrate::Error for a `from` without pictures.
GeneratePlan begin_plan(const GenerateOptions& options, const PictureCheck& check);

// Looks at what lies in the folder already. Errors: feedrate::Error when it is a dataset that was
// made with other options, or when what lies there cannot be read; UsageError where it holds
// pictures or shards of the user's own, which a dataset beside them would hide from `run`.
void survey_folder(GeneratePlan& plan, const GenerateOptions& options);

// A variant's pixels of sample `index`.
codec::PixelSize sample_size(const PictureSource& source, std::int64_t index,
                             codec::PixelSize size);
// The sample's path in a variant's folder without its extension, "class_007/000123".
std::string sample_stem(const PictureSource& source, std::int64_t index);
std::string sample_path(const PictureSource& source, std::int64_t index,
                        const PlannedVariant& variant);
std::string_view extension_of(const PlannedVariant& variant);

}  // namespace feedrate::data_gen
