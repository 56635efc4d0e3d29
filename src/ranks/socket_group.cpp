#include "ranks/socket_group.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/periodic.h"
#include "ranks/tcp.h"

namespace feedrate::ranks {
namespace {

// Nobody else can say why: the coordinator is gone, and what it may still say is of other ranks.
[[noreturn]] void end_as_orphan(int rank, const std::string& host, const char* why) {
  std::fprintf(stderr, "feedrate: rank %d: rank 0 at %s %s; this rank ends\n", rank, host.c_str(),
               why);
  _exit(kExitOrphaned);
}

std::string_view cut(std::string_view reason) {
  return reason.substr(0, longest(MessageKind::failed));
}

}  // namespace

SocketGroup::SocketGroup(Connection connection, int rank, int size, std::string host_of_first,
                         int local_rank, std::int64_t ahead_ns, std::int64_t silence_ns)
    : connection_(std::move(connection)),
      rank_(rank),
      size_(size),
      local_rank_(local_rank),
      host_of_first_(std::move(host_of_first)),
      ahead_ns_(ahead_ns),
      silence_ns_(silence_ns),
      heard_ns_(measure::now_ns()),
      looked_ns_(heard_ns_),
      listener_([this] { attend(); }),
      heart_(measure::every(kBeatNs, [this] { beat(); })) {}

SocketGroup::~SocketGroup() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  heart_.request_stop();
  connection_.shut_down();
}

int SocketGroup::listen() const { return listen_at(host_of_first_, 0).descriptor; }

void SocketGroup::attend() {
  while (auto message = connection_.receive(/*wait=*/true)) {
    // First, so that who is woken from a call finds that it was told to stop.
    if (message->kind == MessageKind::abort) stop_task();
    std::string hopeless;
    {
      const std::lock_guard lock(mutex_);
      if (message->kind == MessageKind::task) hopeless = hopeless_;
      if (!hear(std::move(*message)))
        end_as_orphan(rank_, host_of_first_, "sent what no rank 0 sends");
    }
    // Sending may take long, and others wait for the lock.
    if (!hopeless.empty()) connection_.send(MessageKind::failed, cut(hopeless));
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  if (leaving_ || (ended_ && !busy_)) return;
  if (ended_) _exit(kExitOrphaned);  // its library may wait for other ranks for ever
  end_as_orphan(rank_, host_of_first_, "is gone");
}

void SocketGroup::stop_task() {
  std::unique_lock lock(mutex_);
  std::stop_source task = stop_;
  lock.unlock();
  task.request_stop();  // whose callbacks come back here
}

bool SocketGroup::hear(Message message) {
  heard_ns_ = measure::now_ns();
  if (!hopeless_.empty() && message.kind == MessageKind::end) _exit(kExitOrphaned);
  switch (message.kind) {
    case MessageKind::task:
      aborted_ = false;  // of the task before
      stop_ = std::stop_source();
      task_ = std::move(message.body);
      break;
    case MessageKind::met:
      met_ = std::move(message.body);
      break;
    case MessageKind::abort:
      aborted_ = true;
      break;
    case MessageKind::end:
      ended_ = true;
      break;
    case MessageKind::beat:
      break;
    default:
      return false;
  }
  return true;
}

void SocketGroup::beat() {
  connection_.send(MessageKind::beat);
  const std::lock_guard lock(mutex_);
  const std::int64_t now = measure::now_ns();
  // If this process was stopped itself (Ctrl-Z), it has yet to read what was sent meanwhile.
  if (now - looked_ns_ > 4 * kBeatNs) heard_ns_ = now;
  looked_ns_ = now;
  if (now - heard_ns_ > silence_ns_)
    end_as_orphan(rank_, host_of_first_, "gives no sign of life: stopped, or out of reach");
}

std::string SocketGroup::meet(Call call, std::string_view value) {
  connection_.send(MessageKind::meet, std::string(1, static_cast<char>(call)).append(value));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return aborted_ || met_; });
  if (!met_) throw Error("ranks", "interrupted");
  std::string result = std::move(*met_);
  met_.reset();
  return result;
}

std::optional<std::string> SocketGroup::next_task() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || task_; });
  std::optional<std::string> task = std::move(task_);
  task_.reset();
  busy_ = task.has_value();
  return task;
}

void SocketGroup::answer(MessageKind kind, const std::string& body) {
  {
    const std::lock_guard lock(mutex_);
    busy_ = false;  // before the answer is out: the coordinator may end at once when it has it
  }
  // An answer that is lost is waited for without end.
  if (!connection_.send(kind, body)) connection_.shut_down();
}

void SocketGroup::finish(const std::string& result) {
  if (result.size() > longest(MessageKind::result))
    return fail("the result is too long to be sent (" + std::to_string(result.size()) +
                " bytes); measure for a shorter time");
  answer(MessageKind::result, result);
}

void SocketGroup::fail(const std::string& reason) {
  answer(MessageKind::failed, std::string(cut(reason)));
}

void SocketGroup::give_up(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!hopeless_.empty()) return;
    hopeless_ = reason;
  }
  connection_.send(MessageKind::failed, cut(reason));
}

std::jthread SocketGroup::give_up_when(std::function<std::string()> trouble) {
  constexpr std::int64_t kLookNs = 250'000'000;
  return measure::every(kLookNs, [this, trouble = std::move(trouble)] {
    if (const std::string reason = trouble(); !reason.empty()) give_up(reason);
  });
}

std::stop_token SocketGroup::stop_token() {
  const std::lock_guard lock(mutex_);
  return stop_.get_token();
}

std::int64_t SocketGroup::all_reduce_latest(std::int64_t ns) {
  const std::string latest = meet(Call::latest, bytes_of(ns + ahead_ns_));
  if (latest.size() != sizeof ns) throw Error("rank 0", "answered a call with no number");
  return value_of<std::int64_t>(latest) - ahead_ns_;
}
std::vector<std::int64_t> SocketGroup::all_gather(std::int64_t number) {
  const std::string bytes = meet(Call::gather, bytes_of(number));
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
  if (bytes.size() != all.size() * sizeof number)
    throw Error("rank 0", "answered a call with another count of numbers");
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}
std::string SocketGroup::broadcast(const std::string& text) {
  return meet(Call::broadcast, rank_ == 0 ? text : "");
}
void SocketGroup::barrier() { broadcast(""); }

void SocketGroup::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
}

}  // namespace feedrate::ranks
