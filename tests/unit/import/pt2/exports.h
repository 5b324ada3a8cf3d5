// SPDX-License-Identifier: Apache-2.0
//
// Exports written by hand: the JSON that torch writes, from the parts that a test is about.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "import/pt2/archive.h"
#include "import/pt2/model_reader.h"
#include "ir/text_printer.h"
#include "ir/verify.h"

namespace steelyard::pt2 {

// {"as_tensor": {"name": "x"}}
inline std::string TensorNamed(std::string_view name) {
  return R"({"as_tensor": {"name": ")" + std::string(name) + "\"}}";
}

// [{"as_int": 2}, {"as_int": 8}]
inline std::string Sizes(std::initializer_list<std::int64_t> sizes) {
  std::string out;
  for (const std::int64_t size : sizes) {
    out += (out.empty() ? "" : ", ") + (R"({"as_int": )" + std::to_string(size) + "}");
  }
  return "[" + out + "]";
}

// {"as_expr": {"expr_str": "2*s0", "hint": {"as_int": 6}}}
inline std::string Expr(std::string_view expression, std::optional<std::int64_t> hint = {}) {
  const std::string value = hint ? R"({"as_int": )" + std::to_string(*hint) + "}" : "null";
  return R"({"as_expr": {"expr_str": ")" + std::string(expression) + R"(", "hint": )" + value +
         "}}";
}

// The description of a tensor, from the JSON of its sizes and strides.
inline std::string MetaOf(const std::string& sizes, const std::string& strides, int dtype = 7,
                          std::string_view requires_grad = "false") {
  return R"({"dtype": )" + std::to_string(dtype) + R"(, "sizes": )" + sizes +
         R"(, "requires_grad": )" + std::string(requires_grad) +
         R"(, "device": {"type": "meta", "index": null}, "strides": )" + strides +
         R"(, "storage_offset": {"as_int": 0}, "layout": 7})";
}

// A contiguous tensor of rank 0, 1 or 2.
inline std::string Meta(std::initializer_list<std::int64_t> sizes, int dtype = 7) {
  const std::int64_t last = sizes.size() > 0 ? *(sizes.end() - 1) : 1;
  if (sizes.size() == 2) return MetaOf(Sizes(sizes), Sizes({last, 1}), dtype);
  return MetaOf(Sizes(sizes), sizes.size() == 1 ? Sizes({1}) : "[]", dtype);
}

// {"name": "dim", "arg": {...}}
inline std::string Arg(std::string_view name, const std::string& arg) {
  return R"({"name": ")" + std::string(name) + R"(", "arg": )" + arg + R"(, "kind": 1})";
}

// An exported program, each part a comma-separated list of JSON.
struct Export {
  std::string inputs, outputs, nodes;
  std::string tensor_values, sym_int_values, sym_float_values, sym_bool_values;
  std::string input_specs, output_specs;
  std::string range_constraints;
  std::string schema_version = R"({"major": 8, "minor": 20})";

  static void Append(std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  }
  Export& Tensor(std::string_view name, const std::string& meta) {
    Append(tensor_values, "\"" + std::string(name) + "\": " + meta);
    return *this;
  }
  // An input of the graph: `spec` is "parameter", "buffer" or "user_input".
  Export& Input(std::string_view spec, std::string_view name, std::string_view user_name,
                const std::string& meta) {
    Append(inputs, TensorNamed(name));
    const std::string kind(spec);
    const std::string arg = R"({"name": ")" + std::string(name) + "\"}";
    if (kind == "user_input") {
      Append(input_specs, R"({"user_input": {"arg": )" + TensorNamed(name) + "}}");
    } else {
      Append(input_specs, "{\"" + kind + R"(": {"arg": )" + arg + ", \"" + kind + R"(_name": ")" +
                              std::string(user_name) + "\"}}");
    }
    return Tensor(name, meta);
  }
  Export& Input(std::string_view name, const std::string& meta) {
    return Input("user_input", name, name, meta);
  }
  // A call with one result.
  Export& Node(std::string_view target, const std::string& arguments, std::string_view result,
               const std::string& meta, const std::string& metadata = "") {
    RawNode(target, arguments, TensorNamed(result), metadata);
    return Tensor(result, meta);
  }
  Export& RawNode(std::string_view target, const std::string& arguments, const std::string& results,
                  const std::string& metadata = "") {
    Append(nodes, R"({"target": ")" + std::string(target) + R"(", "inputs": [)" + arguments +
                      R"(], "outputs": [)" + results + R"(], "metadata": {)" + metadata + "}}");
    return *this;
  }
  Export& Return(std::string_view name) {
    Append(outputs, TensorNamed(name));
    Append(output_specs, R"({"user_output": {"arg": )" + TensorNamed(name) + "}}");
    return *this;
  }

  std::string Graph() const {
    return R"({"inputs": [)" + inputs + R"(], "outputs": [)" + outputs + R"(], "nodes": [)" +
           nodes + R"(], "tensor_values": {)" + tensor_values + R"(}, "sym_int_values": {)" +
           sym_int_values + R"(}, "sym_bool_values": {)" + sym_bool_values +
           R"(}, "sym_float_values": {)" + sym_float_values + "}}";
  }
  std::string Signature() const {
    return R"({"input_specs": [)" + input_specs + R"(], "output_specs": [)" + output_specs + "]}";
  }
  std::string Text() const {
    return R"({"graph_module": {"graph": )" + Graph() + R"(, "signature": )" + Signature() +
           R"(, "module_call_graph": []}, "opset_version": {"aten": 10}, "range_constraints": {)" +
           range_constraints + R"(}, "schema_version": )" + schema_version +
           R"(, "torch_version": "2.15.0+cpu"})";
  }
};

// One matrix product: x [2,8] by w [4,8] is y [2,4].
inline Export Linear() {
  Export e;
  e.Input("parameter", "p_w", "layer.w", Meta({4, 8})).Input("x", Meta({2, 8}));
  e.Node("torch.ops.aten.linear.default",
         Arg("input", TensorNamed("x")) + ", " + Arg("weight", TensorNamed("p_w")), "y",
         Meta({2, 4}));
  e.Return("y");
  return e;
}

// The program that `json` describes, verified. Fails the test if it is refused.
inline Program ReadJson(std::string_view json) {
  Result<Model> model = ReadModel(PaddedText(json));
  EXPECT_TRUE(model) << Describe(model.error());
  if (!model) return {};
  const Status status = Verify(model->program);
  EXPECT_TRUE(status) << Describe(status.error());
  return std::move(model->program);
}
inline Program ReadExport(const Export& e) { return ReadJson(e.Text()); }

// Why `json` is refused; empty if it is not.
inline std::string RefusalOf(std::string_view json) {
  const Result<Model> model = ReadModel(PaddedText(json));
  return model ? "" : Describe(model.error());
}
inline std::string RefusalOf(const Export& e) { return RefusalOf(e.Text()); }

// The lines of the program's text from its first input on.
inline std::string BodyOf(const Program& program) {
  std::string text = Print(program);
  for (const std::string_view start : {"parameter ", "buffer ", "input ", "%"}) {
    const std::size_t at = text.find("\n" + std::string(start));
    if (at != std::string::npos) return text.substr(at + 1);
  }
  return text;
}

// `text` with the first `from` replaced by `to`; fails the test if there is none.
inline std::string With(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

}  // namespace steelyard::pt2
