// SPDX-License-Identifier: Apache-2.0
//
// What was watched, put together by module and by operator, and as data for programs. Sums of a
// tree are those of what each module has itself, so that parts always make the whole.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "present/names.h"
#include "present/watch.h"
#include "record/format.h"

namespace steelyard::present {
namespace {

constexpr std::string_view kSchema = "steelyard.watch/1";

bool IsForward(Phase phase) { return phase == Phase::kForward || phase == Phase::kLoss; }

std::vector<bool> HeldAtPeak(const Watch& watch) {
  const Timeline& timeline = watch.watched.timeline;
  std::vector<bool> held(timeline.blocks.size());
  for (std::size_t b = 0; b < held.size(); ++b) {
    const Block& block = timeline.blocks[b];
    if (!watch.peak.reached_in_step) {
      held[b] = block.resident;
      continue;
    }
    const bool there = block.resident || block.allocated <= watch.peak.event;
    held[b] = there && block.freed > watch.peak.event;
  }
  return held;
}

std::uint32_t ModuleOfBlock(const Watched& watched, std::size_t block) {
  const auto outside = static_cast<std::uint32_t>(watched.outside());
  const std::uint32_t tensor = watched.tensors[block];
  if (tensor < watched.recording.tensors.size()) {
    return std::min(watched.recording.tensors[tensor].module, outside);
  }
  const std::uint32_t place = watched.block_places[block];
  return place < watched.places.size() ? watched.places[place].module : outside;
}

void AddOwn(const Watch& watch, std::vector<WatchRow>& own) {
  const Watched& watched = watch.watched;
  const auto steps = static_cast<double>(std::max<std::size_t>(watched.counted_steps(), 1));
  for (std::size_t m = 0; m < own.size(); ++m) {
    for (std::size_t p = 0; p < kWatchedPhases; ++p) {
      own[m].seconds[p] = watched.modules[m].seconds[p] / steps;
      own[m].device_seconds[p] = watched.modules[m].device_seconds[p] / steps;
    }
    own[m].calls = static_cast<double>(watched.modules[m].calls) / steps;
  }
  for (const RecordedTensor& tensor : watched.recording.tensors) {
    if (tensor.category != Category::kParameters || tensor.name.empty()) continue;
    WatchRow& row = own[std::min<std::size_t>(tensor.module, watched.outside())];
    row.parameters += tensor.elements;
    row.parameter_bytes += tensor.bytes;
  }
  for (std::size_t i = 0; i < watch.work.size(); ++i) {
    const WatchedCall& call = watched.calls[i];
    WatchRow& row = own[std::min<std::size_t>(call.module, watched.outside())];
    if (call.phase == Phase::kOptimizer) continue;
    (IsForward(call.phase) ? row.forward : row.backward) += watch.work[i];
  }
  const std::vector<bool> held = HeldAtPeak(watch);
  for (std::size_t b = 0; b < held.size(); ++b) {
    if (!held[b]) continue;
    const Block& block = watched.timeline.blocks[b];
    Of(own[ModuleOfBlock(watched, b)].at_peak, block.category) += block.bytes;
  }
}

}  // namespace

WatchRow& WatchRow::operator+=(const WatchRow& other) {
  for (std::size_t p = 0; p < kWatchedPhases; ++p) {
    seconds[p] += other.seconds[p];
    device_seconds[p] += other.device_seconds[p];
  }
  for (std::size_t c = 0; c < kCategoryCount; ++c) at_peak[c] += other.at_peak[c];
  parameters += other.parameters;
  parameter_bytes += other.parameter_bytes;
  forward += other.forward;
  backward += other.backward;
  return *this;
}

std::int64_t WatchRow::peak_bytes() const {
  std::int64_t sum = 0;
  for (const std::int64_t bytes : at_peak) sum += bytes;
  return sum;
}

WatchTree TreeOf(const Watch& watch) {
  const Watched& watched = watch.watched;
  const std::size_t count = watched.modules.size();
  WatchTree tree;
  tree.own.resize(count);
  AddOwn(watch, tree.own);
  tree.all = tree.own;
  tree.depths.resize(count);
  tree.children.resize(count);
  const std::vector<RecordedModule>& modules = watched.recording.modules;
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const std::uint32_t parent = modules[m].parent;
    if (parent >= m) {
      tree.roots.push_back(static_cast<std::uint32_t>(m));
      continue;
    }
    tree.depths[m] = tree.depths[parent] + 1;
    tree.children[parent].push_back(static_cast<std::uint32_t>(m));
  }
  for (std::size_t m = modules.size(); m-- > 0;) {
    if (modules[m].parent < m) tree.all[modules[m].parent] += tree.all[m];
  }
  return tree;
}

