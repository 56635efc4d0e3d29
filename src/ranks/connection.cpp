#include "ranks/connection.h"

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
// A message: its body's length (4 bytes, this machine's order: ranks run one program), its kind,
// its body.
constexpr std::size_t kHeader = 5;
constexpr std::uint32_t kLongest = 1U << 30;

}  // namespace

Connection::Connection(int descriptor) : descriptor_(descriptor) {
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof kSendPatience);
}
Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}
Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      closed_(other.closed_),
      arrived_(std::move(other.arrived_)) {}

bool Connection::send(MessageKind kind, std::string_view body) {
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string frame(kHeader, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  frame[4] = static_cast<char>(kind);
  frame.append(body);
  const std::lock_guard lock(sending_);
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t n = ::send(descriptor_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
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
  const auto kind = static_cast<unsigned char>(arrived_[4]);
  if (length > kLongest ||
      kind > static_cast<unsigned char>(MessageKind::end)) {  // no rank of ours
    closed_ = true;
    arrived_.clear();
    return std::nullopt;
  }
  if (arrived_.size() < kHeader + length) return std::nullopt;
  Message message{static_cast<MessageKind>(kind), arrived_.substr(kHeader, length)};
  arrived_.erase(0, kHeader + length);
  return message;
}

void Connection::shut_down() { shutdown(descriptor_, SHUT_RDWR); }

}  // namespace feedrate::ranks
