// SPDX-License-Identifier: Apache-2.0
//
// What the user asks for goes to the solver of sizes; its numbers are put in place of all
// expressions.
#include "pass/bind.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/facts.h"
#include "ir/text_expression.h"
#include "pass/data_sizes.h"
#include "pass/size_solver.h"

namespace steelyard {
namespace {

// "[s72, 128]": the sizes of a value as the file has them.
std::string SizesText(const Program& p, ValueId id) {
  const Value& value = p.values[id];
  if (value.kind != ValueKind::kTensor) return DimText(p, value.scalar);
  std::string out = "[";
  for (int i = 0; i < value.rank; ++i) {
    if (i > 0) out.append(", ");
    AppendDim(p, p.size(id, i), out);
  }
  return out + "]";
}

std::string InputsText(const Program& p) {
  std::string out;
  for (ValueId id : p.inputs) {
    if (!out.empty()) out.append(", ");
    out.append(p.text(p.values[id].name)).append(" ").append(SizesText(p, id));
  }
  return out.empty() ? "none" : out;
}

// A name with `*` stands for every symbol it matches that no input's shape has.
bool Matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (!name.starts_with(before)) return false;
  for (std::size_t skipped = before.size(); skipped <= name.size(); ++skipped) {
    if (Matches(after, name.substr(skipped))) return true;
  }
  return false;
}

class Binder {
 public:
  Binder(Program program, const BindOptions& options)
      : program_(std::move(program)), options_(options), solver_(program_) {}

  Result<Program> Run() {
    SY_RETURN_IF_ERROR(TakeSizes());
    SY_RETURN_IF_ERROR(AskForInputs());
    SY_RETURN_IF_ERROR(solver_.Solve());
    SY_RETURN_IF_ERROR(AskForPosition(options_.batch, 0, "--batch"));
    SY_RETURN_IF_ERROR(AskForPosition(options_.seq, 1, "--seq"));
    SY_RETURN_IF_ERROR(solver_.Solve());
    solver_.TakeExamples();
    DataSizes data(program_, solver_);
    data.Assume();
    SY_RETURN_IF_ERROR(solver_.Finish());
    SY_RETURN_IF_ERROR(CheckUnknownNames());
    AddNotes(data);
    if (data.has_guess()) program_.has_stand_ins = true;
    SY_RETURN_IF_ERROR(Replace());
    program_.symbols.clear();
    program_.expressions = ExpressionTable();
    return std::move(program_);
  }

 private:
  Status TakeSizes();
  Status TakeSize(const SymbolSize& size);
  Status AskForInputs();
  Status CheckUnknownNames();
  Status AskForInput(const InputShape& shape, ValueId id);
  Status AskForPosition(std::optional<std::int64_t> size, int position, const std::string& option);
  bool IsMatrix(ValueId id) const {
    return program_.values[id].has_layout && program_.values[id].rank >= 2;
  }
  void Note(const std::string& note) { program_.notes.push_back(program_.strings.Intern(note)); }
  std::vector<std::uint32_t> NoteExamplePositions();
  void AddNotes(const DataSizes& data);
  Status Replace();
  Status ReplaceLayout(ValueId id);
  Status ReplaceArgument(Argument& argument);
  std::string NodeOf(const Argument& argument) const;

