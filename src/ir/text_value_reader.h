// SPDX-License-Identifier: Apache-2.0
//
// The parts of a text program below the statement: names and types of values, arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/text_expression.h"
#include "ir/text_scanner.h"
#include "steelyard/program.h"

namespace steelyard {

// "%x", "%x~1" or "%3" as a key: the name's id and the number after it.
struct ValueName {
  StringId name = kNoString;
  std::uint32_t number = 0;
  std::size_t position = 0;
  std::uint64_t key() const { return std::uint64_t{name} << 32U | number; }
};

// Which values the names of a graph stand for: those of the program itself in an array, by the
// name's id, for there may be a million; others in a table.
class ValueScope {
 public:
  ValueId Find(const ValueName& name) const {  // kNoId: no such value
    if (InArray(name)) return name.name < main_.size() ? main_[name.name] : kNoId;
    const Table& table = inner_ ? of_graph_ : numbered_;
    const auto found = table.find(name.key());
    return found == table.end() ? kNoId : found->second;
  }
  void Add(const ValueName& name, ValueId value) {
    if (!InArray(name)) {
      (inner_ ? of_graph_ : numbered_).emplace(name.key(), value);
      return;
    }
    if (name.name >= main_.size()) main_.resize(name.name + std::size_t{1}, kNoId);
    main_[name.name] = value;
  }
  // Names between these are those of another graph.
  void BeginGraph() { inner_ = true; }
  void EndGraph() {
    inner_ = false;
    of_graph_.clear();
  }

 private:
  using Table = std::unordered_map<std::uint64_t, ValueId>;
  bool InArray(const ValueName& name) const {
    return !inner_ && name.number == 0 && name.name != kNoString;
  }
  std::vector<ValueId> main_;  // by name
  Table numbered_, of_graph_;
  bool inner_ = false;
};

// All that stands after a value's name, before the value exists.
struct ValueText {
  ValueName name;
  enum class Storage : std::uint8_t { kOwn, kNone, kShared };
  Value value;  // but its storage, rank and dims
  Dims sizes, strides;
  bool typed = false;
  bool role_given = false;
  Storage storage = Storage::kOwn;
  ValueId shares = kNoId;  // whose, if it is shared
};

class TextValueReader {
 public:
  TextValueReader(TextScanner& scan, Program& program)
      : scan_(scan), program_(program), dims_(scan, program) {}

  DimReader& dims() { return dims_; }

  // A reference to a value of this graph.
  bool Reference(ValueId& out);
  bool Name(ValueName& out);
  ValueScope& scope() { return scope_; }
  // ": f32[2,8]{1,2}" after a name, if it is there, and the words that describe the value.
  bool Type(ValueText& out);
  bool Flags(ValueText& out);
  // The value itself; false when its name is taken.
  bool Define(const ValueText& text, ValueId& out);

  // Arguments up to (and with) `close`, or to the end of the line.
  static constexpr char kLineEnd = '\0';
  bool Arguments(char close, std::vector<Argument>& out);

  // Lets an argument be a tensor written where it is used, as "f32[2,8]": it becomes an input.
  void AllowTensorArguments() { tensor_arguments_ = true; }

  // The graph called "@name", known or not yet.
  bool GraphName(GraphId& out);
  struct GraphMention {
    std::string name;
    std::size_t position;
    std::uint32_t defined_as = kNoId;  // index among the definitions
  };
  std::vector<GraphMention>& graph_mentions() { return graph_mentions_; }

 private:
  bool Sizes(char close, Dims& out);
  bool TensorType(DType dtype, ValueText& out);
  bool ScalarType(ValueKind kind, ValueText& out);
  bool Flag(std::string_view word, ValueText& out);
  bool NamedArgument(Argument& out);
  bool ArgumentValue(Argument& out);
  bool WordArgument(Argument& out, bool& done);
  bool ComplexArgument(Argument& out);
  bool TensorArgument(DType dtype, Argument& out);

  TextScanner& scan_;
  Program& program_;
  DimReader dims_;
  ValueScope scope_;
  std::vector<GraphMention> graph_mentions_;
  std::unordered_map<std::string, GraphId> graphs_by_name_;
  int depth_ = 0;
  bool tensor_arguments_ = false;
};

}  // namespace steelyard
