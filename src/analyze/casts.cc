// SPDX-License-Identifier: Apache-2.0
//
// A cast is a kernel that moves a tensor from one floating dtype to another, whoever asked for it:
// autocast, the model itself or the backward pass of such a cast. Groups are told by the operator
// of the user's program, not by the kernel that copies.
#include "analyze/casts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/node_numbering.h"
#include "ops/dispatch/program_rows.h"
#include "ops/op_def.h"
#include "ops/raf_policy.h"

namespace steelyard {
namespace {

constexpr int kWideBits = 32;

bool IsFloatingTensor(const Program& program, ValueId id) {
  const Value& value = program.values[id];
  return value.kind == ValueKind::kTensor && IsFloating(value.dtype);
}

class Counter {
 public:
  Counter(const Program& imported, const Program& kernels, const WorkReport& work,
          const Target& target, CastRules rules)
      : imported_(imported),
        numbering_(imported),
        kernels_(kernels),
        work_(work),
        target_(target),
        rules_(rules),
        defs_(RowsOf(kernels)),
        called_defs_(RowsOf(imported)),
        of_parameter_(kernels.storage_count, false),
        at_peak_(kernels.storage_count, 0) {
    for (const NamedTensor& parameter : kernels.parameters) {
      of_parameter_[kernels.values[parameter.value].storage] = true;
    }
  }

  void HoldAtPeak(const Timeline& timeline, const PeakReport& peak) {
    for (const std::uint32_t block : peak.live) {
      const ValueId value = timeline.blocks[block].value;
      if (value != Block::kNoValue) {
        at_peak_[kernels_.values[value].storage] = timeline.blocks[block].bytes;
      }
    }
  }

  CastReport Run() && {
    const std::vector<Node>& nodes = kernels_.main().nodes;
    for (NodeId i = 0; i < nodes.size(); ++i) {
      const OpDef* def = defs_[nodes[i].op];
      if (def == nullptr || nodes[i].origin == kNoId || !work_.by_node.works(i)) continue;
      if (!AddCast(*def, i)) AddWide(i);
    }
    const auto moved = [](const WideOperator& op) { return op.work.read + op.work.written; };
    std::ranges::stable_sort(report_.casts, std::greater(), &CastGroup::moved);
    std::ranges::stable_sort(report_.wide, std::greater(), moved);
    return std::move(report_);
  }

 private:
  struct Ends {
    ValueId from, to;
  };

  // The operand and the result of a kernel that casts.
  std::optional<Ends> EndsOf(const OpDef& def, const Node& node) const {
    if (*def.family != Family::kDataMovement) return std::nullopt;
    const OpView op(kernels_, def, kernels_.args(node), kernels_.results(node), target_);
    const int source = *def.alias == Alias::kInPlace ? 1 : 0;
    if (op.output_count() != 1 || op.arg_count() <= source) return std::nullopt;
    if (op.arg(source).kind != ArgKind::kValue) return std::nullopt;
    const Ends ends{.from = op.arg(source).value, .to = kernels_.results(node)[0]};
    if (ends.to == kNoId || !IsFloatingTensor(kernels_, ends.from)) return std::nullopt;
    if (!IsFloatingTensor(kernels_, ends.to)) return std::nullopt;
    const bool casts = kernels_.values[ends.from].dtype != kernels_.values[ends.to].dtype;
    return casts ? std::optional(ends) : std::nullopt;
  }

  bool AddCast(const OpDef& def, NodeId i) {
    const Node& node = kernels_.main().nodes[i];
    const std::optional<Ends> ends = EndsOf(def, node);
    if (!ends) return false;
    const Value& from = kernels_.values[ends->from];
    const Value& to = kernels_.values[ends->to];
    const CastOf of = of_parameter_[from.storage]      ? CastOf::kParameter
                      : node.phase == Phase::kBackward ? CastOf::kGradient
                                                       : CastOf::kActivation;
    CastGroup& group = GroupOf(
        {.op = CalledBy(node), .of = of, .phase = node.phase, .from = from.dtype, .to = to.dtype});
    const std::int64_t times = kernels_.times(i);
    const NodeWork work = work_.by_node[i].Times(times);
    group.casts += times;
    group.bytes += TensorView(kernels_, ends->to).bytes() * times;
    group.moved += work.read + work.written;
    group.at_peak += std::exchange(at_peak_[to.storage], 0);
    return true;
  }

  CastGroup& GroupOf(const CastGroup& key) {
    const auto same = [&](const CastGroup& group) {
      return group.op == key.op && group.of == key.of && group.phase == key.phase &&
             group.from == key.from && group.to == key.to;
    };
    const auto known = std::ranges::find_if(report_.casts, same);
    return known != report_.casts.end() ? *known : report_.casts.emplace_back(key);
  }

