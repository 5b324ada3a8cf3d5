// SPDX-License-Identifier: Apache-2.0
//
// Reads what the inputs and outputs of an exported graph are to the model: parameters, buffers,
// what the user passes and receives, and what is written back.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/json.h"
#include "import/pt2/graph_reader.h"
#include "steelyard/program.h"

namespace steelyard::pt2 {

class SignatureReader {
 public:
  SignatureReader(Program& program, JsonReader& json, GraphReader& graph);

  // Requires: the main graph has been read. Gives roles, fills the program's parameters, buffers,
  // inputs and mutated values, and leaves as outputs what the caller receives: for each tensor that
  // the functional graph returns to be written back, an `aten::copy_` into it is added at the end
  // of the graph, as torch does when it makes a module of the program again.
  bool Read(JsonValue value);

  // What the caller passes, in order: the program's inputs, and the constants among them.
  const std::vector<ValueId>& passed() const { return passed_; }

 private:
  enum class Kind : std::uint8_t { kParameter, kBuffer, kUserInput, kConstant, kOther };
  struct InputRow {
    std::string_view key;
    std::string_view name_key;  // of what the user calls it; "": as the graph does
    Kind kind;
    // Constants stand in the graph without a name.
    bool may_be_unnamed() const { return kind == Kind::kConstant || kind == Kind::kOther; }
  };
  struct OutputRow {
    std::string_view key;
    std::string_view target_key;  // what is written; "": nothing, it is returned
    Role role;
  };
  static const InputRow kInputRows[];
  static const OutputRow kOutputRows[];
  // What a value is to the graph, by ValueId.
  enum class Place : std::uint8_t { kInside, kInput, kSpecifiedInput };

  bool ReadInput(JsonValue value, std::size_t index);
  bool ReadInputSpec(JsonValue value, const InputRow& row, std::size_t index);
  bool ReadInputValue(JsonValue value, std::size_t index, ValueId& out);
  bool AddInput(ValueId id, const InputRow& row, NamedTensor tensor);
  bool ReadInputs(JsonValue value);
  bool CheckInputs();
  bool ReadOutputs(JsonValue value);
  bool CheckOutputs();
  bool ReadOutput(JsonValue value, std::size_t index);
  bool ReadOutputSpec(JsonValue value, const OutputRow& row, std::size_t index);
  bool WriteBack(std::string_view target, const Argument& source);

  Program& program_;
  JsonReader& json_;
  GraphReader& graph_;
  std::vector<Place> places_;     // by ValueId
  std::vector<ValueId> targets_;  // by the StringId of the user's name; short, or kNoId: none
  std::vector<ValueId> copies_;   // by ValueId: what it was written back to, or kNoId
  std::vector<ValueId> passed_;
  std::size_t output_count_ = 0;    // specifications read
  std::vector<Argument> returned_;  // outputs that the caller receives
};

}  // namespace steelyard::pt2
