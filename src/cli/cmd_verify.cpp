#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/decode_check.h"
#include "cli/limit_options.h"
#include "cli/quantity.h"
#include "codec/any_picture.h"
#include "codec/codec.h"
#include "run/window.h"
#include "storage/gen_command.h"
#include "storage/image_folder.h"
#include "storage/listing.h"
#include "storage/no_folder.h"
#include "storage/own_folder.h"
#include "storage/tar_shards.h"
#include "storage/verify.h"

namespace feedrate::cli {
namespace {

struct VerifyOptions {
  std::string data;
  int threads = 2;
  bool quick = false;
  double stall_seconds = run::RunLimits{}.stall_seconds;
};

// verify looks for changes.
constexpr bool kRelist = true;

// The folder is what `run` without --data takes it for; of it, pictures of all formats are listed.
storage::DatasetVariant list_own_folder(const VerifyOptions& o, session::SupervisedCommand& command,
                                        session::SignsOfLife& signs) {
  const std::vector<std::string_view> endings = codec::picture_endings();
  const auto listing = [&](std::uint64_t) { signs.alive(); };
  const auto note = [&](const std::string& said) { command.say("feedrate: " + said); };
  const auto photos = codec::endings_of(codec::kAnyPicture);
  if (storage::look_at_own_folder(o.data, photos, listing).are_shards())
    return storage::list_tar_shards(o.data, endings, o.threads, listing, note, kRelist);
  try {
    return storage::list_image_folder(o.data, endings, o.threads, listing, note,
                                      {.relist = kRelist});
  } catch (const storage::OtherKinds& error) {
    // All formats are read here: there is no other --data.
    throw Error(o.data, error.reason(),
                "give the folder of the pictures; of other formats, convert them to JPEG or PNG");
  }
}

storage::VerifyResult check_files(const VerifyOptions& o, session::SupervisedCommand& command,
                                  session::SignsOfLife& signs, DecodeCheck& decode) {
  const auto progress = [&](std::uint64_t done, std::uint64_t all) {
    signs.go_on();
    command.show([&] {
      return format("%.0f of %.0f MB checked", static_cast<double>(done) / 1e6,
                    static_cast<double>(all) / 1e6);
    });
  };
  const auto waits_for = [&](const std::string& path) { signs.wait_for(path); };
  storage::MakeCheck make_check;
  if (!o.quick) make_check = [&] { return decode.make(); };
  if (!storage::is_image_folder(o.data, [&](std::uint64_t) { signs.alive(); }))
    return storage::verify_dataset(o.data, o.threads, progress, waits_for, make_check);
  storage::DatasetVariant own = list_own_folder(o, command, signs);
  if (const std::string note = storage::listing_note(own); !note.empty())
    command.say("feedrate: " + note);
  return storage::verify_own_folder(std::move(own), o.threads, progress, waits_for, make_check);
}

void print_verified(const VerifyOptions& o, session::SupervisedCommand& command,
                    const storage::VerifyResult& result, const DecodeCheck& decode) {
  for (const std::string& file : result.damaged) command.print("damaged: " + escaped(file) + "\n");
  for (const std::string& file : result.unreadable)
    command.print("unreadable: " + escaped(file) + "\n");
  for (const std::string& file : result.bad) command.print("bad: " + escaped(file) + "\n");
  command.print(format("%llu samples, %.1f MB, %zu damaged, %zu unreadable",
                       static_cast<unsigned long long>(result.files),
                       static_cast<double>(result.bytes) / 1e6, result.damaged.size(),
                       result.unreadable.size()));
  command.print(o.quick ? "\n" : format(", %zu bad\n", result.bad.size()));
  if (!o.quick) command.print("decoded: " + decode.decoded() + "\n" + decode.notes());
}

int verify(const VerifyOptions& o, session::SupervisedCommand& command) {
  const std::stop_callback at_once(command.stop_token(), [&] { command.leave(); });
  session::SignsOfLife& signs = command.watch(o.data, o.stall_seconds);
  storage::refuse_no_folder(o.data);
  std::error_code error;
  if (!std::filesystem::is_directory(o.data, error)) {
    refuse_unreadable(o.data, error);
    throw Error(o.data, "no such folder",
                "give the folder of a dataset, of pictures or of tar shards");
  }
  DecodeCheck decode;
  const storage::VerifyResult result = check_files(o, command, signs, decode);
  print_verified(o, command, result, decode);
  for (const std::string& repair : storage::repair_commands(o.data, result.damaged))
    command.print("to make them again: " + repair + "\n");
  if (!result.contents_xxh3.empty()) {
    command.print("checksum of all contents: " + result.contents_xxh3 +
                  " (a copy that has the same is the same)\n");
  }
  return result.is_sound() ? 0 : 1;
}

}  // namespace

CommandEntry add_verify(CLI::App& program) {
  const auto o = std::make_shared<VerifyOptions>();
  CLI::App* app = program.add_subcommand(
      "verify",
      "Check every file of a dataset against its checksum, and decode every picture, also of a "
      "folder of your own");
  app->add_option("DATA", o->data,
                  "folder that `feedrate gen` made, or one of your own pictures or tar shards")
      ->required();
  add_count(*app, "--threads", o->threads, 1, 1024, "number of reading threads");
  app->add_flag("--quick", o->quick, "only read the files, and decode none");
  add_stall_option(*app, o->stall_seconds);
  return {app,
          {},
          session::SupervisedBody{
              [o](session::SupervisedCommand& command) { return verify(*o, command); }, ""}};
}

}  // namespace feedrate::cli