std::vector<WatchedOperator> OperatorsOf(const Watch& watch) {
  std::map<std::string, WatchedOperator> by_name;
  const auto add = [&](const WatchedCall& call, bool modelled) -> WatchedOperator& {
    const auto found = watch.watched.recording.calls.find(call.call);
    const std::string& text =
        found == watch.watched.recording.calls.end() ? std::string() : found->second.text;
    const std::string name = text.substr(0, text.find_first_of(".("));
    WatchedOperator& op = by_name[name + (modelled ? "" : "?")];
    op.name = name;
    op.modelled = modelled;
    op.calls += call.count;
    op.seconds += call.seconds;
    op.device_seconds += call.device_seconds;
    return op;
  };
  for (std::size_t i = 0; i < watch.work.size(); ++i) {
    add(watch.watched.calls[i], true).work += watch.work[i];
  }
  for (const WatchedCall& call : watch.watched.unknown) add(call, false);
  std::vector<WatchedOperator> operators;
  operators.reserve(by_name.size());
  for (auto& [name, op] : by_name) operators.push_back(std::move(op));
  std::ranges::stable_sort(operators, std::greater(), &WatchedOperator::seconds);
  return operators;
}

// The model that has most parameters: losses, metrics and the like may be called before it.
std::string WatchedName(const Watched& watched) {
  const std::vector<RecordedModule>& modules = watched.recording.modules;
  if (modules.empty()) return "a program without modules";
  std::vector<std::int64_t> elements(modules.size(), 0);
  for (const RecordedTensor& tensor : watched.recording.tensors) {
    if (tensor.category != Category::kParameters || tensor.module >= modules.size()) continue;
    elements[tensor.module] = std::max(elements[tensor.module], std::int64_t{0}) + tensor.elements;
  }
  // Parents come before what is in them.
  std::size_t most = modules.size();
  for (std::size_t m = modules.size(); m-- > 0;) {
    const std::uint32_t parent = modules[m].parent;
    if (parent != SY_NO_ID) {
      elements[parent] += elements[m];
    } else if (most == modules.size() || elements[m] >= elements[most]) {
      most = m;
    }
  }
  return modules[most].class_name;
}

std::string ModuleName(const Watched& watched, std::uint32_t module) {
  if (module >= watched.recording.modules.size()) return "(outside)";
  const RecordedModule& recorded = watched.recording.modules[module];
  return recorded.path.empty() ? recorded.class_name : recorded.path;
}

std::string KernelName(const Watched& watched, const WatchedKernel& kernel) {
  const auto found = watched.recording.names.find(kernel.name);
  return found == watched.recording.names.end() ? "(no name)" : found->second;
}

std::string DeviceTold(const Watched& watched) {
  if (watched.memory_told == SY_HOST) return {};
  return fmt::format("cuda:{}", watched.memory_told - 1);
}

std::string BlockName(const Watched& watched, std::size_t block) {
  const std::uint32_t tensor = watched.tensors[block];
  if (tensor < watched.recording.tensors.size()) {
    const bool gradient = watched.timeline.blocks[block].category == Category::kGradients;
    const bool state = watched.timeline.blocks[block].category == Category::kOptimizerState;
    return (gradient ? "gradient of "
            : state  ? "state of "
                     : "") +
           watched.recording.tensors[tensor].name;
  }
  const std::uint32_t place = watched.block_places[block];
  if (place >= watched.places.size()) return "(there before)";
  return PlaceName(watched, watched.places[place]);
}

std::string PlaceName(const Watched& watched, const WatchedPlace& place) {
  const std::string where = place.phase == Phase::kOptimizer ? std::string("the optimizer")
                                                             : ModuleName(watched, place.module);
  return place.what.empty() ? where : place.what + " in " + where;
}

namespace {

void AddTimes(const Watched& watched, report::Data* data) {
  data->OpenArray("steps");
  for (const WatchedStep& step : watched.steps) {
    data->OpenObject();
    data->SetDouble("seconds", step.seconds, Unit::kSeconds);
    data->SetDouble("forward", step.forward, Unit::kSeconds);
    data->SetDouble("backward", step.backward, Unit::kSeconds);
    data->SetDouble("optimizer", step.optimizer, Unit::kSeconds);
    data->SetDouble("to_optimizer", step.to_optimizer, Unit::kSeconds);
    if (!watched.kernels.empty()) data->SetDouble("device", step.device, Unit::kSeconds);
    data->SetInt("peak", step.peak, Unit::kBytes);
    data->Close();
  }
  data->Close();
  data->SetInt("first_counted_step", static_cast<std::int64_t>(watched.first_counted), Unit::kNone);
}

void AddPeak(const ByCategory& at_peak, report::Data* data) {
  data->OpenObject("at_peak");
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    const auto category = static_cast<Category>(c);
    if (category == Category::kLibraries && at_peak[c] == 0) continue;
    data->SetInt(NameOf(category), at_peak[c], Unit::kBytes);
  }
  data->Close();
}

