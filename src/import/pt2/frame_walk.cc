// SPDX-License-Identifier: Apache-2.0
//
// A walk along the nodes, with the functions that are running in a stack: those whose lines the
// trace of the node before has, too, go on; the others have returned. A statement is over when its
// function goes on at another line. What then is of use later, or was computed last, has its names.
// Lines tell no more than that: a name that is given without computing anything, and variables of
// functions that the trace leaves out, are unknown, but for what transformers' functions of losses
// and of attention have in common.

#include "import/pt2/frame_walk.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

namespace steelyard::pt2 {
namespace {

// The function of a module; a call of another function has no module call of its own.
constexpr std::string_view kForward = "forward";

// A name for what nobody wants.
constexpr std::string_view kNobody = "_";

// Whether these are the paths of two modules of one list: "layers.0" and "layers.1".
bool AreOfOneList(std::string_view a, std::string_view b) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t list = a.find_last_not_of(kDigits);
  return list != std::string_view::npos && list + 1 < a.size() && a[list] == '.' &&
         b.size() > list + 1 && b.substr(0, list + 1) == a.substr(0, list + 1) &&
         b.find_first_not_of(kDigits, list + 1) == std::string_view::npos && a != b;
}

// The calls of modules around a node, the outermost first.
std::vector<CallId> CallsAround(const Program& program, CallId innermost) {
  std::vector<CallId> calls;
  for (CallId call = innermost; call != kNoId; call = program.calls[call].parent) {
    calls.push_back(call);
  }
  std::ranges::reverse(calls);
  return calls;
}

bool IsCast(std::string_view op) { return op.starts_with("aten::to.") || op == "aten::type_as"; }

}  // namespace

CallId CallAround(const Program& program, CallId a, CallId b) {
  const std::vector<CallId> of_a = CallsAround(program, a), of_b = CallsAround(program, b);
  const auto [end, other] = std::ranges::mismatch(of_a, of_b);
  return end == of_a.begin() ? kNoId : *std::prev(end);
}

// "x.to(dtype, copy=True)": a tensor of its own whatever its dtype.
bool FrameWalk::Copies(std::span<const Argument> args) const {
  return std::ranges::any_of(args, [&](const Argument& arg) {
    return arg.kind == ArgKind::kBool && arg.dim == Dim(1) && arg.name != kNoString &&
           program_.text(arg.name) == "copy";
  });
}

// A cast that did nothing gave its operand.
ValueId FrameWalk::TensorOf(ValueId id) const {
  while (cast_from_[id] != kNoId) id = cast_from_[id];
  return id;
}

void FrameWalk::FindLastUses() {
  constexpr std::uint32_t kReturned = kNoId;
  last_uses_.assign(program_.values.size(), 0);
  cast_from_.assign(program_.values.size(), kNoId);
  is_padded_.assign(program_.values.size(), false);
  weights_.assign(program_.values.size(), kNoId);
  const auto note = [&](const auto& self, std::span<const Argument> args,
                        std::uint32_t at) -> void {
    for (const Argument& arg : args) {
      if (arg.kind == ArgKind::kValue) last_uses_[arg.value] = at;
      if (arg.kind == ArgKind::kList) self(self, program_.list(arg.list), at);
    }
  };
  for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const ValueId id : program_.results(graph_.nodes[i])) {
      if (id != kNoId) last_uses_[id] = i;
    }
    note(note, program_.args(graph_.nodes[i]), i);
    NoteKind(graph_.nodes[i]);
  }
  note(note, graph_.outputs, kReturned);
}

void FrameWalk::NoteKind(const Node& node) {
  const std::span<const Argument> args = program_.args(node);
  const std::span<const ValueId> results = program_.results(node);
  if (results.size() != 1 || results[0] == kNoId) return;
  if (args.empty() || args[0].kind != ArgKind::kValue) return;
  const std::string_view op = program_.op_name(node.op);
  is_padded_[results[0]] = op == "aten::pad";
  if (op == "aten::matmul") weights_[results[0]] = args[0].value;
  const bool same =
      program_.values[results[0]].dtype == program_.values[args[0].value].dtype && !Copies(args);
  if (same && IsCast(op)) cast_from_[results[0]] = args[0].value;
}

