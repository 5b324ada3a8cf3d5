// SPDX-License-Identifier: Apache-2.0
//
// Reads a graph of torch's export schema into a program: its values, nodes, arguments and the
// graphs inside it. Keys are taken in whatever order they come: a node may stand before the sizes
// of what it computes (as torch writes them) or after (as sorted JSON has them), so names make
// values when they are first seen, and what must hold between the parts is checked at the end.
//
// All functions that return `bool` return false when the file is wrong; the JsonReader has the
// reason then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/json.h"
#include "import/pt2/expressions.h"
#include "import/pt2/frame_variables.h"
#include "import/pt2/metadata.h"
#include "import/pt2/token_map.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

class GraphReader {
 public:
  // Deepest nesting of graphs, and of arguments within arguments. Torch's own are below five.
  static constexpr int kMaxDepth = 32;
  // Longest list that is an argument.
  static constexpr std::size_t kMaxList = std::size_t{1} << 20U;

  // With `holds_variables` the main graph holds what the model's functions hold in variables.
  GraphReader(Program& program, JsonReader& json, bool holds_variables, const ModuleFacts* module);

  // Reads the program's own graph. Its names can be looked up afterwards.
  bool ReadMain(JsonValue value);
  // Checks, after ReadMain, that every tensor was described, and gives symbols their examples.
  bool Finish();

  // The value that `name` stands for in the program's own graph; kNoId if none.
  ValueId Find(std::string_view name);
  // An argument of a call, of a graph's outputs or of the signature.
  bool ReadArgument(JsonValue value, Argument& out);
  // A line for the report, once.
  void Note(const std::string& note);

 private:
  // What is known of a name; `value` is that of the graph `scope`.
  struct Name {
    StringId text = kNoString;
    ValueId value = kNoId;
    std::uint32_t scope = 0;
  };
  // Of a stack of modules: the innermost, and which call of it.
  struct Place {
    ModuleId module = 0;
    CallId call = kNoId;
  };
  // The line that a node comes from, and the number of its trace among `frames_`; kNoId where
  // variables do not matter.
  struct Trace {
    SourceId source = kNoId;
    std::uint32_t frames = kNoId;
  };
  struct Shadowed {
    std::size_t index;
    Name before;
  };
  // How far a value is known. It is defined by its graph's inputs (1) or by node i (i + 2).
  struct State {
    std::uint32_t definition = 0;
    bool described = false;
  };
  struct ArgumentRow;
  static const ArgumentRow kArgumentRows[];

  // --- graph_reader.cc
  bool ReadGraph(JsonValue value, GraphId id);
  bool ReadGraphFields(JsonValue value, Graph& graph);
  bool ReadNode(JsonValue value, std::uint32_t index, Node& node);
  bool ReadTarget(JsonValue value, Node& node);
  bool ReadCallArgument(JsonValue value);
  bool ReadDefinition(JsonValue value, std::uint32_t definition);
  bool DefineConstant(std::string_view key, JsonValue value, std::uint32_t definition);
  bool DefineNamed(JsonValue value, std::string_view key, ValueKind kind, std::uint32_t definition);
  bool ReadMetadata(JsonValue value, std::uint32_t index, Node& node);
  bool ReadModuleStack(JsonValue value, Node& node);
  bool ReadStackTrace(JsonValue value, Trace& out);
  bool CheckGraph(Graph& graph);
  bool Resolve(Argument& argument, std::uint32_t at);

  // --- graph_names.cc
  Name& Lookup(std::string_view name);
  bool ValueNamed(std::string_view name, ValueKind kind, ValueId& out);
  bool Define(ValueId id, std::uint32_t definition);
  ValueId NewValue(StringId name, ValueKind kind);
  std::string QuotedName(ValueId id) const;

  // --- arguments.cc
  template <bool (GraphReader::*kRead)(JsonValue, Argument&)>
  bool ReadListOf(JsonValue value, Argument& out);
  template <class F>
  bool ReadList(JsonValue value, Argument& out, F&& read_element);
  bool ReadNone(JsonValue value, Argument& out);
  bool ReadTensor(JsonValue value, Argument& out);
  bool ReadOptionalTensor(JsonValue value, Argument& out);
  bool ReadInt(JsonValue value, Argument& out);
  bool ReadFloat(JsonValue value, Argument& out);
  bool ReadBool(JsonValue value, Argument& out);
  bool ReadString(JsonValue value, Argument& out);
  bool ReadSymInt(JsonValue value, Argument& out);
  bool ReadSymFloat(JsonValue value, Argument& out);
  bool ReadSymBool(JsonValue value, Argument& out);
  bool ReadSymbolic(JsonValue value, ValueKind kind, Argument& out);
  bool ReadScalarType(JsonValue value, Argument& out);
  bool ReadMemoryFormat(JsonValue value, Argument& out);
  bool ReadLayout(JsonValue value, Argument& out);
  bool ReadDevice(JsonValue value, Argument& out);
  bool ReadOperator(JsonValue value, Argument& out);
  bool ReadComplex(JsonValue value, Argument& out);
  bool ReadCustomObject(JsonValue value, Argument& out);
  bool ReadSubgraph(JsonValue value, Argument& out);
  bool ReadDictionary(JsonValue value, Argument& out);

  // --- value_tables.cc
  bool ReadTensorValues(JsonValue value);
  bool ReadTensorMeta(JsonValue value, ValueId id);
  bool ReadTensorFields(simdjson::ondemand::object& object, ValueId id);
  void CopyLayout(ValueId from, ValueId to);
  bool ReadSizes(JsonValue value, Dims& out);
  bool ReadSize(JsonValue value, Dim& out);
  bool ReadExpression(JsonValue value, Dim& out);
  bool SizeOf(std::string_view expression, std::optional<std::int64_t> hint, Dim& out);
  bool SetLayout(ValueId id, const Dims& sizes, const Dims& strides);
  bool ReadScalarValues(JsonValue value, ValueKind kind);
  bool ReadScalarValue(JsonValue value, Dim& out);
  bool ValueToDescribe(std::string_view name, ValueKind kind, ValueId& out);

  Program& program_;
  JsonReader& json_;
  ExpressionReader expressions_;
  ModuleStacks modules_;
  StackTraces traces_;
  FrameLines frames_;
  TokenMap<Name> names_;
  TokenMap<OpId> targets_;
  TokenMap<Place> stacks_;
  TokenMap<Trace> sources_;
  TokenMap<ValueId> metas_;             // the first tensor with a description, by its text
  TokenMap<std::optional<Dim>> sizes_;  // expressions by their text
  std::vector<Shadowed> shadowed_;      // names that the graphs being read took from outer ones
  std::vector<State> states_;           // by ValueId
  std::vector<Argument> arguments_;     // of calls and lists under construction
  std::vector<ValueId> results_;        // of nodes under construction
  // Consecutive nodes tend to have the same metadata.
  std::string_view last_stack_, last_trace_;
  Place last_place_;
  Trace last_source_;
  bool holds_variables_;
  const ModuleFacts* module_;
  TracesOfGraphs frames_of_nodes_;
  GraphId graph_ = 0;  // that is read
  std::uint32_t scope_ = 0;
  std::uint32_t scope_count_ = 0;
  int depth_ = 0;
};

}  // namespace steelyard::pt2