  Program program_;
  const BindOptions& options_;
  SizeSolver solver_;                 // of program_
  std::vector<std::string> unknown_;  // names given with --input that no input has
};

Status Binder::AskForInput(const InputShape& shape, ValueId id) {
  const Value& value = program_.values[id];
  const std::string where = "input \"" + shape.name + "\"";
  if (value.kind != ValueKind::kTensor) {
    if (value.kind != ValueKind::kInt || shape.sizes.size() != 1) {
      return Unexpected(InvalidInput("it is no tensor", where,
                                     "A scalar input takes one number: --input " + shape.name +
                                         "=4. Others cannot be given."));
    }
    solver_.Ask({value.scalar, shape.sizes[0], where});
    return {};
  }
  if (!value.has_layout || shape.sizes.size() != value.rank) {
    return Unexpected(InvalidInput(std::to_string(shape.sizes.size()) + " sizes were given for " +
                                       std::to_string(value.rank) + " dimensions",
                                   where,
                                   "Its shape in the file is " + SizesText(program_, id) + "."));
  }
  for (int i = 0; i < value.rank; ++i) {
    solver_.Ask({program_.size(id, i), shape.sizes[static_cast<std::size_t>(i)],
                 where + ", dimension " + std::to_string(i)});
  }
  return {};
}

Status Binder::TakeSize(const SymbolSize& size) {
  const std::string where = "--size " + size.name + "=" + std::to_string(size.size);
  const bool pattern = size.name.find('*') != std::string::npos;
  bool any = false;
  std::string names;
  for (std::uint32_t i = 0; i < program_.symbols.size(); ++i) {
    const std::string name = solver_.NameOf(i);
    names.append(names.empty() ? "" : ", ").append(name);
    if (!Matches(size.name, name) || (pattern && solver_.IsOfInput(i))) continue;
    any = true;
    if (solver_.IsBound(i) && !pattern && solver_.NumberOfSymbol(i) != size.size) {
      return Unexpected(
          InvalidInput("its size is given twice", where, "Give --size once for each."));
    }
    solver_.BindTo(i, size.size, where);
  }
  if (any) return {};
  return Unexpected(NotFound("there is no symbolic size \"" + size.name + "\"", where,
                             names.empty() ? "All sizes are fixed in the file."
                                           : "The file's symbols are " + names + "."));
}

// Names come before patterns.
Status Binder::TakeSizes() {
  for (const bool pattern : {false, true}) {
    for (const SymbolSize& size : options_.sizes) {
      const bool is_pattern = size.name.find('*') != std::string::npos;
      if (is_pattern == pattern) SY_RETURN_IF_ERROR(TakeSize(size));
    }
  }
  return {};
}

Status Binder::AskForInputs() {
  for (const InputShape& shape : options_.inputs) {
    const auto same = [&](const InputShape& other) { return other.name == shape.name; };
    if (std::ranges::count_if(options_.inputs, same) > 1) {
      return Unexpected(InvalidInput("its sizes are given twice", "input \"" + shape.name + "\"",
                                     "Give --input once for each input."));
    }
    const StringId name = program_.strings.Find(shape.name);
    const auto found = std::ranges::find_if(program_.inputs, [&](ValueId id) {
      return name != kNoString && program_.values[id].name == name;
    });
    if (found == program_.inputs.end()) {
      unknown_.push_back(shape.name);
      continue;
    }
    SY_RETURN_IF_ERROR(AskForInput(shape, *found));
  }
  return {};
}

// One command may serve several models, with `--input labels=...` for those that compute a loss. So
// a name that this model does not have is refused only where a size may have been meant for it:
// when the other inputs leave a symbol to its example size, or when there is nothing symbolic at
// all.
Status Binder::CheckUnknownNames() {
  if (unknown_.empty()) return {};
  const bool harmless = !program_.symbols.empty() && solver_.from_examples().empty() &&
                        unknown_.size() < options_.inputs.size();
  if (!harmless) {
    return Unexpected(NotFound("there is no input \"" + unknown_[0] + "\"", "--input",
                               "The inputs are: " + InputsText(program_) + "."));
  }
  for (const std::string& name : unknown_) {
    program_.notes.push_back(
        program_.strings.Intern("--input " + name + ": the model has no such input"));
  }
  return {};
}

// The symbols that stand first or second in the shapes of the inputs; where --input has decided
// some of them, the others: `--seq 512 --input labels=8x128`. A list of token positions is [seq],
// not [batch]: inputs of one dimension come last, and only with symbols that are no matrix's
// second.
Status Binder::AskForPosition(std::optional<std::int64_t> size, int position,
                              const std::string& option) {
  if (!size) return {};
  bool any = false;
  const bool some_open = std::ranges::any_of(program_.inputs, [&](ValueId id) {
    return IsMatrix(id) && !solver_.NumberNow(program_.size(id, position));
  });
  const auto collect = [&](ValueId id) {
    const Dim dim = program_.size(id, position);
    any = any || dim.is_expression() || dim == Dim(*size);
    const bool decided = some_open && solver_.NumberNow(dim).has_value();
    if (dim.is_expression() && !decided) {
      const std::string name(program_.text(program_.values[id].name));
      solver_.Ask({dim, *size, option + " (input \"" + name + "\")"});
    }
  };
  const auto second_of_matrix = [&](std::uint32_t symbol) {
    return std::ranges::any_of(program_.inputs, [&](ValueId id) {
      if (!IsMatrix(id)) return false;
      const std::vector<std::uint32_t> symbols = solver_.SymbolsOf(program_.size(id, 1));
      return std::ranges::find(symbols, symbol) != symbols.end();
    });
  };
  for (ValueId id : program_.inputs) {
    if (IsMatrix(id)) collect(id);
  }
  SY_RETURN_IF_ERROR(solver_.Solve());
  for (ValueId id : program_.inputs) {
    const Value& value = program_.values[id];
    if (position != 0 || !value.has_layout || value.rank != 1) continue;
    const auto symbol = solver_.UnboundSymbolOf(program_.size(id, 0));
    if (symbol && !second_of_matrix(*symbol)) collect(id);
  }
  if (any) return {};
  const std::string which = position == 0 ? "first" : "second";
  return Unexpected(InvalidInput("no input has an open " + which + " dimension",
                                 option + " " + std::to_string(*size),
                                 "Numbers are fixed: " + InputsText(program_) +
                                     ". An exported model has open sizes with dynamic_shapes; one "
                                     "of a config.json has those of its kind."));
}

// The sizes that --batch and --seq would choose and that examples decided, in one line.
std::vector<std::uint32_t> Binder::NoteExamplePositions() {
  const std::span<const std::uint32_t> examples = solver_.from_examples();
  std::vector<std::uint32_t> told;
  std::string sizes, flags;
  for (const int position : {0, 1}) {
    std::optional<std::int64_t> size;
    for (ValueId id : program_.inputs) {
      if (!IsMatrix(id)) continue;
      const Dim dim = program_.size(id, position);
      const std::vector<std::uint32_t> symbols = solver_.SymbolsOf(dim);
      if (symbols.size() != 1) continue;
      const bool example = std::ranges::find(examples, symbols[0]) != examples.end();
      const bool known = std::ranges::find(told, symbols[0]) != told.end();
      const std::optional<std::int64_t> number = solver_.NumberOf(dim);
      if (!example || known || !number || (size && size != number)) continue;
      told.push_back(symbols[0]);
      size = number;
    }
    if (!size) continue;
    const std::string name = position == 0 ? "batch" : "seq";
    sizes.append(sizes.empty() ? "" : ", ").append(name).append(" ").append(std::to_string(*size));
    flags.append(flags.empty() ? "--" : " --").append(name).append(" N");
  }
  if (!told.empty()) {
    const std::string whose = HasFact(program_, kBuiltFrom)
                                  ? "the defaults of a model that is built from its config: "
                                  : "the model's example: ";
    Note("Nothing was said of sizes, so they are " + whose + sizes + " (" + flags + ").");
  }
  return told;
}

void Binder::AddNotes(const DataSizes& data) {
  const std::vector<std::uint32_t> told = NoteExamplePositions();
  for (std::uint32_t symbol : solver_.from_examples()) {
    if (std::ranges::find(told, symbol) != told.end()) continue;
    Note(solver_.NameOf(symbol) + " = " + std::to_string(program_.symbols[symbol].example) +
         (HasFact(program_, kBuiltFrom) ? " by default" : " is the model's example size") +
         "; bind it with " + solver_.RemedyFor(symbol));
  }
  for (const std::string& note : data.Notes()) Note(note);
}

Status Binder::ReplaceLayout(ValueId id) {
  Value& value = program_.values[id];
  const std::span<std::int64_t> raw = program_.dims.span(value.dims, 2u * value.rank);
  if (std::ranges::find(raw, Dim::Unknown().raw()) != raw.end()) {
    const bool given =
        value.role == Role::kParameter || value.role == Role::kBuffer || value.role == Role::kInput;
    if (given) {
      return Unexpected(InvalidInput("sizes " + SizesText(program_, id) + " are not all known",
                                     "%" + std::string(program_.text(value.name)),
                                     "What a model is given needs sizes: numbers or symbols."));
    }
    value.has_layout = false;  // for a shape rule to find out
    return {};
  }
  for (std::int64_t& entry : raw) {
    const Dim dim = Dim::FromRaw(entry);
    if (dim.is_number()) continue;
    const std::optional<std::int64_t> number = solver_.NumberOf(dim);
    const std::string where = "%" + std::string(program_.text(value.name));
    if (!number) return Unexpected(solver_.NoNumber(dim, where));
    entry = *number;
  }
  if (CheckLayout(value.dtype, program_.sizes(id), program_.strides(id))) return {};
  return Unexpected(
      InvalidInput("sizes " + SizesText(program_, id) + " with these strides make no tensor",
                   "%" + std::string(program_.text(value.name)),
                   "A size is negative, or the tensor would have more than 2^63 bytes."));
}

// The node that has `argument`, within a list or not, for an error.
std::string Binder::NodeOf(const Argument& argument) const {
  const auto holds = [](const Argument::Run& run, std::size_t index) {
    return index >= run.begin && index - run.begin < run.count;
  };
  std::size_t index = 0;
  while (index < program_.arguments.size() && &program_.arguments[index] != &argument) ++index;
  // A list comes after its elements, so that one walk leads from the element to the outermost list.
  for (std::size_t i = index; i < program_.arguments.size(); ++i) {
    const Argument& list = program_.arguments[i];
    if (list.kind == ArgKind::kList && holds(list.list, index)) index = i;
  }
  for (const Graph& graph : program_.graphs) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!holds(graph.nodes[i].arguments, index)) continue;
      const std::string_view op = program_.op_name(graph.nodes[i].op);
      return "node " + std::to_string(i) + " (" + std::string(op) + ")";
    }
  }
  return "return";
}

