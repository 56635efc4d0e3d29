#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "plan/settings.h"
#include "storage/dataset.h"
#include "storage/image_folder.h"
#include "storage/tar_shards.h"

namespace feedrate::run {

// What a cell reads cannot be opened, or not be read in the cell's way, or does not answer: one
// line that names the thing and the remedy. A sweep goes on with its other cells.
class UnreadableDataset : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The variants of a dataset that cells use, each opened once. Not thread-safe.
//
// A folder that `feedrate gen` has not made is taken as one of the user's own pictures, for cells
// whose `image-size` is "mixed": what it holds decides (storage/own_folder.h) whether it is one of
// pictures (storage/image_folder.h) or of tar shards (storage/tar_shards.h), which `container` has
// to say, too.
class Datasets {
 public:
  // `progress` is told while a folder of the user's own is listed, `note` what the user should know
  // of it. `part`, `listing_run`: see RunOptions.
  explicit Datasets(std::filesystem::path folder, std::size_t part = 0,
                    storage::ListProgress progress = {}, storage::ListNote note = {},
                    std::string listing_run = {})
      : folder_(std::move(folder)),
        part_(part),
        listing_run_(std::move(listing_run)),
        progress_(std::move(progress)),
        note_(std::move(note)) {}

  // From now on folders of the user's own are listed anew, those that were opened as well.
  void relist() {
    relists_ = true;
    variants_.clear();
    listed_.clear();
  }

  // What a cell reads; null for synthetic ones. Throws an Error naming what is missing.
  std::shared_ptr<const storage::DatasetVariant> of(const plan::CellSettings& settings);

  // The hash of a variant's manifest; nothing for one that no cell has used.
  std::optional<std::string> manifest_of(const std::string& variant) const;

  // Whether another process has seen that the storage answers, see probe_cell_data(). `io`: where
  // that was tried as well, else empty.
  bool is_looked_at(const std::string& variant, const std::string& io) const {
    return looked_at_.contains({variant, io});
  }
  void note_looked_at(const std::string& variant, const std::string& io) {
    looked_at_.emplace(variant, io);
  }

  // What check_cell() has found of a variant, read in a way. It is found once: storage that did not
  // answer is not waited for again, nor opened by a process that nobody watches.
  void note_unreadable(const std::string& variant, const std::string& way,
                       const std::string& error) {
    unreadable_.insert_or_assign({variant, way}, error);
  }
  void refuse_unreadable(const std::string& variant, const std::string& way) const {
    const auto found = unreadable_.find({variant, way});
    if (found != unreadable_.end()) throw UnreadableDataset(found->second);
  }

  // How another process listed a variant first, whose listing this one takes.
  void note_listed(const std::string& variant, storage::HowListed how) {
    listed_.try_emplace(variant, std::move(how));
  }
  // How a variant was listed: by that process, else by this one.
  storage::HowListed how_listed(const std::string& variant) const;

  // How many outputs the network needs: one for each class of the datasets that are open, the usual
  // number at least. A cell and its ceiling have the same, once the cell's dataset is open.
  int outputs() const;
  // Tells the user of that number where it is not the usual one; for a network that is trained.
  void tell_outputs();

  // What another process tells that lists the same folder. What this one would tell of its own
  // listing repeats it.
  void tell_progress(std::uint64_t files) const {
    if (progress_) progress_(files);
  }
  void tell_note(const std::string& note) {
    was_told_ = true;
    tell_once(note);
  }

 private:
  storage::DatasetVariant open(const plan::CellSettings& settings, const std::string& variant);
  storage::DatasetVariant open_own(const plan::CellSettings& settings);
  void tell_once(const std::string& note) {
    if (note_ && told_.insert(note).second) note_(note);
  }

  std::filesystem::path folder_;
  std::size_t part_;
  std::string listing_run_;
  bool relists_ = false, was_told_ = false;
  storage::ListProgress progress_;
  storage::ListNote note_;
  std::set<std::string> told_;                        // notes
  std::map<std::string, storage::HowListed> listed_;  // by other processes; by variant
  std::map<std::string, std::shared_ptr<const storage::DatasetVariant>> variants_;
  std::set<std::pair<std::string, std::string>> looked_at_;                // variant, io
  std::map<std::pair<std::string, std::string>, std::string> unreadable_;  // by variant, way
};

// Bytes of an encoded slot where the device decodes, enough for the dataset's largest file, or
// where nobody does, enough for nothing. 0 for all other cells.
std::size_t encoded_slot_of(const plan::CellSettings& settings,
                            const storage::DatasetVariant* dataset);

}  // namespace feedrate::run
