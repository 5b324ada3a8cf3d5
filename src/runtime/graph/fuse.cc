// SPDX-License-Identifier: Apache-2.0
//
// TVM's fuse_ops.cc (Relay), with the classes of RAF's fuse_tvm.cc: products belong to libraries
// and are opaque, what ends in an overwritten tensor is not gone on from, and results are not
// joined with the tuple they are returned in.

#include "runtime/graph/fuse.h"

#include <algorithm>
#include <ranges>

namespace steelyard::graph {
namespace {

constexpr std::uint32_t kMostOperators = 256;  // of a kernel

bool IsPointwise(Fusion fusion) { return fusion <= Fusion::kBroadcast; }
bool IsInjective(Fusion fusion) { return fusion <= Fusion::kInjective; }

class Fuser {
 public:
  explicit Fuser(const CallGraph& graph)
      : graph_(graph),
        order_(PostOrder(graph, graph.result())),
        users_(graph.calls.size()),
        above_(graph.calls.size(), kNoId),
        depth_(graph.calls.size(), 0),
        path_(graph.calls.size(), Fusion::kOpaque),
        ends_product_(graph.calls.size(), false) {
    for (CallId id = 0; id < graph.calls.size(); ++id) {
      const Call& call = graph.calls[id];
      fusion_.push_back(call.fusion == Fusion::kFromParts ? Fusion::kOpaque : call.fusion);
      joined_.push_back(id);
      operators_.push_back(CountsAsOperator(call) ? 1 : 0);
    }
    follower_.assign(graph.calls.size(), kNoId);
    for (const CallId id : order_) {
      for (const Use& use : graph.calls[id].uses) {
        if (use.only_order) {
          follower_[use.producer] = std::min(follower_[use.producer], id);
        } else {
          users_[use.producer].push_back({id, use.pattern});
        }
      }
    }
  }

  std::vector<CallId> Run() {
    for (const CallId id : order_) MoveIntoProduct(id);
    FindDominators();
    for (const bool injective : {false, true}) {
      for (const CallId id : order_) Join(id, injective);
    }
    return Kernels();
  }

 private:
  struct User {
    CallId call;
    Fusion pattern;
  };

  static bool CountsAsOperator(const Call& call) {
    const bool computes = call.kind == CallKind::kKernel || call.kind == CallKind::kView;
    return computes && call.fusion != Fusion::kView;
  }

  // --- Epilogues ---

  void MoveIntoProduct(CallId id) {
    const Call& call = graph_.calls[id];
    const bool may = call.kind == CallKind::kKernel && IsPointwise(call.fusion) &&
                     !call.overwrites && call.results.size() == 1;
    // RAF's patterns have biases, sums and activations, and no casts.
    if (!may || *call.def->family == Family::kDataMovement) return;
    for (const Use& use : call.uses) {
      if (use.only_order) continue;
      const std::vector<CallId> way = WayToProduct(use.producer);
      if (way.empty() || !SameCount(way.back(), id)) continue;
      const auto early = [&](CallId joined) { return follower_[joined] <= id; };
      if (std::ranges::any_of(way, early)) continue;
      for (const CallId joined : way) follower_[id] = std::min(follower_[id], follower_[joined]);
      for (const CallId joined : way) joined_[joined] = id;
      for (const CallId joined : way) fusion_[joined] = Fusion::kOpaque;
      ends_product_[id] = true;
      for (const CallId joined : way) operators_[id] += operators_[joined];
      fusion_[id] = Fusion::kOpaque;
      return;
    }
  }

  // From `id` over views back to a product, or the last of its epilogue; empty where there is none,
  // or where something else uses it too.
  std::vector<CallId> WayToProduct(CallId id) const {
    std::vector<CallId> way;
    while (graph_.calls[id].users == 1 && users_[id].size() == 1 && joined_[id] == id) {
      const Call& call = graph_.calls[id];
      way.push_back(id);
      const bool product = fusion_[id] == Fusion::kOutFusable || ends_product_[id];
      if (call.kind == CallKind::kKernel && product) {
        return call.overwrites || call.results.size() != 1 ? std::vector<CallId>() : way;
      }
      if (call.kind != CallKind::kView || call.fusion != Fusion::kView || call.uses.size() != 1) {
        break;
      }
      id = call.uses[0].producer;
    }
    return {};
  }

  bool SameCount(CallId a, CallId b) const {
    const Program& p = *graph_.program;
    return TensorView(p, graph_.calls[a].results[0]).count() ==
           TensorView(p, graph_.calls[b].results[0]).count();
  }

  // --- Dominators: the call through which everything that comes from another one passes ---

  void FindDominators() {
    for (const CallId id : std::views::reverse(order_)) {
      depth_[id] = 1;
      if (users_[id].empty()) continue;
      CallId common = users_[id][0].call;
      Fusion path = users_[id][0].pattern;
      for (const User& user : users_[id]) {
        common = Meet(common, user.call, &path);
        path = std::max(path, user.pattern);
      }
      above_[id] = common;
      depth_[id] = common == kNoId ? 1 : depth_[common] + 1;
      path_[id] = path;
    }
  }

