#pragma once
#include <string>

namespace feedrate::ranks {

// Streams over TCP. Descriptors are the caller's, close-on-exec.

struct Listener {
  int descriptor = -1;
  bool everywhere = false;  // at all addresses of this machine
};

// Listens on `port` (0: any that is free) of `host`'s address. At all addresses of this machine
// where that would not do: if `host` stands for another machine (a forwarder), or is a name for the
// loopback (as /etc/hosts often has a machine's own name), which other machines cannot reach.
// Errors: Error naming host and port.
Listener listen_at(const std::string& host, int port);

// Connects, within two seconds; -1 if nobody listens there, or the host is unknown.
int connect_to(const std::string& host, int port);

// Makes small messages leave at once: the other end waits for them.
void send_at_once(int stream);

// "10.0.0.7", "fe80::1": the address of the other end of a stream.
std::string address_of_peer(int stream);

}  // namespace feedrate::ranks
