// SPDX-License-Identifier: Apache-2.0
//
// Decides whose flops a stage's are, what a whole step takes (the sum of its stages, repetition by
// repetition), which flops count as the model's, and what counts as a kernel.
#include "present/run_stages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>

#include "present/names.h"

namespace steelyard::present {
namespace {

std::int64_t FlopsIn(const Findings& findings, Phase phase) {
  return ContractionFlops(findings.work.of(phase));
}

// The matrix products of a stage.
std::int64_t FlopsOf(const Findings& findings, std::string_view stage) {
  const auto of = [&](Phase phase) { return FlopsIn(findings, phase); };
  if (stage == "forward") return SumOf(of(Phase::kForward), of(Phase::kLoss));
  if (stage == "backward") return SumOf(of(Phase::kBackward), of(Phase::kRecompute));
  return of(Phase::kOptimizer);
}

}  // namespace

std::vector<StageRow> StageRows(const Run& run) {
  std::vector<StageRow> rows;
  std::int64_t flops = 0;
  for (const StageTimes& stage : run.measurement.stages) {
    rows.push_back({stage.name, SpreadOf(stage.seconds), FlopsOf(run.findings, stage.name)});
    flops = SumOf(flops, rows.back().flops);
  }
  if (rows.size() > 1) {
    rows.push_back({kWholeStep, SpreadOf(SecondsOfRuns(run.measurement)), flops});
  }
  return rows;
}

double SecondsOf(const std::vector<StageRow>& stages) {
  return stages.empty() ? 0 : stages.back().seconds.median;
}

Quantity Seconds(double seconds) { return {.value = seconds, .unit = Unit::kSeconds}; }

double SpeedOf(std::int64_t flops, double seconds) {
  return seconds > 0 ? static_cast<double>(flops) / seconds : 0;
}

Quantity Speed(std::int64_t flops, double seconds) {
  return {.value = SpeedOf(flops, seconds), .unit = Unit::kFlopsPerSecond};
}

Quantity Rate(std::int64_t count, const std::vector<StageRow>& stages) {
  return {.value = static_cast<double>(count) / SecondsOf(stages), .unit = Unit::kNone};
}

std::optional<Utilisation> UtilisationOf(const Run& run, const std::vector<StageRow>& stages) {
  const double seconds = SecondsOf(stages);
  if (run.device_peak == nullptr || seconds <= 0) return std::nullopt;
  Utilisation found;
  for (const Phase phase : {Phase::kForward, Phase::kLoss, Phase::kBackward}) {
    found.model_flops = SumOf(found.model_flops, FlopsIn(run.findings, phase));
  }
  found.hardware_flops = stages.back().flops;
  const double peak = run.device_peak->flops_per_second;
  found.model = SpeedOf(found.model_flops, seconds) / peak;
  found.hardware = SpeedOf(found.hardware_flops, seconds) / peak;
  return found;
}

std::string WhereItRan(const Run& run) {
  if (run.device_use == nullptr) {
    return fmt::format("PyTorch {} on the CPU, {}", run.torch, Counted(run.threads, "thread"));
  }
  const DeviceUse& device = *run.device_use;
  return fmt::format("PyTorch {} on {}{}", run.torch,
                     device.name.empty() ? run.findings.target.name : device.name,
                     device.driver.empty() ? "" : fmt::format(", driver {}", device.driver));
}

report::Sentence PeakText(const DevicePeak& peak) {
  report::Sentence text = {Quantity{.value = peak.flops_per_second, .unit = Unit::kFlopsPerSecond}};
  text.emplace_back(!peak.device.empty() ? fmt::format(", by the data sheet of {}", peak.device)
                    : peak.is_measured   ? fmt::format(", what products of {0}×{0} {1} reach here",
                                                       peak.size, NameOf(peak.dtype))
                                         : std::string(", as given"));
  return text;
}

void AppendHowKernelsWereTimed(const Measurement& measurement, report::Document* document) {
  if (measurement.detailed_runs == 0) return;
  document->body.emplace_back(report::Paragraph{
      {fmt::format("Kernels were timed one by one in {}, not in those of the medians:",
                   Counted(measurement.detailed_runs, "further run"))}});
}

std::vector<TimedOperator> TimedOperators(const Run& run) {
  const Program& kernels = run.findings.kernels;
  std::vector<TimedOperator> by_op(kernels.op_names.size());
  const std::vector<double>& seconds = run.measurement.seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    if (kernels.is_drop(kernels.main().nodes[i])) continue;
    TimedOperator& op = by_op[kernels.op_at(node)];
    const WholeCall* whole = kernels.whole_call(node);
    op.calls += whole == nullptr || whole->first == node ? 1 : 0;
    op.seconds += seconds[i];
    op.work += run.findings.work.by_node[i];
  }
  for (OpId op = 0; op < by_op.size(); ++op) by_op[op].name = kernels.op_name(op);
  std::erase_if(by_op, [](const TimedOperator& op) { return op.calls == 0; });
  std::ranges::stable_sort(by_op, std::ranges::greater(), &TimedOperator::seconds);
  return by_op;
}

}  // namespace steelyard::present
