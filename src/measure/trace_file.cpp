#include "measure/trace_file.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_remedy.h"
#include "base/text.h"
#include "base/whole_file.h"

namespace feedrate::measure {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;
// Rows of a rank, as the file numbers them.
constexpr int kTraining = 0, kSteps = 1, kCopies = 2, kFirstWorker = 10, kFirstOperators = 1000;

// Appends to a file through a buffer. Errors: std::system_error.
class Output {
 public:
  explicit Output(const std::filesystem::path& path) : file_(path, O_WRONLY | O_CREAT | O_TRUNC) {
    buffer_.reserve(kBuffer + 4096);
  }
  Output& operator<<(std::string_view text) {
    buffer_ += text;
    return *this;
  }
  Output& operator<<(std::int64_t number) {
    char digits[24];
    buffer_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    return *this;
  }
  // Nanoseconds as microseconds with three decimals: exact.
  Output& micros(std::int64_t ns) {
    if (ns < 0) buffer_ += '-';
    const auto magnitude = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
    *this << static_cast<std::int64_t>(magnitude / 1000);
    const auto rest = static_cast<int>(magnitude % 1000);
    buffer_ += '.';
    for (const int digit : {rest / 100, rest / 10 % 10, rest % 10})
      buffer_ += static_cast<char>('0' + digit);
    return *this;
  }
  void quoted(std::string_view text) {
    buffer_ += '"';
    for (const char c : line_of_utf8(text, 200)) {
      if (c == '"' || c == '\\') buffer_ += '\\';
      buffer_ += c;
    }
    buffer_ += '"';
  }
  // Between two events.
  void flush_if_full() {
    if (buffer_.size() >= kBuffer) flush();
  }
  void close() {
    flush();
    file_.close();
  }

 private:
  void flush() {
    file_.write(std::as_bytes(std::span(buffer_)));
    buffer_.clear();
  }
  PosixFile file_;
  std::string buffer_;
};

// One after the other, and what lies within another one after it, as viewers want them.
std::vector<TraceEvent> in_order(const TraceLane& lane) {
  std::vector<TraceEvent> events = lane.events();
  std::ranges::stable_sort(
      events, {}, [](const TraceEvent& e) { return std::pair(e.start_ns, -e.duration_ns); });
  return events;
}

bool is_stage(TraceKind kind) { return kind <= TraceKind::collate; }

// The events of one rank.
class RankWriter {
 public:
  RankWriter(Output& out, const Trace& trace, std::int64_t from_ns, bool& is_first)
      : out_(out), trace_(trace), from_ns_(from_ns), is_first_(is_first) {}

  void write() {
    name_rows();
    row(kTraining, trace_.training());
    row(kSteps, trace_.steps());
    row(kCopies, trace_.copies());
    for (std::size_t w = 0; w < trace_.workers().size(); ++w)
      row(kFirstWorker + static_cast<int>(w), *trace_.workers()[w]);
    operators();
    queue();
    batches_ready();
    device_busy();
    for (const TraceMark& mark : trace_.marks()) {
      begin("i", mark.name, kSteps) << ",\"s\":\"p\"";
      end_at(mark.at_ns);
    }
  }

 private:
  void name_rows() {
    const std::string device = trace_.device().empty() ? "" : ": " + trace_.device();
    name("process_name", kTraining, "rank " + std::to_string(trace_.rank()) + device);
    name_row(kTraining, trace_.training());
    name_row(kSteps, trace_.steps());
    if (!trace_.copies().events().empty()) name_row(kCopies, trace_.copies());
    for (std::size_t w = 0; w < trace_.workers().size(); ++w)
      name_row(kFirstWorker + static_cast<int>(w), *trace_.workers()[w]);
  }
  void name_row(int tid, const TraceLane& lane) {
    name("thread_name", tid, lane.row());
    begin("M", "thread_sort_index", tid)
        << ",\"args\":{\"sort_index\":" << std::int64_t{tid} << "}}";
  }
  void name(std::string_view what, int tid, const std::string& name) {
    begin("M", what, tid) << ",\"args\":{\"name\":";
    out_.quoted(name);
    out_ << "}}";
  }

  void row(int tid, const TraceLane& lane) {
    std::int64_t step = 0;
    for (const TraceEvent& e : in_order(lane)) {
      begin("X", name_of(e.kind), tid) << ",\"ts\":";
      out_.micros(e.start_ns - from_ns_) << ",\"dur\":";
      out_.micros(e.duration_ns) << ",\"args\":{";
      if (e.kind == TraceKind::step) out_ << "\"step\":" << step++ << ",";
      if (is_stage(e.kind)) out_ << "\"sample\":" << e.index << ",";
      out_ << "\"batch\":" << (is_stage(e.kind) ? e.index / trace_.batch_size() : e.index) << "}}";
    }
  }

  // A row for each thread and each stream, in the order of their first ones, below the device's.
  // Streams have numbers; what tells threads apart means nothing to a reader.
  void operators() {
    std::map<std::pair<bool, std::int64_t>, int> rows;
    std::int64_t threads = 0;
    for (const TraceOperator& o : trace_.operators()) {
      const auto next = kFirstOperators + static_cast<int>(rows.size());
      const auto [row, is_new] = rows.try_emplace({o.on_device, o.row}, next);
      if (is_new) {
        name("thread_name", next,
             o.on_device ? "operators: stream " + std::to_string(o.row)
                         : "operators: thread " + std::to_string(++threads));
        begin("M", "thread_sort_index", next)
            << ",\"args\":{\"sort_index\":" << std::int64_t{kCopies} << "}}";
      }
      begin_named("X", o.name, row->second) << ",\"cat\":\"operator\",\"ts\":";
      out_.micros(o.start_ns - from_ns_) << ",\"dur\":";
      out_.micros(o.duration_ns) << ",\"args\":{}}";
    }
  }

