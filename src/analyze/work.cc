// SPDX-License-Identifier: Apache-2.0
//
// Two things are counted apart and brought together: calls, of the imported program, as often as
// each graph ran; and work, of the kernels, each weighed by its row and added to the operator that
// it comes from. A sum that does not fit stays negative, so that it is refused once, at the end.

#include "analyze/work.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/call_counter.h"
#include "ir/node_numbering.h"
#include "ops/dispatch/program_rows.h"

namespace steelyard {
namespace {

// The sum, or -1 (as of a Count) once anything did not fit. Without branches: it is asked for at
// every node several times over, and two counts that fit never carry beyond the sign.
std::int64_t Sum(std::int64_t a, std::int64_t b) {
  const auto sum =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  return sum | ((a | b | sum) >> 63);
}

bool Overflowed(const NodeWork& w) {
  return std::ranges::any_of(std::array{w.macs, w.flops, w.beside, w.missed, w.excess, w.masked,
                                        w.flops_all, w.read, w.written},
                             [](std::int64_t count) { return count < 0; });
}

// Which kernels a tool leaves out.
class LeftOut {
 public:
  LeftOut(const Program& kernels, const Convention& convention) {
    ops_.reserve(kernels.op_names.size());
    for (OpId op = 0; op < kernels.op_names.size(); ++op) {
      const std::string_view full = kernels.op_name(op), name = full.substr(0, full.find('.'));
      const auto in = [&](std::span<const std::string_view> names) {
        return std::ranges::find(names, name) != names.end();
      };
      ops_.push_back(in(convention.counted)     ? Says::kCounted
                     : in(convention.uncounted) ? Says::kLeftOut
                                                : Says::kNothing);
    }
    frames_.reserve(kernels.frames.size());
    for (const Frame& frame : kernels.frames) {
      const bool inner = frame.parent < frames_.size();  // the first is the program
      const Says outer = inner ? frames_[frame.parent] : Says::kNothing;
      frames_.push_back(outer != Says::kNothing || frame.op == kNoId ? outer : ops_[frame.op]);
    }
  }
  bool Has(const Node& kernel) const {
    const Says outer = frames_[kernel.frame];
    return (outer != Says::kNothing ? outer : ops_[kernel.op]) == Says::kLeftOut;
  }

 private:
  enum class Says : std::uint8_t { kNothing, kCounted, kLeftOut };
  std::vector<Says> ops_, frames_;
};

NodeWork WorkOf(const OpView& op, const Convention& convention) {
  static const Convention& all = *FindConvention("all");
  const OpDef& def = op.def();
  const Work work = (**def.work)(op);
  const Traffic traffic = (**def.traffic)(op);
  NodeWork out{.macs = work.mac.value(),
               .excess = convention.excess == nullptr ? 0 : convention.excess(op).value(),
               .masked = work.masked.value(),
               .flops_all = Weigh(work, all.measure.weights).value(),
               .read = traffic.read.value(),
               .written = traffic.written.value()};
  if (convention.counts_calls()) return out;
  out.flops = Weigh(work, convention.measure.weights).value();
  if (convention.beside != nullptr) out.beside = Weigh(work, convention.beside->weights).value();
  return out;
}

// Names of operators that stand among the kernels as the file has them, because no row runs them. A
// call that writes into a tensor it is given is not one of them: the row of another overload ran
// it.
std::vector<StringId> CarriedNames(const Program& kernels) {
  const std::vector<const OpDef*> defs = RowsOf(kernels);
  std::vector<bool> carried(defs.size(), false);
  for (const Node& node : kernels.main().nodes) {
    if (defs[node.op] == nullptr && node.refusal == kNoString) carried[node.op] = true;
  }
  std::vector<StringId> out;
  for (OpId op = 0; op < carried.size(); ++op) {
    if (carried[op]) out.push_back(kernels.op_names[op]);
  }
  std::ranges::sort(out);
  return out;
}

// One line per operator of the imported program, as the user wrote it: a linear is a linear, not
// the view, transpose and addmm it dispatches to.
class ByOperator {
 public:
  ByOperator(const Program& imported, const Program& kernels) : numbering_(imported) {
    const std::size_t count = imported.op_names.size();
    const std::vector<StringId> carried = CarriedNames(kernels);
    for (OpId op = 0; op < count; ++op) {
      // Names are interned in both programs alike: the later one's strings extend the earlier's.
      lines_.emplace_back().name = kernels.text(imported.op_names[op]);
      const OpDef* def = FindOp(OpName::FromRuntime(imported.op_name(op)));
      lines_.back().modelled =
          def != nullptr || !std::ranges::binary_search(carried, imported.op_names[op]);
      lines_.back().steers = def != nullptr && *def->family == Family::kControl;
    }
  }
  OperatorWork& Line(const Node& imported_node) { return lines_[imported_node.op]; }
  // By operator: whether all of its calls only say how others run.
  std::vector<bool> Steering() const {
    std::vector<bool> steering(lines_.size());
    for (std::size_t op = 0; op < lines_.size(); ++op) {
      const bool refused = !refused_.empty() && refused_[op].calls > 0;
      steering[op] = lines_[op].steers && lines_[op].work == NodeWork{} && !refused;
    }
    return steering;
  }
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
  void Refuse(const Node& kernel, std::string_view reason, std::int64_t runs) {
    const OpId op = numbering_.node(kernel.origin).op;
    if (refused_.empty()) refused_.resize(lines_.size());
    OperatorWork& line = refused_[op];
    if (line.calls == 0) {
      line.name = lines_[op].name;
      line.modelled = false;
      line.reason = reason;
    }
    line.calls += runs;
    lines_[op].calls -= runs;
  }

