#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/dataset.h"

namespace feedrate::storage {

// What `feedrate gen` takes where nothing is typed; codec::EncodeOptions has the rest.
inline constexpr std::int64_t kUsualCount = 2048;
inline constexpr int kUsualClasses = 100;

// The command that makes a variant in the dataset `data`, or packs it again. `made`, as in
// DatasetVariant, adds the options in which the dataset differs from what `gen` takes by itself:
// without them it would be refused. Empty: nothing is known.
std::string gen_command(const std::filesystem::path& data, std::string_view variant,
                        const std::map<std::string, std::string>& made = {});
// For a variant that was opened, which says itself how it was made.
std::string gen_command(const DatasetVariant& variant);

// The commands that make the damaged files of `data` again, one for each variant: `damaged` is as
// in VerifyResult. Containers are packed anew, once they are removed. None where `gen` did not make
// the dataset.
std::set<std::string> repair_commands(const std::filesystem::path& data,
                                      const std::vector<std::string>& damaged);

}  // namespace feedrate::storage
