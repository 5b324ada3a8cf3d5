// SPDX-License-Identifier: Apache-2.0
//
// The autograd engine, in metadata: runs the nodes below a tensor in the order in which PyTorch's
// engine runs them, and lets every gradient live exactly as long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/autograd.h"

namespace steelyard {

class Engine {
 public:
  Engine(Dispatcher& dispatcher, Autograd& autograd)
      : dispatcher_(dispatcher), autograd_(autograd) {}

  // What `root.backward()` does once the gradient of the root has been made. Gradients of leaves
  // are left with the autograd; nodes that have run keep nothing.
  void Run(const Tensor& root, Tensor seed);

 private:
  using Gradients = std::vector<Tensor>;
  struct Ready {
    std::uint64_t sequence;
    GradNodeId node;
  };
  // The greatest sequence number leaves first; std::priority_queue's order among equals is part of
  // what PyTorch does.
  struct LeavesLater {
    bool operator()(const Ready& a, const Ready& b) const { return a.sequence < b.sequence; }
  };

  void CountDependencies(GradNodeId root);
  void Evaluate(GradNodeId id, Gradients incoming);
  Gradients Apply(GradNodeId id, std::span<const Tensor> incoming);
  Gradients ApplyFormulas(const GradNode& node, std::span<const Saved> saved,
                          std::span<const Edge> edges, std::span<const Tensor> incoming);
  Gradients ApplyCopySlices(GradNodeId id, const Tensor& incoming);
  Tensor ApplyAsStrided(GradNodeId id, const Tensor& incoming);
  void Accumulate(GradNodeId id, Gradients incoming);
  void FitToVariables(GradNodeId id, Gradients& outgoing);
  void Route(GradNodeId id, Gradients& outgoing);
  void AddTo(Tensor& slot, Tensor& gradient);

  Dispatcher& dispatcher_;
  Autograd& autograd_;
  std::vector<std::uint32_t> dependencies_;  // by node: gradients that have still to arrive
  std::vector<Gradients> buffers_;           // by node
  std::vector<Ready> ready_;                 // a heap
};

}  // namespace steelyard
