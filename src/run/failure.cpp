#include "run/failure.h"

#include <exception>
#include <new>
#include <system_error>

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

}  // namespace feedrate::run
