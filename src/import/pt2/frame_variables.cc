// SPDX-License-Identifier: Apache-2.0
//
// A walk along the nodes, with the functions that are running in a stack: those whose lines the
// trace of the node before has, too, go on; the others have returned. A statement is over when its
// function goes on at another line. What then is of use later, or was computed last, has its names.
// Lines tell no more than that: a name that is given without computing anything, and variables of
// functions that the trace leaves out, are unknown.

#include "import/pt2/frame_variables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/variables.h"

namespace steelyard::pt2 {
namespace {

constexpr std::string_view kFile = "File \"";
constexpr std::string_view kNumber = "\", line ";
constexpr std::string_view kIn = ", in ";
// The function of a module; a call of another function has no module call of its own.
constexpr std::string_view kForward = "forward";

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void SkipSpaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view TakeName(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && IsOfName(text[end])) ++end;
  const std::string_view name = text.substr(0, end);
  if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0) return {};
  text.remove_prefix(end);
  return name;
}

// "= x", and "+= x"; not "=x", which is an argument of a call, nor "== x".
bool IsAssignment(std::string_view rest) {
  if (rest.size() >= 2 && std::string_view("+-*/@").find(rest[0]) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  return rest.starts_with("= ") || rest == "=";
}

// ": torch.Tensor" of "x: torch.Tensor = y".
void SkipAnnotation(std::string_view& text) {
  if (!text.starts_with(": ")) return;
  const std::size_t equals = text.find(" = ");
  if (equals != std::string_view::npos) text.remove_prefix(equals);
}

FrameLines::Line LineOf(std::string_view frame) {
  FrameLines::Line line;
  frame.remove_prefix(kFile.size());
  line.file = frame.substr(0, frame.find('"'));
  frame.remove_prefix(line.file.size());
  if (!frame.starts_with(kNumber)) return line;
  frame.remove_prefix(kNumber.size());
  const auto read = std::from_chars(frame.data(), frame.data() + frame.size(), line.number);
  frame.remove_prefix(static_cast<std::size_t>(read.ptr - frame.data()));
  if (!frame.starts_with(kIn)) return line;
  frame.remove_prefix(kIn.size());
  const std::size_t end = std::min(frame.find('\n'), frame.size());
  line.function = frame.substr(0, end);
  frame.remove_prefix(end);
  frame.remove_prefix(std::min(frame.find_first_not_of(" \n"), frame.size()));
  line.code = frame.substr(0, frame.find('\n'));
  return line;
}

// Whether these are the paths of two modules of one list: "layers.0" and "layers.1".
bool AreOfOneList(std::string_view a, std::string_view b) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t list = a.find_last_not_of(kDigits);
  return list != std::string_view::npos && list + 1 < a.size() && a[list] == '.' &&
         b.size() > list + 1 && b.substr(0, list + 1) == a.substr(0, list + 1) &&
         b.find_first_not_of(kDigits, list + 1) == std::string_view::npos && a != b;
}

