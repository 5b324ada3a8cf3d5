// SPDX-License-Identifier: Apache-2.0
//
// Decides which changes are tried, alone and together. Which of them can be made at all is what the
// passes say: a change that they refuse is no advice.

#include "session/advise.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/modules.h"
#include "analyze/work.h"
#include "ops/op_def.h"
#include "session/analyses.h"
#include "session/fit.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

// Groups of repeated modules that are tried, those with most activations first.
constexpr std::size_t kMostGroups = 6;
// Micro-batches: halves, quarters, eighths.
constexpr std::array<std::int64_t, 3> kMicroSteps = {2, 4, 8};
constexpr std::string_view kFused = "fused", kForeach = "foreach";
// Chunks of tokens whose loss is computed apart.
constexpr std::array<int, 2> kLossChunks = {4, 16};
// Lines of one change, and of several together.
constexpr int kMostAlone = 8, kMostTogether = 8;
// A change is added to another for a hundredth of the peak or more; a thousandth of the step's work
// is no more work.
constexpr std::int64_t kWorthwhile = 100;
constexpr std::int64_t kNoticed = 1000;

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
    const std::string_view name = LastStep(weighing.kernels.text(module.class_name));
    if (group.class_name != name) group.class_name.clear();  // they are of several
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

void AddInPlace(const Weighing& weighing, std::vector<Change>* changes) {
  if (!weighing.options.train.inplace.empty()) return;
  WeighOptions options = weighing.options;
  options.train.inplace = {"*"};
  changes->push_back({kInPlace, "--inplace '*'",
                      "activations overwrite what they are given, where autograd lets them",
                      std::move(options)});
}

void AddFusedLoss(const Weighing& weighing, std::vector<Change>* changes) {
  if (weighing.options.train.fused_loss != 0) return;
  for (const int chunks : kLossChunks) {
    WeighOptions options = weighing.options;
    options.train.fused_loss = chunks;
    changes->push_back(
        {kLoss, fmt::format("--fused-loss {}", chunks),
         fmt::format("scores and loss in {} chunks of tokens, again in the backward pass", chunks),
         std::move(options)});
  }
}

bool IsGiven(const TrainOptions& train, std::string_view name) {
  return std::ranges::any_of(train.options,
                             [&](const OptimizerOption& option) { return option.name == name; });
}

bool IsForeach(const OptimizerOption& option) { return option.name == kForeach; }

WeighOptions WithForm(WeighOptions options, std::string_view form, std::string_view value) {
  std::erase_if(options.train.options, IsForeach);
  options.train.options.push_back({std::string(form), std::string(value)});
  return options;
}

// One tensor after another where lists of them are stepped, which PyTorch does on CUDA unasked;
// else the other forms.
void AddForms(const Weighing& weighing, std::vector<Change>* changes) {
  const WeighOptions& options = weighing.options;
  const bool fused = IsGiven(options.train, kFused), foreach = IsGiven(options.train, kForeach);
  const bool by_default = options.target.device == Device::kCuda && !foreach && !fused;
  if (by_default || foreach) {
    const std::string flag = fmt::format("--optim-args {}=False", kForeach);
    changes->push_back({kForm, flag, "the optimizer takes one tensor after another",
                        WithForm(options, kForeach, "False")});
  }
  for (const std::string_view form : {kFused, kForeach}) {
    if (fused || IsGiven(options.train, form) || (by_default && form == kForeach)) continue;
    changes->push_back({kForm, fmt::format("--{}", form),
                        fmt::format("the optimizer's {} form", form),
                        WithForm(options, form, "True")});
  }
}

void AddOptimizers(const Weighing& weighing, std::vector<Change>* changes) {
  const TrainOptions& train = weighing.options.train;
  for (const OptimizerInfo& leaner : Optimizers()) {
    if (!leaner.is_lean || train.optimizer == leaner.name) continue;
    WeighOptions options = weighing.options;
    options.train.optimizer = leaner.name;
    changes->push_back({kOptimizer, fmt::format("--train {}", leaner.name),
                        "another optimizer: training changes", std::move(options)});
  }
}

