#include "judge/patterns/series.h"

#include <algorithm>
#include <cmath>

namespace feedrate::judge {

double squares_around(Series x, double middle) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [=](double sum, double v) { return sum + (v - middle) * (v - middle); });
}

std::vector<double> logs_of(Series x) {
  const double least = mean_of(x) / 100;
  std::vector<double> logs;
  for (const double v : x) logs.push_back(std::log(std::max(v, least)));
  return logs;
}

double neighbour_correlation(Series x) {
  std::vector<double> off;
  for (std::size_t third = 0; third < 3; ++third) {
    const std::size_t from = third * x.size() / 3, to = (third + 1) * x.size() / 3;
    const double level = mean_of(x.subspan(from, to - from));
    for (std::size_t i = from; i < to; ++i) off.push_back(x[i] - level);
  }
  double products = 0;
  for (std::size_t i = 1; i < off.size(); ++i) products += off[i] * off[i - 1];
  const double squares = squares_around(off, 0);
  return squares > 0 ? products / squares : 0;
}

}  // namespace feedrate::judge