// Whether a statement says itself which of a list it takes: "self.layers[0](x)".
bool NamesElements(std::string_view code) {
  const std::size_t bracket = code.find('[');
  return bracket != std::string_view::npos && bracket + 1 < code.size() &&
         std::isdigit(static_cast<unsigned char>(code[bracket + 1])) != 0;
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

// The innermost that both are in.
CallId CallAround(const Program& program, CallId a, CallId b) {
  const std::vector<CallId> of_a = CallsAround(program, a), of_b = CallsAround(program, b);
  const auto [end, other] = std::ranges::mismatch(of_a, of_b);
  return end == of_a.begin() ? kNoId : *std::prev(end);
}

// The tensors of the main graph by the names that its file has for them.
class ValuesByName {
 public:
  explicit ValuesByName(const Program& program) : program_(program) {
    const auto add = [&](ValueId id) {
      if (id == kNoId || program.values[id].kind != ValueKind::kTensor) return;
      if (program.values[id].name != kNoString) ids_.emplace(program.values[id].name, id);
    };
    for (const ValueId id : program.main().inputs) add(id);
    for (const Node& node : program.main().nodes) {
      for (const ValueId id : program.results(node)) add(id);
    }
  }
  // kNoId where there is none.
  ValueId Find(std::string_view name) const {
    const auto found = ids_.find(program_.strings.Find(name));
    return found == ids_.end() ? kNoId : found->second;
  }

 private:
  const Program& program_;
  std::unordered_map<StringId, ValueId> ids_;
};

class Walk {
 public:
  Walk(const Program& program, const FrameLines& lines) : program_(program), lines_(lines) {
    FindLastUses();
  }

  void Visit(std::uint32_t node, std::uint32_t trace);
  void End() { Return(0); }

  // What goes after a node, in order.
  struct Departure {
    std::uint32_t node = 0;
    CallId call = kNoId;
    std::vector<ValueId> values;
  };
  std::vector<Departure>& departures() { return departures_; }
  // What goes where Python has let it go, and what a checkpointed function has to its end.
  std::vector<Departure> Told(const ModuleFacts& module, const ValuesByName& by_name) const;

  // A cast that did nothing while it was traced, whose result the tracer took for its operand from
  // then on: after a node the operand is meant.
  struct Mistaken {
    std::uint32_t node = 0;
    ValueId result = kNoId, operand = kNoId;
  };
  const std::vector<Mistaken>& mistaken() const { return mistaken_; }

 private:
  struct Variable {
    std::string_view name;
    ValueId value = kNoId;
  };
  struct Function {
    FrameLines::Line line;
    CallId call = kNoId;
    std::size_t made = 0;  // where what its present statement made begins in `made_`
    std::vector<Variable> variables;
  };

  void FindLastUses();
  bool Copies(std::span<const Argument> args) const;
  ValueId TensorOf(ValueId id) const;
  bool TurnsLoop(std::span<const FrameLines::Line> lines, std::span<const CallId> calls) const;
  void Return(std::size_t depth);
  void FinishStatement(Function& function);
  void FindMistaken(const Function& function, std::size_t names);
  std::vector<ValueId> ResultsOf(const Function& function, std::size_t names) const;
  void Depart(const Function& function, std::span<const ValueId> values);
  std::vector<Departure> LetGo(const ModuleFacts& module, const ValuesByName& by_name) const;

  const Program& program_;
  const FrameLines& lines_;
  std::vector<std::uint32_t> last_uses_;  // by value
  std::vector<ValueId> cast_from_;        // by value: the operand of a cast that did nothing
  std::vector<ValueId> made_;
  std::vector<Function> running_;
  std::uint32_t node_ = 0;     // the last one visited
  std::vector<CallId> calls_;  // the calls around that one
  std::vector<Departure> departures_;
  std::vector<Mistaken> mistaken_;
};

bool IsCast(std::string_view op) { return op.starts_with("aten::to.") || op == "aten::type_as"; }

// "x.to(dtype, copy=True)": a tensor of its own whatever its dtype.
bool Walk::Copies(std::span<const Argument> args) const {
  return std::ranges::any_of(args, [&](const Argument& arg) {
    return arg.kind == ArgKind::kBool && arg.dim == Dim(1) && arg.name != kNoString &&
           program_.text(arg.name) == "copy";
  });
}

// A cast that did nothing gave its operand.
ValueId Walk::TensorOf(ValueId id) const {
  while (cast_from_[id] != kNoId) id = cast_from_[id];
  return id;
}

void Walk::FindLastUses() {
  constexpr std::uint32_t kReturned = kNoId;
  last_uses_.assign(program_.values.size(), 0);
  cast_from_.assign(program_.values.size(), kNoId);
  const Graph& graph = program_.main();
  const auto note = [&](const auto& self, std::span<const Argument> args,
                        std::uint32_t at) -> void {
    for (const Argument& arg : args) {
      if (arg.kind == ArgKind::kValue) last_uses_[arg.value] = at;
      if (arg.kind == ArgKind::kList) self(self, program_.list(arg.list), at);
    }
  };
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : program_.results(graph.nodes[i])) {
      if (id != kNoId) last_uses_[id] = i;
    }
    const std::span<const Argument> args = program_.args(graph.nodes[i]);
    note(note, args, i);
    const std::span<const ValueId> results = program_.results(graph.nodes[i]);
    if (results.size() != 1 || results[0] == kNoId) continue;
    if (args.empty() || args[0].kind != ArgKind::kValue) continue;
    const bool same =
        program_.values[results[0]].dtype == program_.values[args[0].value].dtype && !Copies(args);
    if (same && IsCast(program_.op_name(graph.nodes[i].op))) cast_from_[results[0]] = args[0].value;
  }
  note(note, graph.outputs, kReturned);
}

