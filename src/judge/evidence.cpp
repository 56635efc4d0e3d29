#include "judge/evidence.h"

#include <algorithm>
#include <cmath>

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

bool Evidence::is_noise(LadderRung rung) const {
  const double its = mean_rate(rung), own = mean_rate(own_rung());
  if (its <= 0 || own <= kImpossible * its) return false;
  const auto lost = loss_between(ladder(), rung, own_rung(), images_per_step());
  const bool is_told = !lost || !lost->imgs_per_s.ci95 || lost->imgs_per_s.ci95->high < 0;
  switch (rung) {
    case LadderRung::device:
    case LadderRung::host:
    case LadderRung::sample:
    case LadderRung::decoded:
    case LadderRung::encoded:
      // What they keep of many sizes may be larger than the mean, and a cell that throws away what
      // it reads makes no batch of it.
      return is_told && !settings.mixed_sizes && !settings.raw_read;
    case LadderRung::none:
      return is_told && settings.page_cache == "cold";
    case LadderRung::cpus:  // its mean counts, in what the CPUs could deliver
      return servers.workers <=
             settings.gpus * std::max(1.0, std::floor(servers.cpus / settings.gpus));
    default:  // is_impossible() says it of the ceiling; the others may be slower
      return false;
  }
}

std::vector<Round> Evidence::sound_ladder() const {
  std::vector<Round> all = ladder();
  for (Round& round : all)
    std::erase_if(round, [this](const auto& rung) { return is_noise(rung.first); });
  return all;
}

double Evidence::images_per_step() const {
  return static_cast<double>(settings.batch_size) * settings.gpus;
}

int Evidence::batch_of_blocks() const {
  return static_cast<int>(std::lround(servers.images_per_step / settings.gpus));
}

double Evidence::mean_step_cpu_s() const { return mean_known(*this, &RoundEvidence::step_cpu_s); }
double Evidence::mean_cpus_busy() const { return mean_known(*this, &RoundEvidence::cpus_busy); }
double Evidence::mean_open_share() const { return mean_known(*this, &RoundEvidence::open_share); }

bool Evidence::is_stopped_by_quota() const {
  constexpr double kMost = 0.5;
  return mean_known(*this, &RoundEvidence::cpu_quota_stopped) >= kMost;
}

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
