#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "device/published_rates.h"
#include "ledger/axes_file.h"
#include "plan/axes.h"

namespace feedrate::cli {
namespace {

void print_axis(const plan::Axis& axis) {
  std::printf("--%-15.*s %.*s [%.*s]\n", static_cast<int>(axis.name.size()), axis.name.data(),
              static_cast<int>(axis.help.size()), axis.help.data(),
              static_cast<int>(axis.fallback.size()), axis.fallback.data());
  for (const plan::AxisValue& value : axis.values) {
    std::printf("    %-16.*s %.*s\n", static_cast<int>(value.value.size()), value.value.data(),
                static_cast<int>(value.help.size()), value.help.data());
  }
}

void print_rates() {
  std::printf("\nemulated:NAME takes ResNet-50 training rates at 224x224, one GPU:\n");
  for (const device::PublishedRate& r : device::published_rates()) {
    std::printf("    %-16.*s %6.0f img/s  bus %2.0f GB/s  %.*s, %.*s: %.*s\n",
                static_cast<int>(r.name.size()), r.name.data(), r.imgs_per_s,
                r.bus_bytes_per_s / 1e9, static_cast<int>(r.device.size()), r.device.data(),
                static_cast<int>(r.whose.size()), r.whose.data(), static_cast<int>(r.source.size()),
                r.source.data());
  }
}

}  // namespace

CommandEntry add_list(CLI::App& program) {
  const auto only = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>();
  CLI::App* app = program.add_subcommand("list", "Every axis, with its values and what they mean");
  app->add_option("AXIS", *only, "show this axis only");
  app->add_flag("--json", *json,
                "the tables of axes and flags as JSON, as `sweep` keeps them beside a ledger");
  return {app, [=] {
            if (*json) {
              std::printf("%s\n", ledger::axes_json().dump(1).c_str());
              return 0;
            }
            if (!only->empty()) {
              print_axis(plan::axis_named(*only));
              return 0;
            }
            for (const plan::Axis& axis : plan::axes()) print_axis(axis);
            print_rates();
            return 0;
          }};
}

}  // namespace feedrate::cli