 private:
  NodeNumbering numbering_;
  std::vector<OperatorWork> lines_;
  std::vector<OperatorWork> refused_;  // by operator, or nothing
};

// Whether an operator runs on tensors at all, unlike arithmetic on sizes.
bool TouchesTensors(const Program& program, const Node& node) {
  const auto is_tensor = [&](ValueId id) {
    return id != kNoId && program.values[id].kind == ValueKind::kTensor;
  };
  const auto holds_tensor = [&](const Argument& a) {
    if (a.kind == ArgKind::kValue) return is_tensor(a.value);
    return a.kind == ArgKind::kList &&
           std::ranges::any_of(program.list(a.list), [&](const Argument& element) {
             return element.kind == ArgKind::kValue && is_tensor(element.value);
           });
  };
  if (std::ranges::any_of(program.results(node), is_tensor)) return true;
  return program.results(node).empty() && std::ranges::any_of(program.args(node), holds_tensor);
}

void CountCalls(const Program& imported, const Program& kernels, ByOperator& lines,
                WorkReport& report) {
  VisitCalls(imported, kernels, report, [&](const Node& node, std::int64_t runs) {
    OperatorWork& line = lines.Line(node);
    line.calls += runs;
    report.calls += runs;
    report.modelled_calls += line.modelled ? runs : 0;
  });
}

double SumRounded(const Program& kernels, const WorkByNode& works) {
  double sum = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto once = static_cast<float>(static_cast<double>(works[i].flops) / 1e9);
    sum += static_cast<double>(once) * static_cast<double>(kernels.times(static_cast<NodeId>(i)));
  }
  return sum;
}

// The work of each kernel, by its row. Those that their rows refuse are not modelled.
void CountKernels(const Program& kernels, const Target& target, ByOperator& lines,
                  WorkReport& report) {
  const std::vector<const OpDef*> defs = RowsOf(kernels);
  const std::vector<Node>& nodes = kernels.main().nodes;
  const LeftOut left_out(kernels, *report.convention);
  std::vector<NodeId> alike;  // by kernel: the first node of it
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const OpDef* def = defs[nodes[i].op];
    const KernelId kernel = nodes[i].kernel;
    if (kernel < alike.size() && alike[kernel] != kNoId) {
      NodeWork work = report.by_node[alike[kernel]];
      work.missed = left_out.Has(nodes[i]) ? work.macs : 0;
      report.by_node.at(i) = work;
      continue;
    }
    if (nodes[i].refusal != kNoString) {
      const std::int64_t runs = kernels.times(static_cast<NodeId>(i));
      lines.Refuse(nodes[i], kernels.text(nodes[i].refusal), runs);
      report.modelled_calls -= runs;
      continue;
    }
    if (def == nullptr) continue;
    const OpView view(kernels, *def, kernels.args(nodes[i]), kernels.results(nodes[i]), target);
    NodeWork& work = report.by_node.at(i);
    work = WorkOf(view, *report.convention);
    if (left_out.Has(nodes[i])) work.missed = work.macs;
    if (kernel == kNoId) continue;
    if (kernel >= alike.size()) alike.resize(kernel + 1, kNoId);
    alike[kernel] = static_cast<NodeId>(i);
  }
}

