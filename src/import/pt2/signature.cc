// SPDX-License-Identifier: Apache-2.0
//
// Two tables say what each kind of input and output is to the model. Outputs name inputs, so inputs
// are read first wherever they stand. What the functional graph returns to be written back becomes
// an aten::copy_ into the input that is named; where it is returned as well, the copy is.

#include "import/pt2/signature.h"

#include <array>
#include <string>

namespace steelyard::pt2 {

constinit const SignatureReader::InputRow SignatureReader::kInputRows[] = {
    {"parameter", "parameter_name", Kind::kParameter},
    {"buffer", "buffer_name", Kind::kBuffer},
    {"tensor_constant", "tensor_constant_name", Kind::kBuffer},
    {"user_input", "", Kind::kUserInput},
    {"constant_input", "name", Kind::kConstant},
    {"custom_obj", "custom_obj_name", Kind::kOther},
    {"token", "", Kind::kOther},
};

constinit const SignatureReader::OutputRow SignatureReader::kOutputRows[] = {
    {"user_output", "", Role::kOutput},
    {"loss_output", "", Role::kOutput},
    {"gradient_to_parameter", "", Role::kGradient},
    {"gradient_to_user_input", "", Role::kGradient},
    {"token", "", Role::kActivation},
    {"buffer_mutation", "buffer_name", Role::kActivation},
    {"parameter_mutation", "parameter_name", Role::kActivation},
    {"user_input_mutation", "user_input_name", Role::kActivation},
};

SignatureReader::SignatureReader(Program& program, JsonReader& json, GraphReader& graph)
    : program_(program), json_(json), graph_(graph) {}

bool SignatureReader::Read(JsonValue value) {
  places_.assign(program_.values.size(), Place::kInside);
  for (const ValueId id : program_.main().inputs) places_[id] = Place::kInput;
  copies_.assign(program_.values.size(), kNoId);
  // Outputs name inputs, so inputs are read first wherever they stand.
  bool has_inputs = false;
  std::string_view early_outputs;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "input_specs") {
      has_inputs = true;
      return ReadInputs(field);
    }
    if (key != "output_specs") return true;
    return has_inputs ? ReadOutputs(field) : json_.Later(field, early_outputs);
  });
  if (!ok) return false;
  const auto read_outputs = [&](JsonValue outputs) { return ReadOutputs(outputs); };
  if (!early_outputs.empty() && !json_.Now(early_outputs, read_outputs)) {
    return json_.Inside("output_specs");
  }
  return CheckInputs() && CheckOutputs();
}

bool SignatureReader::ReadInputs(JsonValue value) {
  std::size_t index = 0;
  return json_.Array(value, [&](JsonValue spec) { return ReadInput(spec, index++); });
}

bool SignatureReader::CheckInputs() {
  for (const ValueId id : program_.main().inputs) {
    if (places_[id] != Place::kInput) continue;
    return json_.Fail("input_specs do not have the graph's input " +
                      Quoted(program_.text(program_.values[id].name)));
  }
  return true;
}

bool SignatureReader::ReadOutputs(JsonValue value) {
  return json_.Array(value, [&](JsonValue spec) { return ReadOutput(spec, output_count_++); });
}

bool SignatureReader::CheckOutputs() {
  if (output_count_ != program_.main().outputs.size()) {
    return json_.Fail("there are " + std::to_string(output_count_) + " output_specs for " +
                      std::to_string(program_.main().outputs.size()) + " outputs of the graph");
  }
  // A result that is also written back is returned as what it was written to.
  for (Argument& output : returned_) {
    if (output.kind == ArgKind::kValue && copies_[output.value] != kNoId) {
      output.value = copies_[output.value];
    }
  }
  program_.main().outputs = std::move(returned_);
  return true;
}

bool SignatureReader::ReadInput(JsonValue value, std::size_t index) {
  return json_.Variant(value, [&](std::string_view key, JsonValue spec) {
    for (const InputRow& row : kInputRows) {
      if (row.key == key) return ReadInputSpec(spec, row, index);
    }
    return json_.Fail(Unsupported("the kind of input " + Quoted(key) + " is not known"));
  });
}

bool SignatureReader::ReadInputSpec(JsonValue value, const InputRow& row, std::size_t index) {
  ValueId id = kNoId;
  NamedTensor tensor;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "arg" && row.kind == Kind::kUserInput) return ReadInputValue(field, index, id);
    if (key == "arg") {
      return json_.Object(field, [&](std::string_view inner, JsonValue text) {
        std::string_view value_name;
        if (inner != "name") return true;
        if (!json_.Text(text, value_name)) return false;
        id = graph_.Find(value_name);
        return id != kNoId || json_.Fail(Quoted(value_name) + " is no value of the graph");
      });
    }
    if (key == row.name_key) {
      std::string_view name;
      if (!json_.Text(field, name)) return false;
      tensor.name = program_.strings.Intern(name);
      return true;
    }
    if (key == "persistent") return json_.Bool(field, tensor.persistent);
    return true;
  });
  if (!ok) return false;
  if (id == kNoId && index < program_.main().inputs.size() && row.may_be_unnamed()) {
    id = program_.main().inputs[index];
  }
  if (id == kNoId) return json_.Fail("the specification names no value");
  tensor.value = id;
  return AddInput(id, row, tensor);
}

