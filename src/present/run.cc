// SPDX-License-Identifier: Apache-2.0
//
// Times come from two kinds of runs: those of stages from runs that nothing disturbs, those of
// operators and modules from runs that were timed kernel by kernel.
#include "present/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "present/module_tree.h"
#include "present/names.h"
#include "present/run_stages.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;
using report::Style;

constexpr std::string_view kSchema = "steelyard.run/1";

// Kinds of kernels whose allocations are not as predicted that are named.
constexpr std::size_t kNamedDifferences = 5;

// --- Stages -------------------------------------------------------------------------------------

void AppendStages(const Run& run, const std::vector<StageRow>& stages, report::Document* document) {
  report::Table table;
  table.columns = {{.key = "stage", .header = "Time"},
                   NumberColumn("median", "median", Unit::kSeconds),
                   NumberColumn("lowest", "lowest", Unit::kSeconds, 1),
                   NumberColumn("highest", "highest", Unit::kSeconds, 1),
                   NumberColumn("flops", "work", Unit::kFlops),
                   NumberColumn("speed", "speed", Unit::kFlopsPerSecond)};
  for (const StageRow& stage : stages) {
    Row row;
    row.cells = {stage.name,
                 {Seconds(stage.seconds.median), Style::kStrong},
                 Seconds(stage.seconds.lowest),
                 Seconds(stage.seconds.highest),
                 In(Unit::kFlops, stage.flops),
                 Speed(stage.flops, stage.seconds.median)};
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
  if (run.samples <= 0 || SecondsOf(stages) <= 0) return;
  report::Sentence rate = {Rate(run.samples, stages), " samples"};
  if (run.tokens > 0) {
    rate.emplace_back(", ");
    rate.emplace_back(Rate(run.tokens, stages));
    rate.emplace_back(" tokens");
  }
  rate.emplace_back(" a second; in each run ");
  rate.emplace_back(In(Unit::kCount, run.samples));
  if (run.tokens > 0) {
    rate.emplace_back(" and ");
    rate.emplace_back(In(Unit::kCount, run.tokens));
  }
  document->body.emplace_back(report::Paragraph{std::move(rate)});
}

void AppendShareOfPeak(const Run& run, const std::vector<StageRow>& stages,
                       report::Document* document) {
  const std::optional<Utilisation> share = UtilisationOf(run, stages);
  if (!share) return;
  report::Sentence text = {"model flops are ",
                           {{.value = share->model, .unit = Unit::kPercent}, Style::kStrong},
                           " of the device's peak, executed flops "};
  text.emplace_back(Quantity{.value = share->hardware, .unit = Unit::kPercent});
  text.emplace_back(" (the peak: ");
  for (report::Span& span : PeakText(*run.device_peak)) text.push_back(std::move(span));
  text.emplace_back(")");
  document->body.emplace_back(report::Paragraph{std::move(text)});
}

// --- Memory -------------------------------------------------------------------------------------

// The operators of the kernels that allocate otherwise than predicted, and how many of each.
std::vector<std::pair<std::string_view, std::int64_t>> Differing(const Run& run) {
  std::vector<std::pair<std::string_view, std::int64_t>> counts;
  const Program& kernels = run.findings.kernels;
  for (const EventDifference& difference : run.differences) {
    const std::vector<Node>& nodes = kernels.main().nodes;
    const std::string_view name = difference.node < nodes.size()
                                      ? kernels.op_name(kernels.op_at(difference.node))
                                      : std::string_view("the outputs' end");
    const auto found = std::ranges::find(counts, name, [](const auto& row) { return row.first; });
    if (found == counts.end()) {
      counts.emplace_back(name, 1);
    } else {
      ++found->second;
    }
  }
  return counts;
}

// Of the allocator of a device, and of the device itself.
void AppendDeviceMemory(const Run& run, report::Document* document) {
  if (run.device_use == nullptr || run.findings.device == nullptr) return;
  const DeviceMemoryReport& predicted = *run.findings.device;
  const auto measured = [](std::int64_t bytes, std::int64_t expected, report::Sentence& out) {
    out.emplace_back(In(Unit::kBytes, bytes));
    out.emplace_back(bytes == expected ? " as predicted" : ", predicted ");
    if (bytes != expected) out.emplace_back(In(Unit::kBytes, expected));
  };
  report::Sentence text = {"allocated "};
  measured(run.measurement.allocated_peak, predicted.use.allocated, text);
  text.emplace_back("; reserved ");
  measured(run.measurement.reserved_peak, predicted.use.reserved, text);
  document->body.emplace_back(report::Paragraph{std::move(text)});
  if (run.device_use->process <= 0) return;
  document->body.emplace_back(
      report::Paragraph{{"the process takes ", In(Unit::kBytes, run.device_use->process),
                         " of the device, ", In(Unit::kBytes, run.device_use->besides),
                         " of it for the CUDA context, kernels and libraries; predicted ",
                         In(Unit::kBytes, predicted.overhead.low), " to ",
                         In(Unit::kBytes, predicted.overhead.high)}});
}

void AppendMemory(const Run& run, report::Document* document) {
  const std::int64_t difference = run.peak - run.predicted_peak;
  const Quantity signed_difference{
      .value = difference, .unit = Unit::kBytes, .sign = Sign::kAlways};
  report::Sentence text = {"peak ",
                           {In(Unit::kBytes, run.peak), Style::kStrong},
                           ", predicted ",
                           In(Unit::kBytes, run.predicted_peak, run.findings.memory_claim())};
  if (difference != 0) {
    text.emplace_back(" (");
    text.emplace_back(signed_difference);
    text.emplace_back(")");
  }
  document->body.emplace_back(report::Headline{"Memory", std::move(text)});
  const auto events = static_cast<std::int64_t>(run.measurement.timeline.events.size());
  report::Sentence told = {In(Unit::kCount, events), " allocations and frees"};
  if (run.differences.empty()) {
    told.emplace_back(", every one as predicted");
  } else {
    std::string names;
    const auto differing = Differing(run);
    for (std::size_t i = 0; i < std::min(differing.size(), kNamedDifferences); ++i) {
      names +=
          fmt::format("{}{} ({}×)", i == 0 ? "" : ", ", differing[i].first, differing[i].second);
    }
    told.emplace_back(", others than predicted in " + names);
    if (differing.size() > kNamedDifferences) told.emplace_back(" and more");
  }
  document->body.emplace_back(report::Paragraph{std::move(told)});
  AppendDeviceMemory(run, document);
  document->body.emplace_back(
      report::Paragraph{{run.device_use == nullptr ? "the process has held "
                                                   : "in the host's memory the process has held ",
                         In(Unit::kBytes, run.process_peak), ", PyTorch itself included"}});
}

// --- Operators and modules ----------------------------------------------------------------------

Quantity TimeShare(double part, double whole) {
  return {.value = whole > 0 ? part / whole : 0, .unit = Unit::kPercent};
}

struct ModuleTime {
  double forward = 0;
  double backward = 0;
  double all() const { return forward + backward; }
};

// What kernels took, one by one. A module's with all that is inside it; an optimizer is of none.
struct NodeTimes {
  std::vector<ModuleTime> modules;  // of the kernels
  double optimizer = 0;
  double all = 0;
};
NodeTimes TimesOfNodes(const Run& run) {
  const Program& kernels = run.findings.kernels;
  NodeTimes out{.modules = std::vector<ModuleTime>(kernels.modules.size())};
  std::vector<ModuleTime>& times = out.modules;
  const std::vector<double>& seconds = run.measurement.seconds;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const Node& node = kernels.main().nodes[i];
    out.all += seconds[i];
    if (node.phase == Phase::kOptimizer) {
      out.optimizer += seconds[i];
      continue;
    }
    const bool is_forward = node.phase == Phase::kForward || node.phase == Phase::kLoss;
    ModuleTime& time = times[node.module];
    (is_forward ? time.forward : time.backward) += seconds[i];
  }
  for (std::size_t i = times.size(); i-- > 1;) {
    const ModuleId parent = kernels.modules[i].parent;
    if (parent == kNoId) continue;
    times[parent].forward += times[i].forward;
    times[parent].backward += times[i].backward;
  }
  return out;
}

