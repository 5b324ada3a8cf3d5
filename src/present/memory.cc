// SPDX-License-Identifier: Apache-2.0
//
// Decides what is told of memory, and in which order: the sum, its parts, those that stay first,
// bytes for each parameter beside the textbook's, the run as a chart, then the place and its
// largest tensors. If a moment was asked for, parts, place and tensors are that moment's.

#include "present/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/parameters.h"
#include "analyze/peak.h"
#include "present/categories.h"
#include "present/device_memory.h"
#include "present/events.h"
#include "present/findings.h"
#include "present/kernels.h"
#include "present/names.h"
#include "present/tensors.h"
#include "steelyard/report.h"
#include "steelyard/timeline.h"
#include "steelyard/units.h"
#include "support/units.h"

namespace steelyard::present {
namespace {

using report::Bar;
using report::Sentence;

// How many of the largest tensors are named at the peak.
constexpr std::size_t kLargest = 5;
constexpr std::size_t kLargestDetailed = 40;

Sentence PerParameter(const Findings& findings, std::int64_t bytes) {
  const std::int64_t count = findings.parameters.parameters.count;
  if (count == 0) return {};
  // Counters of steps, four bytes each, do not change the figure that people know.
  const double rate = FractionOf(bytes, count);
  if (std::abs(rate - std::round(rate)) < 0.005) {
    return {fmt::format("{:.0f} B/param", rate)};
  }
  return {Quantity{.value = rate}, " B/param"};
}

// The outputs that the caller holds at the peak: "linear_73 4×128×30522 and 1 other".
Sentence OutputWords(const Findings& findings) {
  const Block* largest = nullptr;
  std::int64_t others = -1;
  for (std::uint32_t id : findings.told().live) {  // largest first
    const Block& block = findings.timeline.blocks[id];
    if (block.category != Category::kOutputs) continue;
    if (largest == nullptr) largest = &block;
    ++others;
  }
  if (largest == nullptr) return {};
  const BlockWords words = Describe(findings, *largest);
  Sentence text{words.tensor + " " + words.layout};
  if (others > 0) text.emplace_back(" and " + Counted(others, "other"));
  return text;
}

report::BarList Anatomy(const Findings& findings) {
  report::BarList list;
  for (const auto& [category, label, style] : kCategoryWords) {
    const std::int64_t bytes = Of(findings.told().at_peak, category);
    if (bytes == 0) continue;
    Bar bar{.label = std::string(label),
            .amount = In(Unit::kBytes, bytes),
            .fraction = FractionOf(bytes, findings.told().peak),
            .style = style};
    const bool with_parameters = category == Category::kParameters ||
                                 category == Category::kGradients ||
                                 category == Category::kOptimizerState;
    if (with_parameters) bar.rate = PerParameter(findings, bytes);
    if (category == Category::kActivations) bar.note = {"saved for backward"};
    if (category == Category::kTemporaries) bar.note = {"results and scratch"};
    if (category == Category::kLibraries) bar.note = {"workspaces of cuBLAS"};
    if (category == Category::kOutputs) bar.note = OutputWords(findings);
    list.bars.push_back(std::move(bar));
  }
  return list;
}

// "Kept for training: 16 B/param = parameters 4 B/param + gradients 4 B/param + optimizer 8 B/param
// (exp_avg, exp_avg_sq)", whatever the peak is made of.
Sentence KeptForTraining(const Findings& findings) {
  constexpr std::int64_t kLeastShare = 100;  // parts below one hundredth are not named
  const TrainingState& training = findings.training;
  const std::int64_t parameters = findings.parameters.parameters.bytes;
  Sentence text{"Kept for training: "};
  const auto append = [&](std::string_view before, std::int64_t bytes) {
    text.emplace_back(std::string(before));
    for (report::Span& part : PerParameter(findings, bytes)) text.push_back(std::move(part));
  };
  append("", parameters + training.gradients + training.optimizer_state);
  append(" = parameters ", parameters);
  append(" + gradients ", training.gradients);
  append(" + optimizer ", training.optimizer_state);
  std::string names;
  for (const TrainingState::Part& part : training.parts) {
    if (part.name == kNoString || part.bytes * kLeastShare < training.optimizer_state) continue;
    names.append(names.empty() ? " (" : ", ").append(findings.kernels.text(part.name));
  }
  if (!names.empty()) text.emplace_back(names + ")");
  return text;
}

// Bytes for each parameter by the table that people know: float32, and in mixed precision a copy of
// half the width besides (Hugging Face, "Model memory anatomy").
struct Textbook {
  bool mixed;
  int parameters, gradients, state;
  int sum() const { return parameters + gradients + state; }
};
std::optional<Textbook> TextbookOf(const Findings& findings) {
  if (!findings.textbook_state) return std::nullopt;
  const auto& parameters = findings.parameters.parameters;
  const bool narrow = parameters.bytes < parameters.count * 4;
  const bool mixed = narrow || !findings.autocast.empty();
  return Textbook{mixed, mixed ? 6 : 4, 4, *findings.textbook_state};
}

// "By the textbook 18 B/param in mixed precision = parameters 6 + gradients 4 + optimizer 8"
Sentence TextbookSentence(const Textbook& textbook) {
  return {fmt::format("By the textbook {} B/param{} = parameters {} + gradients {} + optimizer {}",
                      textbook.sum(), textbook.mixed ? " in mixed precision" : "",
                      textbook.parameters, textbook.gradients, textbook.state)};
}

report::Chart MemoryChart(const Findings& findings) {
  const std::vector<Level> profile = Profile(findings.timeline, kChartPoints);
  report::Chart chart{.unit = Unit::kBytes, .baseline = findings.peak.resident};
  report::ChartSeries series{.name = "memory"};
  for (std::size_t i = 0; i < profile.size(); ++i) {
    series.points.push_back({static_cast<double>(i), profile[i].total});
  }
  chart.series.push_back(std::move(series));
  for (const CategoryWords& words : kCategoryWords) {
    report::ChartSeries part{.name = std::string(words.label), .style = words.style};
    for (std::size_t i = 0; i < profile.size(); ++i) {
      part.points.push_back({static_cast<double>(i), Of(profile[i].parts, words.category)});
    }
    chart.parts.push_back(std::move(part));
  }
  AddPhases(findings, &chart);
  return chart;
}

// "Peak at aten::linear (its aten::addmm) in cls.decoder, modeling_bert.py:545. Largest ...:"
Sentence PlaceSentence(const Findings& findings) {
  const EventPlace place = PlaceOf(findings, findings.told().event);
  Sentence text{findings.moment != nullptr ? "Held at " : "Peak at ",
                {place.op, report::Style::kStrong}};
  if (place.kernel != place.op) text.emplace_back(" (its " + std::string(place.kernel) + ")");
  if (!place.module.empty()) text.emplace_back(" in " + std::string(place.module));
  const std::string source = SourceText(findings.kernels, place.source);
  if (!source.empty()) text.emplace_back(", " + source);
  text.emplace_back(fmt::format(". Largest of what the {} holds there:", findings.run()));
  return text;
}

// "At softmax, the highest of 12 calls: 1.2 GiB = 400 MiB resident + 800 MiB in the pass."
Sentence MomentSentence(const Findings& findings) {
  const PeakReport& moment = *findings.moment;
  Sentence text{fmt::format("At {}", findings.asked)};
  if (moment.calls > 1) text.emplace_back(fmt::format(", the highest of {} calls", moment.calls));
  text.insert(text.end(),
              {": ",
               {In(Unit::kBytes, moment.peak, findings.memory_claim()), report::Style::kStrong},
               " = ",
               In(Unit::kBytes, moment.resident),
               " resident + ",
               In(Unit::kBytes, moment.peak_delta, findings.memory_claim()),
               fmt::format(" in the {}.", findings.run())});
  return text;
}

report::Table LargestTensors(const Findings& findings, std::size_t limit) {
  report::Table table{.level = 2};
  table.columns = {{.key = "bytes", .unit = Unit::kBytes, .align = report::Align::kRight},
                   {.key = "tensor", .fit = report::Fit::kCut},
                   {.key = "layout"},
                   {.key = "held", .priority = 1},
                   {.key = "module", .priority = 2},
                   {.key = "source", .priority = 3}};
  const std::vector<std::uint32_t>& live = findings.told().live;
  for (std::size_t i = 0; i < std::min(live.size(), limit); ++i) {
    const Block& block = findings.timeline.blocks[live[i]];
    const BlockWords words = Describe(findings, block);
    report::Row row;
    row.cells = {In(Unit::kBytes, block.bytes),
                 words.tensor,
                 words.layout,
                 words.holder,
                 words.made.module,
                 {SourceText(findings.kernels, words.made.source), report::Style::kDim}};
    table.rows.push_back(std::move(row));
  }
  if (live.size() > limit) {
    std::int64_t rest = 0;
    for (std::size_t i = limit; i < live.size(); ++i) {
      rest += findings.timeline.blocks[live[i]].bytes;
    }
    report::Row row;
    row.cells = {
        In(Unit::kBytes, rest),
        {Counted(static_cast<std::int64_t>(live.size() - limit), "other"), report::Style::kDim}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

// "batch 37 is the largest that fits in 80.00 GB (74.51 GiB); 38 is 0.8 GiB too large".
void AppendFit(const Fit& fit, report::Document* document) {
  Sentence text{{fmt::format("{} {}", fit.dimension, fit.size), report::Style::kStrong},
                fit.place.empty() ? "" : fmt::format(" ({})", fit.place),
                " is the largest that fits in ",
                FormatLimit(fit.limit)};
  if (fit.next_size > 0) {
    text.emplace_back(fmt::format("; {} is ", fit.next_size));
    text.emplace_back(In(Unit::kBytes, fit.next_peak - fit.limit));
    text.emplace_back(" too large");
  } else {
    text.emplace_back(fit.refusal.empty()
                          ? "; the file allows no larger one"
                          : fmt::format("; larger ones are refused: {}", fit.refusal));
  }
  document->body.emplace_back(report::Headline{"Fit", std::move(text)});
}

void AddFitData(const Fit& fit, report::Data* data) {
  data->OpenObject("fit");
  data->SetInt("limit", fit.limit, Unit::kBytes);
  data->SetText("dimension", fit.dimension);
  if (!fit.place.empty()) data->SetText("place", fit.place);
  data->SetInt("size", fit.size, Unit::kNone);
  if (fit.next_size > 0) {
    data->SetInt("next_size", fit.next_size, Unit::kNone);
    data->SetInt("next_peak", fit.next_peak, Unit::kBytes);
  }
  data->SetInt("weighings", fit.weighings, Unit::kNone);
  data->Close();
}

void AddCategories(std::string_view key, const PeakReport& at, report::Data* data) {
  data->OpenObject(key);
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    const auto category = static_cast<Category>(c);
    if (!IsTold(category, at.at_peak[c])) continue;
    data->SetInt(NameOf(category), at.at_peak[c], Unit::kBytes);
  }
  data->Close();
}

void AddMomentData(const Findings& findings, report::Data* data) {
  const PeakReport& moment = *findings.moment;
  const EventPlace place = moment.reached_in_step ? PlaceOf(findings, moment.event) : EventPlace{};
  data->OpenObject("moment");
  data->SetText("asked", findings.asked);
  data->SetInt("calls", moment.calls, Unit::kCount);
  data->SetInt("total", moment.peak, Unit::kBytes);
  AddCategories("held", moment, data);
  data->SetText("op", place.kernel);
  data->SetText("module", place.module);
  data->SetText("source", SourceText(findings.kernels, place.source));
  data->Close();
}

// What training keeps for the parameters, whatever the peak is made of.
void AddTrainingData(const Findings& findings, report::Data* data) {
  const TrainingState& training = findings.training;
  data->OpenObject("training");
  data->SetInt("parameters", findings.parameters.parameters.bytes, Unit::kBytes);
  data->SetInt("gradients", training.gradients, Unit::kBytes);
  data->SetInt("optimizer_state", training.optimizer_state, Unit::kBytes);
  data->OpenObject("states");
  for (const TrainingState::Part& part : training.parts) {
    if (part.name == kNoString) continue;
    data->SetInt(findings.kernels.text(part.name), part.bytes, Unit::kBytes);
  }
  data->Close();
  if (const auto textbook = TextbookOf(findings)) {
    data->SetInt("textbook_per_parameter", textbook->sum(), Unit::kBytes);
  }
  data->Close();
}

}  // namespace

double ChartPlace(const Timeline& timeline, std::size_t event) {
  return static_cast<double>(timeline.Place(event)) * kChartPoints /
         static_cast<double>(std::max<std::int64_t>(timeline.length(), 1));
}

// Where the phases of a training step begin, in points of the profile.
void AddPhases(const Findings& findings, report::Chart* chart) {
  constexpr std::array<std::string_view, kPhaseCount> kLabels = {"forward", "forward", "backward",
                                                                 "optimizer", "backward"};
  const Timeline& timeline = findings.timeline;
  const std::vector<Event>& events = timeline.events;
  const std::vector<Node>& nodes = findings.kernels.main().nodes;
  const std::string repeated = fmt::format("{} × forward, backward", timeline.repeat.times);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].node >= nodes.size()) break;  // what the caller lets go afterwards
    const bool in_repeat = i - timeline.repeat.first < timeline.repeat.count;
    const std::string_view label =
        in_repeat ? repeated : kLabels[static_cast<std::size_t>(nodes[events[i].node].phase)];
    if (!chart->phases.empty() && chart->phases.back().label == label) continue;
    if (!chart->phases.empty()) chart->phases.back().end = ChartPlace(timeline, i);
    chart->phases.push_back(
        {std::string(label), ChartPlace(timeline, i), static_cast<double>(kChartPoints)});
  }
  if (chart->phases.empty())
    chart->phases.push_back({"forward", 0.0, static_cast<double>(kChartPoints)});
}

