#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "run/cell_runner.h"
#include "run/qualification.h"

namespace feedrate::run {

// What a process is told to do.
enum class Work {
  measure,          // one run of a cell
  probe_cell_data,  // see probe_cell_data(). The answer is of no ranks
  probe_dataset,    // see probe_dataset(); without a cell. The same answer
  copy,             // see copy_aside(). The same answer
  qualify           // tries ways of making a step, see run/qualification.h. The same answer
};

// What a rank that is a process of its own is told, and what it answers, as text (JSON). The two
// directions of each are each other's inverse; both ends are the same program. Texts are read as
// hostile: where one is no such text, or its depth, a number or a window makes no sense, reading it
// throws a std::exception that says why.
struct RankOrder {
  plan::Cell cell;
  RunOptions options;
  std::string manifest;  // of the dataset, as the coordinator has it; empty: none
  Work work = Work::measure;
  bool keeps_device = true;         // once measured, for the next run: see KeptDevice
  std::filesystem::path copy_to{};  // for `copy`: the folder of a storage::MemoryCopy
  std::uint64_t most_bytes = 0;     // that are copied
  // What `auto` stands for, and what is to be found out.
  std::string precision{};
  device::StepOptions step{};
  std::set<std::string> open_step{};
  QualifyOrder qualify{};

  plan::CellSettings settings() const;  // the cell's, with what `auto` stands for
};
std::string to_text(const RankOrder& order);
RankOrder order_from(const std::string& text);

std::string to_text(const RankAnswer& answer);
RankAnswer answer_from(const std::string& text);

std::string to_text(const RunProgress& progress);
RunProgress progress_from(const std::string& text);

// The progress of one that looks ahead, while it lists a folder of the user's own.
struct ListingNews {
  std::uint64_t files = 0;  // listed so far
  std::string note;         // instead: what the user should know of the folder; one line
  double listed_s = 0;      // instead: it is listed, see storage::HowListed
  std::string how{};
};
std::string to_text(const ListingNews& news);
ListingNews listing_news_from(const std::string& text);

// The progress of one that qualifies.
std::string to_text(const QualifyEvent& event);
QualifyEvent qualify_event_from(const std::string& text);

}  // namespace feedrate::run