void Walk::Visit(std::uint32_t node, std::uint32_t trace) {
  const std::span<const FrameLines::Line> lines = lines_.of(trace);
  const std::vector<CallId> calls = CallsAround(program_, program_.main().nodes[node].call);
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
    running_.push_back(
        {.line = lines[i], .call = call_of[i], .made = made_.size(), .variables = {}});
  }
  for (const ValueId id : program_.results(program_.main().nodes[node])) {
    if (id != kNoId && program_.values[id].kind == ValueKind::kTensor) made_.push_back(id);
  }
  node_ = node;
  calls_ = calls;
}

// Whether the innermost of these functions, which is at the line where it was, is there again: a
// loop of one statement that calls one module of a list after the other.
bool Walk::TurnsLoop(std::span<const FrameLines::Line> lines, std::span<const CallId> calls) const {
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
void Walk::Return(std::size_t depth) {
  for (; running_.size() > depth; running_.pop_back()) {
    Function& function = running_.back();
    FinishStatement(function);
    std::vector<ValueId> values;
    values.reserve(function.variables.size());
    for (const Variable& variable : function.variables) values.push_back(variable.value);
    Depart(function, values);
  }
  if (running_.empty()) made_.clear();
}

// What a statement leaves: what is of use after it, or else what it computed last.
std::vector<ValueId> Walk::ResultsOf(const Function& function, std::size_t names) const {
  const std::span<const ValueId> made = std::span(made_).subspan(function.made);
  if (made.empty()) return {};
  if (names == 1) return {made.back()};
  std::vector<ValueId> results;
  std::ranges::copy_if(made, std::back_inserter(results),
                       [&](ValueId id) { return last_uses_[id] > node_; });
  if (results.empty()) results.push_back(made.back());
  return results;
}

// Only the results of a statement are known outside of it.
void Walk::FindMistaken(const Function& function, std::size_t names) {
  const std::size_t known = std::max<std::size_t>(names, 1);
  for (std::size_t i = function.made; i + known < made_.size(); ++i) {
    const ValueId operand = TensorOf(made_[i]);
    if (operand == made_[i] || last_uses_[made_[i]] <= node_) continue;
    mistaken_.push_back({.node = node_, .result = made_[i], .operand = operand});
  }
}

void Walk::FinishStatement(Function& function) {
  const std::vector<std::string_view> names = AssignedNames(function.line.code);
  FindMistaken(function, names.size());
  const std::vector<ValueId> results = ResultsOf(function, names.size());
  function.made = made_.size();
  std::vector<ValueId> dropped;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<Variable>& variables = function.variables;
    std::erase_if(variables, [&](const Variable& variable) {
      if (variable.name != names[i]) return false;
      dropped.push_back(variable.value);
      return true;
    });
    // The last name has all that is left.
    const std::size_t end = i + 1 == names.size() ? results.size() : i + 1;
    for (std::size_t k = i; k < std::min(end, results.size()); ++k) {
      variables.push_back({.name = names[i], .value = results[k]});
    }
  }
  std::erase_if(dropped, [&](ValueId id) {
    return std::ranges::find(function.variables, id, &Variable::value) != function.variables.end();
  });
  Depart(function, dropped);
}

void Walk::Depart(const Function& function, std::span<const ValueId> values) {
  Departure departure{.node = node_, .call = function.call, .values = {}};
  for (const ValueId id : values) {
    const bool held = last_uses_[id] < node_;
    if (held && std::ranges::find(departure.values, id) == departure.values.end()) {
      departure.values.push_back(id);
    }
  }
  if (!departure.values.empty()) departures_.push_back(std::move(departure));
}

