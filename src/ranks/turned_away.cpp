#include "ranks/turned_away.h"

namespace feedrate::ranks {
namespace {

constexpr std::size_t kMostTurnedAway = 16;

std::string counted(std::int64_t count) {
  return count == 1 ? "1 connection was turned away"
                    : std::to_string(count) + " connections were turned away";
}

}  // namespace

TurnedAway::TurnedAway(Say say) : say_(std::move(say)) {}

void TurnedAway::add(const std::string& from, const std::string& reason) {
  add(said_, from, reason);
}
void TurnedAway::add_without_proof(const std::string& from, const std::string& reason) {
  add(without_proof_, from, reason);
}

void TurnedAway::add(Said& said, const std::string& from, const std::string& reason) {
  ++count_;
  last_ = {from, reason};
  if (said.size() == kMostTurnedAway || !said.insert(last_).second || !say_) return;
  say_(from + ": turned away: it " + reason);
  if (said.size() == kMostTurnedAway) say_("from here on, others like this one are only counted");
}

void TurnedAway::close() {
  if (say_ && count_ > static_cast<std::int64_t>(said_.size() + without_proof_.size()))
    say_(counted(count_) + " while the ranks met");
}

std::string TurnedAway::summary() const {
  if (count_ == 0) return {};
  return counted(count_) + ", the last of " + last_.first + ", which " + last_.second;
}

}  // namespace feedrate::ranks
