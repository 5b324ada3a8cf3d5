// SPDX-License-Identifier: Apache-2.0
//
// Kernels are gone through in their order, with the present value of every tensor at hand, so that
// overwriting becomes a chain of values. For tensors that stay where they are, edges that carry
// nothing keep a write behind earlier reads and writes, and a read behind the last write. What the
// results do not need is then left out.

#include "runtime/graph/call_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/visit_values.h"
#include "ops/dispatch/program_rows.h"
#include "runtime/graph/overwriting.h"

namespace steelyard::graph {
namespace {

class Builder {
 public:
  Builder(const Program& program, const Target& target)
      : p_(program),
        target_(target),
        rows_(RowsOf(program)),
        overwriting_(FindOverwriting(program, rows_)),
        storages_(program.storage_count) {
    graph_.program = &program;
    graph_.maker_of_value.assign(p_.values.size(), kNoId);
    for (ValueId id = 0; id < p_.values.size(); ++id) latest_.push_back(id);
  }

  CallGraph Run() {
    const std::vector<Node>& nodes = p_.main().nodes;
    dropped_.assign(p_.values.size(), false);
    for (NodeId i = 0; i < nodes.size(); ++i) {
      if (p_.is_drop(nodes[i])) {
        dropped_[p_.args(nodes[i])[0].value] = true;
      } else {
        Visit(i, nodes[i]);
      }
    }
    AddResult();
    CountUsers();
    LetOverwrittenGo();
    return std::move(graph_);
  }

 private:
  struct Storage {
    CallId writer = kNoId;             // that overwrote it last
    std::vector<CallId> readers = {};  // since then
  };

  void Visit(NodeId i, const Node& node) {
    const OpDef* def = node.refusal == kNoString ? rows_[node.op] : nullptr;
    Call call{.node = i, .def = def};
    const std::span<const ValueId> results = p_.results(node);
    if (def != nullptr) {
      if (IsUnfilled(node, *def)) return;
      call.fusion = *def->fusion;
      const bool view = *def->alias == Alias::kView || *def->fusion == Fusion::kView;
      if (view && p_.args(node)[0].kind == ArgKind::kValue) {
        return AddViews(node, std::move(call), results);
      }
    }
    call.results.assign(results.begin(), results.end());
    read_.clear();
    for (const Argument& argument : p_.args(node)) {
      VisitValues(p_, argument, [&](ValueId id) { Read(id, &call); });
    }
    AddKernel(i, node, std::move(call));
  }

  // A tensor that nobody has filled is none before something has, unless parts of it are
  // overwritten one by one; a constant is a part of the program.
  bool IsUnfilled(const Node& node, const OpDef& def) const {
    const std::span<const ValueId> results = p_.results(node);
    if (*def.family != Family::kFactory || *def.alias != Alias::kNone) return false;
    if (results.size() != 1 || overwriting_.stays[p_.values[results[0]].storage]) return false;
    const Traffic traffic = (**def.traffic)(OpView(p_, def, p_.args(node), results, target_));
    return traffic.read == Count(0) && traffic.written == Count(0);
  }

  void AddViews(const Node& node, Call call, std::span<const ValueId> results) {
    call.kind = CallKind::kView;
    for (std::uint32_t field = 0; field < results.size(); ++field) {
      if (results[field] == kNoId) continue;
      Call view = call;
      view.field = field;
      view.results = {results[field]};
      LookAt(p_.args(node)[0].value, &view);
      graph_.maker_of_value[results[field]] = Push(std::move(view));
    }
    Renew(node, results);
  }

  void AddKernel(NodeId i, const Node& node, Call call) {
    const std::span<const ValueId> results = p_.results(node);
    const bool in_place = call.def != nullptr && *call.def->alias == Alias::kInPlace;
    if (in_place && !overwriting_.makes_new[i]) {
      call.overwrites = !results.empty();
      call.in_memory = true;
      call.resident = IsResident(p_.args(node)[0]);
    }
    const std::vector<StorageId> written = Written(i, node, call);
    for (const StorageId storage : written) FollowReaders(storages_[storage], &call);
    const CallId id = Push(std::move(call));
    for (const StorageId storage : read_) storages_[storage].readers.push_back(id);
    for (const StorageId storage : written) storages_[storage] = {.writer = id};
    for (const ValueId result : results) {
      if (result != kNoId) graph_.maker_of_value[result] = id;
    }
    if (in_place) Renew(node, results);
  }