std::vector<Walk::Departure> Walk::LetGo(const ModuleFacts& module,
                                         const ValuesByName& by_name) const {
  const std::vector<Node>& nodes = program_.main().nodes;
  std::vector<CallId> makers(program_.values.size(), kNoId);  // none of what was there before
  for (const Node& node : nodes) {
    for (const ValueId id : program_.results(node)) {
      if (id != kNoId) makers[id] = node.call;
    }
  }
  std::vector<Departure> told;
  for (const ModuleFacts::LetGo& each : *module.let_go) {
    if (each.node >= nodes.size()) continue;
    for (const std::string& name : each.values) {
      const ValueId found = by_name.Find(name);
      if (found == kNoId) continue;
      const ValueId id = TensorOf(found);
      const bool used = last_uses_[id] >= each.node;
      if (used && program_.values[id].role != Role::kCache) continue;
      // Who held it has called both what made it and what ran last.
      const CallId call = CallAround(program_, makers[id], nodes[each.node].call);
      if (told.empty() || told.back().node != each.node || told.back().call != call) {
        told.push_back({.node = each.node, .call = call, .values = {}});
      }
      told.back().values.push_back(id);
    }
  }
  return told;
}

std::vector<Walk::Departure> Walk::Told(const ModuleFacts& module,
                                        const ValuesByName& by_name) const {
  const std::vector<Node>& nodes = program_.main().nodes;
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

// Gives uses of mistaken results back to the operands.
class Corrections {
 public:
  Corrections(Program& program, std::span<const Walk::Mistaken> mistaken)
      : program_(program), by_value_(program.values.size(), nullptr) {
    for (const Walk::Mistaken& cast : mistaken) by_value_[cast.result] = &cast;
  }

  void Make() {
    Graph& graph = program_.main();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) CorrectRun(graph.nodes[i].arguments, i);
    for (Argument& output : graph.outputs) Correct(output, graph.nodes.size());
  }

 private:
  // `at`: the node that uses it.
  void Correct(Argument& argument, std::size_t at) {
    if (argument.kind == ArgKind::kList) CorrectRun(argument.list, at);
    if (argument.kind != ArgKind::kValue) return;
    const Walk::Mistaken* cast = by_value_[argument.value];
    if (cast != nullptr && at > cast->node) argument.value = cast->operand;
  }
  void CorrectRun(Argument::Run run, std::size_t at) {
    for (std::uint32_t i = 0; i < run.count; ++i) Correct(program_.arguments[run.begin + i], at);
  }

  Program& program_;
  std::vector<const Walk::Mistaken*> by_value_;
};

// What the module holds of its last call goes in, and what it holds of this one goes out.
void AddKept(Program& program, const ModuleFacts& module) {
  const ValuesByName by_name(program);
  Graph& graph = program.main();
  std::unordered_map<std::string_view, ValueId> added;  // what no node stands for
  for (const ModuleFacts::Kept& kept : module.kept) {
    ValueId id = by_name.Find(kept.name);
    if (id == kNoId) {
      const std::array<std::int64_t, 1> sizes{kept.bytes}, strides{1};
      const StringId name = program.strings.Intern(kept.name);
      id = program.AddTensor(name, DType::kUInt8, sizes, strides);
      added.emplace(kept.name, id);
    }
    program.values[id].role = Role::kCache;
    graph.inputs.push_back(id);
  }
  for (const std::string& name : module.keeps) {
    const auto found = added.find(name);
    const ValueId id = found == added.end() ? by_name.Find(name) : found->second;
    if (id == kNoId) continue;
    program.values[id].role = Role::kCache;
    graph.outputs.push_back(Argument::OfValue(id));
  }
}

// Whether a node stands for making what was there before.
bool MakesKept(const Program& program, const Node& node) {
  const std::span<const ValueId> results = program.results(node);
  return results.size() == 1 && results[0] != kNoId &&
         std::ranges::find(program.main().inputs, results[0]) != program.main().inputs.end();
}

Node NodeOf(Program& program, std::string_view op, const Argument& argument, CallId call) {
  Node node;
  node.op = program.AddOpName(op);
  node.arguments = program.AddArguments(std::span(&argument, 1));
  node.outputs = program.AddOutputs({});
  node.call = call;
  if (call != kNoId) node.module = program.calls[call].module;
  return node;
}