// Of a model in float32: others have no low dtype to go to.
void AddAutocast(const Weighing& weighing, std::vector<Change>* changes) {
  const Program& program = weighing.kernels;
  const bool has_full = std::ranges::any_of(program.parameters, [&](const NamedTensor& parameter) {
    return program.values[parameter.value].dtype == DType::kFloat32;
  });
  if (weighing.options.amp.dtype || !has_full) return;
  WeighOptions options = weighing.options;
  options.amp.dtype = DType::kBFloat16;
  changes->push_back({kPrecision, "--amp bf16",
                      "products and convolutions in bfloat16: training changes",
                      std::move(options)});
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
  if ((second.kinds & kRecompute) != 0) train.recompute = second.options.train.recompute;
  if ((second.kinds & kInPlace) != 0) train.inplace = second.options.train.inplace;
  if ((second.kinds & kLoss) != 0) train.fused_loss = second.options.train.fused_loss;
  if ((second.kinds & kOptimizer) != 0) train.optimizer = second.options.train.optimizer;
  if ((second.kinds & kForm) != 0) {
    train.options = second.options.train.options;
    train.keep_gradients = second.options.train.keep_gradients;
  }
  if ((second.kinds & kPrecision) != 0) both.options.amp = second.options.amp;
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

  // Weighs a change, once.
  void Try(const Change& change) {
    if (!tried_.insert(change.flags).second) return;
    const Result<Weighing> weighing = weigh_(change.options);
    if (!weighing || weighing->totals.peak_bytes >= peak_) return;
    const std::int64_t flops = ExecutedFlops(*weighing);
    found_.push_back({change,
                      {.change = change.flags,
                       .words = change.words,
                       .peak = weighing->totals.peak_bytes,
                       .less = peak_ - weighing->totals.peak_bytes,
                       .extra_flops = flops - flops_,
                       .executed_flops = flops,
                       .changes_training = (change.kinds & (kOptimizer | kPrecision)) != 0}});
  }

  // The change with the lowest peak among those of these kinds; nothing if none helps.
  std::optional<Change> Best(unsigned kinds) const {
    const Found* best = nullptr;
    for (const Found& found : found_) {
      if ((found.change.kinds & ~kinds) != 0) continue;
      if (best == nullptr || found.advice.peak < best->advice.peak) best = &found;
    }
    return best == nullptr ? std::nullopt : std::optional(best->change);
  }

  // The best changes of one kind, and the best of several.
  std::vector<Advice> Take() const {
    std::vector<const Found*> lines;
    for (const Found& found : found_) {
      const auto beats = [&](const Found& other) { return Beats(other, found); };
      if (std::ranges::none_of(found_, beats)) lines.push_back(&found);
    }
    const auto by_peak = [](const Found* found) {
      return std::tuple(found->advice.peak, found->advice.extra_flops);
    };
    std::ranges::stable_sort(lines, {}, by_peak);
    int alone = kMostAlone, together = kMostTogether;
    std::vector<Advice> out;
    for (const Found* found : lines) {
      int& room = std::has_single_bit(found->change.kinds) ? alone : together;
      if (room-- > 0) out.push_back(found->advice);
    }
    return out;
  }

 private:
  struct Found {
    Change change;
    Advice advice;
  };

  // Of one change and a part of it, or of two of the same kind. Optimizers and batches are not
  // compared: they cost what work does not tell.
  static bool Beats(const Found& other, const Found& found) {
    const auto& [change, advice] = found;
    const unsigned kinds = other.change.kinds;
    if ((kinds & change.kinds) != kinds) return false;
    const WeighOptions &its = change.options, &others = other.change.options;
    if ((kinds & kOptimizer) != 0 && others.train.optimizer != its.train.optimizer) return false;
    if ((kinds & kBatch) != 0 && others.bind.batch != its.bind.batch) return false;
    const std::int64_t more = other.advice.extra_flops - advice.extra_flops;
    if (kinds == change.kinds && other.advice.peak == advice.peak) return more < 0;
    const std::int64_t margin = kinds == change.kinds ? 0 : advice.peak / kWorthwhile;
    return other.advice.peak <= advice.peak + margin && more <= advice.executed_flops / kNoticed;
  }

  const WeighOptionsFn& weigh_;
  std::int64_t peak_, flops_;
  std::set<std::string> tried_;
  std::vector<Found> found_;
};

template <class First, class Second>
void TryPairs(First&& first, Second&& second, Adviser* adviser) {
  for (const Change& one : first) {
    for (const Change& other : second) adviser->Try(Together(one, other));
  }
}

// Changes of kinds that `change` is not, which leave optimizer, batch and precision what they are.
std::vector<Change> Others(const Change& change, std::span<const Change> changes) {
  const unsigned taken = change.kinds | kOptimizer | kBatch | kPrecision;
  std::vector<Change> others;
  std::ranges::copy_if(changes, std::back_inserter(others),
                       [&](const Change& other) { return (other.kinds & taken) == 0; });
  return others;
}

}  // namespace

std::vector<Change> ChangesOf(const Program& source, const Weighing& weighing) {
  std::vector<Change> changes;
  AddRecompute(weighing, &changes);
  AddInPlace(weighing, &changes);
  AddFusedLoss(weighing, &changes);
  AddForms(weighing, &changes);
  AddOptimizers(weighing, &changes);
  AddMicroBatches(source, weighing, &changes);
  AddAutocast(weighing, &changes);
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
  for (const unsigned first : {kRecompute, kInPlace, kLoss}) {
    for (const unsigned second : {kInPlace, kLoss, kForm}) {
      if (second <= first && second != kForm) continue;
      TryPairs(of(first), of(second), &adviser);
    }
  }
  const std::optional<Change> model = adviser.Best(kRecompute | kInPlace | kLoss);
  if (model) TryPairs(std::span(&*model, 1), Others(*model, changes), &adviser);
  if (const std::optional<Change> best = adviser.Best(kRecompute | kInPlace | kLoss | kForm)) {
    TryPairs(std::span(&*best, 1), of(kBatch), &adviser);
    TryPairs(std::span(&*best, 1), of(kOptimizer), &adviser);
    TryPairs(std::span(&*best, 1), of(kPrecision), &adviser);
  }
  for (const Change& recompute : of(kRecompute) | std::views::take(1)) {
    TryPairs(std::span(&recompute, 1), of(kOptimizer), &adviser);
  }
  return adviser.Take();
}

}  // namespace steelyard
