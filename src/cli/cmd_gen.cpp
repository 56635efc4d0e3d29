#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/gen_options.h"
#include "data_gen/generate.h"
#include "measure/clock.h"
#include "text/progress.h"

namespace feedrate::cli {
namespace {

// Has the watch see what is read and written.
data_gen::StorageNews news_for(session::SignsOfLife& signs) {
  return {.waits_for = [&signs](const std::string& path) { signs.wait_for(path); },
          .syncs = [&signs](const std::string& folder) { signs.wait_for_disk(folder); }};
}

int generate(const GenOptions& asked, session::SupervisedCommand& command) {
  data_gen::GenerateOptions options = to_generate(asked);
  session::SignsOfLife& signs = command.watch(options.data.string(), asked.stall_seconds);
  options.news = news_for(signs);
  const std::int64_t start = measure::now_ns();
  const auto progress = [&](const data_gen::GenerateProgress& p) {
    signs.go_on();
    command.show([&] { return text::generate_progress(p, start); });
  };
  std::int64_t skipped = 0;
  options.on_skipped = [&](const std::string& picture, std::int64_t pictures) {
    command.say("feedrate: left out: " + picture);
    skipped += pictures;
  };
  const std::vector<data_gen::VariantSummary> made = data_gen::generate_dataset(
      options, progress, [stop = command.stop_token()] { return stop.stop_requested(); });
  for (const data_gen::VariantSummary& v : made) {
    const auto bytes = static_cast<double>(v.bytes);
    command.print(format("%-28s %8lld samples %10.1f MB  mean %8.0f bytes\n", v.variant.c_str(),
                         static_cast<long long>(v.files), bytes / 1e6,
                         v.files > 0 ? bytes / static_cast<double>(v.files) : 0));
  }
  if (skipped > 0) command.say(std::to_string(skipped) + " left out");
  command.say(format("made in %.1f s", measure::seconds(measure::now_ns() - start)));
  return 0;
}

}  // namespace

CommandEntry add_gen(CLI::App& program) {
  const auto options = std::make_shared<GenOptions>();
  CLI::App* app = program.add_subcommand(
      "gen", "Make a dataset: the same pictures in several formats and sizes");
  add_gen_options(*app, *options);
  return {app,
          {},
          session::SupervisedBody{
              [=](session::SupervisedCommand& command) { return generate(*options, command); },
              "; the same command goes on where it stopped"}};
}

}  // namespace feedrate::cli
