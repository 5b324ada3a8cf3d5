// SPDX-License-Identifier: Apache-2.0
//
// What the operator table says, for comparison with PyTorch: one JSON object a line.
//
//   probe --rows                     # every row: name, signature, example ...
//   echo 'aten::t(f32[2,8])' | probe # every call on stdin: outputs, events and multiply-adds
//   probe --steps                    # every training step on stdin: events, saved, gradients
//   probe --kernels                  # every training step on stdin: the program of its kernels
//   probe --steps --on h100          # the same on another device, by the name of its row
//   probe --on h100 --deterministic  # after torch.use_deterministic_algorithms(True)
//
// cuDNN's attention is turned off: PyTorch does not run it where there is no device.
// A step is a program in the text form on one line, its own lines separated by tabs.
// A call's storages are named after what first lives in them: "x0" is the first tensor passed,
// "y0" the first output. `is` names the tensor that an output is, not merely shares bytes with.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/counting.h"
#include "analyze/work.h"
#include "ir/text_call.h"
#include "ir/text_printer.h"
#include "ir/text_reader.h"
#include "ir/whole_calls.h"
#include "ops/dispatch/resolving.h"
#include "ops/op_def.h"
#include "pass/decompose.h"
#include "runtime/eager.h"
#include "steelyard/error.h"
#include "steelyard/op.h"
#include "steelyard/program.h"
#include "steelyard/timeline.h"
#include "support/assert.h"

namespace steelyard {
namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < ' ') {
      out.append(fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out + '"';
}

std::string_view WordOf(Alias alias) {
  switch (alias) {
    case Alias::kNone:
      return "none";
    case Alias::kView:
      return "view";
    case Alias::kInPlace:
      return "in_place";
  }
  __builtin_unreachable();
}

std::string_view WordOf(MathBits bits) {
  switch (bits) {
    case MathBits::kNone:
      return "";
    case MathBits::kConjugate:
      return "conjugate";
    case MathBits::kNegative:
      return "negative";
    case MathBits::kBoth:
      return "both";
  }
  __builtin_unreachable();
}

std::string RowJson(const OpDef& def) {
  return fmt::format(
      R"({{"name":{},"signature":{},"example":{},"alias":{},"family":{},"kernel":{},)"
      R"("precision":{{"CPU":{},"CUDA":{}}},"takes_bits":{}}})",
      Quoted(def.name->text()), Quoted(def.signature->text()), Quoted(*def.example),
      Quoted(WordOf(*def.alias)), Quoted(NameOf(*def.family)), def.is_kernel(),
      Quoted(NameOf(def.precision->cpu)), Quoted(NameOf(def.precision->cuda)),
      Quoted(WordOf(BitsTakenBy(def))));
}

// Which tensor and storage each value of a decomposed call is, by the names above.
class Names {
 public:
  explicit Names(const Program& program) : program_(program) {
    const std::vector<ValueId>& inputs = program.main().inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) Name(inputs[i], fmt::format("x{}", i));
    for (const Node& node : program.main().nodes) {
      const OpDef* def = FindOp(OpName::FromRuntime(program.op_name(node.op)));
      if (def == nullptr || *def->alias != Alias::kInPlace) continue;
      for (ValueId id : program.results(node)) same_[id] = Root(program.args(node)[0].value);
    }
    const std::vector<Argument>& outputs = program.main().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].kind == ArgKind::kValue) Name(Root(outputs[i].value), fmt::format("y{}", i));
    }
  }

  const std::string& Tensor(ValueId id) const { return tensors_.at(Root(id)); }
  const std::string& Storage(ValueId id) const { return storages_.at(program_.values[id].storage); }

 private:
  ValueId Root(ValueId id) const {
    const auto found = same_.find(id);
    return found == same_.end() ? id : found->second;
  }
  void Name(ValueId id, const std::string& name) {
    tensors_.try_emplace(id, name);
    storages_.try_emplace(program_.values[id].storage, name);
  }

  const Program& program_;
  std::map<ValueId, ValueId> same_;  // results of in-place kernels
  std::map<ValueId, std::string> tensors_;
  std::map<StorageId, std::string> storages_;
};

std::string OutputsJson(const Program& program) {
  const Names names(program);
  std::vector<std::string> out;
  std::size_t present = 0;
  for (const Argument& output : program.main().outputs) {
    if (output.kind != ArgKind::kValue) {
      out.emplace_back("null");
      continue;
    }
    const ValueId id = output.value;
    out.push_back(fmt::format(
        R"({{"dtype":{},"sizes":[{}],"strides":[{}],"storage":{},"is":{}}})",
        Quoted(ShortNameOf(program.values[id].dtype)), fmt::join(program.sizes(id), ","),
        fmt::join(program.strides(id), ","), Quoted(names.Storage(id)), Quoted(names.Tensor(id))));
    present = out.size();
  }
  out.resize(present);  // a call is given more results than its operator has
  return fmt::format("[{}]", fmt::join(out, ","));
}

std::string EventsJson(const Timeline& timeline) {
  std::vector<std::string> out;
  for (const Event& event : timeline.events) {
    out.push_back(fmt::format("[{},{}]", Quoted(timeline.labels.view(event.label)), event.bytes));
  }
  return fmt::format("[{}]", fmt::join(out, ","));
}

