// SPDX-License-Identifier: Apache-2.0
//
// ONNX models for tests, written field by field, and what importing them gives.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <variant>
#include <vector>

#include "../files.h"
#include "steelyard/import.h"
#include "steelyard/program.h"

namespace steelyard::onnx {

using Size = std::variant<int, std::string>;

inline constexpr int kFloat = 1, kInt8 = 3, kInt64 = 7, kBool = 9, kText = 8;

struct Attribute {
  std::string name;
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>
      value;
  std::string reference = {};

  std::string bytes() const {
    std::string out;
    protozero::pbf_writer writer(out);
    writer.add_string(1, name);
    if (!reference.empty()) writer.add_string(21, reference);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) writer.add_int64(3, *integer);
    if (const auto* real = std::get_if<double>(&value)) {
      writer.add_float(2, static_cast<float>(*real));
    }
    if (const auto* text = std::get_if<std::string>(&value)) writer.add_bytes(4, *text);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      for (const std::int64_t integer : *list) writer.add_int64(8, integer);
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
      for (const double real : *reals) writer.add_float(7, static_cast<float>(real));
    }
    return out;
  }
};
inline Attribute Int(std::string name, std::int64_t value) { return {std::move(name), value}; }
inline Attribute Ints(std::string name, std::vector<std::int64_t> value) {
  return {std::move(name), std::move(value)};
}
inline Attribute Reals(std::string name, std::vector<double> value) {
  return {std::move(name), std::move(value)};
}
inline Attribute Real(std::string name, double value) { return {std::move(name), value}; }
inline Attribute Word(std::string name, std::string value) {
  return {std::move(name), std::move(value)};
}
// A graph, as GraphProto has it.
inline std::string GraphAttribute(const std::string& name, const std::string& graph) {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_string(1, name);
  writer.add_message(6, graph);
  return out;
}

struct NodeText {
  std::string op;
  std::vector<std::string> inputs = {}, outputs = {};
  std::vector<Attribute> attributes = {};
  std::string name = {}, domain = {};
  std::vector<std::string> graphs = {};  // of GraphAttribute

  std::string bytes() const {
    std::string out;
    protozero::pbf_writer writer(out);
    for (const std::string& input : inputs) writer.add_string(1, input);
    for (const std::string& output : outputs) writer.add_string(2, output);
    writer.add_string(3, name);
    writer.add_string(4, op);
    for (const Attribute& attribute : attributes) writer.add_message(5, attribute.bytes());
    for (const std::string& graph : graphs) writer.add_message(5, graph);
    writer.add_string(7, domain);
    return out;
  }
};

inline std::string ValueBytes(const std::string& name, const std::vector<Size>& sizes,
                              int element = kFloat) {
  std::string shape;
  protozero::pbf_writer dims(shape);
  for (const Size& size : sizes) {
    std::string dim;
    protozero::pbf_writer writer(dim);
    if (const int* number = std::get_if<int>(&size)) writer.add_int64(1, *number);
    if (const auto* symbol = std::get_if<std::string>(&size)) writer.add_string(2, *symbol);
    dims.add_message(1, dim);
  }
  std::string tensor;
  protozero::pbf_writer tensor_writer(tensor);
  tensor_writer.add_int32(1, element);
  tensor_writer.add_message(2, shape);
  std::string type;
  protozero::pbf_writer(type).add_message(1, tensor);
  std::string value;
  protozero::pbf_writer writer(value);
  writer.add_string(1, name);
  writer.add_message(2, type);
  return value;
}

// Of int64, with its elements.
inline std::string IntegersBytes(const std::string& name, const std::vector<std::int64_t>& values,
                                 bool is_list = true) {
  std::string out;
  protozero::pbf_writer writer(out);
  if (is_list) writer.add_int64(1, static_cast<std::int64_t>(values.size()));
  writer.add_int32(2, kInt64);
  writer.add_packed_int64(7, values.begin(), values.end());
  writer.add_string(8, name);
  return out;
}

// A tensor without its elements: what is not looked at need not be there.
inline std::string TensorBytes(const std::string& name, const std::vector<int>& sizes,
                               int element = kFloat) {
  std::string out;
  protozero::pbf_writer writer(out);
  for (const int size : sizes) writer.add_int64(1, size);
  writer.add_int32(2, element);
  writer.add_string(8, name);
  return out;
}

