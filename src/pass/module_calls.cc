// SPDX-License-Identifier: Apache-2.0
//
// Nodes tell their calls where the file does, else the modules that they stand in: one call goes on
// as long as its module's nodes follow each other.

#include "pass/module_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <ranges>
#include <string>

#include "ir/visit_values.h"

namespace steelyard {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Stretches {
 public:
  Stretches(const Program& program, std::size_t count) : program_(program), count_(count) {
    stretches_.push_back({.module = 0, .first = 0, .last = count == 0 ? 0 : count - 1});
    for (std::size_t i = 0; i < count; ++i) {
      has_module_.push_back(false);
      Place(node(i), i);
    }
  }

  Result<std::vector<ModuleStretch>> Run(std::string_view flag) {
    std::ranges::stable_sort(stretches_, [](const ModuleStretch& a, const ModuleStretch& b) {
      return a.first != b.first ? a.first < b.first : a.last > b.last;
    });
    SY_RETURN_IF_ERROR(CheckNesting(flag));
    FindOperands();
    return std::move(stretches_);
  }

 private:
  const Node& node(std::size_t i) const { return program_.main().nodes[i]; }

  // The outermost first, so that of stretches that are alike the outer one comes first.
  void Place(const Node& node, std::size_t i) {
    if (node.call == kNoId) return PlaceByModules(node, i);
    std::vector<CallId> chain;
    for (CallId call = node.call; call != kNoId; call = program_.calls[call].parent) {
      if (program_.calls[call].module != 0) chain.push_back(call);
    }
    std::ranges::reverse(chain);
    for (const CallId call : chain) {
      const auto [found, is_new] = by_call_.try_emplace(call, stretches_.size());
      if (is_new) {
        stretches_.push_back({.module = program_.calls[call].module, .call = call, .first = i});
      }
      Extend(found->second, i);
    }
    has_module_.back() = !chain.empty();
  }

  void Extend(std::size_t stretch, std::size_t i) {
    stretches_[stretch].last = i;
    ++stretches_[stretch].count;
  }

  void PlaceByModules(const Node& node, std::size_t i) {
    std::vector<ModuleId> chain;
    for (ModuleId m = node.module; m != 0 && m != kNoId; m = program_.modules[m].parent) {
      chain.push_back(m);
    }
    std::ranges::reverse(chain);
    std::size_t same = 0;
    while (same < chain.size() && same < open_.size() &&
           stretches_[open_[same]].module == chain[same]) {
      ++same;
    }
    open_.resize(same);
    for (; same < chain.size(); ++same) {
      open_.push_back(stretches_.size());
      stretches_.push_back({.module = chain[same], .first = i, .last = i});
    }
    for (const std::size_t stretch : open_) Extend(stretch, i);
    has_module_.back() = !chain.empty();
  }

  Status CheckNesting(std::string_view flag) const {
    for (const ModuleStretch& stretch : stretches_ | std::views::drop(1)) {
      const auto begin = has_module_.begin() + static_cast<std::ptrdiff_t>(stretch.first);
      const auto end = has_module_.begin() + static_cast<std::ptrdiff_t>(stretch.last) + 1;
      if (static_cast<std::size_t>(std::count(begin, end, true)) == stretch.count) continue;
      return Unexpected(
          Unsupported(fmt::format("operators of other modules stand among those of \"{}\"",
                                  program_.text(program_.modules[stretch.module].path)),
                      std::string(flag), "Stage 2 keeps parameters whole: --parallel deepspeed2."));
    }
    return {};
  }

  bool IsOperand(ValueId id) const {
    const Value& value = program_.values[id];
    return value.kind == ValueKind::kTensor && value.role != Role::kParameter &&
           value.role != Role::kBuffer;
  }

  void FindOperands() {
    made_.assign(program_.values.size(), kNone);
    last_use_.assign(program_.values.size(), 0);
    const std::vector<Node>& nodes = program_.main().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const Argument& argument : program_.args(nodes[i])) {
        VisitValues(program_, argument, [&](ValueId id) { last_use_[id] = i; });
      }
      for (const ValueId id : program_.results(nodes[i])) {
        if (id != kNoId) made_[id] = i;
      }
    }
    for (const Argument& output : program_.main().outputs) {
      VisitValues(program_, output, [&](ValueId id) { last_use_[id] = nodes.size(); });
    }
    for (ModuleStretch& stretch : stretches_) FindOperands(stretch);
  }

  void FindOperands(ModuleStretch& stretch) const {
    std::vector<ValueId>& inputs = stretch.inputs;
    for (std::size_t i = stretch.first; i <= stretch.last && i < count_; ++i) {
      for (const Argument& argument : program_.args(node(i))) {
        VisitValues(program_, argument, [&](ValueId id) {
          const bool outside = made_[id] == kNone || made_[id] < stretch.first;
          if (!outside || !IsOperand(id) || std::ranges::count(inputs, id) > 0) return;
          inputs.push_back(id);
        });
      }
      for (const ValueId id : program_.results(node(i))) {
        if (id != kNoId && IsOperand(id) && last_use_[id] > stretch.last) {
          stretch.outputs.push_back(id);
        }
      }
    }
  }

  const Program& program_;
  std::size_t count_;
  std::vector<ModuleStretch> stretches_;
  std::map<CallId, std::size_t> by_call_;
  std::vector<std::size_t> open_;             // of PlaceByModules
  std::vector<bool> has_module_;              // by node
  std::vector<std::size_t> made_, last_use_;  // by value: nodes
};

}  // namespace

Result<std::vector<ModuleStretch>> ModuleStretches(const Program& program, std::size_t count,
                                                   std::string_view flag) {
  return Stretches(program, count).Run(flag);
}

}  // namespace steelyard