  CallId Meet(CallId a, CallId b, Fusion* path) const {
    const auto climb = [&](CallId* from) {
      *path = std::max(*path, path_[*from]);
      *from = above_[*from];
    };
    while (a != b) {
      if (a == kNoId || b == kNoId) return kNoId;
      const std::uint32_t depth_a = depth_[a], depth_b = depth_[b];
      if (depth_a >= depth_b) climb(&a);
      if (depth_b >= depth_a) climb(&b);
    }
    return a;
  }

  // --- Joining ---

  CallId Last(CallId id) const {
    while (joined_[id] != id) id = joined_[id];
    return id;
  }

  void Join(CallId id, bool injective) {
    const CallId above = above_[id];
    if (fusion_[id] == Fusion::kOpaque || graph_.calls[id].in_memory || above == kNoId) return;
    if (graph_.calls[above].kind == CallKind::kResult || Last(id) == Last(above)) return;
    if (operators_[above] + operators_[id] > kMostOperators) return;
    if (IsPointwise(fusion_[id])) {
      const bool may = IsInjective(path_[id]) || path_[id] == Fusion::kReduction;
      if (may && AllBetween(id, above, false)) Commit(id, above);
    } else if (IsInjective(fusion_[id]) && injective) {
      if (AllBetween(id, above, true)) Commit(id, above);
    }
  }

  // Whether whatever lies between, and the end, may be in one kernel with it. A kernel runs where
  // its last call stands: what must come after one of its calls must come after that, or be that
  // call, if it overwrites each element when it has been read.
  bool AllBetween(CallId from, CallId to, bool injective) const {
    const CallId last = Last(to);
    const auto early = [&](CallId id) {
      const CallId follower = follower_[Last(id)];
      return follower < last || (follower == last && injective);
    };
    if (early(from)) return false;
    std::vector<CallId> stack{from}, seen;
    while (!stack.empty()) {
      const CallId id = stack.back();
      stack.pop_back();
      for (const User& user : users_[id]) {
        if (std::ranges::find(seen, user.call) != seen.end()) continue;
        seen.push_back(user.call);
        const Fusion fusion = fusion_[Last(user.call)];
        const bool at_end = user.call == to;
        if (early(user.call) && !at_end) return false;
        const bool may = IsInjective(fusion) ||
                         (at_end && !injective &&
                          (fusion == Fusion::kReduction || fusion == Fusion::kOutFusable));
        if (!may) return false;
        if (!at_end) stack.push_back(user.call);
      }
    }
    return true;
  }

  void Commit(CallId from, CallId to) {
    std::vector<CallId> stack{from}, seen{from};
    while (!stack.empty()) {
      const CallId id = stack.back();
      stack.pop_back();
      operators_[to] += operators_[id];
      const CallId last = Last(id), target = Last(to);
      if (last != target) joined_[last] = target;
      follower_[target] = std::min(follower_[target], follower_[last]);
      for (const User& user : users_[id]) {
        if (user.call == to || std::ranges::find(seen, user.call) != seen.end()) continue;
        seen.push_back(user.call);
        stack.push_back(user.call);
      }
    }
  }

  // One operator with nothing but views and fields is no kernel of several.
  std::vector<CallId> Kernels() const {
    std::vector<std::uint32_t> operators(joined_.size(), 0);
    for (CallId id = 0; id < joined_.size(); ++id) {
      operators[Last(id)] += CountsAsOperator(graph_.calls[id]) ? 1 : 0;
    }
    std::vector<CallId> out;
    out.reserve(joined_.size());
    for (CallId id = 0; id < joined_.size(); ++id) {
      out.push_back(operators[Last(id)] > 1 ? Last(id) : id);
    }
    return out;
  }

  const CallGraph& graph_;
  std::vector<CallId> order_;
  std::vector<std::vector<User>> users_;
  std::vector<CallId> follower_;          // of that kernel: the first call that must come after it
  std::vector<Fusion> fusion_;            // of the kernel that a call ends
  std::vector<CallId> above_;             // the dominator; kNoId: none
  std::vector<std::uint32_t> depth_;      // below the result
  std::vector<Fusion> path_;              // the hardest on the way to the dominator
  std::vector<bool> ends_product_;        // a product's epilogue
  std::vector<CallId> joined_;            // the call whose kernel it was joined into
  std::vector<std::uint32_t> operators_;  // of the kernel that a call ends
};

}  // namespace

std::vector<CallId> FuseCalls(const CallGraph& graph) { return Fuser(graph).Run(); }

std::vector<CallId> FuseNothing(const CallGraph& graph) {
  std::vector<CallId> out;
  out.reserve(graph.calls.size());
  for (CallId id = 0; id < graph.calls.size(); ++id) out.push_back(id);
  return out;
}

}  // namespace steelyard::graph
