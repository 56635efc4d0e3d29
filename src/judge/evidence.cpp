#include "judge/evidence.h"

namespace feedrate::judge {
namespace {

// Over the rounds that know it; 0 where none does.
double mean_known(const Evidence& e, double RoundEvidence::* value) {
  double sum = 0;
  int known = 0;
  for (const RoundEvidence& round : e.rounds) {
    sum += round.*value;
    known += round.*value > 0 ? 1 : 0;
  }
  return known == 0 ? 0 : sum / known;
}

}  // namespace

double all_reduce_share(double least_sync_ms, double step_ms, double device_idle_fraction) {
  const double works_ms = step_ms * (1 - device_idle_fraction);
  return works_ms > 0 ? least_sync_ms / works_ms : 0;
}

LadderRung Evidence::own_rung() const {
  return settings.page_cache == "cold" ? LadderRung::cold : LadderRung::none;
}

std::vector<Round> Evidence::ladder() const {
  std::vector<Round> all;
  for (const RoundEvidence& round : rounds) all.push_back(round.rates);
  return all;
}

double Evidence::mean_step_cpu_s() const { return mean_known(*this, &RoundEvidence::step_cpu_s); }
double Evidence::mean_cpus_busy() const { return mean_known(*this, &RoundEvidence::cpus_busy); }
double Evidence::mean_open_share() const { return mean_known(*this, &RoundEvidence::open_share); }

double Evidence::mean_all_reduce_share() const {
  double sum = 0;
  for (const RoundEvidence& round : rounds) sum += round.all_reduce_share;
  return rounds.empty() ? 0 : sum / static_cast<double>(rounds.size());
}

std::vector<BlockPair> Evidence::pairs() const {
  std::vector<BlockPair> all;
  for (const RoundEvidence& round : rounds)
    all.insert(all.end(), round.pairs.begin(), round.pairs.end());
  return all;
}

measure::StageTotals Evidence::undelayed() const {
  measure::StageTotals stages;
  for (const RoundEvidence& round : rounds)
    if (round.undelayed) stages += *round.undelayed;
  return stages;
}

double Evidence::mean_rate(LadderRung rung) const {
  const auto rate = rate_of(ladder(), rung);
  return rate ? rate->mean : 0;
}

double Evidence::share_of_ceiling() const {
  const double ceiling = mean_rate(LadderRung::synthetic);
  return ceiling > 0 ? mean_rate(own_rung()) / ceiling : 0;
}

bool Evidence::is_at_ceiling() const {
  return share_of_ceiling() >= kAtCeiling && !is_impossible();
}
bool Evidence::is_impossible() const { return share_of_ceiling() > kImpossible; }

bool Evidence::reads_reach_storage() const {
  return settings.page_cache == "cold" || (!rounds.empty() && rounds.back().reads_reach_storage());
}

}  // namespace feedrate::judge
