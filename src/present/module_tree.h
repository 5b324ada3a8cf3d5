// SPDX-License-Identifier: Apache-2.0
//
// Siblings of the module tree that are the same but for their number: the blocks of a transformer.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyze/modules.h"
#include "steelyard/program.h"

namespace steelyard::present {

// Whether both paths are elements of one list: `layer.0` and `layer.7`.
bool InOneList(std::string_view a, std::string_view b);

// `count` siblings in a row that are alike, subtrees included.
struct Repeat {
  std::size_t first = 0;  // index into the modules
  std::size_t last = 0;
  int count = 1;
};

// A view of modules in the order of the tree, each followed by its children.
class ModuleTree {
 public:
  ModuleTree(const Program& program, const std::vector<ModuleReport>& modules);

  // Index just past the module and all that is inside it.
  std::size_t end(std::size_t module) const { return ends_[module]; }
  bool has_children(std::size_t module) const { return ends_[module] > module + 1; }
  std::string_view path(std::size_t module) const;
  std::string_view class_name(std::size_t module) const;

  // The children of a module, one by one.
  std::vector<Repeat> Children(std::size_t module) const;
  // The same; those alike and numbered one after the other (`layer.0`, `layer.1`) as one.
  std::vector<Repeat> FoldedChildren(std::size_t module) const;

 private:
  bool Alike(std::size_t a, std::size_t b) const;
  bool SameFigures(std::size_t a, std::size_t b) const;

  const Program& program_;
  const std::vector<ModuleReport>& modules_;
  std::vector<std::size_t> ends_;
};

}  // namespace steelyard::present
