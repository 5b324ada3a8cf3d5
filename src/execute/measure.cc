// SPDX-License-Identifier: Apache-2.0
//
// One run is listened to for its allocations, then runs warm the machine up, then those that count
// are timed stage by stage, and last some are timed node by node, which slows them down. Programs
// that are measured in turns do each of these one after another; of those that count each runs a
// repetition in its turn, and every second round goes the other way, so that none is always first.
#include "execute/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <utility>

#include "execute/not_finite.h"
#include "execute/numbers.h"
#include "runtime/residents.h"

namespace steelyard {
namespace {

// Runs take alike when the slowest of the last ones takes at most so much longer than the fastest.
constexpr double kAlike = 1.1;
// Runs before what counts are not repeated for ever.
constexpr int kMostWarmups = 10;  // times what is asked for
constexpr double kMostWarmupSeconds = 10;
// Runs of a mean, where nobody says how many: as many as take so long, at most so many.
constexpr double kMeanSeconds = 1;
constexpr int kMostNumber = 10;
// Runs that are timed node by node.
constexpr int kDetailedRuns = 3;
// Of an interval at least, where there are runs enough for it.
constexpr double kConfidence = 0.95;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view StageOf(Phase phase) {
  switch (phase) {
    case Phase::kForward:
    case Phase::kLoss:
      return "forward";
    case Phase::kBackward:
    case Phase::kRecompute:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
  }
  __builtin_unreachable();
}

// Makes a timeline of what the engine tells of memory.
class Listener {
 public:
  explicit Listener(const Program& kernels) : kernels_(kernels) {
    VisitResidents(kernels, [&](ValueId, Category category, std::int64_t bytes) {
      Of(timeline_.resident, category) += bytes;
    });
  }

  static void Hear(void* who, std::int64_t bytes, const void* address, std::size_t call) {
    static_cast<Listener*>(who)->Add(bytes, address, call);
  }
  Timeline Take() { return std::move(timeline_); }

 private:
  void Add(std::int64_t bytes, const void* address, std::size_t call) {
    const std::vector<Node>& nodes = kernels_.main().nodes;
    const std::size_t node = std::min(call, nodes.size());
    const StringId label = node == nodes.size()
                               ? kNoString
                               : timeline_.labels.Intern(LabelOfOperator(
                                     kernels_.op_name(kernels_.op_at(static_cast<NodeId>(node)))));
    const auto event = static_cast<std::uint32_t>(timeline_.events.size());
    if (bytes > 0) {
      at_[address] = static_cast<std::uint32_t>(timeline_.blocks.size());
      timeline_.blocks.push_back({.bytes = bytes, .allocated = event});
    }
    const auto found = at_.find(address);
    if (found == at_.end()) return;  // made before this listened
    const std::uint32_t block = found->second;
    if (bytes < 0) timeline_.blocks[block].freed = event;
    timeline_.events.push_back({bytes, block, label, static_cast<std::uint32_t>(node)});
  }

  const Program& kernels_;
  Timeline timeline_;
  std::unordered_map<const void*, std::uint32_t> at_;  // blocks, by address
};

// The parts of measuring one program.
class Measuring {
 public:
  Measuring(Execution& execution, const MeasureOptions& options)
      : execution_(execution), options_(options), stages_(StagesOf(execution.kernels())) {
    for (const std::string_view name : stages_.names) out_.stages.push_back({name, {}});
  }

  Status Prepare() {
    SY_RETURN_IF_ERROR(RunFirst());
    SY_RETURN_IF_ERROR(Listen());
    return WarmUp();
  }

  // One mean.
  Status Repeat() {
    std::vector<double> seconds(stages_.names.size());
    for (int run = 0; run < number_; ++run) SY_RETURN_IF_ERROR(RunOnce(Plain(), &seconds));
    out_.runs += number_;
    for (std::size_t s = 0; s < stages_.names.size(); ++s) {
      out_.stages[s].seconds.push_back(seconds[s] / number_);
    }
    return {};
  }

  Status TimeNodes() {
    if (out_.runs == 0) return {};
    std::vector<double> sums(execution_.kernels().main().nodes.size());
    std::vector<double> ignored(stages_.names.size());
    SyRecord record = Plain();
    record.seconds = sums.data();
    for (int i = 0; i < kDetailedRuns; ++i) SY_RETURN_IF_ERROR(RunOnce(record, &ignored));
    for (double& sum : sums) sum /= kDetailedRuns;
    out_.seconds = std::move(sums);
    out_.detailed_runs = kDetailedRuns;
    return {};
  }

