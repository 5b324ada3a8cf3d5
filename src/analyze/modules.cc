// SPDX-License-Identifier: Apache-2.0
//
// A tensor belongs to the deepest module whose path its name begins with, a storage to the first of
// its names; calls, work and allocations belong to the module of their node, as often as it runs.
// Parents stand before their children, so one sweep from the end adds everything up to the root.

#include "analyze/modules.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/parameters.h"
#include "ir/whole_bytes.h"
#include "ops/op_def.h"

namespace steelyard {
namespace {

// The deepest module whose path is a prefix of a tensor's name: "encoder.layer.0" of
// "encoder.layer.0.weight".
class ModuleFinder {
 public:
  explicit ModuleFinder(const Program& program) : program_(program) {
    by_path_.resize(program.strings.size(), kNoId);
    for (ModuleId m = 0; m < program.modules.size(); ++m) {
      ModuleId& slot = by_path_[program.modules[m].path];
      if (slot == kNoId)
        slot = m;  // a module called twice has several entries: the first is its own
    }
  }
  ModuleId Owner(std::string_view name) const {
    for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos;
         dot = name.rfind('.', dot - 1)) {
      const StringId path = program_.strings.Find(name.substr(0, dot));
      if (path != kNoString && by_path_[path] != kNoId) return by_path_[path];
      if (dot == 0) break;
    }
    return 0;
  }

 private:
  const Program& program_;
  std::vector<ModuleId> by_path_;
};

// Modules with their depths, children after their parent and in the order in which the program has
// them.
std::vector<std::pair<ModuleId, int>> TreeOrder(const Program& program) {
  const std::size_t count = program.modules.size();
  std::vector<ModuleId> first_child(count, kNoId), next_sibling(count, kNoId);
  for (auto m = static_cast<ModuleId>(count); m-- > 1;) {
    next_sibling[m] = std::exchange(first_child[program.modules[m].parent], m);
  }
  std::vector<std::pair<ModuleId, int>> order;
  order.reserve(count);
  std::vector<std::pair<ModuleId, int>> stack{{0, 0}};
  while (!stack.empty()) {
    const auto [module, depth] = stack.back();
    stack.pop_back();
    order.emplace_back(module, depth);
    if (next_sibling[module] != kNoId) stack.emplace_back(next_sibling[module], depth);
    if (first_child[module] != kNoId) stack.emplace_back(first_child[module], depth + 1);
  }
  return order;
}

struct ByteTally {
  std::string_view dtype;
  std::int64_t bytes;
};

void AddDType(std::vector<ByteTally>& tally, std::string_view dtype, std::int64_t bytes) {
  auto found = std::ranges::find(tally, dtype, &ByteTally::dtype);
  if (found == tally.end()) found = tally.insert(found, {dtype, 0});
  found->bytes += bytes;
}

// Parameters and buffers at the modules their names say; ancestors are added by `RollUp`.
void AddTensors(const Program& kernels, std::vector<ModuleReport>& own,
                std::vector<std::vector<ByteTally>>& dtypes) {
  const ModuleFinder finder(kernels);
  std::vector<bool> seen(kernels.storage_count, false);
  const std::vector<std::int64_t> whole = WholeBytes(kernels);
  const auto add = [&](const NamedTensor& named, bool parameter) {
    if (named.value == kNoId) return;
    const Value& value = kernels.values[named.value];
    const bool is_part = parameter && whole[value.storage] > 0;
    if (named.tied_to != kNoId || (seen[value.storage] && !is_part)) return;
    seen[value.storage] = true;
    const ModuleId module = finder.Owner(kernels.text(named.name));
    const std::int64_t count = TensorView(kernels, named.value).count();
    const std::int64_t bytes = BytesOf(kernels, named);
    if (!parameter) {
      own[module].buffer_bytes += bytes;
      return;
    }
    own[module].parameters += count;
    own[module].parameter_bytes += bytes;
    AddDType(dtypes[module], kernels.stored_as(named), bytes);
  };
  for (const NamedTensor& p : kernels.parameters) add(p, true);
  for (const NamedTensor& b : kernels.buffers) add(b, false);
}

void AddRuns(const Program& imported, const Program& kernels, const WorkReport& work,
             const Timeline& timeline, std::vector<ModuleReport>& own) {
  VisitCalls(imported, kernels, work,
             [&](const Node& node, std::int64_t runs) { own[node.module].calls += runs; });
  std::vector<bool> known(kernels.op_names.size());
  for (OpId op = 0; op < known.size(); ++op) {
    const std::string_view name = kernels.op_name(op);
    known[op] = name == kDropMark || FindOp(OpName::FromRuntime(name)) != nullptr;
  }
  const std::vector<Node>& nodes = kernels.main().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ModuleReport& module = own[nodes[i].module];
    const std::int64_t runs = kernels.times(static_cast<NodeId>(i));
    if (work.by_node.works(i)) module.work += work.by_node[i].Times(runs);
    module.unmodelled += known[nodes[i].op] && nodes[i].refusal == kNoString ? 0 : runs;
  }
  for (const Block& block : timeline.blocks) {
    if (block.value == Block::kNoValue || block.bytes == 0 || block.resident) continue;
    const NodeId node = timeline.events[block.allocated].node;
    own[nodes[node].module].activation_bytes += block.bytes * kernels.times(node);
  }
}

}  // namespace

std::vector<ModuleReport> CountModules(const Program& imported, const Program& kernels,
                                       const WorkReport& work, const Timeline& timeline) {
  std::vector<ModuleReport> own(kernels.modules.size());
  std::vector<std::vector<ByteTally>> dtypes(kernels.modules.size());
  AddTensors(kernels, own, dtypes);
  AddRuns(imported, kernels, work, timeline, own);
  // Parents come before children, so one sweep from the end rolls everything up.
  for (auto m = static_cast<ModuleId>(own.size()); m-- > 1;) {
    ModuleReport& parent = own[kernels.modules[m].parent];
    parent.parameters += own[m].parameters;
    parent.parameter_bytes += own[m].parameter_bytes;
    parent.buffer_bytes += own[m].buffer_bytes;
    parent.calls += own[m].calls;
    parent.unmodelled += own[m].unmodelled;
    parent.activation_bytes += own[m].activation_bytes;
    parent.work += own[m].work;
    for (const ByteTally& t : dtypes[m])
      AddDType(dtypes[kernels.modules[m].parent], t.dtype, t.bytes);
  }
  std::vector<ModuleReport> out;
  out.reserve(own.size());
  for (const auto& [module, depth] : TreeOrder(kernels)) {
    ModuleReport& report = own[module];
    report.module = module;
    report.depth = depth;
    if (dtypes[module].size() > 1) {
      std::ranges::stable_sort(dtypes[module], std::greater(), &ByteTally::bytes);
    }
    for (const ByteTally& t : dtypes[module]) report.dtypes.push_back(t.dtype);
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace steelyard
