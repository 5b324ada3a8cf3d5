// SPDX-License-Identifier: Apache-2.0
//
// Values are named as the program names them; a second value of a name within a graph gets "~1",
// one without a name a number. Both count in the order of the text, never by id, so that printing
// what was read gives the same text.
#include "ir/text_printer.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/symbolic_layout.h"
#include "ir/text_expression.h"
#include "ir/text_words.h"

namespace steelyard {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program)
      : program_(program), is_contiguous_(program), suffix_(program.values.size(), kUndefined) {}

  std::string Run() {
    PrintTables();
    PrintMainInputs();
    BeginSection();
    PrintBody(program_.main());
    for (GraphId id = 1; id < program_.graphs.size(); ++id) PrintSubgraph(id);
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kUndefined = kNoId;
  enum class Declared : std::uint8_t { kParameter, kBuffer, kInput, kOther, kResult };

  void Number(std::int64_t n) {
    std::array<char, 24> digits;
    out_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), n).ptr);
  }
  void Quoted(StringId id) { AppendQuoted(program_.text(id), out_); }
  void Text(StringId id, bool (*is_plain)(std::string_view)) {
    const std::string_view text = program_.text(id);
    if (is_plain(text)) {
      out_.append(text);
    } else {
      AppendQuoted(text, out_);
    }
  }
  // An empty line before each group of statements but the first.
  void BeginSection() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_.push_back('\n');
  }

  void PrintTables() {
    PrintHead();
    PrintSymbols();
    PrintModules();
    PrintSources();
    PrintFrames();
  }

  void PrintHead() {
    if (program_.name != kNoString) {
      out_.append("program ");
      Text(program_.name, IsPlainName);
      out_.push_back('\n');
    }
    if (program_.producer != kNoString) {
      out_.append("producer ");
      Quoted(program_.producer);
      out_.push_back('\n');
    }
    for (const Fact& fact : program_.facts) {
      out_.append("fact ");
      Quoted(fact.name);
      out_.push_back(' ');
      if (fact.text != kNoString) {
        Quoted(fact.text);
      } else {
        Number(fact.number);
      }
      out_.push_back('\n');
    }
    for (StringId note : program_.notes) {
      out_.append("note ");
      Quoted(note);
      out_.push_back('\n');
    }
  }

  void PrintSymbols() {
    if (!program_.symbols.empty()) BeginSection();
    const Symbol plain;
    for (const Symbol& symbol : program_.symbols) {
      out_.append("symbol ");
      const std::string_view name = program_.text(symbol.name);
      if (!IsPlainWord(name) || IsExpressionWord(name)) out_.push_back('$');
      Text(symbol.name, [](std::string_view n) { return IsPlainWord(n) && !IsExpressionWord(n); });
      if (symbol.min != plain.min || symbol.max != plain.max) {
        out_.append(": ");
        Number(symbol.min);
        out_.append("..");
        if (symbol.max != plain.max) Number(symbol.max);
      }
      if (symbol.example != plain.example) {
        out_.append(" = ");
        Number(symbol.example);
      }
      out_.push_back('\n');
    }
  }

  void PrintModules() {
    const bool root_is_plain = program_.modules[0].class_name == kNoString;
    if (program_.modules.size() > 1 || !root_is_plain) BeginSection();
    ModulesByPath by_path;
    for (ModuleId id = 0; id < program_.modules.size(); ++id) {
      const Module& module = program_.modules[id];
      if (id > 0 || !root_is_plain) {
        out_.append("module ");
        Text(module.path, IsPlainPath);
        if (module.class_name != kNoString) {
          out_.append(": ");
          Text(module.class_name, IsPlainName);
        }
        if (id > 0 && module.parent != NearestModule(program_.strings, by_path, module.path)) {
          out_.append(" within ");
          Text(program_.modules[module.parent].path, IsPlainPath);
        }
        out_.push_back('\n');
      }
      by_path.emplace(module.path, id);
    }
  }

  void PrintSources() {
    if (!program_.sources.empty()) BeginSection();
    for (std::size_t i = 0; i < program_.sources.size(); ++i) {
      const SourceLine& source = program_.sources[i];
      out_.append("source ");
      Number(static_cast<std::int64_t>(i));
      out_.append(": ");
      Quoted(source.file);
      out_.push_back(':');
      Number(source.line);
      if (source.function != kNoString || source.code != kNoString) {
        out_.push_back(' ');
        Text(source.function, IsPlainName);
      }
      if (source.code != kNoString) {
        out_.push_back(' ');
        Quoted(source.code);
      }
      out_.push_back('\n');
    }
  }

  void PrintFrames() {
    if (program_.frames.size() > 1) BeginSection();
    for (FrameId id = 1; id < program_.frames.size(); ++id) {
      const Frame& frame = program_.frames[id];
      out_.append("frame ");
      Number(id);
      out_.append(": ");
      Text(program_.op_names[frame.op], IsPlainOpName);
      if (frame.parent != 0) {
        out_.append(" within ");
        Number(frame.parent);
      }
      out_.push_back('\n');
    }
  }

  // Parameters, buffers, inputs and whatever else the graph takes, and the order in which it takes
  // them where that is not the order of the lines.
  void PrintMainInputs() {
    BeginScope();
    std::vector<ValueId> declared;
    PrintNamed("parameter ", program_.parameters, Declared::kParameter, declared);
    PrintNamed("buffer ", program_.buffers, Declared::kBuffer, declared);
    if (program_.ties_known) out_.append("ties_known\n");
    if (!program_.has_graph) out_.append("weights_only\n");
    if (!program_.inputs.empty()) BeginSection();
    for (ValueId id : program_.inputs) PrintDeclaration("input ", id, Declared::kInput, declared);
    for (ValueId id : program_.main().inputs) {
      if (suffix_[id] == kUndefined) PrintDeclaration("value ", id, Declared::kOther, declared);
    }
    if (declared != program_.main().inputs) PrintValueLine("takes", program_.main().inputs);
    if (!program_.mutated.empty()) PrintValueLine("mutates", program_.mutated);
    for (std::size_t i = 0; i < program_.released.size(); ++i) {
      out_.append(i == 0 ? "releases " : ", ").append(std::to_string(program_.released[i]));
    }
    if (!program_.released.empty()) out_.push_back('\n');
    const std::vector<Argument>& outputs = program_.main().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].kind != ArgKind::kValue || outputs[i].value != program_.loss) continue;
      out_.append("loss ").append(std::to_string(i)).push_back('\n');
      break;
    }
  }

  void PrintValueLine(std::string_view word, const std::vector<ValueId>& ids) {
    out_.append(word);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      out_.append(i == 0 ? " " : ", ");
      ValueName(ids[i]);
    }
    out_.push_back('\n');
  }

  // "input %x: f32[2,8]", or "input %x" where another line says what it is.
  void PrintDeclaration(std::string_view word, ValueId id, Declared how,
                        std::vector<ValueId>& declared) {
    out_.append(word);
    if (suffix_[id] != kUndefined) {
      ValueName(id);
    } else {
      Definition(id, how);
      declared.push_back(id);
    }
    if (how == Declared::kInput || how == Declared::kOther) out_.push_back('\n');
  }

  void PrintNamed(std::string_view word, const std::vector<NamedTensor>& list, Declared how,
                  std::vector<ValueId>& declared) {
    if (!list.empty()) BeginSection();
    for (const NamedTensor& tensor : list) {
      tied_to_ = tensor.tied_to < list.size() ? list[tensor.tied_to].value : kNoId;
      PrintDeclaration(word, tensor.value, how, declared);
      if (tensor.packing != kNoId) {
        out_.append(" packed ");
        Quoted(program_.packings[tensor.packing].name);
        out_.push_back(' ');
        Number(program_.packings[tensor.packing].bytes);
      }
      if (!tensor.persistent) out_.append(" non_persistent");
      if (tensor.name != program_.values[tensor.value].name) {
        out_.push_back(' ');
        Quoted(tensor.name);
      }
      if (tied_to_ != kNoId) {
        out_.append(" tied to ");
        ValueName(tied_to_);
      }
      tied_to_ = kNoId;
      out_.push_back('\n');
    }
  }

  void BeginScope() {
    names_.clear();
    first_of_storage_.clear();
    returned_.clear();
  }

  void ValueName(ValueId id) {
    out_.push_back('%');
    if (id >= suffix_.size() || suffix_[id] == kUndefined) {
      out_.push_back('?');
      Number(id);
      return;
    }
    const StringId name = program_.values[id].name;
    if (name == kNoString) {
      Number(suffix_[id]);
      return;
    }
    Text(name, IsPlainName);
    if (suffix_[id] == 0) return;
    out_.push_back('~');
    Number(suffix_[id]);
  }

  // "%x: f32[2,8]" with all that is not as usual.
  void Definition(ValueId id, Declared how) {
    const Value& value = program_.values[id];
    suffix_[id] = names_[value.name]++;
    ValueName(id);
    if (value.kind != ValueKind::kTensor) {
      out_.append(": ").append(WordOf(value.kind));
      if (!value.scalar.is_unknown()) {
        out_.push_back('(');
        AppendDim(program_, value.scalar, out_);
        out_.push_back(')');
      }
      return;
    }
    const bool bare =
        !value.has_layout && value.dtype == DType::kFloat32 && how == Declared::kResult;
    if (!bare) {
      out_.append(": ");
      Type(value);
    }
    Flags(id, how);
  }

  void Type(const Value& value) {
    out_.append(ShortNameOf(value.dtype));
    if (!value.has_layout) {
      out_.append("[...]");
      return;
    }
    const std::span<const std::int64_t> raw = program_.dims.span(value.dims, 2u * value.rank);
    Numbers('[', raw.first(value.rank), ']');
    if (!is_contiguous_(raw)) Numbers('{', raw.subspan(value.rank), '}');
  }

  void Numbers(char open, std::span<const std::int64_t> raw, char close) {
    out_.push_back(open);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (i > 0) out_.push_back(',');
      AppendDim(program_, Dim::FromRaw(raw[i]), out_);
    }
    out_.push_back(close);
  }

  void Word(std::string_view word) { out_.append(" ").append(word); }

  void Flags(ValueId id, Declared how) {
    const Value& value = program_.values[id];
    const bool trains =
        how == Declared::kParameter && (IsFloating(value.dtype) || IsComplex(value.dtype));
    if (value.requires_grad != trains) Word(trains ? "frozen" : "requires_grad");
    if (value.wrapped_number) Word("wrapped");
    if (value.role != UsualRole(id, how)) Word(WordOf(value.role));
    if (value.storage == kNoId) {
      Word("no_storage");
      return;
    }
    const ValueId first = first_of_storage_.try_emplace(value.storage, id).first->second;
    if (first == id) return;
    if (tied_to_ != kNoId && program_.values[tied_to_].storage == value.storage) return;
    Word("shares ");
    ValueName(first);
  }

  Role UsualRole(ValueId id, Declared how) const {
    switch (how) {
      case Declared::kParameter:
        return Role::kParameter;
      case Declared::kBuffer:
        return Role::kBuffer;
      case Declared::kInput:
        return Role::kInput;
      case Declared::kOther:
        return Role::kActivation;
      case Declared::kResult:
        return returned_.contains(id) ? Role::kOutput : Role::kActivation;
    }
    return Role::kActivation;
  }

  void PrintBody(const Graph& graph) {
    const bool is_main = &graph == &program_.main();
    if (is_main) {
      for (const Argument& out : graph.outputs) {
        if (out.kind == ArgKind::kValue) returned_.insert(out.value);
      }
    }
    const std::string_view indent = is_main ? "" : "  ";
    for (const Node& node : graph.nodes) {
      out_.append(indent);
      PrintNode(node);
    }
    out_.append(indent).append("return");
    if (!graph.outputs.empty()) out_.push_back(' ');
    Arguments(graph.outputs, 0);
    out_.push_back('\n');
  }

  void PrintNode(const Node& node) {
    bool first = true;
    for (ValueId id : program_.results(node)) {
      if (!first) out_.append(", ");
      first = false;
      if (id == kNoId) {
        out_.append("None");
      } else {
        Definition(id, Declared::kResult);
      }
    }
    if (!first) out_.append(" = ");
    Text(program_.op_names[node.op], IsPlainOpName);
    out_.push_back('(');
    Arguments(program_.args(node), 0);
    out_.push_back(')');
    if (node.module != 0) {
      out_.append(" in ");
      Text(program_.modules[node.module].path, IsPlainPath);
    }
    NodeWord("at", node.source, kNoId);
    if (node.phase != Phase::kForward) out_.append(" phase ").append(WordOf(node.phase));
    NodeWord("frame", node.frame, 0);
    NodeWord("origin", node.origin, kNoId);
    out_.push_back('\n');
  }

  void NodeWord(std::string_view word, std::uint32_t id, std::uint32_t usual) {
    if (id == usual) return;
    Word(word);
    out_.push_back(' ');
    Number(id);
  }

  void Arguments(std::span<const Argument> args, int depth) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i > 0) out_.append(", ");
      if (args[i].name != kNoString) {
        Text(args[i].name, IsPlainWord);
        out_.push_back('=');
      }
      PrintArgument(args[i], depth);
    }
  }

  void PrintArgument(const Argument& arg, int depth) {
    switch (arg.kind) {
      case ArgKind::kNone:
        out_.append("None");
        break;
      case ArgKind::kValue:
        ValueName(arg.value);
        break;
      case ArgKind::kInt:
        AppendDim(program_, arg.dim, out_);
        break;
      case ArgKind::kFloat:
        AppendReal(arg.real, out_);
        break;
      case ArgKind::kBool:
        out_.append(arg.dim.number() != 0 ? "True" : "False");
        break;
      case ArgKind::kString:
        Quoted(arg.text);
        break;
      case ArgKind::kDType:
        out_.append(ShortNameOf(arg.dtype));
        break;
      case ArgKind::kList:
      case ArgKind::kComplex:
        out_.append(arg.kind == ArgKind::kList ? "[" : "complex(");
        // A list that holds itself does not verify; it must not end the process either.
        if (depth < kMaxTextDepth) Arguments(program_.list(arg.list), depth + 1);
        out_.push_back(arg.kind == ArgKind::kList ? ']' : ')');
        break;
      case ArgKind::kGraph:
        out_.push_back('@');
        Number(arg.graph);
        break;
    }
  }

  void PrintSubgraph(GraphId id) {
    const Graph& graph = program_.graphs[id];
    BeginScope();
    out_.append("\ngraph @");
    Number(id);
    out_.push_back('(');
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      if (i > 0) out_.append(", ");
      Definition(graph.inputs[i], Declared::kOther);
    }
    out_.append(") {\n");
    PrintBody(graph);
    out_.append("}\n");
  }

  const Program& program_;
  ContiguityTest is_contiguous_;
  std::string out_;
  std::vector<std::uint32_t> suffix_;  // of a value's name, once defined
  // Of the graph that is being printed:
  std::unordered_map<StringId, std::uint32_t> names_;  // how often used
  std::unordered_map<StorageId, ValueId> first_of_storage_;
  std::unordered_set<ValueId> returned_;
  ValueId tied_to_ = kNoId;  // of the declaration that is being printed
};

}  // namespace

std::string Print(const Program& program) { return Printer(program).Run(); }

}  // namespace steelyard
