// SPDX-License-Identifier: Apache-2.0
//
// Decides what the head of a model is: a contraction of one tensor with parameters that leaves all
// dimensions but the last as they are, and pointwise functions after it. Such a head does with some
// rows what it does with all of them.

#include "pass/fused_loss.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/op_def.h"
#include "pass/append_call.h"

namespace steelyard {
namespace {

struct Head {
  std::vector<std::size_t> nodes;  // of the main graph, first to last
  ValueId input = kNoId;
};

Error NoHead(const Program& program, ValueId scores) {
  return Unsupported("the scores are not those of a linear layer alone",
                     std::string(program.text(program.values[scores].name)),
                     "--fused-loss needs a program that returns what a linear layer with "
                     "parameters gives, or pointwise functions of it, and uses it nowhere else.");
}

class HeadFinder {
 public:
  explicit HeadFinder(const Program& program) : program_(program), uses_(program.values.size()) {
    const std::vector<Node>& nodes = program.main().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const ValueId id : program.results(nodes[i])) {
        if (id != kNoId) producer_.emplace(id, i);
      }
      for (const Argument& argument : program.args(nodes[i])) Use(argument);
    }
    for (const Argument& output : program.main().outputs) Use(output);
  }

  Result<Head> Find(ValueId scores) const {
    Head head;
    head.input = scores;
    while (head.input == scores || uses_[head.input] == 1) {
      const auto found = producer_.find(head.input);
      if (found == producer_.end() || uses_[scores] != 1) break;
      const Node& node = program_.main().nodes[found->second];
      const OpDef* def = FindOp(OpName::FromRuntime(program_.op_name(node.op)));
      if (def == nullptr || *def->alias != Alias::kNone || program_.results(node).size() != 1)
        break;
      const ValueId operand = OperandOf(*def, node);
      if (operand == kNoId) break;
      head.nodes.insert(head.nodes.begin(), found->second);
      head.input = operand;
      if (*def->family == Family::kContraction) return head;
    }
    return Unexpected(NoHead(program_, scores));
  }

 private:
  void Use(const Argument& argument) {
    if (argument.kind == ArgKind::kValue) ++uses_[argument.value];
    if (argument.kind != ArgKind::kList) return;
    for (const Argument& element : program_.list(argument.list)) Use(element);
  }

  // The one tensor that is no parameter, where each of its rows gives one of the result.
  ValueId OperandOf(const OpDef& def, const Node& node) const {
    const bool contracts = *def.family == Family::kContraction;
    if (!contracts && *def.family != Family::kElementwise) return kNoId;
    ValueId operand = kNoId;
    for (const Argument& argument : program_.args(node)) {
      if (argument.kind == ArgKind::kList) return kNoId;
      if (argument.kind != ArgKind::kValue) continue;
      const Value& value = program_.values[argument.value];
      const bool parameter = value.role == Role::kParameter;
      if (value.kind != ValueKind::kTensor || (operand != kNoId && !parameter)) return kNoId;
      // A matrix to the left of the tensor would mix its rows.
      if (parameter && (!contracts || value.rank > 2 || (operand == kNoId && value.rank > 1))) {
        return kNoId;
      }
      if (!parameter) operand = argument.value;
    }
    return operand != kNoId && SameRows(operand, program_.results(node)[0], contracts) ? operand
                                                                                       : kNoId;
  }

  bool SameRows(ValueId operand, ValueId result, bool contracts) const {
    const std::span<const std::int64_t> from = program_.sizes(operand), to = program_.sizes(result);
    if (from.size() != to.size() || from.size() < 2) return false;
    const std::size_t same = contracts ? from.size() - 1 : from.size();
    return std::ranges::equal(from.first(same), to.first(same));
  }

  const Program& program_;
  std::vector<int> uses_;  // by value
  std::map<ValueId, std::size_t> producer_;
};

// Takes the scores out of what the program returns.
void StopReturning(Program& program, ValueId scores) {
  std::vector<Argument>& outputs = program.main().outputs;
  const auto found = std::ranges::find_if(outputs, [&](const Argument& output) {
    return output.kind == ArgKind::kValue && output.value == scores;
  });
  const auto place = static_cast<std::uint32_t>(found - outputs.begin());
  outputs.erase(found);
  std::erase(program.released, place);
  for (std::uint32_t& other : program.released) other -= other > place ? 1 : 0;
}

