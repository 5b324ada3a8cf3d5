// SPDX-License-Identifier: Apache-2.0
//
// What torch's exporter writes beside a node goes before the node's name; both list the modules
// around it, and last the operator. A path may repeat that of the module before it, which is cut
// off. From node to node, modules are left up to the last one that both have in common.

#include "import/onnx/modules.h"

#include <algorithm>

namespace steelyard::onnx {
namespace {

// Deeper ones are not what exporters write.
constexpr std::size_t kMostModules = 64;
constexpr std::string_view kScopes = "pkg.torch.onnx.name_scopes";
constexpr std::string_view kClasses = "pkg.torch.onnx.class_hierarchy";
// What torch writes as the module of nodes that have none.
constexpr std::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";

// The strings of a Python list: ['', 'encoder', "layer's"].
std::vector<std::string_view> ReadList(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < text.size() && out.size() <= kMostModules; ++i) {
    if (text[i] != '\'' && text[i] != '"') continue;
    const std::size_t end = text.find(text[i], i + 1);
    if (end == std::string_view::npos) break;
    out.push_back(text.substr(i + 1, end - i - 1));
    i = end;
  }
  return out;
}

// "transformers.models.bert.modeling_bert.BertModel" -> "BertModel"
std::string_view ShortClass(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// A name within the module before it: of both "encoder.layer" and "layer", "layer".
std::string_view Within(std::string_view outer, std::string_view name) {
  const bool repeats = !outer.empty() && name.size() > outer.size() + 1 &&
                       name.starts_with(outer) && name[outer.size()] == '.';
  return repeats ? name.substr(outer.size() + 1) : name;
}

// The last entry is the operator.
std::vector<ModuleStep> FromMetadata(std::string_view scopes, std::string_view classes) {
  const std::vector<std::string_view> paths = ReadList(scopes), names = ReadList(classes);
  std::vector<ModuleStep> out;
  std::string_view outer;
  for (std::size_t i = 0; i + 1 < paths.size(); ++i) {
    if (paths[i].empty() || paths[i] == kNoModule) continue;
    out.push_back({std::string(Within(outer, paths[i])),
                   std::string(i < names.size() ? ShortClass(names[i]) : "")});
    outer = paths[i];
  }
  return out;
}

std::vector<ModuleStep> FromName(std::string_view name) {
  std::vector<ModuleStep> out;
  std::string_view outer;
  while (out.size() < kMostModules) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) break;
    const std::string_view part = name.substr(0, slash);
    name.remove_prefix(slash + 1);
    if (part.empty()) continue;
    out.push_back({std::string(Within(outer, part)), ""});
    outer = part;
  }
  return out;
}

}  // namespace

std::vector<ModuleStep> ModulesOf(const NodeProto& node) {
  const std::string_view scopes = FindEntry(node.metadata, kScopes);
  if (!scopes.empty()) return FromMetadata(scopes, FindEntry(node.metadata, kClasses));
  return FromName(node.name);
}

std::string ModelClass(const GraphProto& graph) {
  for (const NodeProto& node : graph.nodes) {
    const auto scopes = ReadList(FindEntry(node.metadata, kScopes));
    const auto classes = ReadList(FindEntry(node.metadata, kClasses));
    if (scopes.size() > 1 && !classes.empty() && scopes.front().empty()) {
      return std::string(ShortClass(classes.front()));
    }
  }
  return {};
}

void ModuleWalk::Leave(std::size_t depth) {
  while (scopes_.size() > depth) {
    scopes_.pop_back();
    at_.pop_back();
  }
}

void ModuleWalk::GoTo(const NodeProto& node) {
  const std::vector<ModuleStep> to = ModulesOf(node);
  std::size_t common = 0;
  while (common < std::min(to.size(), at_.size()) && to[common] == at_[common]) ++common;
  Leave(common);
  for (std::size_t i = common; i < to.size(); ++i) {
    scopes_.push_back(builder_.Enter(to[i].name, to[i].class_name));
    at_.push_back(to[i]);
  }
}

}  // namespace steelyard::onnx
