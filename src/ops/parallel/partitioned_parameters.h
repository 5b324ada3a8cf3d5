// SPDX-License-Identifier: Apache-2.0
//
// Parameters of which each process has a part, as stage 3 of DeepSpeed's ZeRO gathers them
// (deepspeed/runtime/zero/partitioned_param_coordinator.py and partition_parameters.py of DeepSpeed
// 0.19.8). Every call of a module, of which hooks tell, is a step:
//
//   before it, and before    its own parameters are gathered, those that are missing together; then
//     its backward pass        what comes next, as far as it has room
//   after it, and after its  its own parameters are let go, but for small ones and those that are
//     backward pass            used again soon
//
// What comes next is what came in the forward and backward pass before: in the first one nothing is
// gathered ahead, and everything is let go. A part of which all are gathered alone is a parameter's
// memory; of several gathered together each is copied out when the first of them is needed, and
// what they were gathered in lives until the last one is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"

namespace steelyard::ops {

struct GatherOptions {
  std::int64_t ranks = 2;
  bool first_step = false;
  bool overlaps = true;  // overlap_comm: modules gather on a stream of its own
  // In elements.
  std::int64_t ahead = 0;  // stage3_prefetch_bucket_size
  std::int64_t live = 0;   // stage3_max_live_parameters
  std::int64_t soon = 0;   // stage3_max_reuse_distance
  std::int64_t small = 0;  // stage3_param_persistence_threshold
};

class PartitionedParameters {
 public:
  using Module = std::size_t;
  using Place = std::size_t;
  static constexpr Module kRoot = 0;
  enum class Pass : std::uint8_t { kForward, kBackward };

  // `order`: of modules as an earlier step had them, of any but a first one.
  PartitionedParameters(Dispatcher& d, const GatherOptions& options, std::vector<Module> order)
      : d_(d), options_(options), order_(std::move(order)) {}

  // The model's parameters, in their order, and the modules that have them.
  bool is_empty() const { return parameters_.empty(); }
  void Add(const Tensor& part, const Dims& whole);
  void AddToModule(Module module, Place place);

  std::size_t count() const { return parameters_.size(); }
  Place PlaceOfPart(ValueId part) const { return Known(place_of_part_, part); }
  // Of what autograd has for the parameter.
  Place PlaceOfLeaf(ValueId leaf) const { return Known(place_of_leaf_, leaf); }
  ValueId leaf(Place place) const { return parameters_[place].leaf.id(); }
  std::int64_t elements(Place place) const { return parameters_[place].elements; }
  std::int64_t elements_of_part(Place place) const { return parameters_[place].of_part; }
  // The parameters of a module, whole. Requires: `Fetch`.
  std::vector<Tensor> WholeOnes(Module module) const;

  void BeginForward();
  void Fetch(Module module, Pass pass);
  void Release(Module module, Pass pass);
  // What no hook has let go, since no argument of the module requires a gradient.
  void ReleaseLeftovers();
  void ReleaseAll();
  void GatherSmall();

 private:
  enum class Status : std::uint8_t { kApart, kInFlight, kWhole };
  struct Parameter {
    Tensor part = {};
    Tensor leaf = {};   // what it is for autograd, whatever memory it has
    Tensor whole = {};  // the same with memory
    Dims sizes = {};
    std::int64_t elements = 0, of_part = 0;
    bool is_small = false;
    Tensor kept = {};  // the memory of a small one, until the step
    Status status = Status::kApart;
    std::set<Module> users = {};
  };
  // Of parameters that are gathered together.
  struct Gathering {
    std::vector<Place> places;
    Tensor flat;  // of several
    bool is_complete = false;
  };
  enum class Trace : std::uint8_t { kNone, kRecorded, kComplete };
  using Places = std::unordered_map<ValueId, Place>;

  // Refuses what a program that was made by hand may ask for.
  static Place Known(const Places& places, ValueId id) {
    const auto found = places.find(id);
    if (found == places.end()) Refuse("a parameter of which the engine was not told");
    return found->second;
  }
  DType dtype() const { return parameters_[0].part.dtype(); }
  std::int64_t Padded(const Parameter& parameter) const {
    return parameter.of_part * options_.ranks;
  }
  const std::vector<Place>& ParametersOf(Module module) const;
  void GiveMemory(Parameter& parameter, std::int64_t elements, std::string_view by);
  void Gather(std::vector<Place> places);
  void Allocate(Gathering& gathering);
  std::uint8_t stream() const;
  void Wait(Gathering& gathering);
  void WaitFor(Place place);
  void WaitForAll();
  void GatherAhead(Module module);
  void ReleaseOne(Place place);
  std::set<Place> NotNeededSoon(Module module) const;
  void CompleteTrace();
  void CompareNumbers(std::size_t count);

  Dispatcher& d_;
  GatherOptions options_;
  std::vector<Parameter> parameters_;
  Places place_of_part_, place_of_leaf_;
  std::vector<std::vector<Place>> modules_;
  std::vector<std::pair<Place, std::shared_ptr<Gathering>>> in_flight_;
  std::vector<Module> in_backward_;  // whose backward pass has begun

  Trace trace_ = Trace::kNone;
  std::vector<Module> order_;                         // by step
  std::vector<std::pair<Place, std::int64_t>> uses_;  // of parameters, and in which step
  std::deque<std::pair<Place, std::int64_t>> next_;   // of these
  std::vector<std::int64_t> fetched_for_;             // by place: a step
  std::int64_t step_ = 0;
  std::int64_t live_ = 0;  // elements that were gathered
};

}  // namespace steelyard::ops
