#pragma once
#include <string>

namespace feedrate::ranks {

// Streams over TCP. Descriptors are the caller's, close-on-exec.

struct Listener {
  int descriptor = -1;
  bool everywhere = false;  // at all addresses of this machine
};

// Listens on `port` (0: any that is free) of `host`'s address; of a name with several, the first
// that is neither the loopback's (as /etc/hosts often has for a machine's own name) nor of one link
// alone, IPv4 before IPv6. At all addresses of this machine where none will do: if the name has no
// other, or stands for another machine (a forwarder). Errors: Error naming host and port.
Listener listen_at(const std::string& host, int port);

// Connects, within two seconds; -1 if nobody listens there, or the host is unknown.
int connect_to(const std::string& host, int port);

// Makes small messages leave at once: the other end waits for them.
void send_at_once(int stream);

// "10.0.0.7", "fe80::1": the address of the other end of a stream.
std::string address_of_peer(int stream);

}  // namespace feedrate::ranks
