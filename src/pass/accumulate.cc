// SPDX-License-Identifier: Apache-2.0
//
// Micro-steps are copies with values and storages of their own, and the program's own nodes are the
// last, so that its outputs and loss stay what they are. Not all need be written out: the first
// makes the gradients, the second adds to them, and a third that is like it stands for any number
// more.

#include "pass/accumulate.h"

#include <fmt/core.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/release_order.h"
#include "pass/append_call.h"

namespace steelyard {
namespace {

// The first micro-step makes the gradients, the second and all after it add to them, and the last
// is followed by the optimizer's. Of more than these, the third stands for those in between; the
// second is there for it to be compared with.
constexpr int kWrittenOut = 4;
// Calls that a program may have of which each micro-step is written out: some gigabytes.
constexpr std::int64_t kMostNodes = 2'000'000;

// The values of one repetition, and its calls of modules, in place of those of the program.
class Repetition {
 public:
  explicit Repetition(Program& program)
      : program_(program),
        values_(program.values.size(), kNoId),
        storages_(program.storage_count, kNoId),
        calls_(program.calls.size(), kNoId) {}

  Node Copy(const Node& node) {
    Node copy = node;
    copy.call = CallOf(node.call);
    std::vector<Argument> arguments;
    arguments.reserve(node.arguments.count);
    for (std::uint32_t i = 0; i < node.arguments.count; ++i) {
      arguments.push_back(Renamed(program_.arguments[node.arguments.begin + i]));
    }
    copy.arguments = program_.AddArguments(arguments);
    std::vector<ValueId> results;
    results.reserve(node.outputs.count);
    for (std::uint32_t i = 0; i < node.outputs.count; ++i) {
      results.push_back(Fresh(program_.outputs[node.outputs.begin + i]));
    }
    copy.outputs = program_.AddOutputs(results);
    return copy;
  }

  // What is not a result of a node stays what it is.
  Argument Renamed(Argument argument) {
    if (argument.kind == ArgKind::kValue) {
      const ValueId renamed = argument.value < values_.size() ? values_[argument.value] : kNoId;
      if (renamed != kNoId) argument.value = renamed;
    } else if (argument.kind == ArgKind::kList) {
      const Argument::Run run = argument.list;
      std::vector<Argument> elements;
      elements.reserve(run.count);
      for (std::uint32_t i = 0; i < run.count; ++i) {
        elements.push_back(Renamed(program_.arguments[run.begin + i]));
      }
      argument.list = program_.AddArguments(elements);
    }
    return argument;
  }

 private:
  ValueId Fresh(ValueId id) {
    if (id == kNoId) return kNoId;
    Value value = program_.values[id];
    if (value.storage != kNoId) {
      StorageId& storage = storages_[value.storage];
      if (storage == kNoId) storage = program_.storage_count++;
      value.storage = storage;
    }
    program_.values.push_back(value);
    values_[id] = static_cast<ValueId>(program_.values.size() - 1);
    return values_[id];
  }

  // What a call holds goes when it returns, not when the next micro-step's does.
  CallId CallOf(CallId id) {
    if (id == kNoId) return kNoId;
    if (calls_[id] == kNoId) {
      ModuleCall call = program_.calls[id];
      call.parent = CallOf(call.parent);
      program_.calls.push_back(call);
      calls_[id] = static_cast<CallId>(program_.calls.size() - 1);
    }
    return calls_[id];
  }

  Program& program_;
  std::vector<ValueId> values_;      // by value of the program
  std::vector<StorageId> storages_;  // by storage of the program
  std::vector<CallId> calls_;        // by call of the program
};

// The outputs as Python takes apart what holds them, and last the loss.
std::vector<Argument> LetGo(const Program& program, Repetition& repetition) {
  std::vector<Argument> out;
  for (const std::uint32_t place : ReleaseOrder(program)) {
    const Argument& output = program.main().outputs[place];
    if (output.kind == ArgKind::kValue && output.value != program.loss) {
      out.push_back(repetition.Renamed(output));
    }
  }
  out.push_back(repetition.Renamed(Argument::OfValue(program.loss)));
  return out;
}

}  // namespace

int WrittenMicroSteps(const TrainOptions& options) {
  const bool folds = options.accumulate > kWrittenOut && !options.unroll;
  return folds ? kWrittenOut : static_cast<int>(options.accumulate);
}

Result<Program> Accumulate(Program program, const TrainOptions& options) {
  if (options.accumulate < 1) {
    return Unexpected(UsageError("a step has at least one micro-step", "--accumulate"));
  }
  if (options.accumulate == 1) return program;
  const int steps = WrittenMicroSteps(options);
  const bool folds = steps < options.accumulate;
  const std::vector<Node> nodes = std::move(program.main().nodes);
  if (steps > kMostNodes / static_cast<std::int64_t>(nodes.size() + 1)) {
    return Unexpected(Unsupported(
        fmt::format("{} micro-steps of {} operators are too many to tell apart", steps,
                    nodes.size()),
        "--accumulate",
        "The report without events, the graph runtime or a table of kernels sums them up."));
  }
  program.main().nodes.clear();
  for (int i = 1; i < steps; ++i) {
    const auto first = static_cast<NodeId>(program.main().nodes.size());
    Repetition repetition(program);
    for (const Node& node : nodes) program.main().nodes.push_back(repetition.Copy(node));
    const std::vector<Argument> outputs = LetGo(program, repetition);
    AppendCall(program, "steelyard::end_micro_step", outputs, {}, Phase::kBackward);
    if (!folds || i + 1 < steps) continue;
    const auto count = static_cast<std::uint32_t>(program.main().nodes.size() - first);
    program.repeat = {first, count, options.accumulate - kWrittenOut + 1};
  }
  program.main().nodes.insert(program.main().nodes.end(), nodes.begin(), nodes.end());
  return program;
}

}  // namespace steelyard
