// SPDX-License-Identifier: Apache-2.0
//
// Statements of a text program. Names are looked up as the lines are read, so that every mistake is
// reported at its place; only graphs may be mentioned before they are defined, and get their final
// numbers, those of the definitions, at the end.
#include "ir/text_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/release_order.h"
#include "ir/text_table_reader.h"
#include "ir/text_value_reader.h"
#include "ir/text_words.h"
#include "ir/verify.h"

namespace steelyard {
namespace {

constexpr std::size_t kNoResult = std::string_view::npos;  // the position of a None among results
constexpr std::int64_t kMostOutputs = std::int64_t{1} << 30;
constexpr const char* kPhases = "The phases are forward, loss, backward and optimizer.";

// Looking for one newline after the other is a fraction of comparing each character.
std::size_t LinesOf(std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    ++lines;
  }
  return lines;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file_name)
      : scan_(text, file_name),
        file_name_(file_name),
        values_(scan_, program_),
        tables_(scan_, program_, values_.dims()) {
    // A node or a value is a line, mostly. Memory that is not written to is not taken.
    const std::size_t lines = LinesOf(text);
    program_.values.reserve(lines);
    program_.main().nodes.reserve(lines);
    program_.arguments.reserve(4 * lines);
    program_.outputs.reserve(lines);
  }

  Result<Program> Run() {
    while (scan_.NextStatement()) {
      if (!ReadStatement()) return Unexpected(scan_.error());
    }
    if (!NumberGraphs() || !SetLoss()) return Unexpected(scan_.error());
    if (Status status = Verify(program_); !status) {
      Error error = Within(std::string(file_name_), status.error());
      error.code = ErrorCode::kInvalidInput;  // whoever wrote the text broke the rule
      return Unexpected(std::move(error));
    }
    return std::move(program_);
  }

 private:
  struct Statement {
    std::string_view word;
    bool (Reader::*read)();
  };
  // By value: where it stands in the list of parameters or buffers, kNoId where it does not.
  using IndexOfValue = std::vector<std::uint32_t>;

  bool ReadStatement();
  bool ReadProgram() { return tables_.ReadText(&TextScanner::Path, program_.name); }
  bool ReadProducer() { return tables_.ReadText(nullptr, program_.producer); }
  bool ReadNote();
  bool ReadFact();
  bool ReadSymbol() { return tables_.ReadSymbol(); }
  bool ReadModule() { return tables_.ReadModule(); }
  bool ReadSource() { return tables_.ReadSource(); }
  bool ReadFrame() { return tables_.ReadFrame(); }
  bool ReadParameter() { return ReadNamed(Role::kParameter, program_.parameters, parameters_); }
  bool ReadBuffer() { return ReadNamed(Role::kBuffer, program_.buffers, buffers_); }
  bool ReadInput();
  bool ReadValue();
  bool ReadTakes();
  bool ReadTiesKnown() { return program_.ties_known = true; }
  bool ReadWeightsOnly() { return !(program_.has_graph = false); }
  bool ReadMutates() { return ReadReferences(program_.mutated); }
  bool ReadReleases();
  bool ReadLoss();
  bool SetLoss();
  bool ReadReturn();
  bool ReadGraph();
  bool ReadNode();

  bool ReadReferences(std::vector<ValueId>& out);
  bool ReadDeclaration(Role role, ValueId& out);
  bool ReadNamed(Role role, std::vector<NamedTensor>& list, IndexOfValue& index);
  bool ReadTie(NamedTensor& tensor, const IndexOfValue& index);
  bool ReadPacking(NamedTensor& tensor);
  bool ReadNodeWords(Node& node);
  bool ReadResults(std::vector<ValueText>& out);
  bool DefineResults(const std::vector<ValueText>& texts, Node& node);
  bool ReadGraphInputs(GraphId id);
  bool ReadGraphBody();
  bool NumberGraphs();

  Program program_;
  TextScanner scan_;
  std::string_view file_name_;
  TextValueReader values_;
  TextTableReader tables_;
  IndexOfValue parameters_, buffers_;  // first name of a value
  std::vector<bool> plain_results_;    // by value: of a node, without a role of its own
  std::vector<ValueText> results_;     // of the node that is being read, its arguments and values
  std::vector<Argument> arguments_;
  std::vector<ValueId> ids_;
  std::optional<std::size_t> loss_;  // which output it is
  GraphId graph_ = 0;                // that is being read
  bool returned_ = false;            // it has had its `return`
};