  Measurement Take(bool was_interrupted) {
    out_.was_interrupted = was_interrupted;
    out_.skipped_steps = execution_.skipped_steps();
    return std::move(out_);
  }

 private:
  // One run; adds what each stage took to `seconds`.
  Status RunOnce(const SyRecord& record, std::vector<double>* seconds) {
    for (const Stretch& stretch : stages_.stretches) {
      const Clock::time_point start = Clock::now();
      Status run = execution_.Run(stretch.begin, stretch.end, record);
      if (!run) {
        execution_.Clear();
        return run;
      }
      (*seconds)[stretch.stage] += SecondsSince(start);
    }
    execution_.ReleaseOutputs(record);
    return {};
  }

  SyRecord Plain() const {
    SyRecord record{};
    record.stop = options_.stop;
    return record;
  }

  // It makes what PyTorch keeps for later ones, and tells the loss.
  Status RunFirst() {
    const SyRecord record = Plain();
    const auto end = static_cast<NodeId>(execution_.kernels().main().nodes.size());
    const Seed seed = SeedOf(execution_.kernels());
    Status run = execution_.Run(0, seed.before, record);
    if (run && seed.loss != kNoId) {
      const Result<SyElements> loss = execution_.Read(seed.loss);
      if (loss) out_.loss = FirstNumber(*loss);
    }
    if (run && out_.loss && !std::isfinite(*out_.loss)) {
      SY_RETURN_IF_ERROR(Blame(seed));
      run = execution_.Run(0, seed.before, record);
    }
    if (run) run = execution_.Run(seed.before, end, record);
    execution_.Clear();
    return run;
  }

  Status Blame(const Seed& seed) {
    SY_ASSIGN_OR_RETURN(out_.not_finite,
                        FindNotFinite(execution_, seed.loss, seed.before, Plain()));
    return options_.check_loss ? options_.check_loss(out_, execution_.kernels()) : Status();
  }

  Status Listen() {
    std::vector<double> ignored(stages_.names.size());
    Listener listener(execution_.kernels());
    SyRecord record = Plain();
    record.on_memory = &Listener::Hear;
    record.who = &listener;
    const SyEngine& engine = execution_.engine();
    engine.reset_peaks(execution_.device().c_str());
    SY_RETURN_IF_ERROR(RunOnce(record, &ignored));
    const SyDeviceMemory memory = engine.memory_of(execution_.device().c_str());
    out_.allocated_peak = memory.allocated_peak;
    out_.reserved_peak = memory.reserved_peak;
    out_.timeline = listener.Take();
    out_.has_memory = true;
    return {};
  }

  Status WarmUp() {
    const Clock::time_point start = Clock::now();
    std::vector<double> runs;
    const auto wanted = static_cast<std::size_t>(std::max(options_.warmup, 0));
    const std::size_t most = options_.runs_in_group ? wanted : wanted * kMostWarmups;
    while (runs.size() < most && !out_.is_stable) {
      std::vector<double> seconds(stages_.names.size());
      SY_RETURN_IF_ERROR(RunOnce(Plain(), &seconds));
      double whole = 0;
      for (const double stage : seconds) whole += stage;
      runs.push_back(whole);
      if (runs.size() < wanted) continue;
      const auto last = std::ranges::minmax(std::span(runs).last(wanted));
      out_.is_stable = last.max <= last.min * kAlike;
      if (SecondsSince(start) > kMostWarmupSeconds) break;
    }
    if (options_.runs_in_group && number_ == 0) number_ = kMostNumber;
    out_.warmups = static_cast<int>(runs.size());
    if (number_ == 0) {
      const double run = runs.empty() ? 0 : std::ranges::min(runs);
      number_ = run * kMostNumber < kMeanSeconds
                    ? kMostNumber
                    : std::max(static_cast<int>(kMeanSeconds / run), 1);
    }
    return {};
  }

  Execution& execution_;
  const MeasureOptions& options_;
  int number_ = options_.number;
  const Stages stages_;
  Measurement out_;
};

Status MeasureAll(std::vector<Measuring>& all, const MeasureOptions& options) {
  if (options.progress) options.progress(0, options.repeat);  // what follows first may take long
  for (Measuring& measuring : all) SY_RETURN_IF_ERROR(measuring.Prepare());
  for (int i = 0; i < options.repeat; ++i) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      SY_RETURN_IF_ERROR(all[i % 2 == 0 ? k : all.size() - 1 - k].Repeat());
    }
    if (options.progress) options.progress(i + 1, options.repeat);
  }
  for (Measuring& measuring : all) SY_RETURN_IF_ERROR(measuring.TimeNodes());
  return {};
}

