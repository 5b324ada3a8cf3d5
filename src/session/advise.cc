// SPDX-License-Identifier: Apache-2.0
//
// Decides which changes are tried. What is not tried, because no flag means it: changes of the
// model itself.

#include "session/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/modules.h"
#include "analyze/work.h"
#include "session/analyses.h"
#include "session/fit.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

// Groups of repeated modules that are tried, those with most activations first.
constexpr std::size_t kMostGroups = 6;
// Micro-batches: halves, quarters, eighths.
constexpr std::array<std::int64_t, 3> kMicroSteps = {2, 4, 8};
// Optimizers that keep less than AdamW does.
constexpr std::array<std::string_view, 3> kLeaner = {"adamw8bit", "adafactor", "sgd"};
constexpr std::array<std::string_view, 2> kForms = {"fused", "foreach"};
constexpr std::size_t kMostLines = 10;
// A change is added to another for a hundredth of the peak or more.
constexpr std::int64_t kWorthwhile = 100;

// "encoder.layer.*.attention" of "encoder.layer.3.attention"; empty where no step is a number.
std::string PatternOf(std::string_view path) {
  std::string pattern;
  bool any = false;
  while (!path.empty()) {
    const std::string_view step = path.substr(0, path.find('.'));
    const bool number = step.find_first_not_of("0123456789") == std::string_view::npos;
    any |= number;
    pattern.append(pattern.empty() ? "" : ".").append(number ? "*" : step);
    path.remove_prefix(std::min(step.size() + 1, path.size()));
  }
  return any ? pattern : std::string();
}

// Modules whose paths differ by numbers alone.
struct Group {
  std::string pattern;
  std::string class_name;
  int modules = 0;
  std::int64_t activation_bytes = 0;
};

std::string_view LastStep(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::vector<Group> GroupsOf(const Weighing& weighing) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> by_pattern;
  for (const ModuleReport& report : weighing.analyses->modules) {
    const Module& module = weighing.kernels.modules[report.module];
    std::string pattern = PatternOf(weighing.kernels.text(module.path));
    if (pattern.empty() || report.calls == 0) continue;
    const auto [found, fresh] = by_pattern.try_emplace(pattern, groups.size());
    if (fresh) {
      const std::string_view name = weighing.kernels.text(module.class_name);
      groups.push_back({.pattern = std::move(pattern), .class_name = std::string(LastStep(name))});
    }
    Group& group = groups[found->second];
    ++group.modules;
    group.activation_bytes += report.activation_bytes;
  }
  std::erase_if(groups, [](const Group& group) { return group.modules < 2; });
  std::ranges::stable_sort(groups, std::greater(), &Group::activation_bytes);
  if (groups.size() > kMostGroups) groups.resize(kMostGroups);
  return groups;
}

void AddRecompute(const Weighing& weighing, std::vector<Change>* changes) {
  if (!weighing.options.train.recompute.empty()) return;
  for (const Group& group : GroupsOf(weighing)) {
    WeighOptions options = weighing.options;
    options.train.recompute = {group.pattern};
    changes->push_back({kRecompute, fmt::format("--recompute '{}'", group.pattern),
                        fmt::format("{} {} run again in the backward pass", group.modules,
                                    group.class_name.empty() ? "modules" : group.class_name),
                        std::move(options)});
  }
}

bool IsOn(const TrainOptions& train, std::string_view name) {
  return std::ranges::any_of(train.options,
                             [&](const OptimizerOption& option) { return option.name == name; });
}

bool IsForeach(const OptimizerOption& option) { return option.name == "foreach"; }

void AddOptimizers(const Weighing& weighing, std::vector<Change>* changes) {
  const TrainOptions& train = weighing.options.train;
  for (const std::string_view form : kForms) {
    if (IsOn(train, "fused") || IsOn(train, form)) continue;
    WeighOptions options = weighing.options;
    std::erase_if(options.train.options, IsForeach);
    options.train.options.push_back({std::string(form), "True"});
    changes->push_back({kForm, fmt::format("--{}", form),
                        fmt::format("the optimizer's {} form", form), std::move(options)});
  }
  if (IsOn(train, "foreach")) {
    WeighOptions options = weighing.options;
    std::erase_if(options.train.options, IsForeach);
    changes->push_back({kForm, "without --foreach", "the optimizer takes one tensor after another",
                        std::move(options)});
  }
  for (const std::string_view name : kLeaner) {
    if (train.optimizer == name) continue;
    WeighOptions options = weighing.options;
    options.train.optimizer = name;
    changes->push_back({kOptimizer, fmt::format("--train {}", name),
                        "another optimizer: it trains otherwise", std::move(options)});
  }
}

// The size that the inputs have in the dimension that is open as a batch; 0 where none is.
std::int64_t BatchOf(const Program& source, const Program& bound, const BindOptions& sizes) {
  if (!sizes.inputs.empty()) return 0;
  BindOptions open = sizes;
  open.batch.reset();
  const Result<OpenSize> found = FindOpenSize(source, open);
  if (!found || !found->batch || found->step != 1) return 0;
  for (std::size_t i = 0; i < source.inputs.size(); ++i) {
    const Value& value = source.values[source.inputs[i]];
    const bool has_batch = value.kind == ValueKind::kTensor && value.has_layout && value.rank >= 2;
    if (!has_batch || !source.size(source.inputs[i], 0).is_expression()) continue;
    return bound.sizes(bound.inputs[i])[0];
  }
  return 0;
}

