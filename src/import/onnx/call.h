// SPDX-License-Identifier: Apache-2.0
//
// One node of an ONNX graph as a translation sees it: operands, attributes, and what it may emit.
//
//   void Softmax(Call& call) {
//     const Tensor x = call.tensor(0);
//     call.Give(call.Emit("aten::softmax.int", x, call.integer("axis", -1)), call.like(0));
//   }
//
// All of it throws `Untranslatable` where the node has not what is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/item.h"
#include "import/onnx/proto.h"

namespace steelyard::onnx {

struct OpRow;

// A simple ratio that rounds to the float; nothing where it is too large to compute with.
std::optional<Ratio> RatioOf(double real);

// The dtype and shape of a result.
struct Like {
  DType dtype;
  Shape shape;
};

class Call {
 public:
  // What a call of a function has said for attributes that its body refers to.
  using Attributes = std::function<std::optional<AttributeProto>(std::string_view name)>;
  // Translates a graph that is an attribute, on operands: its results.
  using RunGraph =
      std::function<std::vector<Item*>(std::string_view graph, std::span<Item* const> operands)>;

  Call(Workshop& workshop, const NodeProto& node, const OpRow& row, std::int64_t opset,
       std::vector<Item*> operands)
      : workshop_(workshop),
        node_(node),
        row_(row),
        opset_(opset),
        operands_(std::move(operands)) {}

  Attributes outer_attributes;
  RunGraph run_graph;

  const OpRow& row() const { return row_; }
  std::int64_t opset() const { return opset_; }
  Sizes& sizes() { return workshop_.sizes; }
  Workshop& workshop() { return workshop_; }

  // --- Operands ---------------------------------------------------------------------------------
  std::size_t count() const { return operands_.size(); }
  bool has(std::size_t i) const { return i < operands_.size() && operands_[i] != nullptr; }
  Item& item(std::size_t i);
  Tensor tensor(std::size_t i) { return workshop_.TensorOf(item(i)); }
  // Those from one on that come before another; all as tensors.
  std::vector<Item*> items(std::size_t from, std::size_t end);
  std::vector<Tensor> tensors();
  Tensor optional(std::size_t i) { return has(i) ? tensor(i) : Tensor(); }
  DType dtype(std::size_t i);
  const Shape& shape(std::size_t i);
  int rank(std::size_t i) { return static_cast<int>(shape(i).size()); }
  Like like(std::size_t i) { return {dtype(i), shape(i)}; }
  // Contents, where they are known: as integers, or as floats.
  std::optional<std::vector<Dim>> numbers(std::size_t i) const;
  std::optional<std::vector<double>> reals(std::size_t i) const;
  // Of any of these, or of floats that sizes make: with their rest.
  std::optional<std::vector<Ratio>> ratios(std::size_t i) const;
  std::vector<Dim> known_numbers(std::size_t i);
  std::vector<std::int64_t> known_integers(std::size_t i);
  // How many elements are known in one of these ways.
  std::optional<std::size_t> known(std::size_t i) const;
  // The one element of a 0-dim operand, as Python would have it.
  std::optional<Builder::Arg> number(std::size_t i);
  // That, or the tensor.
  Builder::Arg argument(std::size_t i);

  // --- Attributes -------------------------------------------------------------------------------
  std::optional<AttributeProto> attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  std::string_view graph(std::string_view name) const;
  // A dimension, counted from the end where it is negative.
  int axis(std::int64_t written, int rank) const;
  // Axes by an attribute, or by an operand; nothing where neither is there.
  std::optional<std::vector<std::int64_t>> axes(std::size_t operand);

  // --- Emitting ---------------------------------------------------------------------------------
  template <class... Args>
  Tensor Emit(std::string_view op, const Args&... args) {
    return workshop_.builder.Call(op, args...);
  }
  template <class... Args>
  std::vector<Tensor> EmitMany(std::string_view op, std::size_t results, const Args&... args) {
    return workshop_.builder.CallMany(op, results, args...);
  }

  // --- Results, in order ------------------------------------------------------------------------
  std::size_t wanted() const { return node_.outputs.size(); }
  bool wants(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  void Give(Tensor tensor, Like like);
  // Contents only; `like.shape` says how they are arranged.
  void GiveNumbers(std::vector<Dim> numbers, Like like);
  void GiveReals(std::vector<double> reals, Like like);
  // As numbers, where none has a rest, or as reals, where none is made of symbols.
  void GiveRatios(const std::vector<Ratio>& ratios, Like like);
  // Elements of an operand by their places. Requires: known(i), of which all places are.
  void GiveChosen(std::size_t i, const std::vector<std::size_t>& places, Like like);
  // An operand as it is.
  void GiveItem(Item& item) { results_.push_back(&item); }
  void GiveNothing() { results_.push_back(nullptr); }
  std::span<Item* const> results() const { return results_; }

  [[noreturn]] static void GiveUp(std::string reason) { throw Untranslatable{std::move(reason)}; }
  std::string_view output_name(std::size_t i) const {
    return i < node_.outputs.size() ? node_.outputs[i] : std::string_view();
  }

 private:
  // Adds a result, of which no contents are known yet.
  Item& Made(Like like);

  Workshop& workshop_;
  const NodeProto& node_;
  const OpRow& row_;
  std::int64_t opset_;
  std::vector<Item*> operands_;
  std::vector<Item*> results_;
};

// A list of sizes as an argument.
inline Builder::Shape ToSizes(const Shape& shape) { return {shape.begin(), shape.end()}; }
inline Builder::Shape ToSizes(const std::vector<std::int64_t>& list) {
  return {list.begin(), list.end()};
}

}  // namespace steelyard::onnx