// How likely at most `most` of so many fair coins show heads.
double AtMostHeads(int most, int coins) {
  double ways = 1, sum = 0;
  for (int k = 0; k <= most; ++k) {
    sum += ways;
    ways = ways * (coins - k) / (k + 1);
  }
  return std::ldexp(sum, -coins);
}

// What all nodes of a whole call allocate is told of the first.
std::vector<std::vector<std::int64_t>> BytesByNode(const Timeline& timeline,
                                                   const Program& kernels) {
  const std::size_t nodes = kernels.main().nodes.size();
  std::vector<std::vector<std::int64_t>> bytes(nodes + 1);
  for (const Event& event : timeline.events) {
    const WholeCall* whole = kernels.whole_call(event.node);
    const std::size_t node = whole != nullptr ? whole->first : event.node;
    bytes[std::min(node, nodes)].push_back(event.bytes);
  }
  return bytes;
}

}  // namespace

Stages StagesOf(const Program& kernels) {
  Stages stages;
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    const std::string_view name = StageOf(nodes[i].phase);
    auto found = std::ranges::find(stages.names, name);
    if (found == stages.names.end()) found = stages.names.insert(found, name);
    const auto stage = static_cast<std::size_t>(found - stages.names.begin());
    if (stages.stretches.empty() || stages.stretches.back().stage != stage) {
      stages.stretches.push_back({stage, i, i});
    }
    stages.stretches.back().end = i + 1;
  }
  return stages;
}

Seed SeedOf(const Program& kernels) {
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    if (nodes[i].phase != Phase::kBackward || kernels.op_name(nodes[i].op) == kDropMark) continue;
    for (const Argument& argument : kernels.args(nodes[i])) {
      if (argument.kind == ArgKind::kValue) return {.loss = argument.value, .before = i};
    }
  }
  return {};
}

Spread SpreadOf(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  const bool is_odd = sorted.size() % 2 == 1;
  return {.median = is_odd ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2,
          .lowest = sorted.front(),
          .highest = sorted.back()};
}

std::vector<double> SecondsOfRuns(const Measurement& measurement) {
  std::vector<double> sums;
  for (const StageTimes& stage : measurement.stages) {
    sums.resize(std::max(sums.size(), stage.seconds.size()));
    for (std::size_t i = 0; i < stage.seconds.size(); ++i) sums[i] += stage.seconds[i];
  }
  return sums;
}

PairedRatio RatioOf(std::span<const double> before, std::span<const double> after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i] > 0) ratios.push_back(after[i] / before[i]);
  }
  if (ratios.empty()) return {};
  std::ranges::sort(ratios);
  const auto pairs = static_cast<int>(ratios.size());
  // Each ratio is above the true median or below it, as a coin falls.
  const auto confidence = [&](int cut) { return 1 - 2 * AtMostHeads(cut, pairs); };
  int cut = 0;  // of each end
  while (confidence(cut + 1) >= kConfidence) ++cut;
  return {.median = SpreadOf(ratios).median,
          .lowest = ratios[static_cast<std::size_t>(cut)],
          .highest = ratios[static_cast<std::size_t>(pairs - 1 - cut)],
          .confidence = std::max(confidence(cut), 0.0),
          .pairs = pairs};
}

Result<std::vector<Measurement>> MeasureInTurns(std::span<Execution> executions,
                                                const MeasureOptions& options) {
  std::vector<Measuring> all;
  all.reserve(executions.size());
  for (Execution& execution : executions) all.emplace_back(execution, options);
  Status done = MeasureAll(all, options);
  const bool was_interrupted = options.stop != nullptr && *options.stop != 0;
  if (!done && !was_interrupted) return Unexpected(std::move(done).error());
  std::vector<Measurement> measured;
  measured.reserve(all.size());
  for (Measuring& measuring : all) measured.push_back(measuring.Take(was_interrupted));
  return measured;
}

Result<Measurement> MeasureExecution(Execution& execution, const MeasureOptions& options) {
  SY_ASSIGN_OR_RETURN(std::vector<Measurement> measured, MeasureInTurns({&execution, 1}, options));
  return std::move(measured[0]);
}

std::vector<EventDifference> CompareEvents(const Timeline& predicted, const Timeline& measured,
                                           const Program& kernels) {
  std::vector<EventDifference> differences;
  const auto ours = BytesByNode(predicted, kernels);
  const auto theirs = BytesByNode(measured, kernels);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] != theirs[i]) {
      differences.push_back({static_cast<NodeId>(i), ours[i], theirs[i]});
    }
  }
  return differences;
}

}  // namespace steelyard
