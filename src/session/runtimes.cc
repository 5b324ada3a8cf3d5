// SPDX-License-Identifier: Apache-2.0
//
// Runtimes and orders of kernels are rows, and what only a compiler can do is refused by asking the
// row, not by its name. The compiled program takes the place of the kernels that it was made of,
// and a budget that it cannot keep to is an error.

#include "session/runtimes.h"

#include <fmt/core.h>

#include <algorithm>
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

Result<Timeline> RunEagerly(const WeighOptions& options, Program* kernels,
                            std::optional<GraphRun>*) {
  const bool is_first = options.train.first_step;
  return RunEager(*kernels, options.target,
                  is_first ? LibraryMemory::kNotYet : LibraryMemory::kThere);
}

Result<Timeline> RunCompiled(const WeighOptions& options, Program* kernels,
                             std::optional<GraphRun>* graph) {
  const auto name = [](const Schedule& schedule) { return schedule.choice.name; };
  const auto* schedule = std::ranges::find(kSchedules, options.schedule, name);
  if (schedule == kSchedules.end()) {
    return Unexpected(NoSuch("schedule", options.schedule, NamesOf(Schedules())));
  }
  *graph =
      RunGraph(*kernels, options.target,
               {.order = schedule->order, .budget = options.budget, .progress = options.progress});
  if (!(*graph)->fits) return Unexpected(OverBudget(*options.budget, (*graph)->bound));
  *kernels = std::move((*graph)->program);
  return std::move((*graph)->timeline);
}

constexpr std::array kRuntimes{
    Runtime{.choice = {"eager", "PyTorch: each operator by itself, as the program calls them"},
            .title = "Eager PyTorch",
            .compiles = false,
            .run = RunEagerly},
    Runtime{.choice = {"graph",
                       "a compiler's virtual machine: operators joined into kernels, in its order"},
            .title = "A compiled graph",
            .compiles = true,
            .run = RunCompiled}};

// A usage error, with what is asked of a compiler.
Error NeedsCompiler(std::string_view what, std::string_view flag) {
  const auto* compiler = std::ranges::find(kRuntimes, true, &Runtime::compiles);
  return UsageError(fmt::format("only the {} runtime {}", compiler->choice.name, what),
                    std::string(flag), fmt::format("Add --runtime {}.", compiler->choice.name));
}

template <class Rows>
std::vector<Choice> ChoicesOf(const Rows& rows) {
  std::vector<Choice> choices;
  choices.reserve(rows.size());
  for (const auto& row : rows) choices.push_back(row.choice);
  return choices;
}

}  // namespace

std::vector<Choice> Runtimes() { return ChoicesOf(kRuntimes); }

std::vector<Choice> Schedules() { return ChoicesOf(kSchedules); }

const Runtime* FindRuntime(std::string_view name) {
  const auto* row = std::ranges::find(kRuntimes, name,
                                      [](const Runtime& runtime) { return runtime.choice.name; });
  return row == kRuntimes.end() ? nullptr : row;
}

Result<Timeline> RunAsChosen(const WeighOptions& options, Program* kernels,
                             std::optional<GraphRun>* graph) {
  const Runtime* runtime = FindRuntime(options.runtime);
  if (runtime == nullptr) {
    return Unexpected(NoSuch("runtime", options.runtime, NamesOf(Runtimes())));
  }
  if (runtime->compiles && ZeroStage(options.train.parallel) > 0) {
    return Unexpected(Unsupported("DeepSpeed's engine is not modelled around a compiled graph",
                                  "--runtime, --parallel", "Leave --runtime away."));
  }
  if (runtime->compiles && Shards(options.train.parallel)) {
    return Unexpected(
        Unsupported("parameters that are gathered are not modelled in a compiled graph",
                    "--runtime, --parallel", "Leave --runtime away."));
  }
  if (runtime->compiles && SharesLayers(options.train.parallel)) {
    return Unexpected(
        Unsupported("layers that processes share are not modelled in a compiled graph",
                    "--runtime, --parallel", "Leave --runtime away."));
  }
  if (options.budget && !runtime->compiles) {
    return Unexpected(NeedsCompiler("computes tensors again", "--budget"));
  }
  if (options.schedule != kSchedules.front().choice.name && !runtime->compiles) {
    return Unexpected(NeedsCompiler("chooses an order of kernels", "--schedule"));
  }
  return runtime->run(options, kernels, graph);
}

}  // namespace steelyard