void AppendMemory(const Findings& findings, const Shown& shown, report::Document* document) {
  const PeakReport& peak = findings.peak;
  if (findings.fit != nullptr) AppendFit(*findings.fit, document);
  document->body.emplace_back(report::Headline{
      "Memory",
      {"peak ",
       {In(Unit::kBytes, peak.peak, findings.memory_claim()), report::Style::kStrong},
       " = ",
       In(Unit::kBytes, peak.resident),
       " resident + ",
       In(Unit::kBytes, peak.peak_delta, findings.memory_claim()),
       fmt::format(" in the {}", findings.run())}});
  if (findings.device != nullptr) AppendDeviceMemory(findings, document);
  AppendKernelSummary(findings, document);
  if (findings.moment != nullptr) {
    document->body.emplace_back(report::Paragraph{MomentSentence(findings), 1});
  }
  document->body.emplace_back(Anatomy(findings));
  if (findings.trains()) {
    document->body.emplace_back(report::Paragraph{KeptForTraining(findings), 1});
    if (const auto textbook = TextbookOf(findings)) {
      document->body.emplace_back(report::Paragraph{TextbookSentence(*textbook), 1});
    }
  }
  if (!peak.reached_in_step) return;
  document->body.emplace_back(MemoryChart(findings));
  if (!findings.told().reached_in_step) return;
  document->body.emplace_back(report::Paragraph{PlaceSentence(findings), 1});
  document->body.emplace_back(
      LargestTensors(findings, shown.detailed ? kLargestDetailed : kLargest));
}

