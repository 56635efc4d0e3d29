#include "run/failure.h"

#include <exception>
#include <new>
#include <system_error>

#include "base/text.h"

namespace feedrate::run {

std::string failure_text() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "memory: exhausted; use a smaller --batch-size, fewer --workers, or --cache none";
  } catch (const std::system_error& error) {
    return std::string("threads: ") + error.what() + "; use fewer --workers or --gpus";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string stall_text(const std::string& path, const std::string& what, double seconds,
                       double most) {
  if (seconds <= most) return "";
  return format("%s: stalled: %s for %.1f s; look at the storage, or raise --stall-seconds",
                escaped(path).c_str(), what.c_str(), seconds);
}

}  // namespace feedrate::run