bool Reader::ReadStatement() {
  static constexpr std::array kStatements = {
      Statement{"program", &Reader::ReadProgram},
      Statement{"producer", &Reader::ReadProducer},
      Statement{"note", &Reader::ReadNote},
      Statement{"fact", &Reader::ReadFact},
      Statement{"symbol", &Reader::ReadSymbol},
      Statement{"module", &Reader::ReadModule},
      Statement{"source", &Reader::ReadSource},
      Statement{"frame", &Reader::ReadFrame},
      Statement{"parameter", &Reader::ReadParameter},
      Statement{"buffer", &Reader::ReadBuffer},
      Statement{"input", &Reader::ReadInput},
      Statement{"value", &Reader::ReadValue},
      Statement{"takes", &Reader::ReadTakes},
      Statement{"ties_known", &Reader::ReadTiesKnown},
      Statement{"weights_only", &Reader::ReadWeightsOnly},
      Statement{"mutates", &Reader::ReadMutates},
      Statement{"releases", &Reader::ReadReleases},
      Statement{"loss", &Reader::ReadLoss},
      Statement{"graph", &Reader::ReadGraph},
  };
  if (scan_.Sees("%")) return ReadNode() && scan_.ExpectLineEnd();
  if (scan_.AcceptWord("return")) return ReadReturn() && scan_.ExpectLineEnd();
  const std::string_view word = scan_.PeekWord();
  for (const Statement& statement : kStatements) {
    if (statement.word != word) continue;
    if (graph_ != 0) {
      return scan_.Fail("\"" + std::string(word) + "\" within a graph",
                        "A graph holds nodes and one `return`; close it with '}'.");
    }
    scan_.Word();
    return (this->*statement.read)() && scan_.ExpectLineEnd();
  }
  return ReadNode() && scan_.ExpectLineEnd();
}

bool Reader::ReadLoss() {
  std::int64_t place = 0;
  if (!scan_.Unsigned(kMostOutputs, place)) return false;
  loss_ = static_cast<std::size_t>(place);
  return true;
}

// The output that it is, once there are outputs.
bool Reader::SetLoss() {
  if (!loss_) return true;
  const std::vector<Argument>& outputs = program_.main().outputs;
  if (*loss_ >= outputs.size() || outputs[*loss_].kind != ArgKind::kValue) {
    return scan_.Fail("the loss is none of the values that are returned",
                      "Outputs are counted from 0.");
  }
  program_.loss = outputs[*loss_].value;
  return true;
}

bool Reader::ReadReleases() {
  do {
    std::int64_t place = 0;
    if (!scan_.Unsigned(kMostOutputs, place)) return false;
    program_.released.push_back(static_cast<std::uint32_t>(place));
  } while (scan_.Accept(','));
  return true;
}

bool Reader::ReadNote() {
  StringId note = kNoString;
  if (!tables_.ReadText(nullptr, note)) return false;
  program_.notes.push_back(note);
  return true;
}

// fact "name" "text", or with a number.
bool Reader::ReadFact() {
  Fact fact;
  if (!tables_.ReadText(nullptr, fact.name)) return false;
  const bool ok = scan_.Sees("\"") ? tables_.ReadText(nullptr, fact.text)
                                   : scan_.Unsigned(INT64_MAX, fact.number);
  if (ok) program_.facts.push_back(fact);
  return ok;
}

// %NAME: TYPE [WORDS], or the name alone of a value that another line declares.
bool Reader::ReadDeclaration(Role role, ValueId& out) {
  ValueText text;
  text.value.role = role;
  if (!values_.Name(text.name)) return false;
  values_.dims().set_unknown_name(DimReader::UnknownName::kDeclare);
  const bool ok = values_.Type(text);
  values_.dims().set_unknown_name(DimReader::UnknownName::kRefuse);
  if (!ok) return false;
  if (!text.typed) {
    out = values_.scope().Find(text.name);
    if (out == kNoId) {
      return scan_.Fail("expected ':' and a type, " + scan_.Found(),
                        "A tensor is declared as in `input %x: f32[2,8]`.");
    }
    return true;
  }
  text.value.requires_grad =
      role == Role::kParameter && (IsFloating(text.value.dtype) || IsComplex(text.value.dtype));
  if (!values_.Flags(text) || !values_.Define(text, out)) return false;
  program_.main().inputs.push_back(out);
  return true;
}

bool Reader::ReadInput() {
  ValueId value = kNoId;
  if (!ReadDeclaration(Role::kInput, value)) return false;
  program_.inputs.push_back(value);
  return true;
}

bool Reader::ReadValue() {
  ValueId value = kNoId;
  return ReadDeclaration(Role::kActivation, value);
}