void AddMemoryData(const Findings& findings, const Shown& shown, report::Data* data) {
  const PeakReport& peak = findings.peak;
  data->OpenObject("memory");
  data->SetInt("resident", peak.resident, Unit::kBytes);
  // A device's allocator gives whole blocks, and that is what PyTorch calls allocated.
  const std::int64_t highest =
      findings.device != nullptr ? findings.device->use.allocated : peak.peak;
  data->SetInt("peak", highest, Unit::kBytes);
  data->SetInt("peak_delta", highest - peak.resident, Unit::kBytes);
  if (findings.device != nullptr) AddDeviceMemoryData(findings, data);
  AddCategories("at_peak", peak, data);
  if (findings.trains()) AddTrainingData(findings, data);
  const EventPlace place = peak.reached_in_step ? PlaceOf(findings, peak.event) : EventPlace{};
  data->SetText("peak_op", place.kernel);
  data->SetText("peak_module", place.module);
  data->SetText("peak_source", SourceText(findings.kernels, place.source));
  if (findings.fit != nullptr) AddFitData(*findings.fit, data);
  if (findings.moment != nullptr) AddMomentData(findings, data);
  AddKernelData(findings, data);
  if (shown.events) AddEvents(findings, data);
  data->Close();
}

}  // namespace steelyard::present
