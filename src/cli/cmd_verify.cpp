#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file_remedy.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "codec/codec.h"
#include "measure/clock.h"
#include "storage/image_folder.h"
#include "storage/tar_shards.h"
#include "storage/verify.h"

namespace feedrate::cli {
namespace {

// What a folder of the user's own may hold.
std::vector<std::string_view> picture_endings() {
  std::vector<std::string_view> endings;
  for (const codec::Format& format : codec::picture_formats()) {
    endings.push_back(format.extension);
    if (!format.other_extension.empty()) endings.push_back(format.other_extension);
  }
  return endings;
}

storage::DatasetVariant list_own_folder(const std::string& data, int threads) {
  const std::vector<std::string_view> endings = picture_endings();
  if (!storage::holds_tar_shards(data) || storage::holds_class_pictures(data, endings))
    return storage::list_image_folder(data, endings, threads);
  return storage::list_tar_shards(data, endings, threads, {}, [](const std::string& note) {
    std::fprintf(stderr, "feedrate: %s\n", note.c_str());
  });
}

int verify(const std::string& data, int threads) {
  std::error_code error;
  if (!std::filesystem::is_directory(data, error)) {
    refuse_unreadable(data, error);
    throw Error(data, std::filesystem::exists(data, error) ? "is no folder" : "no such folder",
                "give the folder of a dataset, of pictures or of tar shards");
  }
  ProgressLine line;
  std::int64_t shown = 0;
  const auto progress = [&](std::uint64_t done, std::uint64_t all) {
    if (measure::now_ns() - shown < 100'000'000) return;
    shown = measure::now_ns();
    char text[80];
    std::snprintf(text, sizeof text, "%.0f of %.0f MB checked", static_cast<double>(done) / 1e6,
                  static_cast<double>(all) / 1e6);
    line.show(text);
  };
  const storage::VerifyResult result =
      storage::is_image_folder(data)
          ? storage::verify_own_folder(list_own_folder(data, threads), threads, progress)
          : storage::verify_dataset(data, threads, progress);
  line.clear();
  for (const std::string& file : result.damaged) std::printf("damaged: %s\n", file.c_str());
  for (const std::string& file : result.unreadable) std::printf("unreadable: %s\n", file.c_str());
  std::printf("%llu samples, %.1f MB, %zu damaged, %zu unreadable\n",
              static_cast<unsigned long long>(result.files),
              static_cast<double>(result.bytes) / 1e6, result.damaged.size(),
              result.unreadable.size());
  if (!result.contents_xxh3.empty()) {
    std::printf("checksum of all contents: %s (a copy that has the same is the same)\n",
                result.contents_xxh3.c_str());
  }
  return result.is_sound() ? 0 : 1;
}

}  // namespace

CommandEntry add_verify(CLI::App& program) {
  const auto data = std::make_shared<std::string>();
  const auto threads = std::make_shared<int>(2);
  CLI::App* app = program.add_subcommand(
      "verify", "Check every file of a dataset against its checksum; read a folder of your own");
  app->add_option("DATA", *data,
                  "folder that `feedrate gen` made, or one of your own pictures or tar shards")
      ->required();
  app->add_option("--threads", *threads, "number of reading threads")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  return {app, [=] { return verify(*data, *threads); }};
}

}  // namespace feedrate::cli
