#include "storage/variant_name.h"

namespace feedrate::storage {
namespace {

// What lies behind the mark leaves the text, and the mark with it.
std::string cut_behind(std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {};
  std::string behind = text.substr(at + 1);
  text.resize(at);
  return behind;
}

std::string before(char mark, const std::string& part) { return part.empty() ? "" : mark + part; }

}  // namespace

std::string VariantName::text() const {
  return format + before('-', dtype) + before('.', container) + before('/', size) +
         before('-', detail);
}

VariantName variant_name_from(std::string_view text) {
  VariantName name{.format = std::string(text)};
  name.size = cut_behind(name.format, '/');
  name.detail = cut_behind(name.size, '-');
  name.container = cut_behind(name.format, '.');
  name.dtype = cut_behind(name.format, '-');
  return name;
}

}  // namespace feedrate::storage
