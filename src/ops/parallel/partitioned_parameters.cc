// SPDX-License-Identifier: Apache-2.0
//
// Written like PartitionedParameterCoordinator and the handles that it waits for. Python's sets of
// parameters have no order that is the same in every run; here they have that of the model.
#include "ops/parallel/partitioned_parameters.h"

#include <algorithm>
#include <string_view>

#include "ir/layout.h"
#include "ops/parallel/streams.h"

namespace steelyard::ops {
namespace {

constexpr std::int64_t kNever = -1;

}  // namespace

// --- The model -----------------------------------------------------------------------------------

void PartitionedParameters::Add(const Tensor& part, const Dims& whole) {
  const Place place = parameters_.size();
  Parameter parameter;
  parameter.part = part;
  parameter.sizes = whole;
  parameter.of_part = part.count();
  parameter.elements = 1;
  for (const std::int64_t size : whole) parameter.elements *= size;
  parameter.is_small = parameter.elements <= options_.small;
  parameter.leaf = d_.Call("steelyard::without_memory", whole, part.dtype());
  d_.SetRole(parameter.leaf, Role::kParameter);
  d_.autograd().MakeLeaf(parameter.leaf.id(), part.requires_grad());
  place_of_part_[part.id()] = place;
  place_of_leaf_[parameter.leaf.id()] = place;
  if (parameter.is_small && !options_.first_step) {
    const Dims padded{Padded(parameter)};
    parameter.kept = d_.AddResident("gathered", padded, Dims{1}, part.dtype(), Role::kParameter);
    parameter.whole = d_.Call("aten::as_strided", parameter.kept, whole, ContiguousStrides(whole));
    d_.autograd().MakeLeaf(parameter.whole.id(), false);  // a view of nothing
    d_.autograd().SetData(parameter.whole, parameter.leaf.id());
    parameter.status = Status::kWhole;
  }
  parameters_.push_back(std::move(parameter));
}

void PartitionedParameters::AddToModule(Module module, Place place) {
  if (module >= modules_.size()) modules_.resize(module + 1);
  modules_[module].push_back(place);
}

const std::vector<PartitionedParameters::Place>& PartitionedParameters::ParametersOf(
    Module module) const {
  static constexpr std::vector<Place> kNone;
  return module < modules_.size() ? modules_[module] : kNone;
}

std::vector<Tensor> PartitionedParameters::WholeOnes(Module module) const {
  std::vector<Tensor> whole;
  for (const Place place : ParametersOf(module)) whole.push_back(parameters_[place].whole);
  return whole;
}

// --- What is gathered ----------------------------------------------------------------------------

void PartitionedParameters::GiveMemory(Parameter& parameter, std::int64_t elements,
                                       std::string_view by) {
  const Dispatcher::Inside record(d_, by);
  parameter.whole = d_.Call("steelyard::without_memory", parameter.sizes, dtype());
  d_.SetRole(parameter.whole, Role::kParameter);
  d_.autograd().SetData(parameter.whole, parameter.leaf.id());
  d_.Call("steelyard::give_memory", parameter.whole, elements);
}

// __all_gather_params, all_gather_coalesced
void PartitionedParameters::Gather(std::vector<Place> places) {
  std::erase_if(places, [&](Place place) { return parameters_[place].status != Status::kApart; });
  if (places.empty()) return;
  std::ranges::sort(places);
  auto gathering = std::make_shared<Gathering>();
  gathering->places = places;
  for (const Place place : places) {
    Parameter& parameter = parameters_[place];
    parameter.status = Status::kInFlight;
    live_ += parameter.elements;
    in_flight_.emplace_back(place, gathering);
  }
  OnStream(d_, stream(), [&] { Allocate(*gathering); });
}

void PartitionedParameters::Allocate(Gathering& gathering) {
  std::int64_t padded = 0;
  for (const Place place : gathering.places) padded += Padded(parameters_[place]);
  if (gathering.places.size() == 1) {
    Parameter& parameter = parameters_[gathering.places[0]];
    GiveMemory(parameter, padded, "aten::empty");
    d_.Call("steelyard::gather_parameters", std::vector{parameter.whole}, padded);
    return;
  }
  gathering.flat = d_.Call("steelyard::gather_buffer", Dims{padded}, dtype());
  d_.SetRole(gathering.flat, Role::kParameter);
  d_.Call("steelyard::gather_parameters", std::vector{gathering.flat}, padded);
}

std::uint8_t PartitionedParameters::stream() const {
  return options_.overlaps ? kGatherStream : kComputeStream;
}

// AllGatherCoalescedHandle.wait
void PartitionedParameters::Wait(Gathering& gathering) {
  if (std::exchange(gathering.is_complete, true)) return;
  for (const Place place : gathering.places) {
    Parameter& parameter = parameters_[place];
    if (gathering.flat.defined()) GiveMemory(parameter, parameter.elements, "aten::cat");
    parameter.status = Status::kWhole;
  }
}

// What was gathered together is let go with the last that is waited for.
void PartitionedParameters::WaitFor(Place place) {
  const auto found = std::ranges::find(in_flight_, place, [](const auto& of) { return of.first; });
  if (found == in_flight_.end()) return;
  const std::shared_ptr<Gathering> gathering = std::move(found->second);
  in_flight_.erase(found);
  Wait(*gathering);
}

// _clean_inflight_param_registry
void PartitionedParameters::WaitForAll() {
  for (const auto& [place, gathering] : in_flight_) {
    Wait(*gathering);
    ReleaseOne(place);
  }
  in_flight_.clear();
}

// --- What is let go ------------------------------------------------------------------------------

// partition, free_param. Views that autograd has saved keep the memory; the parameter has another
// one when it is gathered again.
void PartitionedParameters::ReleaseOne(Place place) {
  Parameter& parameter = parameters_[place];
  if (parameter.status != Status::kWhole || !parameter.users.empty()) return;
  parameter.status = Status::kApart;
  live_ -= parameter.elements;
  if (parameter.kept.defined()) {
    d_.Call("steelyard::release_storage", parameter.kept);
    parameter.kept.reset();
  } else if (d_.autograd().tensors_on_storage(parameter.whole.id()) == 0) {
    d_.Call("steelyard::release_storage", parameter.whole);
  }
  parameter.whole.reset();
}

// __params_to_release
std::set<PartitionedParameters::Place> PartitionedParameters::NotNeededSoon(Module module) const {
  std::set<Place> places;
  for (const Place place : ParametersOf(module)) {
    if (!parameters_[place].is_small && fetched_for_[place] <= step_) places.insert(place);
  }
  std::int64_t passed = 0;
  for (auto step = static_cast<std::size_t>(step_); step < order_.size(); ++step) {
    if (passed >= options_.soon) break;
    for (const Place place : ParametersOf(order_[step])) {
      places.erase(place);
      passed += parameters_[place].elements;
    }
  }
  return places;
}

// release_sub_module
void PartitionedParameters::Release(Module module, Pass pass) {
  const Dispatcher::GradMode off(d_, false);
  const std::vector<Place>& own = ParametersOf(module);
  const std::set<Place> released =
      trace_ == Trace::kComplete ? NotNeededSoon(module) : std::set<Place>(own.begin(), own.end());
  if (pass == Pass::kBackward) std::erase(in_backward_, module);
  for (const Place place : own) {
    parameters_[place].users.erase(module);
    if (released.contains(place)) ReleaseOne(place);
  }
}

// release_backward_leftovers
void PartitionedParameters::ReleaseLeftovers() {
  while (!in_backward_.empty()) {
    const Module module = in_backward_.back();
    in_backward_.pop_back();
    for (const Place place : ParametersOf(module)) {
      parameters_[place].users.erase(module);
      if (!parameters_[place].is_small) ReleaseOne(place);
    }
  }
}

// release_and_reset_all
void PartitionedParameters::ReleaseAll() {
  for (Place place = 0; place < parameters_.size(); ++place) {
    WaitFor(place);
    parameters_[place].users.clear();
    ReleaseOne(place);
  }
}

// _post_step
void PartitionedParameters::GatherSmall() {
  std::vector<Place> places;
  for (Place place = 0; place < parameters_.size(); ++place) {
    const Parameter& parameter = parameters_[place];
    if (parameter.is_small && parameter.status == Status::kApart) places.push_back(place);
  }
  for (const Place place : places) {
    GiveMemory(parameters_[place], Padded(parameters_[place]), "aten::empty");
  }
  for (const Place place : places) {
    Parameter& parameter = parameters_[place];
    d_.Call("steelyard::gather_parameters", std::vector{parameter.whole}, Padded(parameter));
    parameter.status = Status::kWhole;
    d_.Keep(parameter.whole);
  }
}

// --- The order of calls --------------------------------------------------------------------------

// assert_ints_same_as_other_ranks: of a list of numbers the length, and then the numbers.
void PartitionedParameters::CompareNumbers(std::size_t count) {
  for (const auto numbers : {std::int64_t{1}, static_cast<std::int64_t>(count)}) {
    d_.Call("aten::empty.memory_format", Dims{numbers}, DType::kInt64);
  }
}

// construct_parameter_trace_from_module_trace
void PartitionedParameters::CompleteTrace() {
  uses_.clear();
  for (std::size_t step = 0; step < order_.size(); ++step) {
    std::vector<Place> own = ParametersOf(order_[step]);
    std::ranges::sort(own);
    for (const Place place : own) uses_.emplace_back(place, static_cast<std::int64_t>(step));
  }
  trace_ = Trace::kComplete;
}

// reset_step
void PartitionedParameters::BeginForward() {
  const Dispatcher::GradMode off(d_, false);
  WaitForAll();
  if (!options_.first_step) {
    if (trace_ == Trace::kNone) CompleteTrace();
  } else if (trace_ != Trace::kComplete) {
    CompareNumbers(order_.size());
    if (trace_ == Trace::kNone) {
      trace_ = Trace::kRecorded;
    } else {
      CompleteTrace();
      for (int list = 0; list < 2; ++list) CompareNumbers(uses_.size());
    }
  }
  next_.assign(uses_.begin(), uses_.end());
  fetched_for_.assign(parameters_.size(), kNever);
  step_ = 0;
  live_ = 0;
}

// fetch_sub_module
void PartitionedParameters::Fetch(Module module, Pass pass) {
  const Dispatcher::GradMode off(d_, false);
  if (trace_ == Trace::kRecorded) {
    order_.push_back(module);
    d_.RecordModule(static_cast<std::int64_t>(module));
  } else if (static_cast<std::size_t>(step_) >= order_.size() ||
             order_[static_cast<std::size_t>(step_)] != module) {
    Refuse("a step of which the modules' order is another one than in the step before");
  }
  const bool has_begun = std::ranges::count(in_backward_, module) > 0;
  if (pass == Pass::kBackward && !has_begun) in_backward_.push_back(module);
  Gather(ParametersOf(module));
  for (const Place place : ParametersOf(module)) {
    parameters_[place].users.insert(module);
    OnStream(d_, stream(), [&] { WaitFor(place); });
  }
  if (trace_ == Trace::kComplete) GatherAhead(module);
  ++step_;
}

void PartitionedParameters::GatherAhead(Module module) {
  std::set<Place> fetched, passed;
  for (const Place place : ParametersOf(module)) {
    if (fetched_for_[place] < step_) fetched.insert(place);
  }
  while (!next_.empty() && passed.size() < fetched.size()) {
    const auto [place, step] = next_.front();
    next_.pop_front();
    fetched_for_[place] = step;
    passed.insert(place);
  }
  if (passed != fetched) {
    Refuse("DeepSpeed raises an error here, having gathered other parameters than come next",
           "A parameter is used by several modules: stage 2 keeps all of them whole.");
  }
  if (options_.ahead == 0) return;
  const std::int64_t most = std::min(options_.live - live_, options_.ahead);
  std::vector<Place> places;
  std::int64_t elements = 0;
  while (!next_.empty() && elements < most) {
    const auto [place, step] = next_.front();
    next_.pop_front();
    const bool is_new = std::ranges::count(places, place) == 0;
    fetched_for_[place] = std::max(fetched_for_[place], step);
    if (parameters_[place].status != Status::kApart || !is_new) continue;
    places.push_back(place);
    elements += parameters_[place].elements;
  }
  Gather(std::move(places));
}

}  // namespace steelyard::ops
