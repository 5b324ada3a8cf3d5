// SPDX-License-Identifier: Apache-2.0
#include "present/module_tree.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "analyze/modules.h"
#include "present/names.h"
#include "steelyard/program.h"

namespace steelyard::present {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// "encoder.layer." of "encoder.layer.0": what the names of a list of modules share.
std::string_view ListName(std::string_view path) { return path.substr(0, path.rfind('.') + 1); }

}  // namespace

bool InOneList(std::string_view a, std::string_view b) {
  return IsNumber(LastName(a)) && IsNumber(LastName(b)) && ListName(a) == ListName(b);
}

ModuleTree::ModuleTree(const Program& program, const std::vector<ModuleReport>& modules)
    : program_(program), modules_(modules), ends_(modules.size(), modules.size()) {
  std::vector<std::size_t> open;  // modules whose end is not known yet, outermost first
  for (std::size_t i = 0; i < modules.size(); ++i) {
    while (!open.empty() && modules[open.back()].depth >= modules[i].depth) {
      ends_[open.back()] = i;
      open.pop_back();
    }
    open.push_back(i);
  }
}

std::string_view ModuleTree::path(std::size_t module) const {
  return program_.text(program_.modules[modules_[module].module].path);
}

std::string_view ModuleTree::class_name(std::size_t module) const {
  return ShortClass(program_.text(program_.modules[modules_[module].module].class_name));
}

std::vector<Repeat> ModuleTree::Children(std::size_t module) const {
  std::vector<Repeat> children;
  for (std::size_t child = module + 1; child < end(module); child = end(child)) {
    children.push_back({child, child, 1});
  }
  return children;
}

std::vector<Repeat> ModuleTree::FoldedChildren(std::size_t module) const {
  std::vector<Repeat> folded;
  for (const Repeat& child : Children(module)) {
    const bool again = !folded.empty() && InOneList(path(folded.back().last), path(child.first)) &&
                       Alike(folded.back().first, child.first);
    if (again) {
      folded.back().last = child.last;
      ++folded.back().count;
    } else {
      folded.push_back(child);
    }
  }
  return folded;
}

bool ModuleTree::SameFigures(std::size_t a, std::size_t b) const {
  const ModuleReport& x = modules_[a];
  const ModuleReport& y = modules_[b];
  return x.parameters == y.parameters && x.parameter_bytes == y.parameter_bytes &&
         x.buffer_bytes == y.buffer_bytes && x.dtypes == y.dtypes && x.work.macs == y.work.macs &&
         x.work.flops == y.work.flops && x.work.flops_all == y.work.flops_all;
}

bool ModuleTree::Alike(std::size_t a, std::size_t b) const {
  if (end(a) - a != end(b) - b) return false;
  for (std::size_t i = 0; i < end(a) - a; ++i) {
    const bool same_place =
        modules_[a + i].depth == modules_[b + i].depth &&
        RelativePath(path(a + i), path(a)) == RelativePath(path(b + i), path(b));
    if (i > 0 && !same_place) return false;
    if (class_name(a + i) != class_name(b + i) || !SameFigures(a + i, b + i)) return false;
  }
  return true;
}

}  // namespace steelyard::present
