// SPDX-License-Identifier: Apache-2.0
//
// What torch.distributed.fsdp.fully_shard allocates in one process, and when (FSDP2:
// torch/distributed/fsdp/_fully_shard). A unit is a module with the parameters that are gathered
// together; the root is the model, with what no other unit has.
//
//   before a unit    its parts of all processes, side by side; then each parameter, copied from
//   them after it         parameters lose their memory, but not their tensors, which autograd may
//   keep gradient of its  gathered again, and what is gathered next is asked for
//     result ready
//   gradients of its parameters lose their memory; their gradients are put side by side, and this
//     arguments        process's part of the sums becomes the gradient of its part
//   backward ends    the same, for units whose arguments require no gradient
//
// What was put side by side lives until the next unit has been gathered or reduced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

struct ShardOptions {
  std::int64_t ranks = 2;
  bool keep_gathered = false;  // from the forward pass to the backward pass
  bool first_step = false;
  // MixedPrecisionPolicy. Nothing: what a part is stored as, and what a module gives.
  std::optional<DType> compute = {}, reduce = {}, output = {};
  bool cast_inputs = false;
};

class Sharder final : public GradientListener {
 public:
  using UnitIndex = std::size_t;
  static constexpr UnitIndex kRoot = 0;

  Sharder(Dispatcher& d, const ShardOptions& options) : d_(d), options_(options) {}

  void AddUnit(std::string_view path) { units_.push_back({.path = std::string(path)}); }
  // `part` is what this process has of a parameter that has so many rows.
  void AddParameter(UnitIndex unit, Tensor part, std::int64_t rows);

  // Refuses what is no unit.
  UnitIndex Checked(std::int64_t unit) const;

  // The parameters of a unit, whole, in the order in which they were added. `EnterUnit` puts
  // tensors in the place of arguments that are cast or require a gradient, `LeaveUnit` in that of
  // the model's results if these are cast.
  void EnterUnit(UnitIndex unit, std::vector<Tensor>& arguments);
  void LeaveUnit(UnitIndex unit, std::vector<Tensor>& results);
  // The model's call keeps its arguments until it is left.
  void KeepArguments(std::vector<Tensor> arguments) { arguments_ = std::move(arguments); }
  std::vector<Tensor> whole(UnitIndex unit) const { return WholeOnes(units_[unit]); }
  // The whole of what `part` is a part of; undefined where it is none of the unit's.
  Tensor WholeOf(UnitIndex unit, ValueId part) const;

  void OnReady(ValueId) override {}
  void BeforeNode(GradNodeId node) override;
  void OnBackwardEnd() override;
  // The arguments of a unit have their gradients.
  void OnArguments(UnitIndex unit);

 private:
  struct Parameter {
    Tensor part = {};
    Tensor whole = {};      // once it was gathered
    std::int64_t rows = 0;  // of the whole
  };
  enum class State : std::uint8_t { kIdle, kForward, kBeforeBackward, kAfterBackward };
  struct Unit {
    std::string path;
    std::vector<Parameter> parameters = {};
    State state = State::kIdle;
    bool is_whole = false;
    Tensor gathered = {};                 // not copied yet
    std::vector<std::size_t> calls = {};  // places in order_, of which no gradient came yet
  };

  // The record of the profiler that says what happens to a unit.
  std::string Record(std::string_view what, const Unit& unit) const;
  void Gather(Unit& unit);
  void CopyOut(Unit& unit);
  static std::vector<Tensor> WholeOnes(const Unit& unit);
  DType ComputeDType(const Parameter& parameter) const;
  Tensor CastParts(const Unit& unit);
  void CastFloating(std::string_view record, DType dtype, std::vector<Tensor>& tensors);
  void RegisterArguments(UnitIndex index, std::vector<Tensor>& arguments);
  Tensor Whole(const Parameter& parameter);
  void Release(Unit& unit);
  void GatherNext(Unit& unit);
  void BeforeBackward(Unit& unit);
  void AfterBackward(Unit& unit);
  void Reduce(Unit& unit, std::vector<std::pair<ValueId, Tensor>> gradients);

  Dispatcher& d_;
  ShardOptions options_;
  std::deque<Unit> units_;
  std::vector<UnitIndex> order_;  // in which units were left
  std::vector<std::pair<GradNodeId, UnitIndex>> hooks_;
  Tensor copied_;   // what was gathered last in the forward pass
  Tensor reduced_;  // what gradients were put into last
  std::vector<Tensor> arguments_;
};

}  // namespace steelyard::ops
