#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::ranks {

// What ranks and their coordinator tell each other. The body of each is its own.
enum class MessageKind : std::uint8_t {
  hello,     // rank: who it is (JSON); the first
  welcome,   // coordinator: the answer to it (JSON)
  clock,     // rank: asks for the time; coordinator: now_ns()
  beat,      // both: alive; empty
  task,      // coordinator: what to do next (JSON)
  meet,      // rank: it has come to a collective call (operation, then value)
  met,       // coordinator: all have; the result
  progress,  // rank 0: what is seen of its run (JSON)
  result,    // rank: the task's result
  failed,    // rank: the task failed; one line
  abort,     // coordinator: another rank failed, or the run was interrupted
  end,       // coordinator: no more tasks
};

// A number as a body, and back; both ends run on alike machines.
template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <typename T>
T value_of(std::string_view body) {
  T value{};
  std::memcpy(&value, body.data(), std::min(sizeof value, body.size()));
  return value;
}

struct Message {
  MessageKind kind;
  std::string body;
};

// One end of a stream between a rank and its coordinator; owns the descriptor. send() may be called
// by several threads at once, receive() by one.
class Connection {
 public:
  explicit Connection(int descriptor);
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) = delete;

  // False: the other end is gone, or has taken nothing for kSendPatience.
  bool send(MessageKind kind, std::string_view body = {});

  // The next whole message of those that have arrived. Reads what is there; waits for more only if
  // `wait`. Nothing: there is none yet, or (closed() then) the other end is gone.
  std::optional<Message> receive(bool wait);
  bool closed() const { return closed_; }

  int descriptor() const { return descriptor_; }
  // Ends both directions: a receive(true) that waits returns.
  void shut_down();

 private:
  std::optional<Message> take();

  int descriptor_;
  bool closed_ = false;
  std::string arrived_;  // not yet taken
  std::mutex sending_;
};

}  // namespace feedrate::ranks