bool SignatureReader::ReadInputValue(JsonValue value, std::size_t index, ValueId& out) {
  Argument argument;
  if (!graph_.ReadArgument(value, argument)) return false;
  if (argument.kind == ArgKind::kValue) {
    out = argument.value;
  } else if (index < program_.main().inputs.size()) {
    out = program_.main().inputs[index];
  }
  return true;
}

bool SignatureReader::AddInput(ValueId id, const InputRow& row, NamedTensor tensor) {
  Value& value = program_.values[id];
  if (id >= places_.size() || places_[id] != Place::kInput) {
    return json_.Fail(Quoted(program_.text(value.name)) +
                      " is no input of the graph, or is specified twice");
  }
  places_[id] = Place::kSpecifiedInput;
  if (value.name == kNoString) value.name = tensor.name;
  value.role = Role::kInput;
  switch (row.kind) {
    case Kind::kParameter:
      value.role = Role::kParameter;
      program_.parameters.push_back(tensor);
      break;
    case Kind::kBuffer:
      value.role = Role::kBuffer;
      program_.buffers.push_back(tensor);
      break;
    case Kind::kUserInput:
      // Constants that were passed are part of the program and not of what can be passed now.
      if (value.name != kNoString) program_.inputs.push_back(id);
      passed_.push_back(id);
      return true;
    case Kind::kConstant:
      passed_.push_back(id);
      return true;
    case Kind::kOther:
      return true;
  }
  if (targets_.size() <= tensor.name) targets_.resize(tensor.name + std::size_t{1}, kNoId);
  if (targets_[tensor.name] == kNoId) targets_[tensor.name] = id;
  if (value.kind == ValueKind::kTensor && value.has_layout) return true;
  // Torch writes no such thing but for sparse weights.
  return json_.Fail(Unsupported(Quoted(program_.text(tensor.name)) + " has no known sizes", {},
                                "Only weights that are strided tensors can be weighed."));
}

bool SignatureReader::ReadOutput(JsonValue value, std::size_t index) {
  if (index >= program_.main().outputs.size()) {
    return json_.Fail("there are more specifications than outputs");
  }
  return json_.Variant(value, [&](std::string_view key, JsonValue spec) {
    for (const OutputRow& row : kOutputRows) {
      if (row.key == key) return ReadOutputSpec(spec, row, index);
    }
    return json_.Fail(Unsupported("the kind of output " + Quoted(key) + " is not known"));
  });
}

bool SignatureReader::ReadOutputSpec(JsonValue value, const OutputRow& row, std::size_t index) {
  const Argument output = program_.main().outputs[index];
  if (row.target_key.empty()) {
    returned_.push_back(output);
    if (output.kind != ArgKind::kValue) return true;
    Role& role = program_.values[output.value].role;
    if (role == Role::kActivation) role = row.role;
    return true;
  }
  std::string_view target;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    return key != row.target_key || json_.Text(field, target);
  });
  return ok && WriteBack(target, output);
}

bool SignatureReader::WriteBack(std::string_view target, const Argument& source) {
  // Parameters and buffers go by the user's names, inputs by the graph's.
  const StringId target_name = program_.strings.Find(target);
  ValueId written = target_name < targets_.size() ? targets_[target_name] : kNoId;
  if (written == kNoId) written = graph_.Find(target);
  if (written >= places_.size() || places_[written] == Place::kInside) {
    return json_.Fail(Quoted(target) + " is written but is no input");
  }
  if (source.kind != ArgKind::kValue) return json_.Fail("what is written is no tensor");
  program_.mutated.push_back(written);

  std::string name = "copy__" + std::string(program_.text(program_.values[written].name));
  while (program_.strings.Find(name) != kNoString) name.push_back('_');
  Value result = program_.values[written];
  result.name = program_.strings.Intern(name);
  result.role = Role::kActivation;
  result.storage = program_.storage_count++;
  result.requires_grad = false;
  program_.values.push_back(result);
  const auto id = static_cast<ValueId>(program_.values.size() - 1);
  copies_[source.value] = id;

  std::array arguments = {Argument::OfValue(written), source};
  arguments[0].name = program_.strings.Intern("self");
  arguments[1].name = program_.strings.Intern("src");
  Node node;
  node.op = program_.AddOpName("aten::copy_");
  node.arguments = program_.AddArguments(arguments);
  node.outputs = program_.AddOutputs({&id, 1});
  program_.main().nodes.push_back(node);
  return true;
}

}  // namespace steelyard::pt2
