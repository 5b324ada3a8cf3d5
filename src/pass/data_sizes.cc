// SPDX-License-Identifier: Apache-2.0
//
// A row whose shape rule is asked without a size from the file answers with the most that there can
// be. So the call of each node that brings a new symbol is run alone, on its operands' sizes.
#include "pass/data_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "support/choices.h"

namespace steelyard {
namespace {

// What a file that knows no bound of a size may give for one. To assume it would say nothing.
constexpr std::int64_t kNoBound = std::int64_t{1} << 31;

// How many symbols of one operator a note spells out.
constexpr std::size_t kNamed = 3;

// A program of one call, whose results have no sizes yet. Every translation fails where a size of
// an operand is not known.
class LoneCall {
 public:
  LoneCall(const Program& source, const SizeSolver& solver) : source_(source), solver_(solver) {}

  bool Add(const Node& node) {
    std::vector<Argument> arguments;
    for (const Argument& argument : source_.args(node)) {
      if (!Translate(argument, arguments.emplace_back())) return false;
    }
    std::vector<ValueId> results;
    for (const ValueId id : source_.results(node)) {
      const bool tensor = id != kNoId && source_.values[id].kind == ValueKind::kTensor;
      const ValueId result =
          tensor ? call_.AddTensor(kNoString, source_.values[id].dtype, {}, {}) : kNoId;
      if (tensor) call_.values[result].has_layout = false;
      results.push_back(result);
      call_.main().outputs.push_back(tensor ? Argument::OfValue(result) : Argument::None());
    }
    Node lone;
    lone.op = call_.AddOpName(source_.op_name(node.op));
    lone.arguments = call_.AddArguments(arguments);
    lone.outputs = call_.AddOutputs(results);
    call_.main().nodes.push_back(lone);
    return true;
  }
  const Program& program() const { return call_; }

 private:
  bool Translate(const Argument& from, Argument& to) {
    to = from;
    to.name = from.name == kNoString ? kNoString : call_.strings.Intern(source_.text(from.name));
    switch (from.kind) {
      case ArgKind::kNone:
      case ArgKind::kFloat:
      case ArgKind::kBool:
      case ArgKind::kDType:
        return true;
      case ArgKind::kGraph:
        return false;
      case ArgKind::kString:
        to.text = call_.strings.Intern(source_.text(from.text));
        return true;
      case ArgKind::kInt:
        return TranslateNumber(from.dim, to);
      case ArgKind::kValue:
        return TranslateValue(from.value, to);
      case ArgKind::kList:
      case ArgKind::kComplex:
        break;
    }
    std::vector<Argument> elements;
    for (const Argument& element : source_.list(from.list)) {
      if (!Translate(element, elements.emplace_back())) return false;
    }
    to.list = call_.AddArguments(elements);
    return true;
  }

  bool TranslateNumber(Dim dim, Argument& to) {
    const SizeSolver::Number number = solver_.NumberNow(dim);
    if (number) to.dim = Dim(*number);
    return number.has_value();
  }

  // A number that only the running program knows is None, as the dispatcher has it.
  bool TranslateValue(ValueId id, Argument& to) {
    const Value& value = source_.values[id];
    if (value.kind == ValueKind::kTensor) return TranslateTensor(id, to);
    const SizeSolver::Number number = solver_.NumberNow(value.scalar);
    const StringId name = to.name;
    to = Argument::None();
    if (number && value.kind == ValueKind::kInt) to = Argument::OfInt(*number);
    if (number && value.kind == ValueKind::kBool) to = Argument::OfBool(*number != 0);
    to.name = name;
    return true;
  }

