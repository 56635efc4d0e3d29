#pragma once
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"

// What to do about a file that the system does not read or write: by the system's reason, an errno.
// What the file was meant for says nothing about a broken disk. Thread-safe.
namespace feedrate {

// What lets such a file be read; empty where the reason is about the file itself (it is missing, it
// is a folder), or not known here.
std::string_view cure_of_reading(int error);

// The remedy for a file that could not be written: "free some space, or choose another folder".
// `more`, which goes with every reason, stands alone where none is known here.
std::string remedy_of_writing(int error, std::string_view more, std::string_view joint = ", or ");

// A file that the system does not give, for a reason that is not the file's own: whether it is
// damaged is unknown.
class UnreadableError : public Error {
 public:
  using Error::Error;
};

// Throws the Error of a file that could not be read: an UnreadableError with the cure, if there is
// one, else an Error with the remedy `otherwise`. `reason` says what `error` is.
[[noreturn]] void refuse_reading(std::string_view thing, std::string_view reason, int error,
                                 std::string_view otherwise);

// Throws the UnreadableError of a file that the system does not give. Does nothing where the reason
// is the file's own, as that it is not there, or where there is no error.
void refuse_unreadable(std::string_view thing, const std::error_code& error);

}  // namespace feedrate