  // Several batches wait at once, so they have no row: a viewer stacks such pairs.
  void queue() {
    for (const TraceEvent& e : in_order(trace_.queue())) {
      for (const auto& [phase, at_ns] :
           {std::pair{"b", e.start_ns}, std::pair{"e", e.start_ns + e.duration_ns}}) {
        begin(phase, name_of(e.kind), kTraining)
            << ",\"cat\":\"queue\",\"id2\":{\"local\":\"" << e.index
            << "\"},\"args\":{\"batch\":" << e.index << "}";
        end_at(at_ns);
      }
    }
  }

  void batches_ready() {
    std::vector<std::pair<std::int64_t, int>> changes;
    for (const TraceEvent& e : trace_.queue().events()) {
      changes.emplace_back(e.start_ns, 1);
      changes.emplace_back(e.start_ns + e.duration_ns, -1);
    }
    std::ranges::sort(changes);
    std::int64_t ready = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      ready += changes[i].second;
      const bool is_last = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
      if (is_last) counter("batches ready", "batches", changes[i].first, ready);
    }
  }

  // 1 while it works on a step, else 0.
  void device_busy() {
    const std::vector<TraceEvent>& steps = trace_.steps().events();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto end_of = [&](std::size_t s) { return steps[s].start_ns + steps[s].duration_ns; };
      if (i == 0 || steps[i].start_ns > end_of(i - 1))
        counter("device busy", "busy", steps[i].start_ns, 1);
      if (i + 1 == steps.size() || steps[i + 1].start_ns > end_of(i))
        counter("device busy", "busy", end_of(i), 0);
    }
  }
  void counter(std::string_view name, std::string_view what, std::int64_t at_ns,
               std::int64_t value) {
    begin("C", name, kTraining) << ",\"args\":{\"" << what << "\":" << value << "}";
    end_at(at_ns);
  }

  // What each event begins with. Names of our own need no quoting.
  Output& begin(std::string_view phase, std::string_view name, int tid) {
    begin_event(phase) << "\"" << name << "\"";
    return row_of(tid);
  }
  Output& begin_named(std::string_view phase, std::string_view name, int tid) {
    begin_event(phase).quoted(name);
    return row_of(tid);
  }
  Output& begin_event(std::string_view phase) {
    out_.flush_if_full();
    out_ << (std::exchange(is_first_, false) ? "\n" : ",\n");
    return out_ << "{\"ph\":\"" << phase << "\",\"name\":";
  }
  Output& row_of(int tid) {
    return out_ << ",\"pid\":" << std::int64_t{trace_.rank()} << ",\"tid\":" << std::int64_t{tid};
  }
  void end_at(std::int64_t at_ns) {
    out_ << ",\"ts\":";
    out_.micros(at_ns - from_ns_) << "}";
  }

  Output& out_;
  const Trace& trace_;
  const std::int64_t from_ns_;
  bool& is_first_;
};

// The rows that are not whole.
void write_left_out(Output& out, const Trace& trace, bool& is_first) {
  const auto add_row = [&](std::string_view row, std::int64_t left_out) {
    if (left_out == 0) return;
    out << (std::exchange(is_first, false) ? "" : ",");
    out << "{\"rank\":" << std::int64_t{trace.rank()} << ",\"row\":";
    out.quoted(row);
    out << ",\"events\":" << left_out << "}";
  };
  const auto add = [&](const TraceLane& lane) { add_row(lane.row(), lane.left_out()); };
  for (const TraceLane* lane : {&trace.training(), &trace.steps(), &trace.copies(), &trace.queue()})
    add(*lane);
  for (const auto& worker : trace.workers()) add(*worker);
  add_row("operators", trace.operators_left_out());
}

using Ranks = std::span<const std::shared_ptr<const Trace>>;

std::int64_t write_all(Output& out, Ranks ranks, std::int64_t from_ns) {
  std::int64_t left_out = 0, most = 0;
  bool is_first = true;
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  for (const auto& rank : ranks) {
    RankWriter(out, *rank, from_ns, is_first).write();
    left_out += rank->left_out();
    most = static_cast<std::int64_t>(rank->most_events());
  }
  out << "\n],\"otherData\":{\"program\":\"feedrate\",\"most_events_of_a_row\":" << most
      << ",\"left_out\":" << left_out << ",\"left_out_of_rows\":[";
  is_first = true;
  for (const auto& rank : ranks) write_left_out(out, *rank, is_first);
  out << "]}}\n";
  return left_out;
}

constexpr const char* kElsewhere = "name a file in a folder that can be written";

}  // namespace

std::int64_t write_trace_file(const std::filesystem::path& file, Ranks ranks,
                              std::int64_t from_ns) {
  const std::filesystem::path partial = file.string() + ".partial";
  try {
    Output out(partial);
    const std::int64_t left_out = write_all(out, ranks, from_ns);
    out.close();
    std::filesystem::rename(partial, file);
    return left_out;
  } catch (const std::system_error& error) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw Error(file.string(), "cannot be written: " + error.code().message(),
                remedy_of_writing(error.code().value(), kElsewhere));
  }
}

}  // namespace feedrate::measure
