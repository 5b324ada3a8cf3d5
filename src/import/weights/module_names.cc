// SPDX-License-Identifier: Apache-2.0
//
// A tensor's module is its name without the last word, down to sixteen levels: a forged name could
// have one for each letter. Children that are all called by numbers are sorted by them, however
// long they are, so that layer 10 comes after layer 9.

#include "import/weights/module_names.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace steelyard::weights {
namespace {

// Deeper modules are put into their ancestor: a forged name may have a level for each letter.
constexpr int kMaxLevels = 16;

// The path of the module that a tensor is in.
std::string_view ModulePath(std::string_view name) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos) return {};
  std::string_view path = name.substr(0, last);
  std::size_t begin = 0;
  for (int level = 0; level < kMaxLevels; ++level) {
    const std::size_t end = path.find('.', begin);
    if (end == std::string_view::npos) return path;
    begin = end + 1;
  }
  return path.substr(0, begin - 1);
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class Tree {
 public:
  explicit Tree(Program* program) : program_(*program) { nodes_.push_back({.path = kNoString}); }

  void Add(std::uint32_t index, StringId name) {
    const std::string path(ModulePath(program_.text(name)));
    nodes_[NodeAt(path)].tensors.push_back(index);
  }

  std::vector<std::uint32_t> Write() {
    std::vector<std::uint32_t> order;
    std::vector<std::pair<std::uint32_t, ModuleId>> stack{{0, kNoId}};
    program_.modules.clear();
    while (!stack.empty()) {
      const auto [at, parent] = stack.back();
      stack.pop_back();
      Node& node = nodes_[at];
      const auto module = static_cast<ModuleId>(program_.modules.size());
      program_.modules.push_back({.path = node.path, .parent = parent});
      order.insert(order.end(), node.tensors.begin(), node.tensors.end());
      Sort(&node.children);
      for (std::size_t i = node.children.size(); i-- > 0;) {
        stack.emplace_back(node.children[i], module);
      }
    }
    return order;
  }

 private:
  struct Node {
    StringId path = kNoString;
    std::vector<std::uint32_t> children = {};
    std::vector<std::uint32_t> tensors = {};
  };

  std::uint32_t NodeAt(const std::string& path) {
    if (path.empty()) return 0;
    const StringId id = program_.strings.Intern(path);
    if (by_path_.size() <= id) by_path_.resize(program_.strings.size(), 0);
    if (by_path_[id] != 0) return by_path_[id];
    const std::size_t dot = path.rfind('.');
    const std::uint32_t parent = dot == std::string::npos ? 0 : NodeAt(path.substr(0, dot));
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.path = id});
    nodes_[parent].children.push_back(node);
    by_path_[id] = node;
    return node;
  }

  std::string_view LastName(std::uint32_t node) const {
    const std::string_view path = program_.text(nodes_[node].path);
    return path.substr(path.rfind('.') + 1);
  }

  void Sort(std::vector<std::uint32_t>* children) const {
    const auto number = [&](std::uint32_t node) { return IsNumber(LastName(node)); };
    if (!std::ranges::all_of(*children, number)) return;
    std::ranges::stable_sort(*children, {}, [&](std::uint32_t node) {
      std::string_view digits = LastName(node);
      digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
      return std::pair(digits.size(), digits);
    });
  }

  Program& program_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> by_path_;  // by StringId; 0: none
};

}  // namespace

std::vector<std::uint32_t> ArrangeModules(std::span<const StringId> names, Program* program) {
  Tree tree(program);
  for (std::uint32_t i = 0; i < names.size(); ++i) tree.Add(i, names[i]);
  return tree.Write();
}

}  // namespace steelyard::weights
