#include "ranks/local_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/error.h"

namespace feedrate::ranks {
namespace {

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Address address_of(int number) {
  const std::string text =
      "feedrate-ranks-" + std::to_string(geteuid()) + "-" + std::to_string(number);
  Address address;
  address.name.sun_family = AF_UNIX;
  text.copy(address.name.sun_path + 1, sizeof address.name.sun_path - 1);  // after a zero: abstract
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return address;
}

// " (pid 4711 of user 1000 has it)"
std::string holder_of(int number) {
  const int stream = connect_locally(number);
  if (stream < 0) return {};
  const auto peer = peer_of(stream);
  close(stream);
  if (!peer) return {};
  return " (pid " + std::to_string(peer->pid) + " of user " + std::to_string(peer->user) +
         " has it)";
}

}  // namespace

int listen_locally(int number) {
  const Address address = address_of(number);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener >= 0 && bind(listener, address.get(), address.length) == 0 &&
      listen(listener, SOMAXCONN) == 0)
    return listener;
  const int problem = errno;
  if (listener >= 0) close(listener);
  throw Error("port " + std::to_string(number),
              std::string("rank 0 cannot wait there for the others: ") + std::strerror(problem) +
                  holder_of(number),
              "set MASTER_PORT to another one");
}

int connect_locally(int number) {
  const Address address = address_of(number);
  const int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  constexpr timeval kPatience{.tv_sec = 2, .tv_usec = 0};  // where many wait to be let in
  setsockopt(stream, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (stream >= 0 && connect(stream, address.get(), address.length) == 0) return stream;
  if (stream >= 0) close(stream);
  return -1;
}

std::optional<Peer> peer_of(int stream) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(stream, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
  return Peer{credentials.pid, credentials.uid};
}

}  // namespace feedrate::ranks
