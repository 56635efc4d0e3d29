#include "ledger/seal.h"

#include "base/xxh3.h"
#include "ledger/record_json.h"

namespace feedrate::ledger {
namespace {

constexpr std::string_view kPrevious = "previous_xxh3", kOwn = "record_xxh3";

// The start of the record's own checksum field. The checksum covers the text before it.
std::string own_field() { return ",\"" + std::string(kOwn) + "\":\""; }

}  // namespace

std::string line_xxh3(std::string_view line) { return line.empty() ? "" : to_hex(xxh3_of(line)); }

void seal(nlohmann::ordered_json& record, const std::string& previous_xxh3) {
  record.erase(std::string(kPrevious));
  record.erase(std::string(kOwn));
  record[std::string(kPrevious)] = previous_xxh3;
  std::string text = to_line(record);
  text.pop_back();  // the brace
  record[std::string(kOwn)] = line_xxh3(text);
}

std::string seal_problem(std::string_view line, const std::string& previous_xxh3) {
  const std::string field = own_field();
  const std::size_t at = line.rfind(field);
  if (at == std::string_view::npos) return "it carries no checksum";
  if (line.substr(at + field.size()) != line_xxh3(line.substr(0, at)) + "\"}")
    return "its checksum is not that of its text: it was changed after it was written";
  const std::string before = ",\"" + std::string(kPrevious) + "\":\"" + previous_xxh3 + "\"";
  if (!line.substr(0, at).ends_with(before))
    return "the line before it is not the one that it was written after: lines were taken out, "
           "moved, repeated or changed";
  return "";
}

}  // namespace feedrate::ledger