  bool TranslateTensor(ValueId id, Argument& to) {
    const Value& value = source_.values[id];
    if (!value.has_layout) return false;
    const auto found = tensors_.find(id);
    if (found != tensors_.end()) {
      to.value = found->second;
      return true;
    }
    Dims layout;  // sizes, then strides
    for (const std::int64_t raw : source_.dims.span(value.dims, 2u * value.rank)) {
      const SizeSolver::Number number = solver_.NumberNow(Dim::FromRaw(raw));
      if (!number || layout.size() == Dims::kMaxRank) return false;
      layout.push_back(*number);
    }
    const Sizes all(layout);
    if (!CheckLayout(value.dtype, all.first(value.rank), all.subspan(value.rank))) return false;
    const ValueId tensor = call_.AddTensor(kNoString, value.dtype, all.first(value.rank),
                                           all.subspan(value.rank), Role::kInput);
    call_.main().inputs.push_back(tensor);
    call_.inputs.push_back(tensor);
    tensors_.emplace(id, tensor);
    to.value = tensor;
    return true;
  }

  const Program& source_;
  const SizeSolver& solver_;
  Program call_;
  std::unordered_map<ValueId, ValueId> tensors_;
};

}  // namespace

DataSizes::DataSizes(const Program& program, SizeSolver& solver)
    : program_(program),
      solver_(solver),
      visited_(program.graphs.size(), false),
      bound_(program.expressions.size(), false),
      needed_(program.symbols.size(), false) {}

void DataSizes::Assume() {
  FindNeeded();
  VisitGraph(0);
}

// Operands of an expression come before it, so that one sweep from the end reaches all.
void DataSizes::FindNeeded() {
  std::vector<bool> used(program_.expressions.size(), false);
  const auto mark = [&](Dim dim) {
    if (dim.is_expression()) used[dim.expression()] = true;
  };
  for (const Value& value : program_.values) {
    if (!value.has_layout) continue;
    for (const std::int64_t raw : program_.dims.span(value.dims, 2u * value.rank)) {
      mark(Dim::FromRaw(raw));
    }
  }
  for (auto i = static_cast<std::uint32_t>(used.size()); i-- > 0;) {
    if (!used[i]) continue;
    const Expression& e = program_.expressions.at(Dim::Expression(i));
    if (e.op == ExprOp::kSymbol) needed_[static_cast<std::size_t>(e.value)] = true;
    for (const Dim operand : {e.a, e.b, e.c}) mark(operand);
  }
}

void DataSizes::VisitGraph(GraphId graph) {
  if (graph >= visited_.size() || visited_[graph]) return;
  visited_[graph] = true;
  for (const Node& node : program_.graphs[graph].nodes) {
    for (const Argument& argument : program_.args(node)) VisitArgument(argument);
    VisitNode(node);
  }
}

void DataSizes::VisitArgument(const Argument& argument) {
  if (argument.kind == ArgKind::kGraph) VisitGraph(argument.graph);
  if (argument.kind != ArgKind::kList) return;
  for (const Argument& element : program_.list(argument.list)) VisitArgument(element);
}

std::vector<std::uint32_t> DataSizes::UnboundOf(ValueId value) {
  std::vector<std::uint32_t> out;
  const auto look = [&](Dim dim) {
    if (!dim.is_expression() || bound_[dim.expression()]) return;
    const std::size_t before = out.size();
    for (const std::uint32_t symbol : solver_.SymbolsOf(dim)) {
      if (!solver_.IsBound(symbol) && !solver_.IsOfInput(symbol)) out.push_back(symbol);
    }
    bound_[dim.expression()] = out.size() == before;
  };
  const Value& v = program_.values[value];
  look(v.scalar);
  for (int i = 0; v.has_layout && i < v.rank; ++i) look(program_.size(value, i));
  return out;
}

void DataSizes::VisitNode(const Node& node) {
  std::vector<std::uint32_t> unbound;
  for (const ValueId id : program_.results(node)) {
    if (id == kNoId) continue;
    for (const std::uint32_t symbol : UnboundOf(id)) unbound.push_back(symbol);
  }
  if (unbound.empty()) return;
  for (const std::uint32_t symbol : unbound) solver_.SetMaker(symbol, PlaceOf(node));
  BindByRow(node);
  for (const std::uint32_t symbol : unbound) BindByRange(node, symbol);
}

// Sizes of results that are a*s + b of one symbol, from what the row computes.
void DataSizes::BindByRow(const Node& node) {
  const std::optional<Computed> computed = Compute(node);
  if (!computed) return;
  const std::span<const ValueId> results = program_.results(node);
  for (std::size_t r = 0; r < std::min(results.size(), computed->sizes.size()); ++r) {
    const std::vector<std::int64_t>& sizes = computed->sizes[r];
    if (results[r] == kNoId || !program_.values[results[r]].has_layout) continue;
    if (sizes.size() != program_.values[results[r]].rank) continue;
    for (int i = 0; i < program_.values[results[r]].rank; ++i) {
      const auto solution =
          solver_.SolutionOf(program_.size(results[r], i), sizes[static_cast<std::size_t>(i)]);
      if (!solution) continue;
      const auto [symbol, number] = *solution;
      const bool by_file = computed->assumed && program_.symbols[symbol].max < number;
      solver_.BindTo(symbol, by_file ? program_.symbols[symbol].max : number, PlaceOf(node));
      if (computed->assumed) AddToGroup(node, symbol, by_file);
    }
  }
}

void DataSizes::BindByRange(const Node& node, std::uint32_t symbol) {
  const std::int64_t most = program_.symbols[symbol].max;
  if (solver_.IsBound(symbol) || !needed_[symbol] || most >= kNoBound) return;
  solver_.BindTo(symbol, most, PlaceOf(node));
  AddToGroup(node, symbol, true);
  has_guess_ = true;
}

std::optional<DataSizes::Computed> DataSizes::Compute(const Node& node) const {
  LoneCall call(program_, solver_);
  if (!call.Add(node)) return std::nullopt;
  const Result<Program> kernels = Dispatcher(call.program(), Target{}).Run();
  if (!kernels) return std::nullopt;
  Computed out{.sizes = {}, .assumed = !kernels->notes.empty()};
  for (const Argument& result : kernels->main().outputs) {
    std::vector<std::int64_t>& sizes = out.sizes.emplace_back();
    if (result.kind != ArgKind::kValue) continue;
    const auto computed = kernels->sizes(result.value);
    sizes.assign(computed.begin(), computed.end());
  }
  return out;
}

void DataSizes::AddToGroup(const Node& node, std::uint32_t symbol, bool by_file) {
  const auto same = [&](const Group& g) { return g.op == node.op && g.by_file == by_file; };
  const auto found = std::ranges::find_if(groups_, same);
  if (found != groups_.end()) {
    found->symbols.push_back(symbol);
  } else {
    groups_.push_back(
        {.op = node.op, .by_file = by_file, .symbols = {symbol}, .source = node.source});
  }
}

// "aten::nonzero (model.py:7)"
std::string DataSizes::PlaceOf(const Node& node) const {
  std::string op(program_.op_name(node.op));
  if (node.source == kNoId || program_.sources[node.source].file == kNoString) return op;
  const SourceLine& line = program_.sources[node.source];
  return fmt::format("{} ({}:{})", op, program_.text(line.file), line.line);
}

std::vector<std::string> DataSizes::Notes() const {
  std::vector<std::string> out;
  for (const Group& group : groups_) {
    const std::size_t count = group.symbols.size();
    const std::string names = Listed(count, kNamed, [&](std::size_t i) {
      return fmt::format("{} = {}", solver_.NameOf(group.symbols[i]),
                         solver_.NumberOfSymbol(group.symbols[i]).value_or(0));
    });
    Node node;
    node.op = group.op;
    node.source = group.source;
    const std::string op = PlaceOf(node);
    const std::string why = group.by_file ? fmt::format("the most that the file allows for {}", op)
                                          : fmt::format("the most that {} can give", op);
    out.push_back(fmt::format("{} {} assumed, {}; --size {}=N sets {}", names,
                              count == 1 ? "is" : "are", why, solver_.NameOf(group.symbols[0]),
                              count == 1 ? "it" : "one, --size 'u*=N' all"));
  }
  return out;
}

}  // namespace steelyard
