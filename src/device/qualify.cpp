#include "device/qualify.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "device/step_option.h"
#include "measure/statistics.h"

namespace feedrate::device {
namespace {

constexpr double kTurnSeconds = 0.25;
constexpr int kPairs = 8, kLeastOfTurn = 3, kMostOfTurn = 50;

// From the plain step upwards. `lacks`: what stands in its way, if anything.
struct LadderRung {
  std::string_view axis, value;
  const char* (*lacks)(const StepOptions& with, const OpenStep& step) = nullptr;
};

const char* lacks_16_bits(const StepOptions&, const OpenStep& step) {
  return step.precision == "fp16" || step.precision == "bf16" ? nullptr : "is for 16 bits";
}
const char* lacks_fused_sgd(const StepOptions& with, const OpenStep& step) {
  return step.precision == "fp16" && with.optimizer == "loop" ? "needs --optimizer fused" : nullptr;
}
const char* lacks_nhwc(const StepOptions& with, const OpenStep&) {
  return with.channels_last ? nullptr : "needs --memory-format channels_last";
}
const char* lacks_a_gpu_or_nhwc(const StepOptions& with, const OpenStep& step) {
  return step.on_gpu ? lacks_nhwc(with, step) : "is for GPUs";
}

const char* lacks_what_fp16_needs(const StepOptions& with, const OpenStep& step) {
  if (step.precision != "bf16") return "is for GPUs that have bf16";
  return with.cuda_graph && with.optimizer == "loop" ? "needs --optimizer fused" : nullptr;
}
const char* lacks_graph(const StepOptions& with, const OpenStep&) {
  return with.cuda_graph ? nullptr : "needs --cuda-graph on";
}

constexpr LadderRung kRungs[] = {
    {"memory-format", "channels_last"},
    {"batch-norm", "library"},
    {"optimizer", "fused"},
    {"master-weights", "on", lacks_16_bits},
    {"cuda-graph", "on", lacks_fused_sgd},
    {"batch-norm", "fused", lacks_a_gpu_or_nhwc},
    {"stem", "space-to-depth", lacks_nhwc},
    {"graph-memsets", "kernels", lacks_graph},
    {"precision", "fp16", lacks_what_fp16_needs},
};

StepOptions with_rung(const LadderRung& rung, StepOptions options) {
  if (rung.axis == "precision") {
    options.trial_precision = rung.value;
  } else {
    step_option(rung.axis).set(options, rung.value);
  }
  return options;
}

// Both ways in turns, so that a clock that changes meanwhile changes both.
void time_pairs(StepTrials& trials, const StepOptions& below, const StepOptions& with, int batch,
                RungResult& result) {
  const double once = std::max(trials.seconds(below, batch, kLeastOfTurn),
                               trials.seconds(with, batch, kLeastOfTurn)) /
                      kLeastOfTurn;
  const int steps = std::clamp(static_cast<int>(kTurnSeconds / once), kLeastOfTurn, kMostOfTurn);
  std::vector<double> ratios, rates;
  for (int pair = 0; pair < kPairs; ++pair) {
    const bool below_first = pair % 2 == 0;
    const double first = trials.seconds(below_first ? below : with, batch, steps),
                 second = trials.seconds(below_first ? with : below, batch, steps);
    const double below_s = below_first ? first : second, with_s = below_first ? second : first;
    ratios.push_back(below_s / with_s);
    rates.push_back(batch * steps / with_s);
  }
  const measure::Estimate ratio = measure::estimate_of_rates(ratios);
  result.ratio = ratio.mean, result.low = ratio.ci95->low, result.high = ratio.ci95->high;
  result.imgs_per_s = measure::summarise(rates).median;
}

// Sets the verdict.
void judge(StepTrials& trials, const OpenStep& step, const StepOptions& below,
           const StepOptions& with, const StepError& plain, RungResult& result) {
  result.error = trials.error_of(with);
  result.reason = why_wrong(result.error, plain);
  time_pairs(trials, below, with, step.batch, result);
  if (const std::string why = why_wrong(plain, plain); !why.empty()) {
    result.verdict = "not judged";
    result.reason = "the plain step is no better: " + why +
                    (step.batch < kMostCompared ? "; use a larger batch" : "");
  } else {
    result.verdict = !result.reason.empty() ? "wrong" : result.low > 1 ? "taken" : "no faster";
  }
}

double rate_of(StepTrials& trials, const StepOptions& options, int batch) {
  const double once = trials.seconds(options, batch, kLeastOfTurn) / kLeastOfTurn;
  const int steps =
      std::clamp(static_cast<int>(4 * kTurnSeconds / once), kLeastOfTurn, kMostOfTurn);
  return batch * steps / trials.seconds(options, batch, steps);
}

}  // namespace

StepOptions plain_of(const OpenStep& step) {
  StepOptions plain = step.typed;
  const auto is_open = [&](const char* axis) { return step.open.contains(axis); };
  for (const StepOption& option : step_options())
    if (!option.plain.empty() && step.open.contains(std::string(option.axis)))
      option.set(plain, option.plain);
  // But for what the typed values need.
  if (is_open("memory-format"))
    plain.channels_last = plain.batch_norm == "fused" || plain.space_to_depth;
  if (is_open("optimizer") && plain.cuda_graph && step.precision == "fp16")
    plain.optimizer = "fused";
  return plain;
}

std::string why_wrong(const StepError& error, const StepError& plain) {
  constexpr double kLeastLoss = 1e-3, kLeastUpdate = 5e-3, kScale = 0.02, kTwice = 2;
  const auto too_much = [](const char* what, double is, double most) {
    return format("%s is %.2g away from fp64, %.2g is allowed", what, is, most);
  };
  // Beyond that it is noise, whatever the plain step's may be.
  constexpr double kMostUpdate = 0.9, kMostScale = 0.2;
  constexpr double kLeastOne = 0.05;
  const double one = std::min(kTwice * plain.one + kLeastOne, kMostUpdate),
               one_in_fp32 = std::min(kTwice * plain.one_in_fp32 + kLeastOne, kMostUpdate);
  const double loss = kTwice * plain.loss + kLeastLoss,
               update = std::min(kTwice * plain.update + kLeastUpdate, kMostUpdate),
               scale = std::min(std::abs(plain.scale) + kScale, kMostScale);
  // Not by "greater than", which holds for no NaN.
  if (!(error.loss <= loss)) return too_much("its loss", error.loss, loss);
  if (!(error.update <= update)) return too_much("its change of weights", error.update, update);
  if (!(std::abs(error.scale) <= scale))
    return too_much("the length of its change of weights", error.scale, scale);
  // Where rounding alone moves one as far as that, only fp32 tells.
  if (plain.one <= kMostUpdate && !(error.one <= one))
    return too_much("its change of one weight", error.one, one);
  if (!(error.one_in_fp32 <= one_in_fp32))
    return too_much("its change of one weight in fp32", error.one_in_fp32, one_in_fp32);
  return {};
}

Qualification qualify(StepTrials& trials, const OpenStep& step,
                      const std::vector<RungResult>& known, const QualifyNews& news) {
  Qualification found;
  StepOptions& current = found.chosen = plain_of(step);
  const StepError plain = found.plain = trials.error_of(current);
  // Each precision has rounding errors of its own.
  const auto plain_like = [&](const StepOptions& with) {
    if (with.trial_precision.empty()) return plain;
    StepOptions other = plain_of(step);
    other.trial_precision = with.trial_precision;
    if (other.cuda_graph) other.optimizer = "fused";
    return trials.error_of(other);
  };
  trials.seconds(current, step.batch, kLeastOfTurn);  // what does not fit is no rung's fault
  for (const LadderRung& rung : kRungs) {
    if (!step.open.contains(std::string(rung.axis))) continue;
    const StepOptions with = with_rung(rung, current);
    if (with == current) continue;  // a typed value needs it
    RungResult result{.axis = std::string(rung.axis), .value = std::string(rung.value)};
    const auto before = std::ranges::find_if(known, [&](const RungResult& one) {
      return one.axis == rung.axis && one.value == rung.value;
    });
    const char* const lacks = rung.lacks ? rung.lacks(with, step) : nullptr;
    if (before != known.end()) {
      result = *before;
    } else if (lacks) {
      result.verdict = "left out", result.reason = lacks;
    } else {
      if (news.begun) news.begun(result.axis, result.value);
      judge(trials, step, current, with, plain_like(with), result);
    }
    if (before == known.end() && news.ended) news.ended(result);
    if (result.is_taken()) current = with;
    found.rungs.push_back(std::move(result));
  }
  return found;
}

std::vector<BatchRate> rates_over_batches(StepTrials& trials, const StepOptions& options,
                                          int batch) {
  std::vector<BatchRate> rates;
  for (const int one : {batch / 4, batch / 2, batch, 2 * batch, 4 * batch}) {
    if (one < 1) continue;
    BatchRate rate{.batch = one};
    try {
      rate.imgs_per_s = rate_of(trials, options, one);
    } catch (const std::exception& error) {
      rate.reason = error.what();
    }
    rates.push_back(std::move(rate));
    if (one >= batch && !rates.back().reason.empty()) break;  // larger ones fit no better
  }
  return rates;
}

int largest_batch(StepTrials& trials, const StepOptions& options, int batch) {
  constexpr int kEighths[] = {8, 7, 6, 5};
  for (int whole = batch; whole >= 1; whole /= 2) {
    for (const int eighths : kEighths) {
      const int one = whole * eighths / 8;
      if (one < 1 || (eighths < 8 && whole < 16)) continue;
      try {
        trials.seconds(options, one, kLeastOfTurn);
        return one;
      } catch (const std::exception&) {
      }
    }
  }
  return 0;
}

}  // namespace feedrate::device
