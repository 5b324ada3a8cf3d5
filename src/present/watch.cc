// SPDX-License-Identifier: Apache-2.0
//
// Decides what is told of a program that was watched, and in which order: times of steps, what
// memory held where that was highest, the tree of modules, operators, what the reader should know.
#include "present/watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "execute/measurement.h"
#include "present/categories.h"
#include "present/names.h"
#include "present/run_stages.h"
#include "record/format.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Row;
using report::Style;

constexpr std::size_t kLargest = 8;  // tensors that are named at the peak
constexpr int kChartPoints = 240;

std::string_view BoundaryWords(StepBoundary boundary) {
  switch (boundary) {
    case StepBoundary::kGiven:
      return "each ends with step()";
    case StepBoundary::kOptimizer:
      return "each ends with the optimizer's";
    case StepBoundary::kModel:
      return "each is a call of the model";
    case StepBoundary::kNone:
      return "from the beginning to the end";
  }
  __builtin_unreachable();
}

// Quantities of the steps that count.
using Column = double (*)(const WatchedStep& step);
Spread SpreadOfSteps(const Watched& watched, Column column) {
  std::vector<double> values;
  for (const WatchedStep& step : std::span(watched.steps).subspan(watched.first_counted)) {
    values.push_back(column(step));
  }
  return SpreadOf(values);
}

// What is in none of the stages: data, losses, Python. Passes of several threads may be beside each
// other.
double Between(const WatchedStep& step) {
  return std::max(step.seconds - step.forward - step.backward - step.optimizer, 0.0);
}

