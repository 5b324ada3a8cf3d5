// SPDX-License-Identifier: Apache-2.0
//
// Each operator that overwrites is asked what else lies on the storage: it may give a new tensor if
// the old one fills the storage and no view of it is used later, unless it was told where its
// result goes. Once something has to be
// overwritten in place, its storage stays, and so does all that is written there afterwards.

#include "runtime/graph/overwriting.h"

#include <algorithm>

#include "ir/visit_values.h"

namespace steelyard::graph {
namespace {

constexpr std::uint32_t kAtTheEnd = 0xffffffffu;

class Search {
 public:
  Search(const Program& kernels, const std::vector<const OpDef*>& defs)
      : p_(kernels),
        defs_(defs),
        last_use_(kernels.values.size(), 0),
        on_storage_(kernels.storage_count) {
    out_.makes_new.assign(p_.main().nodes.size(), false);
    out_.resident.assign(p_.storage_count, false);
    out_.stays.assign(p_.storage_count, false);
    for (ValueId id = 0; id < p_.values.size(); ++id) out_.tensor_of.push_back(id);
  }

  Overwriting Run() {
    for (const ValueId id : p_.main().inputs) out_.resident[p_.values[id].storage] = true;
    FindLastUses();
    const std::vector<Node>& nodes = p_.main().nodes;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) Visit(nodes[i], i);
    return std::move(out_);
  }

 private:
  void FindLastUses() {
    const std::vector<Node>& nodes = p_.main().nodes;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (p_.is_drop(nodes[i])) continue;
      for (const Argument& argument : p_.args(nodes[i])) {
        VisitValues(p_, argument, [&](ValueId id) { last_use_[id] = i; });
      }
    }
    for (const Argument& output : p_.main().outputs) {
      VisitValues(p_, output, [&](ValueId id) { last_use_[id] = kAtTheEnd; });
    }
  }

  void Visit(const Node& node, std::uint32_t i) {
    const OpDef* def = defs_[node.op];
    const bool known = def != nullptr && node.refusal == kNoString;
    if (known) Overwrite(node, *def, i);
    for (const ValueId id : p_.results(node)) {
      if (id != kNoId) on_storage_[p_.values[id].storage].push_back(id);
    }
  }

  void Overwrite(const Node& node, const OpDef& def, std::uint32_t i) {
    const std::span<const Argument> args = p_.args(node);
    const auto params = def.signature->params();
    for (std::size_t a = 0; a < std::min(args.size(), params.size()); ++a) {
      if (!params[a].written || (a == 0 && *def.alias == Alias::kInPlace)) continue;
      VisitValues(p_, args[a], [&](ValueId id) { out_.stays[p_.values[id].storage] = true; });
    }
    if (*def.alias != Alias::kInPlace || args.empty() || args[0].kind != ArgKind::kValue) return;
    const ValueId target = args[0].value;
    for (const ValueId id : p_.results(node)) {
      if (id != kNoId) out_.tensor_of[id] = out_.tensor_of[target];
    }
    if (*def.fusion == Fusion::kView) return;     // writes nothing
    const bool chosen = params[0].name == "out";  // by the caller, who wants the result there
    if (!chosen && MayBeNew(node, target, i)) {
      out_.makes_new[i] = true;
    } else {
      out_.stays[p_.values[target].storage] = true;
    }
  }

  bool MayBeNew(const Node& node, ValueId target, std::uint32_t i) const {
    const StorageId storage = p_.values[target].storage;
    if (out_.resident[storage] || out_.stays[storage] || p_.results(node).empty()) return false;
    for (const ValueId id : on_storage_[storage]) {
      const TensorView view(p_, id);
      if (out_.tensor_of[id] == out_.tensor_of[target]) {
        if (view.bytes() != view.storage_bytes()) return false;
      } else if (last_use_[id] > i) {
        return false;
      }
    }
    return true;
  }

  const Program& p_;
  const std::vector<const OpDef*>& defs_;
  std::vector<std::uint32_t> last_use_;           // by value: a node
  std::vector<std::vector<ValueId>> on_storage_;  // by storage: what has lain there so far
  Overwriting out_;
};

}  // namespace

Overwriting FindOverwriting(const Program& kernels, const std::vector<const OpDef*>& defs) {
  return Search(kernels, defs).Run();
}

}  // namespace steelyard::graph