  std::string_view CalledBy(const Node& node) const {
    // Names are interned in both programs alike: the later one's strings extend the earlier's.
    return kernels_.text(imported_.op_names[numbering_.node(node.origin).op]);
  }

  // What computes, rather than moves, in the forward pass and the loss.
  void AddWide(NodeId i) {
    const Node& node = kernels_.main().nodes[i];
    if (node.phase != Phase::kForward && node.phase != Phase::kLoss) return;
    if (work_.by_node[i].flops_all == 0) return;
    const auto wide = [&](ValueId id) {
      return id != kNoId && IsFloatingTensor(kernels_, id) &&
             BitsOf(kernels_.values[id].dtype) >= kWideBits;
    };
    if (std::ranges::none_of(kernels_.results(node), wide)) return;
    const std::string_view op = CalledBy(node);
    const auto known = std::ranges::find(report_.wide, op, &WideOperator::op);
    WideOperator& line = known != report_.wide.end()
                             ? *known
                             : report_.wide.emplace_back(WideOperator{op, WhyWide(node)});
    const std::int64_t times = kernels_.times(i);
    if (std::exchange(last_, node.origin) != node.origin) line.calls += times;
    line.work += work_.by_node[i].Times(times);
  }

  WideReason WhyWide(const Node& node) const {
    return rules_ == CastRules::kRaf ? ReasonOfRaf(defs_[node.op]) : ReasonOf(node);
  }

  static WideReason ReasonOfRaf(const OpDef* def) {
    const RafRule* rule = def == nullptr ? nullptr : FindRafRule(*def);
    if (rule == nullptr) return WideReason::kNoRule;
    switch (rule->hint) {
      case RafHint::kOriginal:
        return WideReason::kListed;
      case RafHint::kLow:
        return WideReason::kKept;
      case RafHint::kMajority:
      case RafHint::kEither:
      case RafHint::kFew:
        return WideReason::kMajority;
      case RafHint::kFollow:
      case RafHint::kCast:
        return WideReason::kFollows;
    }
    __builtin_unreachable();
  }

  CastRule RuleOf(const OpDef* def) const {
    return def == nullptr ? CastRule::kFollow : def->precision->on(target_);
  }

  // By the outermost operator of which autocast has something to say.
  WideReason ReasonOf(const Node& node) const {
    CastRule rule = RuleOf(called_defs_[numbering_.node(node.origin).op]);
    std::vector<OpId> around{node.op};
    for (FrameId frame = node.frame; frame != 0; frame = kernels_.frames[frame].parent) {
      around.push_back(kernels_.frames[frame].op);
    }
    while (rule == CastRule::kFollow && !around.empty()) {
      rule = RuleOf(defs_[around.back()]);
      around.pop_back();
    }
    switch (rule) {
      case CastRule::kFull:
      case CastRule::kFullResult:
        return WideReason::kListed;
      case CastRule::kPromote:
        return WideReason::kPromoted;
      case CastRule::kLow:
        return WideReason::kKept;
      case CastRule::kFollow:
      case CastRule::kRefused:
        return WideReason::kFollows;
    }
    __builtin_unreachable();
  }

  const Program& imported_;
  const NodeNumbering numbering_;
  const Program& kernels_;
  const WorkReport& work_;
  const Target& target_;
  const CastRules rules_;
  const std::vector<const OpDef*> defs_;         // by OpId of the kernels
  const std::vector<const OpDef*> called_defs_;  // and of the imported program
  std::vector<bool> of_parameter_;               // by storage
  std::vector<std::int64_t> at_peak_;            // bytes held there, by storage
  CastReport report_;
  NodeId last_ = kNoId;  // the call that was counted last
};

}  // namespace

std::string_view NameOf(CastOf what) {
  switch (what) {
    case CastOf::kParameter:
      return "parameters";
    case CastOf::kActivation:
      return "activations";
    case CastOf::kGradient:
      return "gradients";
  }
  __builtin_unreachable();
}

std::string_view NameOf(WideReason reason) {
  switch (reason) {
    case WideReason::kListed:
      return "listed";
    case WideReason::kPromoted:
      return "promoted";
    case WideReason::kFollows:
      return "follows";
    case WideReason::kKept:
      return "kept";
    case WideReason::kMajority:
      return "majority";
    case WideReason::kNoRule:
      return "no rule";
  }
  __builtin_unreachable();
}

CastReport CountCasts(const Program& imported, const Program& kernels, const Timeline& timeline,
                      const PeakReport& peak, const WorkReport& work, const Target& target,
                      CastRules rules) {
  Counter counter(imported, kernels, work, target, rules);
  counter.HoldAtPeak(timeline, peak);
  return std::move(counter).Run();
}

}  // namespace steelyard
