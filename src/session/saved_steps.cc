// SPDX-License-Identifier: Apache-2.0
//
// Steps run from the beginning, each with the numbers of the optimizer that are its own; outputs
// and gradients, which a step lets go before it ends, are kept to be written.
#include "session/saved_steps.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execute/execution.h"
#include "execute/tensor_writer.h"
#include "session/device_at_hand.h"
#include "session/prepare.h"
#include "session/run_help.h"
#include "steelyard/import.h"
#include "steelyard/pass.h"

namespace steelyard {
namespace {

// How PyTorch's profiler calls what follows a step.
constexpr std::string_view kZeroGrad = "Optimizer.zero_grad#";

// Its values are another program's, to be written or to go on with.
class Steps {
 public:
  Steps(const RunOptions& options, const Weighing& first, Execution execution)
      : options_(options), first_(first), execution_(std::move(execution)) {}

  Status Run() {
    for (int step = 1; step <= options_.steps; ++step) {
      if (step > 1) execution_.ReleaseOutputs();
      SY_RETURN_IF_ERROR(Take(step - execution_.skipped_steps()));
      KeepResults();
      const bool is_last = step == options_.steps;
      SyRecord record{};
      record.stop = options_.stop;
      const NodeId end = is_last ? EndOfLast() : EndOf(execution_.kernels());
      SY_RETURN_IF_ERROR(execution_.Run(0, end, record));
    }
    return {};
  }

  Status Write() {
    TensorWriter file;
    const Program& kernels = execution_.kernels();
    const std::vector<Argument>& outputs = kernels.main().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].kind != ArgKind::kValue) continue;
      if (kernels.values[outputs[i].value].kind != ValueKind::kTensor) continue;
      SY_RETURN_IF_ERROR(Add("outputs." + std::to_string(i), outputs[i].value, &file));
    }
    for (const Resident& resident : execution_.residents()) {
      const bool is_parameter = resident.category == Category::kParameters;
      if (!is_parameter && resident.category != Category::kBuffers) continue;
      SY_RETURN_IF_ERROR(
          Add((is_parameter ? "parameters." : "buffers.") + resident.name, resident.value, &file));
      if (resident.value >= kernels.gradients.size()) continue;
      const ValueId gradient = kernels.gradients[resident.value];
      if (gradient == kNoId) continue;
      SY_RETURN_IF_ERROR(Add("gradients." + resident.name, gradient, &file));
    }
    return file.Write(options_.save);
  }

 private:
  static NodeId EndOf(const Program& kernels) {
    return static_cast<NodeId>(kernels.main().nodes.size());
  }

  // Gradients that would be overwritten with zeros are to be read before.
  NodeId EndOfLast() const {
    const Program& kernels = execution_.kernels();
    const std::vector<Node>& nodes = kernels.main().nodes;
    const auto zeroes = [&](const Node& node) {
      return !kernels.is_drop(node) && node.frame != 0 &&
             kernels.op_name(kernels.frames[node.frame].op).starts_with(kZeroGrad);
    };
    const auto first = std::ranges::find_if(nodes, zeroes);
    return first == nodes.end() ? EndOf(kernels) : static_cast<NodeId>(first - nodes.begin());
  }

  // The step itself lets gradients and outputs go before it ends.
  void KeepResults() {
    const Program& kernels = execution_.kernels();
    for (const ValueId gradient : kernels.gradients) {
      if (gradient != kNoId) execution_.Keep(gradient);
    }
    for (const Argument& output : kernels.main().outputs) {
      if (output.kind == ArgKind::kValue) execution_.Keep(output.value);
    }
  }

  // The program with the numbers of the optimizer that are this step's.
  Status Take(int step) {
    if (first_.options.train.optimizer.empty()) return {};
    WeighOptions weigh = first_.options;
    weigh.train.step = step;
    SY_ASSIGN_OR_RETURN(Program program, ImportFile(weigh.path, ImportOf(weigh)));
    SY_ASSIGN_OR_RETURN(Lowered lowered, Lower(std::move(program), PassesOf(weigh)));
    auto next = std::make_unique<Program>(std::move(lowered.kernels));
    SY_RETURN_IF_ERROR(execution_.Continue(*next));
    kernels_ = std::move(next);
    return {};
  }

  Status Add(const std::string& name, ValueId value, TensorWriter* file) {
    Result<SyElements> elements = execution_.Read(value);
    if (!elements) return Unexpected(Within(name, std::move(elements).error()));
    return file->Add(name, *elements);
  }

  const RunOptions& options_;
  const Weighing& first_;
  Execution execution_;
  std::unique_ptr<const Program> kernels_;  // of a later step
};

}  // namespace

Status SaveSteps(const SyEngine& engine, const Sources& sources, const Running& running) {
  if (running.weighing.kernels.has_stand_ins) {
    return Unexpected(Unsupported(
        "what this step computes is not written: some of its numbers stand for any", {},
        "Numbers that are read from tensors, as item() reads them, are none of the program's: a "
        "step of Adafactor, LANS or AdamW8bit has such, or one of several optimizers under a "
        "gradient scaler."));
  }
  engine.set_seed(running.options.seed);
  SY_ASSIGN_OR_RETURN(Execution execution,
                      Execution::Open(engine, running.weighing.kernels, sources,
                                      HelpOf(running.weighing), EngineDevice(running.options)));
  engine.set_seed(running.options.seed);
  Steps steps(running.options, running.weighing, std::move(execution));
  SY_RETURN_IF_ERROR(steps.Run());
  return steps.Write();
}

}  // namespace steelyard
