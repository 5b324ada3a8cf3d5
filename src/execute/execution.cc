// SPDX-License-Identifier: Apache-2.0
//
// What the engine says of a call is told of the node that it is: its operator, the composite that
// it is inside of, its module and its line in the model's source.
#include "execute/execution.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execute/lowering.h"
#include "execute/numbers.h"
#include "ir/release_order.h"
#include "ir/visit_values.h"

namespace steelyard {
namespace {

// The dtypes of the tensors that a kernel takes, each once: "float16, int64".
std::string DTypesOf(const Program& kernels, NodeId node) {
  std::vector<std::string_view> names;
  const auto add = [&](ValueId id) {
    const Value& value = kernels.values[id];
    if (value.kind != ValueKind::kTensor) return;
    const std::string_view name = NameOf(value.dtype);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const WholeCall* whole = kernels.whole_call(node);
  const Argument::Run arguments =
      whole != nullptr ? whole->arguments : kernels.main().nodes[node].arguments;
  for (const Argument& argument : kernels.list(arguments)) {
    VisitValues(kernels, argument, add);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The composite that what runs at a node is inside of.
FrameId FrameAt(NodeId node, const Program& kernels) {
  const FrameId inner = kernels.main().nodes[node].frame;
  const WholeCall* whole = kernels.whole_call(node);
  if (whole == nullptr) return inner;
  for (FrameId frame = inner; frame != 0; frame = kernels.frames[frame].parent) {
    if (kernels.frames[frame].op == whole->op) return kernels.frames[frame].parent;
  }
  return 0;
}

}  // namespace

std::string PlaceOf(std::size_t call, const Program& kernels) {
  const std::vector<Node>& nodes = kernels.main().nodes;
  if (call >= nodes.size()) return {};
  const Node& node = nodes[call];
  const auto id = static_cast<NodeId>(call);
  std::string place = fmt::format("kernel {} ({})", call, kernels.op_name(kernels.op_at(id)));
  if (const FrameId frame = FrameAt(id, kernels); frame != 0) {
    place += fmt::format(" in {}", kernels.op_name(kernels.frames[frame].op));
  }
  const std::string_view module = kernels.text(kernels.modules[node.module].path);
  if (!module.empty()) place += fmt::format(" of {}", module);
  if (node.source != kNoId && kernels.sources[node.source].file != kNoString) {
    const SourceLine& line = kernels.sources[node.source];
    place += fmt::format(", {}:{}", kernels.text(line.file), line.line);
  }
  return place;
}

// What the engine said, at the node that it said it of.
Error Execution::Told(const SyError& error) const {
  const std::string_view message = static_cast<const char*>(error.message);
  std::string place = PlaceOf(error.call, *kernels_);
  switch (error.problem) {
    case SY_NO_MEMORY:
      return Unsupported(fmt::format("there is not memory enough ({})", message), std::move(place),
                         help_.memory ? help_.memory() : std::string());
    case SY_NO_KERNEL: {
      if (error.call >= kernels_->main().nodes.size()) {
        return Unsupported(std::string(message), std::move(place), help_.kernel);
      }
      const auto node = static_cast<NodeId>(error.call);
      const std::string_view op = kernels_->op_name(kernels_->op_at(node));
      return Unsupported(
          fmt::format("PyTorch has no kernel of {} for {} on {} ({})", op,
                      DTypesOf(*kernels_, node), device_ == "cpu" ? "the CPU" : "CUDA", message),
          std::move(place), help_.kernel);
    }
    case SY_OTHER_PROBLEM:
      return Unsupported(std::string(message), std::move(place));
  }
  __builtin_unreachable();
}

Result<Execution> Execution::Open(const SyEngine& engine, const Program& kernels,
                                  const Sources& sources, Help help, std::string device) {
  SyError error{};
  const Lowering lowered(kernels, device);
  const SyProgram program = lowered.program();
  Execution execution(engine, std::move(device), kernels, std::move(help));
  execution.session_.reset(engine.open(&program, &error));
  if (execution.session_ == nullptr) return Unexpected(execution.Told(error));
  SY_RETURN_IF_ERROR(execution.Place(sources));
  return execution;
}

Status Execution::Place(const Sources& sources) {
  residents_ = ResidentsOf(*kernels_);
  optional_step_ = OptionalStepOf(*kernels_);
  SY_ASSIGN_OR_RETURN(const std::vector<SyContent> contents,
                      ContentsOf(*kernels_, residents_, sources));
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const ValueId id = residents_[i].value;
    const std::string dtype(NameOf(kernels_->values[id].dtype));
    const SyLayout layout{.dtype = dtype.c_str(),
                          .sizes = kernels_->sizes(id).data(),
                          .strides = kernels_->strides(id).data(),
                          .rank = kernels_->sizes(id).size()};
    SyError error{};
    const bool on_host = kernels_->values[id].on_host;
    if (!engine_->place(session_.get(), id, on_host, &layout, &contents[i], &error)) {
      return Unexpected(Within(residents_[i].name, Told(error)));
    }
    for (const ValueId also : residents_[i].also) engine_->share(session_.get(), also, id);
  }
  return {};
}

Status Execution::Continue(const Program& kernels) {
  if (!std::ranges::equal(ResidentsOf(kernels), residents_, {}, &Resident::value,
                          &Resident::value)) {
    return Unexpected(InternalError("a step of other residents follows"));
  }
  SyError error{};
  const Lowering lowered(kernels, device_);
  const SyProgram program = lowered.program();
  kernels_ = &kernels;
  optional_step_ = OptionalStepOf(kernels);
  if (engine_->reload(session_.get(), &program, &error)) return {};
  return Unexpected(Told(error));
}

Status Execution::Run(NodeId begin, NodeId end, const SyRecord& record) {
  if (!optional_step_ || begin > optional_step_->begin || end < optional_step_->end) {
    return RunCalls(begin, end, record);
  }
  const OptionalStep& step = *optional_step_;
  SY_RETURN_IF_ERROR(RunCalls(begin, step.begin, record));
  SY_ASSIGN_OR_RETURN(const SyElements found, Read(step.found));
  const std::optional<double> overflowed = FirstNumber(found);
  if (!overflowed || *overflowed == 0) return RunCalls(step.begin, end, record);
  ++skipped_steps_;
  SY_RETURN_IF_ERROR(LetGoAll(step.begin, step.end, record));
  return RunCalls(step.end, end, record);
}

// What the nodes let go, without the calls among them.
Status Execution::LetGoAll(NodeId begin, NodeId end, const SyRecord& record) {
  for (NodeId node = begin; node < end; ++node) {
    if (!kernels_->is_drop(kernels_->main().nodes[node])) continue;
    SY_RETURN_IF_ERROR(RunCalls(node, node + 1, record));
  }
  return {};
}

Status Execution::RunCalls(NodeId begin, NodeId end, const SyRecord& record) {
  SyError error{};
  if (engine_->run(session_.get(), begin, end, &record, &error)) return {};
  return Unexpected(Told(error));
}

void Execution::ReleaseOutputs(const SyRecord& record) {
  const std::vector<Argument>& outputs = kernels_->main().outputs;
  std::vector<std::uint32_t> values;
  for (const std::uint32_t place : ReleaseOrder(*kernels_)) {
    if (outputs[place].kind == ArgKind::kValue) values.push_back(outputs[place].value);
  }
  engine_->release(session_.get(), values.data(), values.size(), &record);
}

Result<SyElements> Execution::Read(ValueId value) {
  SyError error{};
  SyElements elements{};
  if (engine_->read(session_.get(), value, &elements, &error)) return elements;
  return Unexpected(Told(error));
}

}  // namespace steelyard