// tied to %OTHER: one tensor with two names.
bool Reader::ReadTie(NamedTensor& tensor, const IndexOfValue& index) {
  const std::size_t at = (scan_.Peek(), scan_.position());
  ValueId first = kNoId;
  if (!values_.Reference(first)) return false;
  const std::uint32_t found = first < index.size() ? index[first] : kNoId;
  if (found == kNoId) {
    return scan_.FailAt(at, "tied to what is not of the same kind",
                        "A parameter is tied to a parameter, a buffer to a buffer, of an earlier "
                        "line.");
  }
  tensor.tied_to = found;
  Value& value = program_.values[tensor.value];
  if (value.storage != program_.values[first].storage) {
    // The newest storage is the one this line's declaration has just made.
    if (value.storage + 1 == program_.storage_count) --program_.storage_count;
    value.storage = program_.values[first].storage;
  }
  return true;
}

// packed "q4_k" 144: how it is stored, and its bytes.
bool Reader::ReadPacking(NamedTensor& tensor) {
  Packing packing;
  if (!tables_.ReadText(nullptr, packing.name) || !scan_.Unsigned(INT64_MAX, packing.bytes)) {
    return false;
  }
  tensor.packing = static_cast<std::uint32_t>(program_.packings.size());
  program_.packings.push_back(packing);
  return true;
}

// DECLARATION ["name"] [packed "TYPE" BYTES] [non_persistent] [tied to %OTHER]
bool Reader::ReadNamed(Role role, std::vector<NamedTensor>& list, IndexOfValue& index) {
  NamedTensor tensor;
  if (!ReadDeclaration(role, tensor.value)) return false;
  tensor.name = program_.values[tensor.value].name;
  while (true) {
    if (scan_.Sees("\"")) {
      if (!tables_.ReadText(nullptr, tensor.name)) return false;
    } else if (scan_.AcceptWord("packed")) {
      if (!ReadPacking(tensor)) return false;
    } else if (scan_.AcceptWord("non_persistent")) {
      tensor.persistent = false;
    } else if (scan_.AcceptWord("tied")) {
      if (!scan_.AcceptWord("to")) return scan_.Expect("to", "\"tied\"");
      if (!ReadTie(tensor, index)) return false;
    } else {
      break;
    }
  }
  if (tensor.value >= index.size()) index.resize(tensor.value + std::size_t{1}, kNoId);
  if (index[tensor.value] == kNoId) index[tensor.value] = static_cast<std::uint32_t>(list.size());
  list.push_back(tensor);
  return true;
}

bool Reader::ReadReferences(std::vector<ValueId>& out) {
  do {
    ValueId value = kNoId;
    if (!values_.Reference(value)) return false;
    out.push_back(value);
  } while (scan_.Accept(','));
  return true;
}

// takes %A, %B: the order of the graph's inputs, where it is not that of the lines.
bool Reader::ReadTakes() {
  program_.main().inputs.clear();
  return !scan_.Sees("%") || ReadReferences(program_.main().inputs);
}

bool Reader::ReadReturn() {
  if (returned_) return scan_.Fail("a second `return`", "A graph ends with one.");
  std::vector<Argument> results;
  if (!values_.Arguments(TextValueReader::kLineEnd, results)) return false;
  returned_ = true;
  if (graph_ == 0) {
    for (const Argument& result : results) {
      if (result.kind == ArgKind::kValue && result.value < plain_results_.size() &&
          plain_results_[result.value]) {
        program_.values[result.value].role = Role::kOutput;
      }
    }
  }
  program_.graphs[graph_].outputs = std::move(results);
  return true;
}

// graph @NAME(%X: TYPE, ...) { NODES return ... }
bool Reader::ReadGraph() {
  const std::size_t at = (scan_.Peek(), scan_.position());
  GraphId mention = 0;
  if (!values_.GraphName(mention)) return false;
  const auto id = static_cast<GraphId>(program_.graphs.size());
  auto& known = values_.graph_mentions()[mention];
  if (known.defined_as != kNoId) {
    return scan_.FailAt(at, "the graph @" + known.name + " is defined twice",
                        "Give one of them another name.");
  }
  known.defined_as = id;
  program_.graphs.emplace_back();
  values_.scope().BeginGraph();
  const bool outer_returned = std::exchange(returned_, false);
  graph_ = id;
  if (!ReadGraphInputs(id) || !ReadGraphBody()) return false;
  graph_ = 0;
  returned_ = outer_returned;
  values_.scope().EndGraph();
  return true;
}

bool Reader::ReadGraphInputs(GraphId id) {
  if (!scan_.Expect("(", "the graph's name")) return false;
  bool more = !scan_.Accept(')');
  while (more) {
    ValueText text;
    ValueId value = kNoId;
    if (!values_.Name(text.name) || !values_.Type(text) || !values_.Flags(text)) return false;
    if (!text.typed) text.value.has_layout = false;
    if (!values_.Define(text, value)) return false;
    program_.graphs[id].inputs.push_back(value);
    more = scan_.Accept(',');
    if (!more && !scan_.Expect(")", "the graph's inputs")) return false;
  }
  return scan_.Expect("{", "the graph's inputs");
}