void AppendTimes(const Watch& watch, const WatchRow& whole, report::Document* document) {
  struct Stage {
    std::string_view name;
    Column seconds;
    std::int64_t flops;
  };
  const std::int64_t forward = ContractionFlops(whole.forward);
  const std::int64_t backward = ContractionFlops(whole.backward);
  const Column whole_step = [](const WatchedStep& step) { return step.seconds; };
  const Stage stages[] = {
      {"forward", [](const WatchedStep& step) { return step.forward; }, forward},
      {"backward", [](const WatchedStep& step) { return step.backward; }, backward},
      {"optimizer", [](const WatchedStep& step) { return step.optimizer; }, 0},
      {"between", Between, 0},
      {"step", whole_step, forward + backward},
      {"on a device", [](const WatchedStep& step) { return step.device; }, 0}};
  report::Table table;
  table.columns = {{.key = "stage", .header = "Time"},
                   NumberColumn("median", "median", Unit::kSeconds),
                   NumberColumn("lowest", "lowest", Unit::kSeconds, 1),
                   NumberColumn("highest", "highest", Unit::kSeconds, 1),
                   NumberColumn("share", "of a step", Unit::kPercent)};
  const bool with_work = !watch.work.empty();
  if (with_work) {
    table.columns.push_back(NumberColumn("flops", "work", Unit::kFlops));
    table.columns.push_back(NumberColumn("speed", "speed", Unit::kFlopsPerSecond));
  }
  const double step = SpreadOfSteps(watch.watched, whole_step).median;
  for (const Stage& stage : stages) {
    const Spread seconds = SpreadOfSteps(watch.watched, stage.seconds);
    if (seconds.highest == 0) continue;
    const Quantity share{.value = step > 0 ? seconds.median / step : 0, .unit = Unit::kPercent};
    Row row;
    row.cells = {std::string(stage.name),
                 {Seconds(seconds.median), Style::kStrong},
                 Seconds(seconds.lowest),
                 Seconds(seconds.highest),
                 share};
    if (with_work) {
      row.cells.emplace_back(In(Unit::kFlops, stage.flops));
      row.cells.emplace_back(Speed(stage.flops, seconds.median));
    }
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

report::BarList Anatomy(const Watch& watch) {
  report::BarList list;
  for (const auto& [category, label, style] : kCategoryWords) {
    const std::int64_t bytes = Of(watch.peak.at_peak, category);
    if (bytes == 0) continue;
    list.bars.push_back({.label = std::string(label),
                         .amount = In(Unit::kBytes, bytes),
                         .fraction = FractionOf(bytes, watch.peak.peak),
                         .style = style});
  }
  return list;
}

report::Chart MemoryChart(const Watch& watch) {
  const std::vector<Level> profile = Profile(watch.watched.timeline, kChartPoints);
  report::Chart chart{.unit = Unit::kBytes, .baseline = watch.peak.resident};
  report::ChartSeries series{.name = "memory"};
  for (std::size_t i = 0; i < profile.size(); ++i) {
    series.points.push_back({static_cast<double>(i), profile[i].total});
  }
  chart.series.push_back(std::move(series));
  return chart;
}

report::Table LargestTensors(const Watch& watch) {
  report::Table table{.level = 2};
  table.columns = {{.key = "bytes", .unit = Unit::kBytes, .align = report::Align::kRight},
                   {.key = "category"},
                   {.key = "tensor", .fit = report::Fit::kCut}};
  const std::vector<std::uint32_t>& live = watch.peak.live;
  for (std::size_t i = 0; i < std::min(live.size(), kLargest); ++i) {
    const Block& block = watch.watched.timeline.blocks[live[i]];
    Row row;
    row.cells = {In(Unit::kBytes, block.bytes), std::string(NameOf(block.category)),
                 BlockName(watch.watched, live[i])};
    table.rows.push_back(std::move(row));
  }
  return table;
}

void AppendMemory(const Watch& watch, report::Document* document) {
  if (watch.watched.timeline.blocks.empty()) return;  // nobody has told of memory
  const PeakReport& peak = watch.peak;
  report::Sentence text{"peak ",
                        {In(Unit::kBytes, peak.peak), Style::kStrong},
                        " = ",
                        In(Unit::kBytes, peak.resident),
                        " resident + ",
                        In(Unit::kBytes, peak.peak_delta),
                        fmt::format(" in step {} of {}", watch.watched.step_of_memory + 1,
                                    watch.watched.steps.size())};
  if (const std::string device = DeviceTold(watch.watched); !device.empty()) {
    text.emplace_back(fmt::format(", on {}, of which its allocator reserves ", device));
    text.emplace_back(In(Unit::kBytes, watch.watched.reserved_peak));
  }
  document->body.emplace_back(report::Headline{"Memory", std::move(text)});
  document->body.emplace_back(Anatomy(watch));
  if (!peak.reached_in_step) return;
  document->body.emplace_back(MemoryChart(watch));
  const WatchedPlace& place = watch.watched.places[watch.watched.timeline.events[peak.event].node];
  document->body.emplace_back(
      report::Paragraph{{fmt::format("Peak at {}. Largest of what the step holds there:",
                                     PlaceName(watch.watched, place))},
                        1});
  document->body.emplace_back(LargestTensors(watch));
}

// "rank 0 of 4: data parallel 2, tensor parallel 2".
std::string PlaceAmongRanks(const std::map<std::string, std::int64_t>& facts) {
  const auto of = [&](const char* key) {
    const auto found = facts.find(key);
    return found == facts.end() ? 0 : found->second;
  };
  std::string words = fmt::format("rank {} of {}", of("rank"), of("ranks"));
  std::string_view before = ": ";
  for (const auto& [key, value] : facts) {
    if (key == "rank" || key == "ranks") continue;
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    words += fmt::format("{}{} {}", std::exchange(before, ", "), name, value);
  }
  return words;
}

class TreeWriter {
 public:
  TreeWriter(const Watch& watch, const WatchTree& tree, int depth)
      : watch_(watch), tree_(tree), depth_(depth) {
    for (const WatchRow& row : tree.own) whole_ += row;
    table_.columns = {{.key = "module", .header = "By module"},
                      NumberColumn("parameters", "parameters", Unit::kCount, 2),
                      NumberColumn("forward", "forward", Unit::kSeconds),
                      NumberColumn("backward", "backward", Unit::kSeconds),
                      NumberColumn("share", "of all passes", Unit::kPercent)};
    if (!watch.work.empty()) {
      table_.columns.push_back(NumberColumn("forward_flops", "flops forward", Unit::kFlops, 1));
      table_.columns.push_back(NumberColumn("backward_flops", "flops backward", Unit::kFlops, 1));
    }
    if (!watch.watched.kernels.empty()) {
      table_.columns.push_back(NumberColumn("device", "on a device", Unit::kSeconds));
    }
    // Where the engine could not be built no memory is heard of.
    if (whole_.peak_bytes() > 0) {
      table_.columns.push_back(NumberColumn("at_peak", "at the peak", Unit::kBytes));
    }
    table_.columns.push_back({.key = "class", .header = "class", .priority = 3});
  }

  report::Table Write() && {
    for (const std::uint32_t root : tree_.roots) {
      // Of a single model its parts are told.
      if (tree_.roots.size() == 1 && !tree_.children[root].empty()) {
        for (const std::uint32_t child : tree_.children[root]) WriteModule(child, root, 0);
        AddRow({"(itself)", Style::kDim}, tree_.own[root], {}, 0);
      } else {
        WriteModule(root, SY_NO_ID, 0);
      }
    }
    WatchRow outside = tree_.own[watch_.watched.outside()];
    WatchRow optimizer;
    std::swap(Of(outside.seconds, Phase::kOptimizer), Of(optimizer.seconds, Phase::kOptimizer));
    std::swap(Of(outside.device_seconds, Phase::kOptimizer),
              Of(optimizer.device_seconds, Phase::kOptimizer));
    AddRow({"(outside)", Style::kDim}, outside, {}, 0);
    AddRow({"(optimizer)", Style::kDim}, optimizer, {}, 0);
    return std::move(table_);
  }

 private:
  void WriteModule(std::uint32_t module, std::uint32_t parent, int level) {
    const RecordedModule& recorded = watch_.watched.recording.modules[module];
    const std::string parent_path =
        parent == SY_NO_ID ? "" : watch_.watched.recording.modules[parent].path;
    const std::string name = recorded.path.empty()
                                 ? recorded.class_name
                                 : std::string(RelativePath(recorded.path, parent_path));
    AddRow(name, tree_.all[module], recorded.class_name, level);
    if (level + 1 >= depth_ || tree_.children[module].empty()) return;
    for (const std::uint32_t child : tree_.children[module]) WriteModule(child, module, level + 1);
    AddRow({"(itself)", Style::kDim}, tree_.own[module], {}, level + 1);
  }

  void AddRow(report::Span name, const WatchRow& row, const std::string& class_name, int level) {
    const double seconds = row.all_seconds() + row.all_device_seconds();
    if (seconds == 0 && row.parameters == 0 && row.peak_bytes() == 0) return;
    const Quantity share{
        .value = whole_.all_seconds() > 0 ? row.all_seconds() / whole_.all_seconds() : 0,
        .unit = Unit::kPercent};
    Row out{.cells = {}, .level = level};
    out.cells = {std::move(name), In(Unit::kCount, row.parameters),
                 Seconds(Of(row.seconds, Phase::kForward)), Seconds(row.backward_seconds()), share};
    if (!watch_.work.empty()) {
      out.cells.emplace_back(In(Unit::kFlops, ContractionFlops(row.forward)));
      out.cells.emplace_back(In(Unit::kFlops, ContractionFlops(row.backward)));
    }
    if (!watch_.watched.kernels.empty()) {
      out.cells.emplace_back(Seconds(row.all_device_seconds()));
    }
    if (whole_.peak_bytes() > 0) out.cells.emplace_back(In(Unit::kBytes, row.peak_bytes()));
    out.cells.emplace_back(class_name);
    table_.rows.push_back(std::move(out));
  }

  const Watch& watch_;
  const WatchTree& tree_;
  const int depth_;
  WatchRow whole_;
  report::Table table_;
};

void AppendOperators(const Watch& watch, const Shown& shown, report::Document* document) {
  const std::vector<WatchedOperator> operators = OperatorsOf(watch);
  if (operators.empty() || shown.top <= 0) return;
  double total = 0;
  for (const WatchedOperator& op : operators) total += op.seconds;
  report::Table table;
  table.columns = {{.key = "operator", .header = "By operator"},
                   NumberColumn("calls", "calls", Unit::kCount),
                   NumberColumn("seconds", "time", Unit::kSeconds),
                   NumberColumn("share", "of all operators", Unit::kPercent),
                   NumberColumn("flops", "work", Unit::kFlops),
                   NumberColumn("speed", "speed", Unit::kFlopsPerSecond, 1)};
  // Where a device computes, the processor's time says little of the speed.
  const bool with_device = !watch.watched.kernels.empty();
  if (with_device) {
    table.columns.insert(table.columns.begin() + 4,
                         NumberColumn("device_seconds", "on a device", Unit::kSeconds));
  }
  const std::size_t count = std::min(operators.size(), static_cast<std::size_t>(shown.top));
  for (const WatchedOperator& op : std::span(operators).first(count)) {
    const std::int64_t flops = ContractionFlops(op.work);
    Row row;
    row.cells = {op.name,
                 In(Unit::kCount, op.calls),
                 Seconds(op.seconds),
                 Quantity{.value = total > 0 ? op.seconds / total : 0, .unit = Unit::kPercent},
                 In(Unit::kFlops, flops),
                 Speed(flops, with_device ? op.device_seconds : op.seconds)};
    if (with_device) row.cells.insert(row.cells.begin() + 4, Seconds(op.device_seconds));
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AppendKernels(const Watch& watch, const Shown& shown, report::Document* document) {
  const Watched& watched = watch.watched;
  if (watched.kernels.empty() || shown.top <= 0) return;
  const auto steps = static_cast<double>(std::max<std::size_t>(watched.counted_steps(), 1));
  double total = 0;
  for (const WatchedKernel& kernel : watched.kernels) total += kernel.seconds;
  report::Table table;
  table.columns = {{.key = "kernel", .header = "On a device", .fit = report::Fit::kCut},
                   NumberColumn("calls", "a step", Unit::kCount),
                   NumberColumn("seconds", "time", Unit::kSeconds),
                   NumberColumn("share", "of all kernels", Unit::kPercent),
                   NumberColumn("bytes", "moved", Unit::kBytes, 1)};
  const std::size_t count = std::min(watched.kernels.size(), static_cast<std::size_t>(shown.top));
  for (const WatchedKernel& kernel : std::span(watched.kernels).first(count)) {
    Row row;
    const double calls = static_cast<double>(kernel.count) / steps;
    row.cells = {KernelName(watched, kernel), In(Unit::kCount, std::llround(calls)),
                 Seconds(kernel.seconds / steps),
                 Quantity{.value = total > 0 ? kernel.seconds / total : 0, .unit = Unit::kPercent},
                 In(Unit::kBytes, std::llround(kernel.bytes / steps))};
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AppendNotes(const Watch& watch, report::Document* document) {
  const Watched& watched = watch.watched;
  report::NoteList notes;
  for (const std::string& remark : watched.recording.remarks) notes.notes.push_back({remark});
  if (watched.recording.lost > 0) {
    notes.notes.push_back({fmt::format("{} were lost: there was no room for them",
                                       Counted(watched.recording.lost, "event"))});
  }
  std::string names;
  std::int64_t calls = 0;
  for (const WatchedOperator& op : OperatorsOf(watch)) {
    if (op.modelled) continue;
    calls += op.calls;
    if (op.name.empty()) continue;
    names += (names.empty() ? "" : ", ") + op.name;
  }
  if (calls > 0) {
    notes.notes.push_back({fmt::format("work is at least this: {} not modelled ({})",
                                       Counted(calls, "call"), names)});
  }
  if (!notes.notes.empty()) document->body.emplace_back(std::move(notes));
}

}  // namespace

void PresentWatch(const Watch& watch, const Shown& shown, report::Document* document) {
  const Watched& watched = watch.watched;
  const WatchTree tree = TreeOf(watch);
  WatchRow whole;
  for (const WatchRow& row : tree.own) whole += row;
  const auto steps = static_cast<std::int64_t>(watched.steps.size());
  document->body.emplace_back(
      report::Headline{WatchedName(watched),
                       {fmt::format("watched in PyTorch {}: {}, {}; ", watched.recording.torch,
                                    Counted(steps, "step"), BoundaryWords(watched.boundary)),
                        In(Unit::kCount, whole.parameters), " parameters"}});
  if (!watched.recording.facts.empty()) {
    document->body.emplace_back(report::Paragraph{{PlaceAmongRanks(watched.recording.facts)}});
  }
  if (watched.first_counted > 0) {
    document->body.emplace_back(report::Paragraph{
        {watched.first_counted == 1
             ? "times are of all steps but the first, which warms up"
             : fmt::format("times are of all steps but the first {}, which warm up",
                           watched.first_counted)}});
  }
  AppendTimes(watch, whole, document);
  AppendMemory(watch, document);
  if (!tree.roots.empty() && shown.depth > 0) {
    document->body.emplace_back(TreeWriter(watch, tree, shown.depth).Write());
  }
  if (watched.recording.level == SY_OPS) AppendOperators(watch, shown, document);
  AppendKernels(watch, shown, document);
  AppendNotes(watch, document);
  AddWatchData(watch, &document->data);
}

}  // namespace steelyard::present