void AddMicroBatches(const Program& source, const Weighing& weighing,
                     std::vector<Change>* changes) {
  const std::int64_t batch = BatchOf(source, weighing.imported, weighing.options.bind);
  for (const std::int64_t steps : kMicroSteps) {
    if (batch == 0 || batch % steps != 0) continue;
    WeighOptions options = weighing.options;
    options.fit.reset();
    options.bind.batch = batch / steps;
    options.train.accumulate *= static_cast<int>(steps);
    changes->push_back(
        {kBatch, fmt::format("--batch {} --accumulate {}", batch / steps, options.train.accumulate),
         fmt::format("{} micro-steps instead of {}", options.train.accumulate,
                     weighing.options.train.accumulate),
         std::move(options)});
  }
}

std::int64_t ExecutedFlops(const Weighing& weighing) {
  Count sum = 0;
  for (const NodeWork& work : weighing.analyses->work.by_phase) sum += work.flops_all;
  return sum.overflowed() ? INT64_MAX : sum.value();
}

// Both changes, which are of different kinds.
Change Together(const Change& first, const Change& second) {
  Change both{first.kinds | second.kinds, first.flags + " " + second.flags,
              first.words + "; " + second.words, first.options};
  TrainOptions& train = both.options.train;
  if ((second.kinds & kOptimizer) != 0) train.optimizer = second.options.train.optimizer;
  if ((second.kinds & kForm) != 0) {
    train.options = second.options.train.options;
    train.keep_gradients = second.options.train.keep_gradients;
  }
  if ((second.kinds & kBatch) != 0) {
    both.options.bind.batch = second.options.bind.batch;
    train.accumulate = second.options.train.accumulate;
  }
  return both;
}

class Adviser {
 public:
  Adviser(const Weighing& weighing, const WeighOptionsFn& weigh)
      : weigh_(weigh), peak_(weighing.totals.peak_bytes), flops_(ExecutedFlops(weighing)) {}

  void Try(const Change& change) {
    const Result<Weighing> weighing = weigh_(change.options);
    if (!weighing || weighing->totals.peak_bytes >= peak_) return;
    const std::int64_t flops = ExecutedFlops(*weighing);
    found_.push_back({change,
                      {.change = change.flags,
                       .words = change.words,
                       .peak = weighing->totals.peak_bytes,
                       .less = peak_ - weighing->totals.peak_bytes,
                       .extra_flops = flops - flops_,
                       .executed_flops = flops}});
  }

  // The change with the lowest peak that leaves optimizer and batch what they are; nothing if none
  // helps.
  std::optional<Change> Best() const {
    const Found* best = nullptr;
    for (const Found& found : found_) {
      if ((found.change.kinds & (kOptimizer | kBatch)) != 0) continue;
      if (best == nullptr || found.advice.peak < best->advice.peak) best = &found;
    }
    return best == nullptr ? std::nullopt : std::optional(best->change);
  }

  std::vector<Advice> Take() const {
    std::vector<Advice> out;
    for (const Found& found : found_) {
      const auto beats = [&](const Found& other) { return Beats(other, found); };
      if (std::ranges::none_of(found_, beats)) out.push_back(found.advice);
    }
    std::ranges::stable_sort(
        out, {}, [](const Advice& advice) { return std::tuple(advice.peak, advice.extra_flops); });
    if (out.size() > kMostLines) out.resize(kMostLines);
    return out;
  }

 private:
  struct Found {
    Change change;
    Advice advice;
  };

  // Of one change and a part of it, or of two of the same kind. Optimizers are not compared.
  static bool Beats(const Found& other, const Found& found) {
    const auto& [change, advice] = found;
    if ((other.change.kinds & change.kinds) != other.change.kinds) return false;
    const bool same_optimizer =
        other.change.options.train.optimizer == change.options.train.optimizer;
    if ((other.change.kinds & kOptimizer) != 0 && !same_optimizer) return false;
    const bool differs = other.change.kinds != change.kinds || other.advice.peak != advice.peak ||
                         other.advice.extra_flops != advice.extra_flops;
    const bool is_part = other.change.kinds != change.kinds;
    const std::int64_t margin = is_part ? advice.peak / kWorthwhile : 0;
    return differs && other.advice.peak <= advice.peak + margin &&
           other.advice.extra_flops <= advice.extra_flops;
  }

  const WeighOptionsFn& weigh_;
  std::int64_t peak_, flops_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<Change> ChangesOf(const Program& source, const Weighing& weighing) {
  std::vector<Change> changes;
  AddRecompute(weighing, &changes);
  AddOptimizers(weighing, &changes);
  AddMicroBatches(source, weighing, &changes);
  if (weighing.options.train.keep_gradients) {
    WeighOptions options = weighing.options;
    options.train.keep_gradients = false;
    changes.push_back(
        {kForm, "--zero-grad none", "gradients are dropped after the step", std::move(options)});
  }
  return changes;
}

std::vector<Advice> Advise(const Program& source, const Weighing& weighing,
                           const WeighOptionsFn& weigh) {
  const std::vector<Change> changes = ChangesOf(source, weighing);
  Adviser adviser(weighing, weigh);
  for (const Change& change : changes) adviser.Try(change);
  const auto of = [&](unsigned kinds) {
    return std::views::filter(changes, [=](const Change& change) { return change.kinds == kinds; });
  };
  // What lowers the peak of one phase may show only when another phase is lower, too.
  for (const Change& recompute : of(kRecompute)) {
    for (const Change& form : of(kForm)) adviser.Try(Together(recompute, form));
  }
  for (const Change& recompute : of(kRecompute) | std::views::take(1)) {
    for (const Change& optimizer : of(kOptimizer)) adviser.Try(Together(recompute, optimizer));
  }
  if (const std::optional<Change> best = adviser.Best()) {
    for (const Change& batch : of(kBatch)) adviser.Try(Together(*best, batch));
  }
  return adviser.Take();
}

}  // namespace steelyard
