#include "ranks/tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace feedrate::ranks {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Of all this machine's addresses if `host` is null. Empty if the host is unknown; `problem` says
// why.
Addresses addresses_of(const char* host, int port, int flags, std::string& problem) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  const int failed = getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) problem = gai_strerror(failed);
  return {failed == 0 ? found : nullptr, freeaddrinfo};
}

// Whether other machines can reach it; an address of one link needs the link's name as well.
bool is_global(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    const auto& name = *reinterpret_cast<const sockaddr_in*>(address.ai_addr);
    return ntohl(name.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET;
  }
  if (address.ai_family != AF_INET6) return false;
  const in6_addr& name = reinterpret_cast<const sockaddr_in6*>(address.ai_addr)->sin6_addr;
  return !IN6_IS_ADDR_LOOPBACK(&name) && !IN6_IS_ADDR_LINKLOCAL(&name);
}

// An address, not a name; localhost is meant as it says.
bool is_literal(const std::string& host) {
  std::string ignored;
  return host == "localhost" || addresses_of(host.c_str(), 0, AI_NUMERICHOST, ignored);
}

// -1: errno says why.
int listen_on(const addrinfo& address) {
  const int listener = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  const int on = 1, off = 0;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // A listener on all addresses of IPv6 also accepts IPv4.
  if (address.ai_family == AF_INET6)
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(listener, address.ai_addr, address.ai_addrlen) == 0 && listen(listener, SOMAXCONN) == 0)
    return listener;
  const int reason = errno;
  close(listener);
  errno = reason;
  return -1;
}

// On the first that can be had; -1: none, and errno is EADDRNOTAVAIL if none is this machine's.
int listen_on_first(const Addresses& addresses, std::initializer_list<int> families,
                    bool global_only) {
  int reason = EADDRNOTAVAIL;
  for (const int family : families) {
    for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
      if (a->ai_family != family || (global_only && !is_global(*a))) continue;
      if (const int listener = listen_on(*a); listener >= 0) return listener;
      if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) reason = errno;
    }
  }
  errno = reason;
  return -1;
}

}  // namespace

Listener listen_at(const std::string& host, int port) {
  std::string problem;
  if (const Addresses named = addresses_of(host.c_str(), port, 0, problem)) {
    int listener = listen_on_first(named, {AF_INET, AF_INET6}, !is_literal(host));
    if (listener >= 0) return {listener, false};
    problem = std::strerror(errno);
    if (errno == EADDRNOTAVAIL) {
      listener = listen_on_first(addresses_of(nullptr, port, AI_PASSIVE, problem),
                                 {AF_INET6, AF_INET}, false);
      if (listener >= 0) return {listener, true};
      problem = std::strerror(errno);
    }
  }
  throw Error(host + ":" + std::to_string(port),
              "rank 0 cannot wait there for the others: " + problem,
              "set MASTER_PORT to a free port, MASTER_ADDR to rank 0's machine");
}

int connect_to(const std::string& host, int port) {
  std::string problem;
  const Addresses addresses = addresses_of(host.c_str(), port, 0, problem);
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
      send_at_once(stream);
      return stream;
    }
    close(stream);
  }
  return -1;
}

void send_at_once(int stream) {
  const int on = 1;
  setsockopt(stream, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string address_of_peer(int stream) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN] = {};
  if (getpeername(stream, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, text, sizeof text, nullptr,
                  0, NI_NUMERICHOST) != 0)
    return "an unknown address";
  constexpr std::string_view kMapped = "::ffff:";  // IPv4, on a listener of IPv6
  const std::string_view shown(text);
  return std::string(shown.starts_with(kMapped) ? shown.substr(kMapped.size()) : shown);
}

}  // namespace feedrate::ranks
