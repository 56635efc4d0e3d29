#include "ranks/tcp.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace feedrate::ranks {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Empty if the host is unknown; `problem` says why.
Addresses addresses_of(const std::string& host, int port, std::string& problem) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const bool any = host == kAnyAddress;
  if (any) hints.ai_flags = AI_PASSIVE;
  const int failed =
      getaddrinfo(any ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) problem = gai_strerror(failed);
  return {failed == 0 ? found : nullptr, freeaddrinfo};
}

// Sends small messages at once: the other end waits for them.
int prompt(int stream) {
  const int on = 1;
  setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return stream;
}

}  // namespace

int listen_at(const std::string& host, int port) {
  std::string problem;
  const Addresses addresses = addresses_of(host, port, problem);
  // IPv6 first: a listener on all addresses of IPv6 also accepts IPv4.
  for (const int family : {AF_INET6, AF_INET}) {
    for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
      if (a->ai_family != family) continue;
      const int listener =
          socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
      const int on = 1, off = 0;
      if (listener < 0) continue;
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
      if (family == AF_INET6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      if (bind(listener, a->ai_addr, a->ai_addrlen) == 0 && listen(listener, SOMAXCONN) == 0)
        return listener;
      problem = std::strerror(errno);
      close(listener);
    }
  }
  throw Error(host + ":" + std::to_string(port),
              "rank 0 cannot wait there for the others: " + problem,
              "set MASTER_PORT to a free port, MASTER_ADDR to rank 0's machine");
}

int connect_to(const std::string& host, int port) {
  std::string problem;
  const Addresses addresses = addresses_of(host, port, problem);
  for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
    const int stream =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
    if (stream < 0) continue;
    pollfd wanted{.fd = stream, .events = POLLOUT, .revents = 0};
    int failed = 0;
    socklen_t length = sizeof failed;
    const bool begun = connect(stream, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS;
    if (begun && poll(&wanted, 1, 2000) == 1 &&
        getsockopt(stream, SOL_SOCKET, SO_ERROR, &failed, &length) == 0 && failed == 0) {
      fcntl(stream, F_SETFL, fcntl(stream, F_GETFL) & ~O_NONBLOCK);
      return prompt(stream);
    }
    close(stream);
  }
  return -1;
}

int accept_at(int listener) {
  const int stream = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  return stream < 0 ? -1 : prompt(stream);
}

}  // namespace feedrate::ranks
