#include "benchmarks/micro/micro.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "data_gen/generate.h"

namespace feedrate::micro {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "feedrate-micro-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::system_error(errno, std::system_category(), pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

const data_gen::Picture& Material::picture(codec::PixelSize size) {
  const std::string name = codec::to_string(size);
  if (!pictures_.contains(name)) pictures_[name] = data_gen::synthesise_picture(1, size);
  return pictures_[name];
}

const std::filesystem::path& Material::data() {
  if (!folder_) {
    auto folder = std::make_unique<TemporaryFolder>();
    data_gen::GenerateOptions options{
        .data = folder->path(),
        .formats = {"tensor"},
        .containers = {"tar"},
        .image_sizes = {kStoredSizes.begin(), kStoredSizes.end()},
        .input_sizes = {kInput},
        .tensor_dtypes = {codec::Dtype::uint8, codec::Dtype::fp16, codec::Dtype::fp32},
        .count = 16,
        .classes = 4};
    for (const codec::Format& format : codec::picture_formats())
      options.formats.emplace_back(format.name);
    data_gen::generate_dataset(options, {}, {});
    folder_ = std::move(folder);
  }
  return folder_->path();
}

void set_rates(benchmark::State& state, std::int64_t items, std::int64_t bytes) {
  const auto iterations = static_cast<std::int64_t>(state.iterations());
  state.SetItemsProcessed(iterations * items);
  if (bytes > 0) state.SetBytesProcessed(iterations * bytes);
}

}  // namespace feedrate::micro
