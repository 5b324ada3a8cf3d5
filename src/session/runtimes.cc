// SPDX-License-Identifier: Apache-2.0
#include "session/runtimes.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/eager.h"
#include "support/choices.h"
#include "support/units.h"

namespace steelyard {
namespace {

constexpr std::array kRuntimes{
    Choice{"eager", "PyTorch: each operator by itself, as the program calls them"},
    Choice{"graph", "a compiler's virtual machine: operators joined into kernels, in its order"}};

struct Schedule {
  Choice choice;
  KernelOrder order;
};
constexpr std::array kSchedules{
    Schedule{{"post-order", "what the first result needs, then the next"}, KernelOrder::kPostOrder},
    Schedule{{"memory", "what frees memory early, what takes it late"}, KernelOrder::kMemory}};

Error OverBudget(std::int64_t budget, std::int64_t bound) {
  return InvalidInput(
      fmt::format("no way was found to run it within {}", FormatLimit(budget)), "--budget",
      fmt::format("Its kernels need at least {} in any order.", FormatLimit(bound)));
}

}  // namespace

std::vector<Choice> Runtimes() { return {kRuntimes.begin(), kRuntimes.end()}; }

std::vector<Choice> Schedules() {
  std::vector<Choice> choices;
  choices.reserve(kSchedules.size());
  for (const Schedule& schedule : kSchedules) choices.push_back(schedule.choice);
  return choices;
}

Result<Timeline> RunAsChosen(const WeighOptions& options, Program* kernels,
                             std::optional<GraphRun>* graph) {
  if (options.budget && options.runtime != "graph") {
    return Unexpected(UsageError("only the graph runtime computes tensors again", "--budget",
                                 "Add --runtime graph."));
  }
  if (options.runtime == "eager" && options.schedule != kSchedules.front().choice.name) {
    return Unexpected(UsageError("only the graph runtime chooses an order of kernels", "--schedule",
                                 "Add --runtime graph."));
  }
  if (options.runtime == "eager") return RunEager(*kernels, options.target);
  if (options.runtime != "graph") {
    return Unexpected(NoSuch("runtime", options.runtime, NamesOf(Runtimes())));
  }
  for (const Schedule& schedule : kSchedules) {
    if (schedule.choice.name != options.schedule) continue;
    *graph =
        RunGraph(*kernels, options.target,
                 {.order = schedule.order, .budget = options.budget, .progress = options.progress});
    if (!(*graph)->fits) return Unexpected(OverBudget(*options.budget, (*graph)->bound));
    *kernels = std::move((*graph)->program);
    return std::move((*graph)->timeline);
  }
  return Unexpected(NoSuch("schedule", options.schedule, NamesOf(Schedules())));
}

}  // namespace steelyard