class ModelText {
 public:
  explicit ModelText(int opset = 18, std::string domain = "")
      : opset_(opset), domain_(std::move(domain)) {}

  ModelText& Input(const std::string& name, const std::vector<Size>& sizes, int element = kFloat) {
    protozero::pbf_writer(graph_).add_message(11, ValueBytes(name, sizes, element));
    return *this;
  }
  ModelText& Weight(const std::string& name, const std::vector<int>& sizes, int element = kFloat) {
    protozero::pbf_writer(graph_).add_message(5, TensorBytes(name, sizes, element));
    return *this;
  }
  ModelText& Integers(const std::string& name, const std::vector<std::int64_t>& values) {
    protozero::pbf_writer(graph_).add_message(5, IntegersBytes(name, values));
    return *this;
  }
  ModelText& Integer(const std::string& name, std::int64_t value) {
    protozero::pbf_writer(graph_).add_message(5, IntegersBytes(name, {value}, false));
    return *this;
  }
  ModelText& Node(const NodeText& node) {
    protozero::pbf_writer(graph_).add_message(1, node.bytes());
    return *this;
  }
  ModelText& Declared(const std::string& name, const std::vector<Size>& sizes,
                      int element = kFloat) {
    protozero::pbf_writer(graph_).add_message(13, ValueBytes(name, sizes, element));
    return *this;
  }
  ModelText& Output(const std::string& name) {
    std::string value;
    protozero::pbf_writer(value).add_string(1, name);
    protozero::pbf_writer(graph_).add_message(12, value);
    return *this;
  }
  ModelText& Function(const std::string& message) {
    functions_.push_back(message);
    return *this;
  }
  const std::string& graph() const { return graph_; }

  std::string bytes() const {
    std::string out, opset;
    protozero::pbf_writer opset_writer(opset);
    if (!domain_.empty()) opset_writer.add_string(1, domain_);
    opset_writer.add_int64(2, opset_);
    protozero::pbf_writer writer(out);
    writer.add_int64(1, 8);
    writer.add_string(2, "tests");
    writer.add_message(7, graph_);
    writer.add_message(8, opset);
    for (const std::string& function : functions_) writer.add_message(25, function);
    return out;
  }

 private:
  int opset_;
  std::string domain_;  // of the operators whose version is told
  std::string graph_;
  std::vector<std::string> functions_;
};

inline Result<Program> ImportText(const std::string& bytes) {
  const TemporaryFile file(".onnx", bytes);
  return ImportFile(file.path(), {.from = "onnx"});
}

// What the nodes of a model call, in order: "aten::relu aten::mm".
inline std::string CallsOf(const ModelText& model) {
  const Result<Program> program = ImportText(model.bytes());
  if (!program) return Describe(program.error());
  std::string out;
  for (const steelyard::Node& node : program->main().nodes) {
    out.append(out.empty() ? "" : " ").append(program->op_name(node.op));
  }
  return out;
}

// The sizes of the first output: "2,3", with "?" where they are symbolic, "none" where unknown.
inline std::string ResultOf(const ModelText& model) {
  const Result<Program> program = ImportText(model.bytes());
  if (!program) return Describe(program.error());
  const Argument& output = program->main().outputs.at(0);
  if (output.kind != ArgKind::kValue || !program->values[output.value].has_layout) return "none";
  std::string out;
  for (int i = 0; i < program->values[output.value].rank; ++i) {
    const Dim size = program->size(output.value, i);
    out.append(out.empty() ? "" : ",");
    out += size.is_number() ? std::to_string(size.number()) : "?";
  }
  return out;
}

// One node on inputs of the given sizes, "a", "b" and "c"; its result is "y".
inline ModelText OneNode(const std::string& op, const std::vector<std::vector<Size>>& sizes,
                         const std::vector<Attribute>& attributes = {}, int opset = 18) {
  ModelText model(opset);
  NodeText node{.op = op, .inputs = {}, .outputs = {"y"}, .attributes = attributes};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    model.Input(name, sizes[i]);
    node.inputs.push_back(name);
  }
  return model.Node(node).Output("y");
}

}  // namespace steelyard::onnx