void FrameWalk::Visit(std::uint32_t node, std::uint32_t trace) {
  const std::span<const FrameLines::Line> lines = lines_.of(trace);
  const std::vector<CallId> calls = CallsAround(program_, graph_.nodes[node].call);
  // A module that is none of the model's, such as a loss that a `forward` makes, has no call.
  std::vector<CallId> call_of;
  call_of.reserve(lines.size());
  std::size_t forwards = 0;
  for (const FrameLines::Line& line : lines) {
    if (line.function == kForward) ++forwards;
    const std::size_t depth = std::min(forwards, calls.size());
    call_of.push_back(depth > 0 ? calls[depth - 1] : kNoId);
  }
  std::size_t same = 0;
  bool moved = false;
  while (!moved && same < std::min(running_.size(), lines.size())) {
    const Function& function = running_[same];
    if (function.line.function != lines[same].function || function.line.file != lines[same].file ||
        function.call != call_of[same]) {
      break;
    }
    moved = function.line.number != lines[same].number;
    ++same;
  }
  moved = moved || (same > 0 && TurnsLoop(lines.first(same), calls));
  Return(same);
  if (moved) {
    FinishStatement(running_.back());
    running_.back().line = lines[same - 1];
  }
  for (std::size_t i = same; i < lines.size(); ++i) {
    running_.push_back({.line = lines[i],
                        .call = call_of[i],
                        .made = made_.size(),
                        .returned = {},
                        .variables = {}});
  }
  for (const ValueId id : program_.results(graph_.nodes[node])) {
    if (id != kNoId && program_.values[id].kind == ValueKind::kTensor) made_.push_back(id);
  }
  node_ = node;
  calls_ = calls;
}

// Whether the innermost of these functions, which is at the line where it was, is there again: a
// loop of one statement that calls one module of a list after the other.
bool FrameWalk::TurnsLoop(std::span<const FrameLines::Line> lines,
                          std::span<const CallId> calls) const {
  const auto forwards =
      static_cast<std::size_t>(std::ranges::count(lines, kForward, &FrameLines::Line::function));
  if (forwards >= calls.size() || forwards >= calls_.size()) return false;
  const CallId before = calls_[forwards], now = calls[forwards];
  if (before == now || NamesElements(lines.back().code)) return false;
  const auto path = [&](CallId call) {
    return program_.text(program_.modules[program_.calls[call].module].path);
  };
  return AreOfOneList(path(before), path(now));
}

// The functions from `depth` on return, the innermost first.
void FrameWalk::Return(std::size_t depth) {
  for (; running_.size() > depth; running_.pop_back()) {
    Function& function = running_.back();
    FinishStatement(function);
    std::vector<ValueId> values;
    for (const Variable& variable : function.variables) {
      values.insert(values.end(), variable.values.begin(), variable.values.end());
    }
    Depart(function, values);
    if (running_.size() == 1) continue;
    Function& caller = running_[running_.size() - 2];
    caller.returned = function.line.code;
    if (function.weights != kNoId) caller.given_weights = function.weights;
  }
  if (running_.empty()) made_.clear();
}

// Whether what a statement computed last is a tuple.
bool FrameWalk::MakesSeveral(const Function& function) const {
  if (ReturnsSeveral(function.returned)) return true;
  const std::span<const ValueId> results = program_.results(graph_.nodes[node_]);
  return results.size() > 1 && std::ranges::all_of(results, [&](ValueId id) {
           return id != kNoId && last_uses_[id] > node_;
         });
}

// What a statement leaves: what is of use after it, or else what it computed last.
std::vector<ValueId> FrameWalk::ResultsOf(const Function& function, std::size_t names) const {
  const std::span<const ValueId> made = std::span(made_).subspan(function.made);
  if (made.empty()) return {};
  if (names == 1 && !MakesSeveral(function)) return {made.back()};
  std::vector<ValueId> results;
  std::ranges::copy_if(made, std::back_inserter(results),
                       [&](ValueId id) { return last_uses_[id] > node_; });
  if (results.empty()) results.push_back(made.back());
  // What a module computes last is what it is there for, and returned first.
  if (names > 1 && CallsModule(function) && results.back() == made.back()) {
    std::ranges::rotate(results, std::prev(results.end()));
  }
  return results;
}

// Whether one module returned all that a statement gives to its names.
bool FrameWalk::CallsModule(const Function& function) const {
  return !function.returned.empty() && !ComputesSeveral(function.line.code) &&
         program_.results(graph_.nodes[node_]).size() == 1;
}

// Only the results of a statement are known outside of it.
void FrameWalk::FindMistaken(const Function& function, std::size_t names) {
  const std::size_t known = std::max<std::size_t>(names, 1);
  for (std::size_t i = function.made; i + known < made_.size(); ++i) {
    const ValueId operand = TensorOf(made_[i]);
    if (operand == made_[i] || last_uses_[made_[i]] <= node_) continue;
    mistaken_.push_back({.node = node_, .result = made_[i], .operand = operand});
  }
}

// transformers' function of the loss of a language model has the labels that it pads, of which all
// but the first are used, to its end.
void FrameWalk::LeaveLoss(const Function& function) {
  if (function.line.code.find("loss_function(") == std::string_view::npos) return;
  std::vector<ValueId> padded;
  for (std::size_t i = function.made; i < made_.size(); ++i) {
    if (is_padded_[made_[i]]) padded.push_back(made_[i]);
  }
  Depart(function, padded);
}

// transformers' functions of attention return its output and the weights that values were summed
// by, where they have these; so do the modules that call them, whether anybody wants them or not.
ValueId FrameWalk::WeightsOf(const Function& function) const {
  if (function.line.code.find("attention_interface(") == std::string_view::npos) {
    return function.given_weights;
  }
  for (std::size_t i = made_.size(); i-- > function.made;) {
    if (weights_[made_[i]] != kNoId) return weights_[made_[i]];
  }
  return kNoId;
}

