// SPDX-License-Identifier: Apache-2.0
//
// Decides what stands around the nodes of modules that SequenceParallel and PrepareModuleInput
// prepare: a call that makes a DTensor of what they take, one that ends what their callers hold,
// and marks of parameters whose gradients are sums
// (torch/distributed/tensor/parallel/style.py).

#include "pass/shared_modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/visit_values.h"
#include "pass/append_call.h"

namespace steelyard {
namespace {

constexpr std::string_view kFlag = "--tp-plan";

Error NotModelled(std::string message, std::string hint) {
  return Unsupported(std::move(message), std::string(kFlag), std::move(hint));
}

bool IsAround(const SharedLayer& layer) {
  return layer.style.is_sequence() || layer.style.prepares();
}

}  // namespace

std::string_view PathOf(const Program& program, const SharedLayer& layer) {
  return program.text(program.modules[layer.module].path);
}

Error Misfit(const Program& program, const SharedLayer& layer, const Held& held) {
  const bool of_features = held.is_part && held.dim < 0;
  const std::string_view comes = !held.is_part ? "the whole"
                                 : of_features ? "a part of the features"
                                               : "a part of the sequence";
  const std::string layout =
      held.is_part ? fmt::format("Shard({})", held.dim) : std::string("Replicate()");
  return InvalidInput(
      fmt::format("\"{}\" is {}, but {} is what it is called with", PathOf(program, layer),
                  layer.style.text, comes),
      std::string(kFlag),
      IsAround(layer)
          ? "Behind layers with output_layouts=Shard(1) there are parts of the sequence."
      : of_features
          ? "A rowwise layer takes parts of the features, and gives wholes."
          : fmt::format("Behind a colwise layer there are parts of the features, which a rowwise "
                        "one takes; of what comes it is told by input_layouts={}.",
                        layout));
}

Status SharedModules::Enter(std::deque<SharedLayer>& layers, const std::vector<Node>& nodes,
                            std::size_t at) {
  std::vector<const SharedLayer*> found;
  for (const SharedLayer& layer : layers) {
    if (IsAround(layer) && layer.span.first == at) found.push_back(&layer);
  }
  // The outermost is called first, in whatever order a plan names them.
  std::ranges::stable_sort(found, {}, [&](const SharedLayer* layer) {
    return std::tuple(nodes.size() - layer->span.last, PathOf(program_, *layer).size());
  });
  for (const SharedLayer* const each : found) {
    const SharedLayer& layer = *each;
    SY_ASSIGN_OR_RETURN(const ValueId input, InputOf(layer));
    const ValueId comes = values_.Now(input);
    const ValueId goes = BecomeDistributed(nodes[at], layer, comes);
    values_.Replace(input, goes);
    prepared_.push_back({.layer = &layer, .input = input, .came = comes, .given = goes});
    if (!layer.style.is_sequence()) continue;
    sequence_ = &layer;
    SumGradients(nodes, layer);
  }
  return {};
}

Result<ValueId> SharedModules::InputOf(const SharedLayer& layer) const {
  std::vector<ValueId> fitting;
  for (const ValueId id : layer.span.taken) {
    if (Fits(values_.HeldOf(values_.Now(id)), layer.style.input)) fitting.push_back(id);
  }
  if (layer.style.prepares() && layer.style.input == layer.style.output) {
    return Unexpected(NotModelled(
        fmt::format("\"{}\" is prepared for what it is called with", PathOf(program_, layer)),
        "Say what it is to have: desired_input_layouts=Replicate()."));
  }
  if (fitting.size() == 1 && layer.style.input.is_shard()) return fitting[0];
  if (fitting.empty() && !layer.span.taken.empty()) {
    return Unexpected(Misfit(program_, layer, values_.HeldOf(values_.Now(layer.span.taken[0]))));
  }
  return Unexpected(
      NotModelled(fmt::format("which tensor \"{}\" as {} is called with is not known",
                              PathOf(program_, layer), layer.style.text),
                  "Modelled is one that comes as a part of the sequence: input_layouts=Shard(1)."));
}

// Layers of the plan that compute with a whole give parts of a sum as its gradient, but for
// those that are called with a tensor, which add them up.
ValueId SharedModules::BecomeDistributed(const Node& before, const SharedLayer& layer,
                                         ValueId comes) {
  const ops::Placement& from = layer.style.input;
  const ops::Placement& to = layer.style.output;
  const bool goes_distributed = layer.style.is_sequence() || !layer.style.local_output;
  const bool is_sum = layer.style.prepares() && goes_distributed;
  const ValueId goes = AddResult(program_, program_.text(program_.values[comes].name),
                                 program_.values[comes].dtype, values_.WholeOf(comes));
  const std::array args{Argument::OfValue(comes),
                        Argument::OfInt(group_.ranks),
                        Argument::OfInt(group_.rank),
                        values_.Text(from),
                        values_.Text(to),
                        values_.Text(is_sum ? ops::kPartial : to),
                        Argument::OfBool(values_.HeldOf(comes).is_distributed),
                        Argument::OfBool(goes_distributed)};
  Append(before, "steelyard::to_distributed", args, {&goes, 1});
  const Held held{to.is_shard(), to.dim, goes_distributed};
  values_.Set(goes, held);
  if (held.is_part) values_.Mark(program_.main().nodes.back(), held);
  return goes;
}

// Its parameters are whole in each process, and what comes is not.
void SharedModules::SumGradients(const std::vector<Node>& nodes, const SharedLayer& layer) {
  std::set<ValueId> seen;
  for (std::size_t i = layer.span.first; i <= layer.span.last; ++i) {
    for (const Argument& argument : program_.args(nodes[i])) {
      VisitValues(program_, argument, [&](ValueId id) {
        const bool is_parameter = std::ranges::find(program_.parameters, id, &NamedTensor::value) !=
                                  program_.parameters.end();
        if (!is_parameter || !seen.insert(id).second) return;
        const std::array args{Argument::OfValue(id), Argument::OfInt(group_.ranks)};
        Append(nodes[layer.span.first], "steelyard::sum_gradient", args, {});
      });
    }
  }
}

// Behind the last node of a module; what it was called with its callers hold until then.
void SharedModules::Leave(const std::vector<Node>& nodes, std::size_t at) {
  while (!prepared_.empty() && prepared_.back().layer->span.last == at) {
    const Prepared ended = prepared_.back();
    prepared_.pop_back();
    values_.Replace(ended.input, ended.came);
    if (ended.layer->style.is_sequence()) {
      sequence_ = nullptr;
      if (ended.layer->style.local_output) GiveLocal(nodes[at], *ended.layer);
    } else {
      const std::array held{Argument::OfValue(ended.came), Argument::OfValue(ended.given)};
      const std::array args{Argument::OfList(program_.AddArguments(held))};
      Append(nodes[at], "steelyard::leave", args, {});
    }
  }
}

void SharedModules::GiveLocal(const Node& last, const SharedLayer& layer) {
  for (const ValueId id : layer.span.given) {
    const ValueId local = AddResult(program_, program_.text(program_.values[id].name),
                                    program_.values[id].dtype, values_.WholeOf(id));
    const std::array args{Argument::OfValue(id)};
    Append(last, "steelyard::to_local", args, {&local, 1});
    values_.Mark(program_.main().nodes.back(), {.is_part = true, .dim = values_.HeldOf(id).dim});
    values_.Replace(id, local);
  }
}

// A call beside a node of the same module.
void SharedModules::Append(const Node& beside, std::string_view op, std::span<const Argument> args,
                           std::span<const ValueId> results) {
  Node node = beside;
  node.op = program_.AddOpName(op);
  node.arguments = program_.AddArguments(args);
  node.outputs = program_.AddOutputs(results);
  program_.main().nodes.push_back(node);
}

}  // namespace steelyard
