// SPDX-License-Identifier: Apache-2.0
//
// Walks an ONNX graph, node by node: each is translated by its row, runs as the function of that
// name in the file, or becomes a node of an unknown operator with the sizes that the file declares.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "import/onnx/call.h"
#include "import/onnx/item.h"
#include "import/onnx/modules.h"
#include "import/onnx/proto.h"

namespace steelyard::onnx {

class GraphImporter {
 public:
  // Both must outlive this.
  GraphImporter(const ModelProto& model, Workshop& workshop);

  // Throws a Refusal.
  void Run(const GraphProto& graph);

 private:
  // Values by name, as a graph sees them.
  struct Environment {
    std::unordered_map<std::string_view, Item*> items;
    const Environment* outer = nullptr;
    const Opsets* opsets = nullptr;
    Call::Attributes attributes;
    std::unordered_map<std::string_view, const TypeProto*> declared;
  };
  using FunctionKey = std::pair<std::string_view, std::string_view>;

  void AddInputs(const GraphProto& graph, Environment& environment);
  void Declare(const GraphProto& graph, Environment& environment);
  void ReturnOutputs(const GraphProto& graph, const Environment& environment);
  Shape ShapeOf(const TypeProto& type, std::string_view name);

  void RunNodes(const std::vector<NodeProto>& nodes, Environment& environment);
  void RunNode(const NodeProto& node, Environment& environment);
  void RunFunction(const FunctionProto& function, const NodeProto& node, Environment& environment);
  std::vector<Item*> RunSubgraph(std::string_view message, std::span<Item* const> operands,
                                 const Environment& environment);
  bool Translate(const NodeProto& node, Environment& environment);
  void TakeDeclared(const NodeProto& node, const Environment& environment, Item& item);
  void CarryOpaque(const NodeProto& node, Environment& environment);

  std::vector<Item*> OperandsOf(const NodeProto& node, const Environment& environment) const;
  void BindResults(const NodeProto& node, std::span<Item* const> results, Environment& environment);
  static void CompareWithDeclared(const NodeProto& node, std::span<Item* const> results,
                                  const Environment& environment);
  void StateResults(std::span<Item* const> results, ValueId first);
  static Item* Find(std::string_view name, const Environment& environment);
  static std::int64_t OpsetOf(std::string_view domain, const Environment& environment);
  void Note(const NodeProto& node, const std::string& reason);

  const ModelProto& model_;
  Workshop& workshop_;
  ModuleWalk modules_;
  std::map<FunctionKey, FunctionProto> functions_;
  // Initializers of graphs that may run several times, by where the graph stands in the file.
  std::unordered_map<const char*, std::unordered_map<std::string_view, Item*>> stored_;
  std::int64_t nodes_ = 0;  // that ran, besides the main graph's
  int depth_ = 0;           // of functions and graphs within each other
  int notes_ = 0;
};

}  // namespace steelyard::onnx