  // Of a list, all of it.
  bool IsResident(const Argument& target) const {
    bool resident = true;
    VisitValues(p_, target,
                [&](ValueId id) { resident &= overwriting_.resident[p_.values[id].storage]; });
    return resident;
  }

  std::vector<StorageId> Written(NodeId i, const Node& node, const Call& call) const {
    std::vector<StorageId> out;
    if (call.def == nullptr || overwriting_.makes_new[i]) return out;
    const auto params = call.def->signature->params();
    const std::span<const Argument> args = p_.args(node);
    for (std::size_t a = 0; a < std::min(args.size(), params.size()); ++a) {
      if (!params[a].written) continue;
      VisitValues(p_, args[a], [&](ValueId id) { out.push_back(p_.values[id].storage); });
    }
    return out;
  }

  // Who reads the tensor by its old name from now on, reads the new value.
  void Renew(const Node& node, std::span<const ValueId> results) {
    if (results.empty() || results[0] == kNoId || p_.args(node)[0].kind != ArgKind::kValue) return;
    if (overwriting_.tensor_of[results[0]] == results[0]) return;
    latest_[overwriting_.tensor_of[results[0]]] = results[0];
  }

  void FollowReaders(const Storage& storage, Call* call) {
    const auto follow = [&](CallId before) {
      const auto same = [&](const Use& use) { return use.producer == before; };
      if (std::ranges::any_of(call->uses, same)) return;
      call->uses.push_back({.producer = before, .only_order = true});
    };
    for (const CallId reader : storage.readers) follow(reader);
    if (storage.writer != kNoId) follow(storage.writer);
  }

  // The value is an operand, whatever its bytes are by then.
  CallId LookAt(ValueId value, Call* call) {
    if (p_.values[value].kind != ValueKind::kTensor) return kNoId;
    const ValueId now = latest_[overwriting_.tensor_of[value]];
    CallId producer = graph_.maker_of_value[now];
    if (producer == kNoId) return kNoId;
    if (graph_.calls[producer].results.size() > 1) producer = Field(producer, now);
    call->uses.push_back({.producer = producer, .pattern = PatternOf(*call, producer, now)});
    return producer;
  }

  void Read(ValueId value, Call* call) {
    const CallId producer = LookAt(value, call);
    const StorageId at = p_.values[value].storage;
    if (at == kNoId || overwriting_.makes_new.empty() || !overwriting_.stays[at]) return;
    const Storage& storage = storages_[at];
    if (storage.writer != kNoId && storage.writer != producer) {
      call->uses.push_back({.producer = storage.writer, .only_order = true});
    }
    read_.push_back(at);
  }

  CallId Field(CallId producer, ValueId value) {
    const std::vector<ValueId>& results = graph_.calls[producer].results;
    const auto place =
        static_cast<std::uint32_t>(std::ranges::find(results, value) - results.begin());
    const auto [at, is_new] = fields_.try_emplace({producer, place}, kNoId);
    if (is_new) {
      Call field{.kind = CallKind::kField, .fusion = Fusion::kInjective};
      field.node = graph_.calls[producer].node;
      field.field = place;
      field.results = {value};
      field.uses.push_back({.producer = producer, .pattern = Fusion::kInjective});
      at->second = Push(std::move(field));
    }
    return at->second;
  }

  // As TVM classes an edge: what broadcasts reads an operand of its own sizes element by element.
  Fusion PatternOf(const Call& call, CallId producer, ValueId value) const {
    if (call.fusion != Fusion::kBroadcast) return call.fusion;
    const bool one = call.results.size() == 1 && graph_.calls[producer].results.size() == 1;
    return one && std::ranges::equal(p_.sizes(call.results[0]), p_.sizes(value))
               ? Fusion::kElementwise
               : Fusion::kBroadcast;
  }