void AddMemory(const Watch& watch, report::Data* data) {
  const Watched& watched = watch.watched;
  data->OpenObject("memory");
  if (const std::string device = DeviceTold(watched); !device.empty()) {
    data->SetText("device", device);
    data->SetInt("reserved_peak", watched.reserved_peak, Unit::kBytes);
  }
  data->SetInt("resident", watch.peak.resident, Unit::kBytes);
  data->SetInt("peak", watch.peak.peak, Unit::kBytes);
  data->SetInt("peak_delta", watch.peak.peak_delta, Unit::kBytes);
  AddPeak(watch.peak.at_peak, data);
  const bool in_step = watch.peak.reached_in_step;
  const WatchedPlace place =
      in_step ? watched.places[watched.timeline.events[watch.peak.event].node] : WatchedPlace{};
  data->SetText("peak_op", place.what);
  data->SetText("peak_module", in_step ? ModuleName(watched, place.module) : std::string());
  data->SetInt("step", static_cast<std::int64_t>(watched.step_of_memory), Unit::kNone);
  data->SetInt("events", static_cast<std::int64_t>(watched.timeline.events.size()), Unit::kCount);
  data->OpenArray("live");
  for (const std::uint32_t block : watch.peak.live) {
    data->OpenObject();
    data->SetInt("bytes", watched.timeline.blocks[block].bytes, Unit::kBytes);
    data->SetText("category", NameOf(watched.timeline.blocks[block].category));
    data->SetText("tensor", BlockName(watched, block));
    data->Close();
  }
  data->Close();
  data->Close();
}

// What a convention counts is beside what all of them mean alike.
void SetWork(const WatchRow& row, report::Data* data) {
  const auto set = [&](std::string_view key, Unit unit, const auto& of) {
    data->OpenObject(key);
    data->SetInt("forward", of(row.forward), unit);
    data->SetInt("backward", of(row.backward), unit);
    data->Close();
  };
  set("macs", Unit::kMacs, [](const NodeWork& work) { return work.macs; });
  set("flops", Unit::kFlops, ContractionFlops);
  set("flops_all", Unit::kFlops, [](const NodeWork& work) { return work.flops_all; });
  set("counted", Unit::kCount, [](const NodeWork& work) { return work.flops; });
  set("counted_beside", Unit::kCount, [](const NodeWork& work) { return work.beside; });
}

void AddModule(const Watch& watch, const WatchTree& tree, std::uint32_t module,
               report::Data* data) {
  const WatchRow& row = tree.all[module];
  data->OpenObject();
  const bool outside = module == watch.watched.outside();
  const RecordedModule none;
  const RecordedModule& recorded = outside ? none : watch.watched.recording.modules[module];
  data->SetText("path", outside ? "(outside)" : recorded.path);
  data->SetText("class", recorded.class_name);
  data->SetInt("depth", tree.depths[module], Unit::kNone);
  data->SetInt("parameters", row.parameters, Unit::kCount);
  data->SetInt("parameter_bytes", row.parameter_bytes, Unit::kBytes);
  data->SetDouble("calls", tree.own[module].calls, Unit::kNone);
  data->OpenObject("seconds");
  data->SetDouble("forward", Of(row.seconds, Phase::kForward), Unit::kSeconds);
  data->SetDouble("backward", Of(row.seconds, Phase::kBackward), Unit::kSeconds);
  data->SetDouble("recompute", Of(row.seconds, Phase::kRecompute), Unit::kSeconds);
  data->SetDouble("own_forward", Of(tree.own[module].seconds, Phase::kForward), Unit::kSeconds);
  data->Close();
  if (!watch.watched.kernels.empty()) {
    data->OpenObject("device_seconds");
    data->SetDouble("forward", Of(row.device_seconds, Phase::kForward), Unit::kSeconds);
    data->SetDouble("backward", Of(row.device_seconds, Phase::kBackward), Unit::kSeconds);
    data->SetDouble("recompute", Of(row.device_seconds, Phase::kRecompute), Unit::kSeconds);
    data->Close();
  }
  if (!watch.work.empty()) SetWork(row, data);
  AddPeak(row.at_peak, data);
  data->Close();
  for (const std::uint32_t child : tree.children[module]) AddModule(watch, tree, child, data);
}