// The nodes of the head, which go from the main graph.
std::vector<Node> Take(Program& program, const Head& head) {
  std::vector<Node> taken;
  taken.reserve(head.nodes.size());
  std::vector<Node>& nodes = program.main().nodes;
  for (const std::size_t i : head.nodes) taken.push_back(nodes[i]);
  for (std::size_t i = head.nodes.size(); i-- > 0;) {
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(head.nodes[i]));
  }
  return taken;
}

// Views of the tensor.
std::vector<ValueId> AppendChunks(Program& p, ValueId tensor, int count) {
  const Value whole = p.values[tensor];
  Dims sizes(p.sizes(tensor));
  const std::int64_t rows = sizes[0], each = rows / count + (rows % count != 0 ? 1 : 0);
  std::vector<ValueId> chunks;
  for (std::int64_t done = 0; done < rows; done += each) {
    sizes[0] = std::min(each, rows - done);
    chunks.push_back(p.AddTensor(whole.name, whole.dtype, sizes, ContiguousStrides(sizes)));
    p.values[chunks.back()].storage = whole.storage;
  }
  const std::array args{Argument::OfValue(tensor), Argument::OfInt(count)};
  AppendCall(p, "aten::chunk", args, chunks, Phase::kLoss);
  return chunks;
}

// What is computed of each chunk: the calls of the head, whose input is `input`, and a loss `op`
// with what it takes besides scores and labels.
struct ChunkCalls {
  const std::vector<Node>& head;
  ValueId input;
  std::string_view op;
  std::span<const Argument> tail;
};

// Those of some rows, as a graph.
class Body {
 public:
  Body(Program& program, std::int64_t rows) : program_(program), rows_(rows) {}

  // Gives the parameters that it takes besides, in the order of their first use.
  std::vector<ValueId> Build(const ChunkCalls& calls) {
    graph_.inputs = {Rows(calls.input), Labels()};
    known_[calls.input] = graph_.inputs[0];
    std::vector<ValueId> parameters;
    for (const Node& node : calls.head) parameters = AddCall(node, std::move(parameters));
    const ValueId scores = known_[program_.results(calls.head.back())[0]];
    std::vector<Argument> args{Argument::OfValue(scores), Argument::OfValue(graph_.inputs[1])};
    args.insert(args.end(), calls.tail.begin(), calls.tail.end());
    const ValueId loss = AddResult(program_, "loss", program_.values[scores].dtype, {});
    Node node;
    node.op = program_.AddOpName(calls.op);
    node.arguments = program_.AddArguments(args);
    node.outputs = program_.AddOutputs({&loss, 1});
    node.phase = Phase::kLoss;
    graph_.nodes.push_back(node);
    graph_.outputs = {Argument::OfValue(loss)};
    program_.graphs.push_back(std::move(graph_));
    return parameters;
  }

 private:
  // The same tensor with fewer rows, all dimensions but the last being one.
  ValueId Rows(ValueId id) {
    const Value& value = program_.values[id];
    const std::array sizes{rows_, program_.sizes(id).back()};
    return program_.AddTensor(value.name, value.dtype, sizes, ContiguousStrides(sizes));
  }
  ValueId Labels() { return AddResult(program_, "target", DType::kInt64, {&rows_, 1}); }

  std::vector<ValueId> AddCall(const Node& call, std::vector<ValueId> parameters) {
    Node node = call;
    std::vector<Argument> args(program_.args(call).begin(), program_.args(call).end());
    for (Argument& argument : args) {
      if (argument.kind != ArgKind::kValue) continue;
      if (!known_.contains(argument.value)) {
        Value inner = program_.values[argument.value];
        inner.storage = program_.storage_count++;
        program_.values.push_back(inner);
        known_[argument.value] = static_cast<ValueId>(program_.values.size() - 1);
        graph_.inputs.push_back(known_[argument.value]);
        parameters.push_back(argument.value);
      }
      argument.value = known_[argument.value];
    }
    node.arguments = program_.AddArguments(args);
    const ValueId outer = program_.results(call)[0];
    const ValueId result = known_[outer] = Rows(outer);
    node.outputs = program_.AddOutputs({&result, 1});
    node.call = kNoId;
    graph_.nodes.push_back(node);
    return parameters;
  }