  // What the caller gets, then what has been written over parameters and state, in their order, and
  // gradients that nobody has let go.
  void AddResult() {
    Call result{.kind = CallKind::kResult, .fusion = Fusion::kInjective};
    const auto add = [&](ValueId value) {
      LookAt(value, &result);
      Keep(storages_[p_.values[value].storage].writer, &result);
    };
    for (const Argument& output : p_.main().outputs) {
      VisitValues(p_, output, [&](ValueId id) {
        if (p_.values[id].storage != kNoId) add(id);
      });
    }
    for (const ValueId id : p_.main().inputs) {
      Keep(storages_[p_.values[id].storage].writer, &result);
    }
    for (ValueId id = 0; id < p_.values.size(); ++id) {
      const bool held = p_.values[id].role == Role::kGradient && !dropped_[id];
      if (held && graph_.maker_of_value[id] != kNoId) add(id);
    }
    Prune(Push(std::move(result)));
  }

  static void Keep(CallId writer, Call* result) {
    const auto same = [&](const Use& use) { return use.producer == writer; };
    if (writer == kNoId || std::ranges::any_of(result->uses, same)) return;
    result->uses.push_back({.producer = writer, .pattern = Fusion::kInjective});
  }

  CallId Push(Call call) {
    graph_.calls.push_back(std::move(call));
    return static_cast<CallId>(graph_.calls.size() - 1);
  }

  // Leaves only what the result needs.
  void Prune(CallId result) {
    std::vector<CallId> renumbered(graph_.calls.size(), kNoId);
    for (const CallId id : PostOrder(graph_, result)) renumbered[id] = 0;
    std::vector<Call> kept;
    for (CallId id = 0; id < graph_.calls.size(); ++id) {
      if (renumbered[id] == kNoId) continue;
      renumbered[id] = static_cast<CallId>(kept.size());
      for (Use& use : graph_.calls[id].uses) use.producer = renumbered[use.producer];
      kept.push_back(std::move(graph_.calls[id]));
    }
    graph_.calls = std::move(kept);
    for (CallId& maker : graph_.maker_of_value) {
      if (maker != kNoId) maker = renumbered[maker];
    }
  }

  void CountUsers() {
    for (const Call& call : graph_.calls) {
      for (const Use& use : call.uses) graph_.calls[use.producer].users += use.only_order ? 0 : 1;
    }
  }

  // What is overwritten again, and read by nothing else, need not be in memory.
  void LetOverwrittenGo() {
    std::vector<std::uint32_t> followers(graph_.calls.size(), 0);
    for (const Call& call : graph_.calls) {
      for (const Use& use : call.uses) ++followers[use.producer];
    }
    for (const Call& call : graph_.calls) {
      if (!call.overwrites || call.uses.empty()) continue;
      Call& before = graph_.calls[call.uses[0].producer];
      const bool same = before.overwrites && before.resident && !call.uses[0].only_order &&
                        StorageOf(before) == StorageOf(call);
      if (same && followers[call.uses[0].producer] == 1) before.in_memory = false;
    }
  }

  StorageId StorageOf(const Call& call) const { return p_.values[call.results[0]].storage; }

  const Program& p_;
  const Target& target_;
  std::vector<const OpDef*> rows_;  // by operator
  Overwriting overwriting_;
  CallGraph graph_;
  std::vector<Storage> storages_;
  std::vector<StorageId> read_;  // by the kernel that is visited
  std::vector<ValueId> latest_;  // by tensor: its value now
  std::vector<bool> dropped_;
  std::map<std::pair<CallId, std::uint32_t>, CallId> fields_;
};

}  // namespace

CallGraph BuildCallGraph(const Program& kernels, const Target& target) {
  return Builder(kernels, target).Run();
}

std::vector<CallId> PostOrder(const CallGraph& graph, CallId from) {
  struct Step {
    CallId call;
    std::size_t next;  // of its uses
  };
  std::vector<CallId> order;
  std::vector<bool> seen(graph.calls.size(), false);
  std::vector<Step> stack{{from, 0}};
  seen[from] = true;
  while (!stack.empty()) {
    Step& top = stack.back();
    const std::vector<Use>& uses = graph.calls[top.call].uses;
    if (top.next == uses.size()) {
      order.push_back(top.call);
      stack.pop_back();
      continue;
    }
    const CallId producer = uses[top.next++].producer;
    if (seen[producer]) continue;
    seen[producer] = true;
    stack.push_back({producer, 0});
  }
  return order;
}

}  // namespace steelyard::graph
