#include "run/probe_cell_data.h"

#include <string>
#include <utility>

#include "run/cell_checks.h"
#include "run/wire.h"

namespace feedrate::run {

void probe_cell_data(const plan::Cell& cell, const plan::CellSettings& settings,
                     const RunOptions& options, ranks::RankProcesses& processes,
                     Datasets& datasets) {
  const std::string variant = settings.variant();
  if (variant.empty() || options.data.empty()) return;
  const bool reads = reads_first_sample(settings);
  if (!reads && datasets.manifest_of(variant)) return;  // is open here
  const std::string io = reads ? settings.io : "";
  if (datasets.is_looked_at(variant, io)) return;
  const ranks::TaskHooks hooks{.progress = [&](const std::string& text) {
    const ListingNews news = listing_news_from(text);
    if (news.listed_s > 0) {
      datasets.note_listed(variant, {news.listed_s, news.how});
    } else if (news.note.empty()) {
      datasets.tell_progress(news.files);
    } else if (!datasets.manifest_of(variant)) {  // else it was told when that was opened
      datasets.tell_note(news.note);
    }
  }};
  RankOrder order{.cell = cell, .options = options, .work = Work::probe_cell_data};
  // Once: what it finds is kept, and this process takes that.
  order.options.relist = options.relist && !datasets.manifest_of(variant);
  processes.run_aside(to_text(order), hooks, {});
  datasets.note_looked_at(variant, io);
}

void probe_dataset(const RunOptions& options, ranks::RankProcesses& processes) {
  const RankOrder order{.options = options, .work = Work::probe_dataset};
  processes.run_aside(to_text(order), {}, {});
}

bool copy_aside(const plan::Cell& cell, const RunOptions& options,
                const std::filesystem::path& folder, std::uint64_t most_bytes,
                ranks::RankProcesses& processes, std::stop_token stop) {
  const RankOrder order{.cell = cell,
                        .options = options,
                        .work = Work::copy,
                        .copy_to = folder,
                        .most_bytes = most_bytes};
  return processes.run_aside(to_text(order), {}, std::move(stop));
}

}  // namespace feedrate::run
