#pragma once
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/diagnosis.h"
#include "measure/statistics.h"

namespace feedrate::judge {

// What something could deliver, images/s, and what is known of it.
struct RateLimit {
  double mean = std::numeric_limits<double>::infinity();
  std::optional<measure::Interval> may_be = measure::Interval{mean, mean};  // nothing: not known
  std::string name;  // "the workers"; empty: it is no limit of its own

  RateLimit times(double factor, const std::string& by) const;
};
RateLimit cap_of(const std::optional<measure::Estimate>& rate, const std::string& name);

// What the resources of a diagnosed cell could deliver, and with a remedy. `evidence`, of one round
// at least, and `diagnosis` outlive it.
class Caps {
 public:
  Caps(const Evidence& evidence, const Diagnosis& diagnosis);

  const RateLimit& now() const { return now_; }        // what the cell reaches
  const RateLimit& device() const { return device_; }  // what the devices could take
  const RateLimit& cpus() const { return cpus_; }      // what the CPUs have time for
  std::optional<measure::Estimate> rung(LadderRung rung) const { return rate_of(ladder_, rung); }

  // Whether the verdict names that resource.
  bool binds(std::string_view resource) const;

  // Of one sample in one worker.
  double wall_ms(std::string_view stage) const { return part_of(d_.service, stage); }
  double cpu_ms(std::string_view stage) const { return part_of(d_.cpu, stage); }

  // The CPUs, if the loaders computed `loader_cpu_ms` for an image.
  RateLimit cpus_if(double loader_cpu_ms) const;
  // `workers` (of all GPUs) alone, if a sample took `ms` of one of them.
  RateLimit workers(double workers, double ms) const;
  // The storage, if so many times the bytes were read for a sample. Where it does not limit yet,
  // only its lower end is known: what it has shown that it serves.
  RateLimit storage(double bytes = 1) const;
  // The workers, if they became so many times as fast; or so many times the reads in flight, where
  // these bind and not the workers.
  RateLimit scaled(double factor) const;
  // The same, if a sample took `ms` of one worker; no limit where they do not bind.
  RateLimit workers_if_they_bind(double ms) const;

 private:
  static double part_of(const ServiceTimes& times, std::string_view stage);
  RateLimit device_cap() const;
  // Of the factor by which workers become faster, in what the whole then gains.
  struct Exponent {
    double likely = 1, low = 0;
  };
  Exponent exponent() const;
  bool is_of_reads() const;  // reads in flight bind, and not the workers
  RateLimit with_margin(double mean, double low, double high, const std::string& name) const;

  const Evidence& e_;
  const Diagnosis& d_;
  const std::vector<Round> ladder_;
  const RateLimit now_, device_, cpus_;
};

}  // namespace feedrate::judge
