#include "ranks/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace feedrate::ranks {
namespace {

constexpr timeval kSendPatience{.tv_sec = 5, .tv_usec = 0};
// How often so long. What a rank was asked for is worth more: a coordinator whose terminal is held
// (Ctrl-S) reads on later.
constexpr int patience_of(MessageKind kind) {
  return kind == MessageKind::result || kind == MessageKind::failed ? 12 : 1;
}
// A message: its body's length (4 bytes, this machine's order: ranks run one program), its kind,
// its body.
constexpr std::size_t kHeader = 5;
constexpr std::size_t kRoomKept = 1 << 20;  // bytes

constexpr bool is_greeting(MessageKind kind) { return kind <= MessageKind::refused; }

}  // namespace

std::size_t longest(MessageKind kind) {
  constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
  switch (kind) {
    case MessageKind::challenge:
    case MessageKind::hello:
    case MessageKind::welcome:
    case MessageKind::refused:
      return 4 * kKiB;
    case MessageKind::clock:
      return sizeof(std::int64_t);
    case MessageKind::task:
      return 16 * kMiB;
    case MessageKind::meet:
      return 4 * kKiB;
    case MessageKind::met:
    case MessageKind::progress:
    case MessageKind::failed:
      return 64 * kKiB;
    case MessageKind::result:
      return 512 * kMiB;  // a step of a rank takes up to 100 bytes
    case MessageKind::beat:
    case MessageKind::abort:
    case MessageKind::end:
      return 0;
  }
  return 0;
}

Connection::Connection(int descriptor, Trust trust) : descriptor_(descriptor), trust_(trust) {
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof kSendPatience);
}
Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}
Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      trust_(other.trust_),
      closed_(other.closed_),
      fault_(std::move(other.fault_)),
      arrived_(std::move(other.arrived_)) {}

bool Connection::send(MessageKind kind, std::string_view body) { return write(kind, body, 0); }
bool Connection::send_now(MessageKind kind, std::string_view body) {
  return write(kind, body, MSG_DONTWAIT);
}

bool Connection::has_room() const {
  pollfd stream{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  return poll(&stream, 1, 0) > 0;
}

bool Connection::write(MessageKind kind, std::string_view body, int flags) {
  if (body.size() > longest(kind)) return false;
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string frame(kHeader, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  frame[4] = static_cast<char>(kind);
  frame.append(body);
  const std::lock_guard lock(sending_);
  int patience = patience_of(kind);
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t n =
        ::send(descriptor_, frame.data() + sent, frame.size() - sent, flags | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && flags == 0 && --patience > 0) continue;
    if (n <= 0) {
      if (sent > 0) shut_down();  // the next message would be read as the rest of this one
      return false;
    }
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<Message> Connection::receive(bool wait) {
  std::array<char, 65536> buffer;
  while (true) {
    if (auto message = take()) return message;
    if (closed_) return std::nullopt;
    const ssize_t n = recv(descriptor_, buffer.data(), buffer.size(), wait ? 0 : MSG_DONTWAIT);
    if (n > 0) {
      arrived_.append(buffer.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      closed_ = true;
    } else if (!wait && errno != EINTR) {
      return std::nullopt;
    }
  }
}

std::optional<Message> Connection::take() {
  if (arrived_.size() < kHeader) return std::nullopt;
  std::uint32_t length = 0;
  std::memcpy(&length, arrived_.data(), sizeof length);
  const auto number = static_cast<unsigned char>(arrived_[4]);
  const auto kind = static_cast<MessageKind>(number);
  const bool known = number < kMessageKinds;
  // A stranger must not choose the words that the user reads.
  if (trust_ == Trust::stranger && (!known || !is_greeting(kind) || length > longest(kind)))
    return hang_up("no greeting");
  if (!known) return hang_up("a message of unknown kind");
  if (length > longest(kind)) {
    return hang_up("a message of " + std::to_string(length) + " bytes where " +
                   std::to_string(longest(kind)) + " are the most");
  }
  if (arrived_.size() < kHeader + length) return std::nullopt;
  Message message{kind, arrived_.substr(kHeader, length)};
  arrived_.erase(0, kHeader + length);
  if (length > kRoomKept) arrived_.shrink_to_fit();
  return message;
}

std::optional<Message> Connection::hang_up(std::string fault) {
  fault_ = std::move(fault);
  closed_ = true;
  arrived_ = {};
  return std::nullopt;
}

void Connection::shut_down() { shutdown(descriptor_, SHUT_RDWR); }

}  // namespace feedrate::ranks