bool Reader::ReadGraphBody() {
  while (scan_.NextStatement()) {
    if (scan_.Accept('}')) return true;
    if (!ReadStatement()) return false;
  }
  return scan_.Fail("the graph does not end", "Close it with '}' on a line of its own.");
}

bool Reader::ReadResults(std::vector<ValueText>& out) {
  while (scan_.Sees("%") || scan_.PeekWord() == "None") {
    ValueText& text = out.emplace_back();
    if (!scan_.AcceptWord("None")) {
      if (!values_.Name(text.name) || !values_.Type(text) || !values_.Flags(text)) return false;
      if (!text.typed) text.value.has_layout = false;
    } else {
      text.name.position = kNoResult;
    }
    if (!scan_.Accept(',')) return scan_.Expect("=", "the results");
  }
  if (out.empty()) return true;
  return scan_.Fail("expected a result, " + scan_.Found(), "A result is %name or None.");
}

bool Reader::DefineResults(const std::vector<ValueText>& texts, Node& node) {
  ids_.clear();
  for (const ValueText& text : texts) {
    ValueId id = kNoId;
    if (text.name.position != kNoResult) {
      if (!values_.Define(text, id)) return false;
      const bool plain = graph_ == 0 && !text.role_given && text.value.kind == ValueKind::kTensor;
      plain_results_.resize(id + std::size_t{1}, false);
      plain_results_[id] = plain;
    }
    ids_.push_back(id);
  }
  node.outputs = program_.AddOutputs(ids_);
  return true;
}

// [in MODULE] [at SOURCE] [phase PHASE] [frame NUMBER] [origin NUMBER]
bool Reader::ReadNodeWords(Node& node) {
  while (true) {
    bool ok = true;
    const std::size_t at = (scan_.Peek(), scan_.position());
    if (scan_.AcceptWord("in")) {
      ok = tables_.ReadModuleOf(node);
    } else if (scan_.AcceptWord("at")) {
      ok = tables_.ReadPlaceOf(node);
    } else if (scan_.AcceptWord("phase")) {
      const auto phase = PhaseNamed(scan_.Word());
      if (!phase) return scan_.FailAt(at, "there is no such phase", kPhases);
      node.phase = *phase;
    } else if (scan_.AcceptWord("frame")) {
      ok = tables_.ReadFrameOf(node);
    } else if (scan_.AcceptWord("origin")) {
      std::int64_t origin = 0;
      ok = scan_.Unsigned(kNoId - 1, origin);
      node.origin = static_cast<NodeId>(origin);
    } else {
      return true;
    }
    if (!ok) return false;
  }
}

// [RESULTS =] OPERATOR(ARGUMENTS) [WORDS]
bool Reader::ReadNode() {
  if (returned_) {
    return scan_.Fail("a node after `return`", "Nodes come before the `return` of their graph.");
  }
  results_.clear();
  if (!ReadResults(results_)) return false;
  Node node;
  if (!tables_.ReadOpName(node.op) || !scan_.Expect("(", "the operator's name")) return false;
  arguments_.clear();
  if (!values_.Arguments(')', arguments_)) return false;
  node.arguments = program_.AddArguments(arguments_);
  if (!ReadNodeWords(node) || !DefineResults(results_, node)) return false;
  program_.graphs[graph_].nodes.push_back(node);
  return true;
}

bool Reader::NumberGraphs() {
  const auto& mentions = values_.graph_mentions();
  for (const auto& mention : mentions) {
    if (mention.defined_as == kNoId) {
      return scan_.FailAt(mention.position, "the graph @" + mention.name + " is not defined",
                          "Define it with `graph @" + mention.name + "(%x: f32[2]) { ... }`.");
    }
  }
  const auto renumber = [&](Argument& argument) {
    if (argument.kind == ArgKind::kGraph) argument.graph = mentions[argument.graph].defined_as;
  };
  std::ranges::for_each(program_.arguments, renumber);
  for (Graph& graph : program_.graphs) std::ranges::for_each(graph.outputs, renumber);
  return CanRelease(program_) || scan_.Fail("`releases` does not name the first results once each",
                                            "With two results it is `releases 0, 1` or "
                                            "`releases 1, 0`.");
}

}  // namespace

Result<Program> ParseText(std::string_view text, std::string_view file_name) {
  return Reader(text, file_name).Run();
}

}  // namespace steelyard