// Multiply-adds, and those that torch's own counter counts.
struct Macs {
  std::int64_t done = 0, printed = 0;
};

Macs MacsOf(const Program& call, const Program& kernels, const Target& target) {
  const Result<WorkReport> work = CountWork(call, kernels, *FindConvention("torch"), target, {});
  SY_ASSERT(work, "a call of the table is small");
  Macs macs;
  for (const NodeWork& phase : work->by_phase) {
    macs.done += phase.macs;
    macs.printed += phase.macs - phase.missed + phase.excess;
  }
  return macs;
}

std::string CallJson(const std::string& call, const Target& target) {
  const Result<Program> program = ProgramOfCall(call);
  const Result<Program> kernels =
      program.and_then([&](const Program& of_call) { return Decompose(of_call, target); });
  if (!kernels) return fmt::format(R"({{"refused":{}}})", Quoted(Describe(kernels.error())));
  const Macs macs = MacsOf(*program, *kernels, target);
  return fmt::format(
      R"({{"outputs":{},"events":{},"macs":{},"printed":{}}})", OutputsJson(*kernels),
      EventsJson(RunEager(*kernels, target, LibraryMemory::kThere)), macs.done, macs.printed);
}

// Tensors as "f32[2,8]{8,1}", in any order.
std::string TensorsJson(const Program& program, std::span<const ValueId> ids) {
  std::vector<std::string> out;
  for (const ValueId id : ids) {
    const Value& value = program.values[id];
    if (value.wrapped_number) continue;  // PyTorch does not show them
    out.push_back(Quoted(fmt::format("{}[{}]{{{}}}", ShortNameOf(value.dtype),
                                     fmt::join(program.sizes(id), ","),
                                     fmt::join(program.strides(id), ","))));
  }
  return fmt::format("[{}]", fmt::join(out, ","));
}

Result<Program> KernelsOfStep(std::string text, const Target& target) {
  std::ranges::replace(text, '\t', '\n');
  return ParseText(text, "step").and_then([&](const Program& p) { return Decompose(p, target); });
}

std::string KernelsJson(const std::string& text, const Target& target) {
  Result<Program> kernels = KernelsOfStep(text, target);
  if (!kernels) return fmt::format(R"({{"refused":{}}})", Quoted(Describe(kernels.error())));
  FoldWholeCalls(*kernels);
  return fmt::format(R"({{"program":{}}})", Quoted(Print(*kernels)));
}

// Of the call's results %y0, %y1 ..., which require a gradient.
std::string DifferentiableJson(const Program& kernels) {
  std::vector<std::string> out;
  for (const Value& value : kernels.values) {
    const std::string_view name = kernels.text(value.name);
    const bool result =
        name.size() > 1 && name[0] == 'y' &&
        std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
    if (result) out.push_back(fmt::format("{}:{}", Quoted(name), value.requires_grad));
  }
  return fmt::format("{{{}}}", fmt::join(out, ","));
}

std::string StepJson(const std::string& text, const Target& target) {
  Result<Program> kernels = KernelsOfStep(text, target);
  if (!kernels) return fmt::format(R"({{"refused":{}}})", Quoted(Describe(kernels.error())));
  std::vector<ValueId> saved, gradients;
  for (const SavedTensor& tensor : kernels->saved) {
    const bool by_node = kernels->text(tensor.by) != "torch.autocast";
    if (by_node) saved.push_back(tensor.value);
  }
  for (const ValueId id : kernels->gradients) {
    if (id != kNoId) gradients.push_back(id);
  }
  return fmt::format(R"({{"events":{},"saved":{},"gradients":{},"differentiable":{}}})",
                     EventsJson(RunEager(*kernels, target, LibraryMemory::kThere)),
                     TensorsJson(*kernels, saved), TensorsJson(*kernels, gradients),
                     DifferentiableJson(*kernels));
}

// The device of this name, without what a stub cannot answer; nothing where there is none.
std::optional<Target> TargetOf(std::string_view name) {
  std::optional<Target> target = TargetNamed(name);
  if (target) target->cudnn_attention = false;
  return target;
}

}  // namespace
}  // namespace steelyard

int main(int argc, char** argv) {
  std::string_view mode, device = steelyard::Target().name, release;
  bool deterministic = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--on" && i + 1 < argc) {
      device = argv[++i];
    } else if (word == "--torch" && i + 1 < argc) {
      release = argv[++i];
    } else if (word == "--deterministic") {
      deterministic = true;
    } else {
      mode = word;
    }
  }
  if (mode == "--rows") {
    for (const steelyard::OpDef* def : steelyard::AllOps()) {
      std::cout << steelyard::RowJson(*def) << '\n';
    }
    return 0;
  }
  std::optional<steelyard::Target> target = steelyard::TargetOf(device);
  if (!target) {
    std::cerr << fmt::format("probe: no device is called '{}'; see src/hardware/devices.cc\n",
                             device);
    return 1;
  }
  target->deterministic = deterministic;
  target->torch_minor = steelyard::TorchMinorOf(release).value_or(target->torch_minor);
  const auto answer = mode == "--steps"     ? steelyard::StepJson
                      : mode == "--kernels" ? steelyard::KernelsJson
                                            : steelyard::CallJson;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(line, *target) << '\n' << std::flush;
  }
  return 0;
}
