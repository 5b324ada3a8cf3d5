// SPDX-License-Identifier: Apache-2.0
//
// Which variables of Python's functions hold which tensors of a program, node by node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/pt2/frame_lines.h"
#include "steelyard/import.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

// The innermost call of a module that both are in; kNoId without one.
CallId CallAround(const Program& program, CallId a, CallId b);

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

class FrameWalk {
 public:
  FrameWalk(const Program& program, const Graph& graph, const FrameLines& lines)
      : program_(program), graph_(graph), lines_(lines) {
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
  // A name, and the values that it has: several where it is the last of a statement that gives
  // several, or has a tuple of them.
  struct Variable {
    std::string_view name;
    std::vector<ValueId> values;
  };
  struct Function {
    FrameLines::Line line;
    CallId call = kNoId;
    std::size_t made = 0;  // where what its present statement made begins in `made_`
    // What the function returned with that its present statement has called last.
    std::string_view returned;
    // The weights of attention that it has, and those that its present statement was returned.
    ValueId weights = kNoId, given_weights = kNoId;
    // In the order of Python's frames, which is that in which they go when it returns: arguments,
    // then what else the function's code speaks of, in its order.
    std::vector<Variable> variables;
    std::size_t arguments = 0;
  };

  void FindLastUses();
  // What may be asked of its result.
  void NoteKind(const Node& node);
  void LeaveLoss(const Function& function);
  ValueId WeightsOf(const Function& function) const;
  static Variable& VariableNamed(Function& function, std::string_view name);
  bool Copies(std::span<const Argument> args) const;
  ValueId TensorOf(ValueId id) const;
  bool TurnsLoop(std::span<const FrameLines::Line> lines, std::span<const CallId> calls) const;
  void Return(std::size_t depth);
  void FinishStatement(Function& function);
  void FindMistaken(const Function& function, std::size_t names);
  bool MakesSeveral(const Function& function) const;
  bool CallsModule(const Function& function) const;
  std::vector<ValueId> ResultsOf(const Function& function, std::size_t names) const;
  void Depart(const Function& function, std::span<const ValueId> values);
  bool GoesByItself(ValueId id, std::uint32_t node, std::span<const std::uint32_t> makers) const;
  std::vector<Departure> LetGo(const ModuleFacts& module, const ValuesByName& by_name) const;

  const Program& program_;
  const Graph& graph_;
  const FrameLines& lines_;
  std::vector<std::uint32_t> last_uses_;  // by value
  std::vector<ValueId> cast_from_;        // by value: the operand of a cast that did nothing
  std::vector<bool> is_padded_;           // by value: what pads its operand
  std::vector<ValueId> weights_;          // by value: the left operand of a product of matrices
  std::vector<ValueId> made_;
  std::vector<Function> running_;
  std::uint32_t node_ = 0;     // the last one visited
  std::vector<CallId> calls_;  // the calls around that one
  std::vector<Departure> departures_;
  std::vector<Mistaken> mistaken_;
};

}  // namespace steelyard::pt2