Node LeaveNode(Program& program, const Walk::Departure& departure) {
  std::vector<Argument> values;
  values.reserve(departure.values.size());
  for (const ValueId id : departure.values) values.push_back(Argument::OfValue(id));
  return NodeOf(program, kLeaveOp, Argument::OfList(program.AddArguments(values)), departure.call);
}

// What functions of the module do beside calling operators, to be put between the nodes.
class Additions {
 public:
  Additions(Program& program, const ValuesByName& by_name,
            std::span<const ModuleFacts::Requires> required,
            std::span<const Walk::Departure> departures)
      : program_(program), by_name_(by_name), required_(required), departures_(departures) {}

  // `in`: the call that runs when the node does not run yet.
  void Before(std::uint32_t node, CallId in, std::vector<Node>* nodes) {
    for (; !required_.empty() && required_[0].before <= node; required_ = required_.subspan(1)) {
      const ValueId id = by_name_.Find(required_[0].value);
      if (id == kNoId) continue;
      nodes->push_back(NodeOf(program_, kRequireGradientOp, Argument::OfValue(id), in));
    }
  }
  void After(std::uint32_t node, std::vector<Node>* nodes) {
    for (; !departures_.empty() && departures_[0].node == node;
         departures_ = departures_.subspan(1)) {
      nodes->push_back(LeaveNode(program_, departures_[0]));
    }
  }

 private:
  Program& program_;
  const ValuesByName& by_name_;
  std::span<const ModuleFacts::Requires> required_;
  std::span<const Walk::Departure> departures_;
};

}  // namespace

std::uint32_t FrameLines::Read(std::string_view trace) {
  for (std::size_t at = trace.find(kFile); at != std::string_view::npos;) {
    const std::size_t next = trace.find(kFile, at + kFile.size());
    lines_.push_back(LineOf(trace.substr(at, next - at)));
    at = next;
  }
  begins_.push_back(lines_.size());
  return static_cast<std::uint32_t>(begins_.size() - 2);
}

std::span<const FrameLines::Line> FrameLines::of(std::uint32_t trace) const {
  return std::span(lines_).subspan(begins_[trace], begins_[trace + 1] - begins_[trace]);
}

std::vector<std::string_view> AssignedNames(std::string_view code) {
  std::vector<std::string_view> names;
  while (true) {
    SkipSpaces(code);
    if (code.starts_with('*')) code.remove_prefix(1);
    const std::string_view name = TakeName(code);
    if (name.empty()) return {};
    names.push_back(name);
    SkipAnnotation(code);
    // An argument of a call has no space before its sign.
    const bool spaced = code.starts_with(' ');
    SkipSpaces(code);
    if (spaced && IsAssignment(code)) return names;
    if (!code.starts_with(',')) return {};
    code.remove_prefix(1);
  }
}

void HoldVariables(Program& program, const FrameLines& lines, std::span<const std::uint32_t> traces,
                   const ModuleFacts* module) {
  const auto walked = [&] {
    Walk walk(program, lines);
    for (std::uint32_t i = 0; i < traces.size(); ++i) {
      if (traces[i] != kNoId) walk.Visit(i, traces[i]);
    }
    walk.End();
    return walk;
  };
  const Walk first = walked();
  Corrections(program, first.mistaken()).Make();
  const bool is_told = module != nullptr && module->let_go;
  if (is_told) AddKept(program, *module);
  const ValuesByName by_name(program);
  const std::vector<Walk::Departure> departures =
      is_told ? Walk(program, lines).Told(*module, by_name) : std::move(walked().departures());
  std::span<const ModuleFacts::Requires> required;
  if (module != nullptr) required = module->requires_gradient;
  Additions additions(program, by_name, required, departures);
  const std::vector<Node> before = std::move(program.main().nodes);
  std::vector<Node> nodes;
  nodes.reserve(before.size() + departures.size() + required.size());
  CallId last = kNoId;
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    const CallId call = before[i].call;
    additions.Before(i, CallAround(program, std::exchange(last, call), call), &nodes);
    if (!MakesKept(program, before[i])) nodes.push_back(before[i]);
    additions.After(i, &nodes);
  }
  additions.Before(kNoId, kNoId, &nodes);
  program.main().nodes = std::move(nodes);
}

}  // namespace steelyard::pt2