Status Binder::ReplaceArgument(Argument& argument) {
  if (argument.kind == ArgKind::kValue) {
    if (argument.value >= program_.values.size()) return {};  // left behind by a pass
    const Value& value = program_.values[argument.value];
    if (!value.scalar.is_number()) return {};
    const std::int64_t number = value.scalar.number();
    if (value.kind == ValueKind::kInt) {
      argument.kind = ArgKind::kInt;
      argument.dim = Dim(number);
    } else if (value.kind == ValueKind::kBool) {
      argument.kind = ArgKind::kBool;
      argument.dim = Dim(number != 0 ? 1 : 0);
    }
    return {};
  }
  if (argument.kind != ArgKind::kInt || !argument.dim.is_expression()) return {};
  const std::optional<std::int64_t> number = solver_.NumberOf(argument.dim);
  if (!number) return Unexpected(solver_.NoNumber(argument.dim, NodeOf(argument)));
  argument.dim = Dim(*number);
  return {};
}

Status Binder::Replace() {
  for (ValueId id = 0; id < program_.values.size(); ++id) {
    Value& value = program_.values[id];
    if (value.scalar.is_expression()) {
      // What only the data tells stays unknown; it is an error where a size needs it.
      const std::optional<std::int64_t> number = solver_.NumberOf(value.scalar);
      value.scalar = number ? Dim(*number) : Dim::Unknown();
    }
    if (!value.has_layout) continue;
    SY_RETURN_IF_ERROR(ReplaceLayout(id));
  }
  for (Argument& argument : program_.arguments) SY_RETURN_IF_ERROR(ReplaceArgument(argument));
  for (Graph& graph : program_.graphs) {
    for (Argument& argument : graph.outputs) SY_RETURN_IF_ERROR(ReplaceArgument(argument));
  }
  return {};
}

}  // namespace

Result<Program> Bind(Program program, const BindOptions& options) {
  return Binder(std::move(program), options).Run();
}

}  // namespace steelyard
