// SPDX-License-Identifier: Apache-2.0
//
// What a rule needs besides the call: the multiply-adds of its kernels, which may be many and, in a
// loop's graph, may have run more than once.
#include "analyze/call_counter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/node_numbering.h"
#include "ops/op_def.h"

namespace steelyard {
namespace {

// The kernels of one call, forward, as often as they run.
struct CallWork {
  Count macs = 0;
  std::size_t first = SIZE_MAX;  // of its kernels
};

std::vector<CallWork> ByCall(const Program& kernels, const WorkByNode& by_node, NodeId calls) {
  std::vector<CallWork> out(calls);
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool forward = nodes[i].phase == Phase::kForward || nodes[i].phase == Phase::kLoss;
    if (!forward || nodes[i].origin == kNoId) continue;
    CallWork& call = out[nodes[i].origin];
    call.macs += Count(by_node[i].macs) * kernels.times(static_cast<NodeId>(i));
    call.first = std::min(call.first, i);
  }
  return out;
}

// The rules of one operator stand together.
std::span<const CallRule> RulesOf(std::span<const CallRule> rules, std::string_view op) {
  const std::string_view label = op.substr(0, op.find('.'));
  const auto first = std::ranges::find(rules, label, &CallRule::op);
  const auto last =
      std::find_if(first, rules.end(), [&](const CallRule& r) { return r.op != label; });
  return {first, last};
}

// One call of the imported program.
class Call {
 public:
  Call(const Program& program, const Node& node)
      : program_(program),
        node_(node),
        def_(FindOp(OpName::FromRuntime(program.op_name(node.op)))) {}

  bool Fits(const CallRule& rule) const {
    const Argument* given = rule.given < 0 ? nullptr : At(rule.given);
    if (rule.given >= 0 && (given == nullptr || given->kind == ArgKind::kNone)) return false;
    if (rule.truth < 0) return true;
    const Argument* truth = At(rule.truth);
    return truth != nullptr && truth->kind == ArgKind::kBool && truth->dim.number() != 0;
  }

  Count Elements(const CallRule& rule) const {
    Count sum = 0;
    const Argument* self = At(0);
    if (rule.input > 0 && self != nullptr && self->kind == ArgKind::kValue) {
      sum += ElementsOf(self->value, 0) * rule.input;
    }
    const std::span<const ValueId> results = program_.results(node_);
    if (results.empty() || results[0] == kNoId) return sum;
    if (rule.output != 0) sum += ElementsOf(results[0], 0) * rule.output;
    if (rule.spatial > 0) sum += ElementsOf(results[0], 2) * rule.spatial;
    const Argument* times = rule.times < 0 ? nullptr : At(rule.times);
    const bool is_number = times != nullptr && times->kind == ArgKind::kInt;
    return is_number && times->dim.is_number() ? sum * times->dim.number() : sum;
  }

 private:
  // The argument of that place, whether it was passed by place or by name.
  const Argument* At(int place) const {
    const std::span<const Argument> args = program_.args(node_);
    const auto at = static_cast<std::size_t>(place);
    if (at < args.size() && args[at].name == kNoString) return &args[at];
    if (def_ == nullptr || at >= def_->signature->params().size()) return nullptr;
    const auto named = std::ranges::find_if(args, [&](const Argument& argument) {
      return argument.name != kNoString &&
             program_.text(argument.name) == def_->signature->params()[at].name;
    });
    return named == args.end() ? nullptr : &*named;
  }

  // Of the dimensions from `from` on.
  Count ElementsOf(ValueId id, std::size_t from) const {
    const Value& value = program_.values[id];
    if (value.kind != ValueKind::kTensor || !value.has_layout) return 0;
    Count count = 1;
    for (std::size_t i = from; i < value.rank; ++i) count = count * program_.sizes(id)[i];
    return count;
  }

  const Program& program_;
  const Node& node_;
  const OpDef* def_;
};

// What `rules`, those of the call's operator, make of it.
Count Counted(std::span<const CallRule> rules, const Call& call, const CallWork& work,
              std::int64_t runs) {
  for (const CallRule& rule : rules) {
    if (call.Fits(rule)) return work.macs * rule.mac + call.Elements(rule) * runs;
  }
  return 0;
}

// A sum over `runs`, by run; negative where it did not fit.
std::int64_t Once(Count sum, std::int64_t runs) {
  return sum.overflowed() ? sum.value() : sum.value() / runs;
}

bool CountsProducts(std::span<const CallRule> rules) {
  return !rules.empty() && rules.front().mac > 0;
}

}  // namespace

void CountCallsAs(const Convention& convention, const Program& imported, const Program& kernels,
                  WorkByNode& by_node) {
  const NodeNumbering numbering(imported);
  const std::vector<CallWork> works = ByCall(kernels, by_node, numbering.count());
  for (GraphId g = 0; g < imported.graphs.size(); ++g) {
    for (std::size_t i = 0; i < imported.graphs[g].nodes.size(); ++i) {
      const CallWork& work = works[numbering.first(g) + i];
      if (work.first == SIZE_MAX) continue;  // it ran nothing
      const std::int64_t runs = g == 0 ? imported.times(static_cast<NodeId>(i)) : kernels.runs(g);
      // What is counted at the first kernel counts as often as that one runs.
      const std::int64_t shared = kernels.times(static_cast<NodeId>(work.first));
      const Node& node = imported.graphs[g].nodes[i];
      const Call call(imported, node);
      const auto rules = RulesOf(convention.measure.calls, imported.op_name(node.op));
      NodeWork& counted = by_node.at(work.first);
      counted.flops = Once(Counted(rules, call, work, runs), shared);
      counted.missed = CountsProducts(rules) ? 0 : Once(work.macs, shared);
      if (convention.beside == nullptr) continue;
      const auto beside = RulesOf(convention.beside->calls, imported.op_name(node.op));
      counted.beside = Once(Counted(beside, call, work, runs), shared);
    }
  }
}

}  // namespace steelyard