// A statement that gives a name for the first time and reads it has an argument's.
FrameWalk::Variable& FrameWalk::VariableNamed(Function& function, std::string_view name) {
  std::vector<Variable>& variables = function.variables;
  const auto found = std::ranges::find(variables, name, &Variable::name);
  if (found != variables.end()) return *found;
  std::size_t place = variables.size();
  if (ReadsName(function.line.code, name)) place = function.arguments++;
  const auto at = variables.begin() + static_cast<std::ptrdiff_t>(place);
  return *variables.insert(at, {.name = name, .values = {}});
}

void FrameWalk::FinishStatement(Function& function) {
  const std::vector<std::string_view> names = AssignedNames(function.line.code);
  FindMistaken(function, names.size());
  const std::vector<ValueId> results = ResultsOf(function, names.size());
  LeaveLoss(function);
  const ValueId weights = WeightsOf(function);
  const bool gives_back = names.size() > 1 && CallsModule(function);
  function.made = made_.size();
  function.returned = {};
  std::vector<ValueId> dropped;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool has_weights = i > 0 && i + 1 == names.size() && weights != kNoId;
    // A module returns what it was given where it does not compute it.
    if (gives_back && i >= results.size() && !has_weights && names[i] != kNobody) continue;
    std::vector<ValueId>& values = VariableNamed(function, names[i]).values;
    dropped.insert(dropped.end(), values.begin(), values.end());
    values.clear();
    // The last name has all that is left.
    const std::size_t end = i + 1 == names.size() ? results.size() : i + 1;
    for (std::size_t k = i; k < std::min(end, results.size()); ++k) values.push_back(results[k]);
    if (has_weights) values.push_back(weights);
  }
  if (names.size() > 1) function.weights = weights;
  function.given_weights = kNoId;
  std::erase_if(dropped, [&](ValueId id) {
    return std::ranges::any_of(function.variables, [&](const Variable& variable) {
      return std::ranges::find(variable.values, id) != variable.values.end();
    });
  });
  Depart(function, dropped);
}

void FrameWalk::Depart(const Function& function, std::span<const ValueId> values) {
  Departure departure{.node = node_, .call = function.call, .values = {}};
  for (const ValueId id : values) {
    const bool held = last_uses_[id] < node_;
    if (held && std::ranges::find(departure.values, id) == departure.values.end()) {
      departure.values.push_back(id);
    }
  }
  if (!departure.values.empty()) departures_.push_back(std::move(departure));
}

// Whether the node, or one after it, uses it; and what is given and not used goes by itself, if it
// is given at all. What a module keeps never does.
bool FrameWalk::GoesByItself(ValueId id, std::uint32_t node,
                             std::span<const std::uint32_t> makers) const {
  if (program_.values[id].role == Role::kCache) return false;
  return last_uses_[id] > node || makers[id] == node;
}

std::vector<FrameWalk::Departure> FrameWalk::LetGo(const ModuleFacts& module,
                                                   const ValuesByName& by_name) const {
  const std::vector<Node>& nodes = graph_.nodes;
  std::vector<std::uint32_t> makers(program_.values.size(), kNoId);  // none: it was there before
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const ValueId id : program_.results(nodes[i])) {
      if (id != kNoId) makers[id] = i;
    }
  }
  std::vector<Departure> told;
  for (const ModuleFacts::LetGo& each : *module.let_go) {
    if (each.node >= nodes.size()) continue;
    for (const std::string& name : each.values) {
      const ValueId found = by_name.Find(name);
      if (found == kNoId || GoesByItself(TensorOf(found), each.node, makers)) continue;
      const ValueId id = TensorOf(found);
      // Who held it has called both what made it and what ran last.
      const CallId maker = makers[id] == kNoId ? kNoId : nodes[makers[id]].call;
      const CallId call = CallAround(program_, maker, nodes[each.node].call);
      if (told.empty() || told.back().node != each.node || told.back().call != call) {
        told.push_back({.node = each.node, .call = call, .values = {}});
      }
      told.back().values.push_back(id);
    }
  }
  return told;
}

std::vector<FrameWalk::Departure> FrameWalk::Told(const ModuleFacts& module,
                                                  const ValuesByName& by_name) const {
  const std::vector<Node>& nodes = graph_.nodes;
  std::vector<Departure> told;
  for (const ModuleFacts::LetGo& each : module.given) {
    if (each.node >= nodes.size()) continue;
    Departure end{.node = each.node, .call = nodes[each.node].call, .values = {}};
    for (const std::string& name : each.values) {
      if (const ValueId id = by_name.Find(name); id != kNoId) end.values.push_back(TensorOf(id));
    }
    if (!end.values.empty()) told.push_back(std::move(end));
  }
  // What goes with the functions around it goes after it.
  std::ranges::move(LetGo(module, by_name), std::back_inserter(told));
  std::ranges::stable_sort(told, {}, &Departure::node);
  return told;
}

}  // namespace steelyard::pt2
