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
  challenge,  // coordinator: what the rank must prove itself with (hello.h); the first
  hello,      // rank: who it is, and the proof
  welcome,    // coordinator: the answer to it, with the coordinator's own proof
  refused,    // coordinator: the other answer to it, and the last; one line
  clock,      // rank: asks for the time; coordinator: now_ns()
  beat,       // both: alive; empty
  task,       // coordinator: what to do next (JSON)
  meet,       // rank: it has come to a collective call (Call, then its value)
  met,        // coordinator: all have; the result
  progress,   // rank 0: what is seen of its run (JSON)
  result,     // rank: the task's result
  failed,     // rank: the task failed; one line
  abort,      // coordinator: another rank failed, or the run was interrupted
  end,        // coordinator: no more tasks
};
enum class Call : char {
  broadcast = 'b',  // rank 0's value for all; a text
  latest = 'l',     // the largest value; a moment on the coordinator's clock (int64)
  gather = 'g',     // all values, in the order of the ranks (int64)
};
inline constexpr std::size_t kMessageKinds = static_cast<std::size_t>(MessageKind::end) + 1;

// The longest body of a kind, in bytes; a longer one is not from a rank.
std::size_t longest(MessageKind kind);

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
// by several threads at once, receive() by one. What arrives is read as hostile: bytes that are
// no message end the connection, and the bytes kept of an incomplete message are bounded.
class Connection {
 public:
  enum class Trust {
    stranger,  // may send challenge, hello, welcome and refused alone; 68 KiB are kept at most
    rank,
  };
  explicit Connection(int descriptor, Trust trust = Trust::rank);
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) = delete;

  // The other end has proven itself.
  void trust() { trust_ = Trust::rank; }

  // False: the other end is gone, or has taken nothing for 5 s (of a result, or the reason why
  // there is none: 60 s), or the body is longer than longest(kind).
  bool send(MessageKind kind, std::string_view body = {});
  // The same at once: false as well if the stream has no room for all of it.
  bool send_now(MessageKind kind, std::string_view body);
  // A message of some KiB would not wait: the other end takes what it is sent.
  bool has_room() const;

  // The next whole message of those that have arrived. Reads what is there; waits for more only if
  // `wait`. Nothing: there is none yet, or (closed() then) the other end is gone, or sent what is
  // no message (fault() then).
  std::optional<Message> receive(bool wait);
  bool closed() const { return closed_; }
  // "a message of 3735928559 bytes"; empty: nothing wrong.
  const std::string& fault() const { return fault_; }
  // A part of a message has arrived, and the rest has not.
  bool has_part() const { return !arrived_.empty(); }

  int descriptor() const { return descriptor_; }
  // Ends both directions: a receive(true) that waits returns.
  void shut_down();

 private:
  bool write(MessageKind kind, std::string_view body, int flags);
  std::optional<Message> take();
  std::optional<Message> hang_up(std::string fault);

  int descriptor_;
  Trust trust_;
  bool closed_ = false;
  std::string fault_;
  std::string arrived_;  // not yet taken
  std::mutex sending_;
};

}  // namespace feedrate::ranks
