#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "device/emulated.h"
#include "experiment/axes.h"

namespace feedrate {
namespace {

void print_axis(const Axis& axis) {
  std::printf("--%-15.*s %.*s [%.*s]\n", static_cast<int>(axis.name.size()), axis.name.data(),
              static_cast<int>(axis.help.size()), axis.help.data(), static_cast<int>(axis.fallback.size()), axis.fallback.data());
  for (const AxisChoice& choice : axis.choices) {
    std::printf("    %-16.*s %.*s\n", static_cast<int>(choice.value.size()), choice.value.data(),
                static_cast<int>(choice.help.size()), choice.help.data());
  }
}

void print_rates() {
  std::printf("\nemulated:NAME takes ResNet-50 training rates at 224x224, one GPU:\n");
  for (const PublishedRate& r : published_rates()) {
    std::printf("    %-16.*s %6.0f img/s  bus %2.0f GB/s  %.*s: %.*s\n", static_cast<int>(r.name.size()), r.name.data(), r.imgs_per_s,
                r.bus_bytes_per_s / 1e9, static_cast<int>(r.device.size()), r.device.data(), static_cast<int>(r.source.size()), r.source.data());
  }
}

}  // namespace

CommandEntry add_list(CLI::App& program) {
  const auto only = std::make_shared<std::string>();
  CLI::App* app = program.add_subcommand("list", "Every axis, with its values and what they mean");
  app->add_option("AXIS", *only, "this one only");
  return {app, [=] {
            if (!only->empty()) {
              print_axis(axis_named(*only));
              return 0;
            }
            for (const Axis& axis : axes()) print_axis(axis);
            print_rates();
            return 0;
          }};
}

}  // namespace feedrate
