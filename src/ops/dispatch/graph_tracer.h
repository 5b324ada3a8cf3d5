// SPDX-License-Identifier: Apache-2.0
//
// Graphs that PyTorch makes while a program runs (make_fx): a function runs on tensors without
// memory, and every call is recorded as it is below autograd, those of a backward pass too. Such a
// graph is all that PyTorch later runs of the function, one call after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/dispatch/autocast.h"
#include "ops/dispatch/dispatcher.h"
#include "steelyard/program.h"

namespace steelyard {

// What a dispatcher that is only followed has done so far.
class GraphTrace {
 public:
  // Whether a call is one of the graph's: not a part of another that is.
  bool Records(const OpDef& def) const { return !inside_ && IsTraced(def); }

 private:
  friend class Dispatcher;
  friend class GraphTracer;
  struct Nodes {
    std::size_t begin, end;
  };
  static bool IsTraced(const OpDef& def);

  bool inside_ = false;
  Graph graph_;
  std::vector<Nodes> hidden_;                      // what the recorded calls would run
  std::unordered_map<ValueId, Argument> numbers_;  // tensors that Python numbers were made
};

class TracedGraph {
 public:
  // Runs its calls on these operands; its variables die after their last use.
  std::vector<Tensor> Run(Dispatcher& d, std::vector<Tensor> operands) const;
  // Numbers are made tensors while a graph is recorded, whose memory is real.
  void AllocateNumbers(Dispatcher& d) const;
  GraphCost cost() const { return cost_; }  // of what it was recorded of

 private:
  friend class GraphTracer;
  // A tensor that a number was made; or the end of one.
  struct Event {
    ValueId value = kNoId;
    FrameId frame = 0;
    std::optional<Argument> number{};
  };
  Argument Translate(Dispatcher& d, const Argument& argument, std::span<const Tensor> locals) const;
  void Inside(Dispatcher& d, FrameId frame, const std::function<void()>& run) const;

  Program program_;  // whose tables the graph refers to
  Graph graph_;
  std::unordered_map<ValueId, Argument> numbers_;
  std::vector<Event> events_;
  GraphCost cost_{0, 0};
};

// A graph of the program on tensors like these. With `tangents`, its backward pass, from gradients
// like these of its results to one of each operand, which shares memory with none; zeros where
// there is no gradient (create_bw_fn in torch/_higher_order_ops/utils.py).
struct TraceRequest {
  GraphId body = 0;
  std::span<const Tensor> operands;
  std::optional<std::span<const Tensor>> tangents = std::nullopt;
  AutocastMode autocast = {};
};
TracedGraph Trace(Dispatcher& d, const TraceRequest& request);
// The same, and what PyTorch allocates for it: it is recorded on copies of the operands
// (materialize_as_graph).
TracedGraph Materialize(Dispatcher& d, const TraceRequest& request);

}  // namespace steelyard