  Program& program_;
  std::int64_t rows_;
  Graph graph_;
  std::map<ValueId, ValueId> known_;
};

ValueId AppendRegion(Program& p, const ChunkCalls& calls, ValueId rows, ValueId labels) {
  const std::int64_t count = p.sizes(rows)[0];
  const std::vector<ValueId> parameters = Body(p, count).Build(calls);
  std::vector<Argument> args{Argument::OfGraph(static_cast<GraphId>(p.graphs.size() - 1)),
                             Argument::OfInt(2), Argument::OfBool(false), Argument::OfValue(rows),
                             Argument::OfValue(labels)};
  for (const ValueId parameter : parameters) args.push_back(Argument::OfValue(parameter));
  const DType dtype = p.values[p.results(calls.head.back())[0]].dtype;
  const ValueId loss = AddResult(p, "loss", dtype, {});
  AppendCall(p, "steelyard::checkpoint", args, {&loss, 1}, Phase::kLoss);
  return loss;
}

// stack(losses).sum() / rows
ValueId AppendMean(Program& p, std::span<const ValueId> losses, std::int64_t rows) {
  const DType dtype = p.values[losses[0]].dtype;
  std::vector<Argument> list;
  for (const ValueId loss : losses) list.push_back(Argument::OfValue(loss));
  const std::array sizes{static_cast<std::int64_t>(losses.size())};
  const ValueId stacked = AddResult(p, "losses", dtype, sizes);
  const std::array all{Argument::OfList(p.AddArguments(list))};
  AppendCall(p, "aten::stack", all, {&stacked, 1}, Phase::kLoss);
  const ValueId sum = AddResult(p, "loss_sum", dtype, {}), mean = AddResult(p, "loss", dtype, {});
  const std::array of{Argument::OfValue(stacked)};
  AppendCall(p, "aten::sum", of, {&sum, 1}, Phase::kLoss);
  const std::array over{Argument::OfValue(sum), Argument::OfInt(rows)};
  AppendCall(p, "steelyard::scale_loss", over, {&mean, 1}, Phase::kLoss);
  return mean;
}

}  // namespace

Result<ValueId> AppendFusedLoss(Program& program, ValueId scores, std::string_view op,
                                std::span<const Argument> tail, const TrainOptions& options) {
  SY_ASSIGN_OR_RETURN(const Head head, HeadFinder(program).Find(scores));
  const Dims sizes(program.sizes(head.input));
  Count rows = 1;
  for (int i = 0; i + 1 < sizes.size(); ++i) rows = rows * sizes[i];
  if (rows.overflowed() || rows.value() == 0) {
    return Unexpected(InvalidInput("there are no rows to compute a loss of", "--fused-loss", ""));
  }
  StopReturning(program, scores);
  const std::vector<Node> nodes = Take(program, head);
  ValueId input = head.input;
  if (sizes.size() > 2) {
    const Dims flat{rows.value(), sizes[sizes.size() - 1]};
    const std::array args{Argument::OfValue(input), IntsArgument(program, flat)};
    input = AddResult(program, "rows", program.values[head.input].dtype, flat);
    AppendCall(program, "aten::reshape", args, {&input, 1}, Phase::kLoss);
  }
  const std::array labels{IntsArgument(program, Dims{rows.value()}),
                          Argument::OfDType(DType::kInt64)};
  const ValueId target = AddResult(program, "target", DType::kInt64, Dims{rows.value()});
  AppendCall(program, "aten::zeros", labels, {&target, 1}, Phase::kLoss);
  const std::vector<ValueId> inputs = AppendChunks(program, input, options.fused_loss);
  const std::vector<ValueId> targets = AppendChunks(program, target, options.fused_loss);
  const ChunkCalls calls{.head = nodes, .input = head.input, .op = op, .tail = tail};
  std::vector<ValueId> losses;
  losses.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    losses.push_back(AppendRegion(program, calls, inputs[i], targets[i]));
  }
  return AppendMean(program, losses, rows.value());
}

}  // namespace steelyard
