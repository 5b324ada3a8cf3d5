// SPDX-License-Identifier: Apache-2.0
//
// The module that a node runs in: from what torch's exporters write beside it, or from its name,
// "/encoder/layer.0/attention/MatMul".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/proto.h"
#include "steelyard/builder.h"

namespace steelyard::onnx {

struct ModuleStep {
  std::string name;  // within the module before it
  std::string class_name;
  friend bool operator==(const ModuleStep&, const ModuleStep&) = default;
};

// Outermost first, without the model itself.
std::vector<ModuleStep> ModulesOf(const NodeProto& node);

// The class of the model itself; empty where the file does not say it.
std::string ModelClass(const GraphProto& graph);

// Follows nodes from module to module.
class ModuleWalk {
 public:
  explicit ModuleWalk(Builder& builder) : builder_(builder) {}
  ModuleWalk(const ModuleWalk&) = delete;
  ModuleWalk& operator=(const ModuleWalk&) = delete;
  ~ModuleWalk() { Leave(0); }

  void GoTo(const NodeProto& node);

 private:
  void Leave(std::size_t depth);

  Builder& builder_;
  std::vector<ModuleStep> at_;
  std::vector<Builder::Scope> scopes_;
};

}  // namespace steelyard::onnx