void AddOperators(const Watch& watch, report::Data* data) {
  data->OpenArray("operators");
  const std::vector<WatchedOperator> operators = OperatorsOf(watch);
  for (const WatchedOperator& op : operators) {
    data->OpenObject();
    data->SetText("op", op.name);
    data->SetInt("calls", op.calls, Unit::kCount);
    data->SetDouble("seconds", op.seconds, Unit::kSeconds);
    if (!watch.watched.kernels.empty()) {
      data->SetDouble("device_seconds", op.device_seconds, Unit::kSeconds);
    }
    data->SetInt("flops", ContractionFlops(op.work), Unit::kFlops);
    data->SetInt("read", op.work.read, Unit::kBytes);
    data->SetInt("written", op.work.written, Unit::kBytes);
    data->SetBool("modelled", op.modelled);
    data->Close();
  }
  data->Close();
  data->OpenArray("unmodelled");
  for (const WatchedOperator& op : operators) {
    if (op.modelled) continue;
    data->OpenObject();
    data->SetText("op", op.name);
    data->SetInt("count", op.calls, Unit::kCount);
    data->Close();
  }
  data->Close();
}

std::string_view NameOf(SyKernelKind kind) {
  switch (kind) {
    case SY_COPY:
      return "copy";
    case SY_FILL:
      return "fill";
    case SY_COMPUTE:
      break;
  }
  return "kernel";
}

// Of a step, on average.
void AddKernels(const Watched& watched, report::Data* data) {
  const auto steps = static_cast<double>(std::max<std::size_t>(watched.counted_steps(), 1));
  data->OpenArray("kernels");
  for (const WatchedKernel& kernel : watched.kernels) {
    data->OpenObject();
    data->SetText("name", KernelName(watched, kernel));
    data->SetText("kind", NameOf(kernel.kind));
    data->SetDouble("calls", static_cast<double>(kernel.count) / steps, Unit::kNone);
    data->SetDouble("seconds", kernel.seconds / steps, Unit::kSeconds);
    data->SetDouble("bytes", kernel.bytes / steps, Unit::kBytes);
    data->Close();
  }
  data->Close();
}

std::string_view NameOf(StepBoundary boundary) {
  switch (boundary) {
    case StepBoundary::kGiven:
      return "step";
    case StepBoundary::kOptimizer:
      return "optimizer";
    case StepBoundary::kModel:
      return "model";
    case StepBoundary::kNone:
      return "none";
  }
  __builtin_unreachable();
}

}  // namespace

void AddWatchData(const Watch& watch, report::Data* data) {
  const Watched& watched = watch.watched;
  const WatchTree tree = TreeOf(watch);
  WatchRow whole;
  for (const WatchRow& row : tree.own) whole += row;
  data->SetText("schema", kSchema);
  data->SetText("model", WatchedName(watched));
  data->SetText("torch", watched.recording.torch);
  data->SetText("level", !watched.kernels.empty()            ? "kernels"
                         : watched.recording.level == SY_OPS ? "ops"
                                                             : "light");
  data->SetText("steps_end_with", NameOf(watched.boundary));
  data->SetInt("recorded_events", static_cast<std::int64_t>(watched.events), Unit::kCount);
  data->SetInt("lost_events", watched.recording.lost, Unit::kCount);
  data->SetInt("dropped_events", watched.recording.dropped, Unit::kCount);
  data->OpenObject("parameters");
  data->SetInt("count", whole.parameters, Unit::kCount);
  data->SetInt("bytes", whole.parameter_bytes, Unit::kBytes);
  data->Close();
  if (!watched.recording.facts.empty()) {
    data->OpenObject("distributed");
    for (const auto& [key, value] : watched.recording.facts) data->SetInt(key, value, Unit::kNone);
    data->Close();
  }
  AddTimes(watched, data);
  if (!watch.work.empty()) SetWork(whole, data);
  AddMemory(watch, data);
  data->OpenArray("modules");
  for (const std::uint32_t root : tree.roots) AddModule(watch, tree, root, data);
  AddModule(watch, tree, static_cast<std::uint32_t>(watched.outside()), data);
  data->Close();
  if (watched.recording.level == SY_OPS) AddOperators(watch, data);
  if (!watched.kernels.empty()) AddKernels(watched, data);
  data->OpenArray("remarks");
  for (const std::string& remark : watched.recording.remarks) data->AddText(remark);
  data->Close();
}

}  // namespace steelyard::present