// What a runtime says that each node moves, where it does.
void SetTraffic(std::span<const Traffic> moved, WorkByNode& works) {
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const std::int64_t read = moved[i].read.value(), written = moved[i].written.value();
    if (read == 0 && written == 0 && !works.works(i)) continue;
    works.at(i).read = read;
    works.at(i).written = written;
  }
}

void SetMasked(std::span<const std::int64_t> masked, WorkByNode& works) {
  for (std::size_t i = 0; i < masked.size(); ++i) {
    if (masked[i] != 0) works.at(i).masked = masked[i];
  }
}

// Adds the work of the nodes up, by phase and by operator.
void SumUp(const Program& kernels, ByOperator& lines, WorkReport& report) {
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!report.by_node.works(i)) continue;
    const NodeWork work = report.by_node[i].Times(kernels.times(static_cast<NodeId>(i)));
    report.by_phase[static_cast<std::size_t>(nodes[i].phase)] += work;
    if (OperatorWork* line = lines.LineOfOrigin(nodes[i].origin)) line->work += work;
  }
}

// Of the operators that were called.
void SetLines(std::vector<OperatorWork> lines, WorkReport& report) {
  for (OperatorWork& line : lines) {
    if (line.calls == 0) continue;
    (line.modelled ? report.by_operator : report.unmodelled).push_back(std::move(line));
  }
  std::ranges::stable_sort(report.by_operator, std::greater(), [](const OperatorWork& o) {
    return std::pair(o.work.flops, o.work.read + o.work.written);
  });
  std::ranges::stable_sort(report.unmodelled, std::greater(), &OperatorWork::calls);
}

}  // namespace

NodeWork NodeWork::Times(std::int64_t runs) const {
  if (runs == 1) return *this;
  const auto times = [&](std::int64_t one) { return (Count(one) * runs).value(); };
  return {.macs = times(macs),
          .flops = times(flops),
          .beside = times(beside),
          .missed = times(missed),
          .excess = times(excess),
          .masked = times(masked),
          .flops_all = times(flops_all),
          .read = times(read),
          .written = times(written)};
}

NodeWork& NodeWork::operator+=(const NodeWork& other) {
  macs = Sum(macs, other.macs);
  flops = Sum(flops, other.flops);
  beside = Sum(beside, other.beside);
  missed = Sum(missed, other.missed);
  excess = Sum(excess, other.excess);
  masked = Sum(masked, other.masked);
  flops_all = Sum(flops_all, other.flops_all);
  read = Sum(read, other.read);
  written = Sum(written, other.written);
  return *this;
}

void VisitCalls(const Program& imported, const Program& kernels, const WorkReport& work,
                const std::function<void(const Node& node, std::int64_t runs)>& visit) {
  for (std::size_t g = 0; g < imported.graphs.size(); ++g) {
    const std::int64_t runs_of_graph = kernels.runs(static_cast<GraphId>(g));
    if (runs_of_graph == 0) continue;
    const std::vector<Node>& nodes = imported.graphs[g].nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (work.steering[nodes[i].op] || !TouchesTensors(imported, nodes[i])) continue;
      visit(nodes[i], g == 0 ? imported.times(static_cast<NodeId>(i)) : runs_of_graph);
    }
  }
}

Result<WorkReport> CountWork(const Program& imported, const Program& kernels,
                             const Convention& convention, const Target& target,
                             const KnownOfNodes& known) {
  WorkReport report;
  report.convention = &convention;
  ByOperator lines(imported, kernels);
  report.by_node = WorkByNode(kernels.main().nodes.size());
  CountKernels(kernels, target, lines, report);
  SetTraffic(known.moved, report.by_node);
  SetMasked(known.masked, report.by_node);
  if (convention.counts_calls()) CountCallsAs(convention, imported, kernels, report.by_node);
  if (convention.prints_rounded) report.printed_billions = SumRounded(kernels, report.by_node);
  SumUp(kernels, lines, report);
  if (std::ranges::any_of(report.by_phase, Overflowed)) {
    return Unexpected(InvalidInput("the work of the program does not fit in 64 bits", "",
                                   "Check the sizes given with --input."));
  }
  report.steering = lines.Steering();
  CountCalls(imported, kernels, lines, report);
  SetLines(std::move(lines).Take(), report);
  return report;
}

}  // namespace steelyard
