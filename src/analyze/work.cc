// SPDX-License-Identifier: Apache-2.0

#include "analyze/work.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/call_counter.h"
#include "ir/node_numbering.h"

namespace steelyard {
namespace {

// The sum, kept negative (as Count does) once anything did not fit.
std::int64_t Sum(std::int64_t a, std::int64_t b) { return (Count(a) + Count(b)).value(); }

bool Overflowed(const NodeWork& w) {
  return std::ranges::any_of(
      std::array{w.macs, w.flops, w.beside, w.missed, w.masked, w.flops_all, w.read, w.written},
      [](std::int64_t count) { return count < 0; });
}

bool LeavesOut(const Convention& convention, const OpDef& def) {
  return std::ranges::find(convention.slips, def.label(), &Slip::op) != convention.slips.end();
}

NodeWork WorkOf(const OpView& op, const Convention& convention) {
  static const Convention& all = *FindConvention("all");
  const OpDef& def = op.def();
  const Work work = (**def.work)(op);
  const Traffic traffic = (**def.traffic)(op);
  NodeWork out{.macs = work.mac.value(),
               .missed = LeavesOut(convention, def) ? work.mac.value() : 0,
               .masked = work.masked.value(),
               .flops_all = Weigh(work, all.measure.weights).value(),
               .read = traffic.read.value(),
               .written = traffic.written.value()};
  if (convention.counts_calls()) return out;
  out.flops = Weigh(work, convention.measure.weights).value();
  if (convention.beside != nullptr) out.beside = Weigh(work, convention.beside->weights).value();
  return out;
}

// One line per operator of the imported program, as the user wrote it: a linear is a linear, not
// the view, transpose and addmm it dispatches to.
class ByOperator {
 public:
  ByOperator(const Program& imported, const Program& kernels) : numbering_(imported) {
    const std::size_t count = imported.op_names.size();
    for (OpId op = 0; op < count; ++op) {
      // Names are interned in both programs alike: the later one's strings extend the earlier's.
      lines_.emplace_back().name = kernels.text(imported.op_names[op]);
      lines_.back().modelled = FindOp(OpName::FromRuntime(imported.op_name(op))) != nullptr;
    }
  }
  OperatorWork& Line(const Node& imported_node) { return lines_[imported_node.op]; }
  OperatorWork* LineOfOrigin(NodeId origin) {
    return origin == kNoId ? nullptr : &lines_[numbering_.node(origin).op];
  }
  // The lines; calls that rows refused have lines of their own behind them.
  std::vector<OperatorWork> Take() && {
    for (OperatorWork& refused : refused_) {
      if (refused.calls > 0) lines_.push_back(std::move(refused));
    }
    return std::move(lines_);
  }
  void Refuse(const Node& kernel, std::string_view reason) {
    const OpId op = numbering_.node(kernel.origin).op;
    if (refused_.empty()) refused_.resize(lines_.size());
    OperatorWork& line = refused_[op];
    if (line.calls == 0) {
      line.name = lines_[op].name;
      line.modelled = false;
      line.reason = reason;
    }
    ++line.calls;
    --lines_[op].calls;
  }

 private:
  NodeNumbering numbering_;
  std::vector<OperatorWork> lines_;
  std::vector<OperatorWork> refused_;  // by operator, or nothing
};

// Whether an operator runs on tensors at all; arithmetic on sizes does not count as a call.
bool TouchesTensors(const Program& program, const Node& node) {
  const auto tensor = [&](ValueId id) {
    return id != kNoId && program.values[id].kind == ValueKind::kTensor;
  };
  if (std::ranges::any_of(program.results(node), tensor)) return true;
  return program.results(node).empty() &&
         std::ranges::any_of(program.args(node), [&](const Argument& a) {
           return a.kind == ArgKind::kValue && tensor(a.value);
         });
}

// Calls of a graph count as often as it ran: not at all in the branch that was not taken.
void CountCalls(const Program& imported, const Program& kernels, ByOperator& lines,
                WorkReport& report) {
  for (std::size_t g = 0; g < imported.graphs.size(); ++g) {
    const auto runs = static_cast<int>(kernels.runs(static_cast<GraphId>(g)));
    if (runs == 0) continue;
    for (const Node& node : imported.graphs[g].nodes) {
      if (!TouchesTensors(imported, node)) continue;
      OperatorWork& line = lines.Line(node);
      line.calls += runs;
      report.calls += runs;
      report.modelled_calls += line.modelled ? runs : 0;
    }
  }
}

double SumRounded(const std::vector<NodeWork>& works) {
  double sum = 0;
  for (const NodeWork& work : works) {
    sum += static_cast<double>(static_cast<float>(static_cast<double>(work.flops) / 1e9));
  }
  return sum;
}

}  // namespace

NodeWork& NodeWork::operator+=(const NodeWork& other) {
  macs = Sum(macs, other.macs);
  flops = Sum(flops, other.flops);
  beside = Sum(beside, other.beside);
  missed = Sum(missed, other.missed);
  masked = Sum(masked, other.masked);
  flops_all = Sum(flops_all, other.flops_all);
  read = Sum(read, other.read);
  written = Sum(written, other.written);
  return *this;
}

Result<WorkReport> CountWork(const Program& imported, const Program& kernels,
                             const Convention& convention, const Target& target,
                             std::span<const Traffic> moved) {
  WorkReport report;
  report.convention = &convention;
  std::vector<const OpDef*> defs;
  defs.reserve(kernels.op_names.size());
  for (OpId op = 0; op < kernels.op_names.size(); ++op) {
    defs.push_back(FindOp(OpName::FromRuntime(kernels.op_name(op))));
  }
  ByOperator lines(imported, kernels);
  CountCalls(imported, kernels, lines, report);
  const std::vector<Node>& nodes = kernels.main().nodes;
  report.by_node.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const OpDef* def = defs[nodes[i].op];
    if (nodes[i].refusal != kNoString) {
      lines.Refuse(nodes[i], kernels.text(nodes[i].refusal));
      --report.modelled_calls;
      continue;
    }
    if (def == nullptr) continue;
    const OpView view(kernels, *def, kernels.args(nodes[i]), kernels.results(nodes[i]), target);
    report.by_node[i] = WorkOf(view, convention);
  }
  for (std::size_t i = 0; i < moved.size(); ++i) {
    report.by_node[i].read = moved[i].read.value();
    report.by_node[i].written = moved[i].written.value();
  }
  if (convention.counts_calls()) CountCallsAs(convention, imported, kernels, report.by_node);
  if (convention.prints_rounded) report.printed_billions = SumRounded(report.by_node);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    report.by_phase[static_cast<std::size_t>(nodes[i].phase)] += report.by_node[i];
    if (OperatorWork* line = lines.LineOfOrigin(nodes[i].origin)) line->work += report.by_node[i];
  }
  for (const NodeWork& total : report.by_phase) {
    if (Overflowed(total)) {
      return Unexpected(InvalidInput("the work of the program does not fit in 64 bits", "",
                                     "Check the sizes given with --input."));
    }
  }
  for (OperatorWork& line : std::move(lines).Take()) {
    if (line.calls == 0) continue;
    (line.modelled ? report.by_operator : report.unmodelled).push_back(line);
  }
  std::ranges::stable_sort(report.by_operator, std::greater(), [](const OperatorWork& o) {
    return std::pair(o.work.flops, o.work.read + o.work.written);
  });
  std::ranges::stable_sort(report.unmodelled, std::greater(), &OperatorWork::calls);
  return report;
}

}  // namespace steelyard
