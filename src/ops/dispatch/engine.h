// SPDX-License-Identifier: Apache-2.0
//
// The autograd engine, in metadata: runs the nodes below a tensor in the order in which PyTorch's
// engine runs them, and lets every gradient live exactly as long.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ops/dispatch/autograd.h"

namespace steelyard {

class Engine {
 public:
  Engine(Dispatcher& dispatcher, Autograd& autograd)
      : dispatcher_(dispatcher),
        autograd_(autograd),
        call_(dispatcher.context().origin),
        ready_(own_ready_) {}

  // What `root.backward()` does once the gradient of the root has been made. Gradients of leaves
  // are left with the autograd; nodes that have run keep nothing.
  void Run(const Tensor& root, Tensor seed);
  // What `torch.autograd.backward(roots, seeds)` does.
  void RunMany(std::span<const Tensor> roots, std::span<const Tensor> seeds);

 private:
  using Gradients = std::vector<Tensor>;
  struct Ready {
    int depth;  // of backward passes within each other
    std::uint64_t sequence;
    GradNodeId node;
  };
  // The innermost pass goes first and then the greatest sequence number; std::priority_queue's
  // order among equals is part of what PyTorch does.
  struct LeavesLater {
    bool operator()(const Ready& a, const Ready& b) const {
      return a.depth != b.depth ? a.depth < b.depth : a.sequence < b.sequence;
    }
  };

  // A backward pass that a node of `outer` runs; all of a thread share one queue.
  Engine(Engine& outer, int depth)
      : dispatcher_(outer.dispatcher_),
        autograd_(outer.autograd_),
        call_(outer.call_),
        depth_(depth),
        ready_(outer.ready_) {}
  void RunReady();
  void CountDependencies(std::span<const Edge> roots);
  void Evaluate(GradNodeId id, Gradients incoming);
  // What the profiler sees of a node: its evaluation, and in it the node itself.
  struct Records {
    OpId evaluation, node;
  };
  Records RecordsOf(GradNodeId id);
  Gradients Apply(GradNodeId id, std::span<const Tensor> incoming);
  Gradients ApplyFormulas(const GradNode& node, std::span<const Saved> saved,
                          std::span<const Edge> edges, std::span<const Tensor> incoming);
  void Arrive(const Edge& edge, Tensor& gradient);
  bool IsPlaced(const Edge& edge) const;
  Gradients ApplyCheckpoint(GradNodeId id, std::span<const Tensor> incoming);
  Gradients ApplyFunction(GradNodeId id, std::span<const Tensor> incoming);
  Gradients WithZeros(GradNodeId id, std::span<const Tensor> incoming);
  Tensor SliceOf(const Tensor& whole, const TensorView& view, std::int64_t from);
  Gradients ApplyCopySlices(GradNodeId id, const Tensor& incoming);
  Tensor ApplyAsStrided(GradNodeId id, const Tensor& incoming);
  void Accumulate(GradNodeId id, Gradients& incoming);
  void TellListener(ValueId variable);
  void FitToVariables(GradNodeId id, Gradients& outgoing);
  void Route(GradNodeId id, Gradients& outgoing);
  void AddTo(Tensor& slot, Tensor& gradient);

  Dispatcher& dispatcher_;
  Autograd& autograd_;
  NodeId call_;                              // that runs the backward pass
  std::vector<std::uint32_t> dependencies_;  // by node: gradients that have still to arrive
  std::vector<Gradients> buffers_;           // by node
  int depth_ = 0;
  std::unordered_map<std::string_view, Records> records_;  // by name, which a row or a literal has
  std::vector<Ready> own_ready_;
  std::vector<Ready>& ready_;  // a heap
};

}  // namespace steelyard