void AppendOperators(const Run& run, const Shown& shown, report::Document* document) {
  const std::vector<TimedOperator> operators = TimedOperators(run);
  if (operators.empty() || shown.top <= 0) return;
  report::Table table;
  table.columns = {{.key = "operator", .header = "By kernel"},
                   NumberColumn("calls", "calls", Unit::kCount),
                   NumberColumn("seconds", "time", Unit::kSeconds),
                   NumberColumn("share", "share", Unit::kPercent),
                   NumberColumn("speed", "speed", Unit::kFlopsPerSecond, 1)};
  const double total = TimesOfNodes(run).all;
  const std::size_t count = std::min(operators.size(), static_cast<std::size_t>(shown.top));
  for (const TimedOperator& op : std::span(operators).first(count)) {
    Row row;
    row.cells = {op.name, In(Unit::kCount, op.calls), Seconds(op.seconds),
                 TimeShare(op.seconds, total), Speed(ContractionFlops(op.work), op.seconds)};
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AppendModules(const Run& run, const Shown& shown, report::Document* document) {
  const NodeTimes times = TimesOfNodes(run);
  report::Table table;
  table.columns = {{.key = "module", .header = "By module"},
                   NumberColumn("forward", "forward", Unit::kSeconds),
                   NumberColumn("backward", "backward", Unit::kSeconds),
                   NumberColumn("share", "share", Unit::kPercent)};
  const ModuleTree tree(run.findings.imported, run.findings.modules);
  for (std::size_t i = 0; i < run.findings.modules.size(); ++i) {
    const ModuleReport& module = run.findings.modules[i];
    const ModuleTime& time = times.modules[module.module];
    if (module.depth > shown.depth || time.all() <= 0) continue;
    Row row;
    row.level = module.depth;
    const std::string_view path = tree.path(i);
    row.cells = {path.empty() ? std::string_view("the model") : path, Seconds(time.forward),
                 Seconds(time.backward), TimeShare(time.all(), times.all)};
    table.rows.push_back(std::move(row));
  }
  if (times.optimizer > 0) {
    table.rows.push_back({.cells = {"(optimizer)", "", Seconds(times.optimizer),
                                    TimeShare(times.optimizer, times.all)}});
  }
  if (!table.rows.empty()) document->body.emplace_back(std::move(table));
}

// --- For programs -------------------------------------------------------------------------------

void AddTimes(const Run& run, const std::vector<StageRow>& stages, report::Data* data) {
  data->OpenObject("time");
  for (const StageRow& stage : stages) {
    data->OpenObject(stage.name);
    data->SetDouble("median", stage.seconds.median, Unit::kSeconds);
    data->SetDouble("lowest", stage.seconds.lowest, Unit::kSeconds);
    data->SetDouble("highest", stage.seconds.highest, Unit::kSeconds);
    data->SetInt("flops", stage.flops, Unit::kFlops);
    data->SetDouble("flops_per_second", SpeedOf(stage.flops, stage.seconds.median),
                    Unit::kFlopsPerSecond);
    data->OpenArray("repetitions");
    for (const StageTimes& times : run.measurement.stages) {
      if (times.name != stage.name) continue;
      for (const double seconds : times.seconds) data->AddDouble(seconds, Unit::kSeconds);
    }
    data->Close();
    data->Close();
  }
  data->Close();
  if (run.samples > 0) data->SetInt("samples", run.samples, Unit::kCount);
  if (run.tokens > 0) data->SetInt("tokens", run.tokens, Unit::kCount);
  if (run.measurement.loss && std::isfinite(*run.measurement.loss)) {
    data->SetDouble("loss", *run.measurement.loss, Unit::kNone);
  }
}

void AddShareOfPeak(const Run& run, const std::vector<StageRow>& stages, report::Data* data) {
  const std::optional<Utilisation> share = UtilisationOf(run, stages);
  if (!share) return;
  data->OpenObject("device_peak");
  data->SetDouble("flops_per_second", run.device_peak->flops_per_second, Unit::kFlopsPerSecond);
  data->SetBool("measured", run.device_peak->is_measured);
  data->SetText("dtype", NameOf(run.device_peak->dtype));
  data->Close();
  data->OpenObject("share_of_peak");
  data->SetDouble("model", share->model, Unit::kPercent);
  data->SetDouble("executed", share->hardware, Unit::kPercent);
  data->SetInt("model_flops", share->model_flops, Unit::kFlops);
  data->SetInt("executed_flops", share->hardware_flops, Unit::kFlops);
  data->Close();
}

void AddBytes(std::string_view key, const std::vector<std::int64_t>& bytes, report::Data* data) {
  data->OpenArray(key);
  for (const std::int64_t each : bytes) data->AddInt(each, Unit::kBytes);
  data->Close();
}

void AddMemory(const Run& run, report::Data* data) {
  data->OpenObject("memory");
  data->SetInt("peak", run.peak, Unit::kBytes);
  data->SetInt("predicted_peak", run.predicted_peak, Unit::kBytes);
  data->SetInt("process_peak", run.process_peak, Unit::kBytes);
  if (run.device_use != nullptr) {
    data->SetInt("allocated_peak", run.measurement.allocated_peak, Unit::kBytes);
    data->SetInt("reserved_peak", run.measurement.reserved_peak, Unit::kBytes);
    if (run.findings.device != nullptr) {
      data->SetInt("predicted_allocated_peak", run.findings.device->use.allocated, Unit::kBytes);
      data->SetInt("predicted_reserved_peak", run.findings.device->use.reserved, Unit::kBytes);
    }
    if (run.device_use->process > 0) {
      data->SetInt("process_on_device", run.device_use->process, Unit::kBytes);
      data->SetInt("besides_reserved", run.device_use->besides, Unit::kBytes);
    }
  }
  data->SetInt("events", static_cast<std::int64_t>(run.measurement.timeline.events.size()),
               Unit::kCount);
  data->OpenArray("differences");
  const Program& kernels = run.findings.kernels;
  for (const EventDifference& difference : run.differences) {
    data->OpenObject();
    data->SetInt("kernel", difference.node, Unit::kNone);
    data->SetText("op", difference.node < kernels.main().nodes.size()
                            ? kernels.op_name(kernels.op_at(difference.node))
                            : std::string_view());
    AddBytes("predicted", difference.predicted, data);
    AddBytes("measured", difference.measured, data);
    data->Close();
  }
  data->Close();
  data->Close();
}

void AddParts(const Run& run, report::Data* data) {
  data->OpenArray("operators");
  for (const TimedOperator& op : TimedOperators(run)) {
    data->OpenObject();
    data->SetText("op", op.name);
    data->SetInt("calls", op.calls, Unit::kCount);
    data->SetDouble("seconds", op.seconds, Unit::kSeconds);
    data->SetInt("flops", ContractionFlops(op.work), Unit::kFlops);
    data->Close();
  }
  data->Close();
  const std::vector<ModuleTime> times = TimesOfNodes(run).modules;
  data->OpenArray("modules");
  for (const ModuleReport& module : run.findings.modules) {
    const ModuleTime& time = times[module.module];
    data->OpenObject();
    data->SetText("path",
                  run.findings.imported.text(run.findings.imported.modules[module.module].path));
    data->SetInt("depth", module.depth, Unit::kNone);
    data->SetDouble("forward", time.forward, Unit::kSeconds);
    data->SetDouble("backward", time.backward, Unit::kSeconds);
    data->Close();
  }
  data->Close();
}

void AddHow(const Run& run, report::Data* data) {
  data->SetText("torch", run.torch);
  data->SetText("device", run.findings.target.name);
  if (run.device_use != nullptr && !run.device_use->name.empty()) {
    data->SetText("device_name", run.device_use->name);
    data->SetText("driver", run.device_use->driver);
  }
  data->SetInt("threads", run.threads, Unit::kCount);
  data->SetInt("seed", static_cast<std::int64_t>(run.seed), Unit::kNone);
  data->SetInt("warmups", run.measurement.warmups, Unit::kCount);
  data->SetInt("runs", run.measurement.runs, Unit::kCount);
  data->SetInt("detailed_runs", run.measurement.detailed_runs, Unit::kCount);
  data->SetInt("skipped_steps", run.measurement.skipped_steps, Unit::kCount);
  data->SetBool("stable", run.measurement.is_stable);
  data->SetBool("interrupted", run.measurement.was_interrupted);
}

}  // namespace

void AddRun(const Run& run, report::Data* data) {
  const std::vector<StageRow> stages = StageRows(run);
  AddHow(run, data);
  AddTimes(run, stages, data);
  AddShareOfPeak(run, stages, data);
  AddMemory(run, data);
  AddParts(run, data);
}

void AppendRemarks(const Run& run, std::string_view name, report::Document* document) {
  report::NoteList notes{.notes = {}, .style = Style::kWarning};
  if (run.measurement.was_interrupted) {
    notes.notes.push_back({"it was interrupted: this is what was measured until then"});
  }
  if (!run.measurement.is_stable && run.measurement.warmups > 0) {
    notes.notes.push_back({"runs did not come to take alike: is the machine busy?"});
  }
  if (run.measurement.skipped_steps > 0) {
    notes.notes.push_back(
        {fmt::format("in {} gradients overflowed and the optimizer's step was left out, as "
                     "torch.amp.GradScaler leaves it out",
                     Counted(run.measurement.skipped_steps, "run"))});
  }
  const std::optional<double> loss = run.measurement.loss;
  if (loss && !std::isfinite(*loss)) {
    notes.notes.push_back({fmt::format(
        "the loss of the weights that were drawn is {}: the times hold, the results do not{}{}",
        *loss, run.where_not_finite.empty() ? "" : "; ", run.where_not_finite)});
  }
  if (run.findings.kernels.has_stand_ins) {
    notes.notes.push_back(
        {"some numbers stand for any: what it takes is told, not what it computes"});
  }
  if (run.threads != run.findings.target.threads) {
    notes.notes.push_back({"the prediction of memory is for one thread"});
  }
  if (!name.empty()) {
    for (report::Sentence& note : notes.notes) {
      note.insert(note.begin(), report::Span(fmt::format("{}: ", name)));
    }
  }
  if (!notes.notes.empty()) document->body.emplace_back(std::move(notes));
}

void PresentRun(const Run& run, const Shown& shown, report::Document* document) {
  const std::vector<StageRow> stages = StageRows(run);
  document->data.SetText("schema", kSchema);
  document->data.SetText("model", ModelName(run.findings.imported));
  AddRun(run, &document->data);
  document->body.emplace_back(report::Headline{std::string(ModelName(run.findings.imported)),
                                               {fmt::format("run by {}", WhereItRan(run))}});
  if (run.measurement.runs > 0) {
    AppendStages(run, stages, document);
    AppendShareOfPeak(run, stages, document);
  }
  if (!run.measurement.timeline.events.empty()) AppendMemory(run, document);
  AppendHowKernelsWereTimed(run.measurement, document);
  AppendOperators(run, shown, document);
  if (run.measurement.runs > 0) AppendModules(run, shown, document);
  AppendRemarks(run, {}, document);
}

}  // namespace steelyard::present
