#pragma once
#include <sys/types.h>

#include <optional>

namespace feedrate::ranks {

// Streams within this machine, by Unix sockets with abstract names (unix(7)): one for each user and
// number, which vanish with the process. The kernel says who is at the other end. Descriptors are
// the caller's, close-on-exec.

// Errors: Error naming the number that is taken.
int listen_locally(int number);
// -1: nobody listens there.
int connect_locally(int number);

struct Peer {
  pid_t pid = 0;
  uid_t user = 0;
};
// Who is at the other end; nothing if the kernel does not say.
std::optional<Peer> peer_of(int stream);

}  // namespace feedrate::ranks
