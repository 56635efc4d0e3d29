#pragma once
#include <string>

namespace feedrate::ranks {

// Streams over TCP. Descriptors are the caller's, close-on-exec.

inline constexpr const char* kAnyAddress = "*";

// Listens on `port` of `host`'s address, or of all addresses of this machine (kAnyAddress). Errors:
// Error naming host and port.
int listen_at(const std::string& host, int port);
// Connects, within two seconds; -1 if nobody listens there, or the host is unknown.
int connect_to(const std::string& host, int port);
// The next connection to a listener; -1 if there is none.
int accept_at(int listener);

}  // namespace feedrate::ranks
