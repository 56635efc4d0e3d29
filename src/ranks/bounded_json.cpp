#include "ranks/bounded_json.h"

#include <stdexcept>

namespace feedrate::ranks {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 16;  // deeper than any text of ours
// Of a part (a value, a key, an end), on average: "{}," has two in three bytes, a step of a result
// six in forty.
constexpr std::size_t kFewestBytes = 3;
constexpr std::size_t kSmallText = 100'000;

// Counts the parts of a text, and makes nothing of them.
class Counter : public nlohmann::json_sax<Json> {
 public:
  explicit Counter(std::size_t bytes) : most_((bytes + kSmallText) / kFewestBytes) {}
  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(std::int64_t) override { return count(); }
  bool number_unsigned(std::uint64_t) override { return count(); }
  bool number_float(double, const std::string&) override { return count(); }
  bool string(std::string&) override { return count(); }
  bool binary(Json::binary_t&) override { return count(); }
  bool key(std::string&) override { return count(); }
  bool start_object(std::size_t) override { return begin(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception&) override {
    throw std::invalid_argument("it is no JSON from byte " + std::to_string(at) + " on");
  }

 private:
  bool count() {
    if (++parts_ > most_) throw std::invalid_argument("it has far too many values");
    return true;
  }
  bool begin() {
    if (++depth_ > kDeepest) throw std::invalid_argument("its values are nested too deeply");
    return count();
  }
  bool end() {
    --depth_;
    return count();
  }

  const std::size_t most_;
  std::size_t parts_ = 0;
  int depth_ = 0;
};

}  // namespace

Json json_from(const std::string& text) {
  Counter counter(text.size());
  Json::sax_parse(text, &counter);
  return Json::parse(text);
}

}  // namespace feedrate::ranks
