// SPDX-License-Identifier: Apache-2.0
//
// Written like DeepSpeedZeroOptimizer, whose methods the functions below stand for, so that tensors
// die where theirs do.
#include "ops/parallel/deepspeed.h"

#include <algorithm>
#include <utility>

#include "ir/layout.h"
#include "ops/optimizers/step.h"
#include "ops/parallel/buckets.h"
#include "ops/parallel/engine_norm.h"
#include "ops/parallel/streams.h"

namespace steelyard::ops {
namespace {

Tensor Flat(Dispatcher& d, const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  return d.Call("aten::as_strided", tensor, Dims{count}, Dims{1}, begin);
}

// deepspeed.runtime.utils.has_inf_or_nan
Tensor HasInfOrNan(Dispatcher& d, const Tensor& tensor) {
  const auto is_finite = [&](OpName extreme) {
    const Tensor number = d.Call(extreme, tensor);
    return d.Call("aten::isfinite", number);
  };
  Tensor both;
  {
    const Tensor above = is_finite("aten::amax");
    const Tensor below = is_finite("aten::amin");
    both = d.Call("aten::logical_and", above, below);
  }
  return d.Call("aten::logical_not", both);
}

// deepspeed.runtime.utils.mask_nan_or_inf_with_val_inplace
void MaskInvalid(Dispatcher& d, const Tensor& norm) {
  Tensor infinite = d.Call("aten::isinf", norm);
  Tensor nan = d.Call("aten::isnan", norm);
  Tensor either = d.Call("aten::logical_or", nan, infinite);
  Tensor mark = d.Call("aten::empty.memory_format", Dims(), DType::kFloat32);
  d.Call("aten::masked_fill_.Tensor", norm, either, mark);
  Return(infinite, nan, either, mark);
}

// DeepSpeedZeroOptimizer.unscale_and_clip_grads, where the loss is not scaled
void Clip(Dispatcher& d, const Tensor& gradient, const Tensor& norm) {
  AskWhetherInvalid(d, norm);
  ScaleByNorm(d, gradient, norm);
}

}  // namespace

// --- The engine is made --------------------------------------------------------------------------

Tensor ZeroOptimizer::AddGroup(const std::vector<Tensor>& parameters) {
  Group& group = groups_.emplace_back();
  std::int64_t elements = 0;
  for (const Tensor& parameter : parameters) {
    group.parameters.push_back(parameters_.size());
    places_[parameter.id()] = parameters_.size();
    parameters_.push_back({.id = parameter.id(),
                           .group = groups_.size() - 1,
                           .begin = elements,
                           .count = parameter.count()});
    elements += parameter.count();
  }
  group.partition = PartitionOf(elements, options_.ranks);
  const std::int64_t padded = group.partition * options_.ranks;
  group.whole = parameters;
  if (parameters.size() > 1) {
    const Tensor flat = d_.AddResident("flat", Dims{padded}, Dims{1}, dtype(), Role::kParameter);
    d_.autograd().PutInto(flat, parameters);
    d_.Keep(flat);
  } else if (padded > elements) {
    d_.Keep(d_.AddResident("padding", Dims{padded - elements}, Dims{1}, dtype(), Role::kParameter));
  }
  group.master = d_.AddResident("master", Dims{group.partition}, Dims{1}, DType::kFloat32,
                                Role::kOptimizerState);
  d_.Keep(group.master);
  if (groups_.size() == 1 && !options_.first_step) {
    last_norm_ = d_.AddResident("norm", Dims(), Dims(), DType::kFloat32, Role::kOptimizerState);
  }
  return group.master;
}

ZeroOptimizer::Slice ZeroOptimizer::Within(const Parameter& parameter, std::int64_t rank) const {
  const std::int64_t size = groups_[parameter.group].partition;
  const std::int64_t begin = std::max(rank * size, parameter.begin);
  const std::int64_t end = std::min((rank + 1) * size, parameter.begin + parameter.count);
  return {.rank = rank,
          .begin = begin - parameter.begin,
          .count = std::max<std::int64_t>(0, end - begin)};
}

// --- Gradients -----------------------------------------------------------------------------------

// process_gradients
void ZeroOptimizer::OnReady(ValueId parameter) {
  const auto place = places_.find(parameter);
  if (place == places_.end()) return;
  if (d_.autograd().IsSparse(d_.autograd().gradient(parameter).id())) {
    Refuse("sparse gradients are not modelled under DeepSpeed",
           "With sparse=False they are dense: as large as the parameters.");
  }
  const Dispatcher::Inside hook(d_, "torch::autograd::AccumulateGrad");
  const Dispatcher::FromPython python(d_);
  MakeBuckets();
  if (options_.stage == 2 || (options_.overlaps && IsLast())) PutIntoBucket(place->second);
}

// setup_buckets
void ZeroOptimizer::MakeBuckets() {
  if (!buckets_.empty() || !options_.contiguous) return;
  for (int i = 0; i < (options_.overlaps ? 2 : 1); ++i) {
    buckets_.push_back(d_.Call("aten::empty.memory_format", Dims{options_.bucket}, dtype()));
    d_.SetRole(buckets_.back(), Role::kGradient);
  }
}

// reduce_independent_p_g_buckets_and_remove_grads
void ZeroOptimizer::PutIntoBucket(std::size_t place) {
  const Parameter& parameter = parameters_[place];
  if (parameter.count == 0) return;
  if (filled_elements_ + parameter.count > options_.bucket) {
    ReduceBucket();
    if (options_.overlaps) current_ = 1 - current_;
  }
  Tensor gradient = d_.autograd().gradient(parameter.id);
  if (!options_.contiguous) {
    apart_.push_back(std::move(gradient));
  } else if (!gradient.is_contiguous()) {
    Refuse("DeepSpeed takes no gradient whose elements do not lie in a row",
           "Make the model's parameters contiguous.");
  } else if (parameter.count > options_.bucket) {
    large_ = place;
  } else {
    const Dims sizes(gradient.sizes());
    const Tensor part = d_.Call("aten::as_strided", buckets_[current_], sizes,
                                ContiguousStrides(sizes), filled_elements_);
    d_.Call("aten::copy_", part, gradient);
    d_.autograd().SetGradient(parameter.id, part);
    // Of a pass that keeps all of them they are what rests until it ends.
    if (options_.stage == 2) d_.SetRole(gradient, Role::kActivation);
  }
  filled_elements_ += parameter.count;
  filled_.push_back(place);
}

// reduce_ipg_grads
void ZeroOptimizer::ReduceBucket() {
  OnStream(d_, options_.overlaps ? kReduceStream : kComputeStream, [&] { AverageAndKeep(); });
  filled_.clear();
  filled_elements_ = 0;
  Drop(apart_);
}

void ZeroOptimizer::AverageAndKeep() {
  Tensor bucket;
  if (options_.contiguous) {
    bucket =
        large_ ? d_.Call("aten::reshape", d_.autograd().gradient(parameters_[*large_].id), Dims{-1})
               : Flat(d_, buckets_[current_], 0, filled_elements_);
    Average(bucket);
    large_.reset();
  } else if (!apart_.empty()) {
    AverageApart();
  }
  for (const std::size_t place : filled_) {
    const Parameter& parameter = parameters_[place];
    if (IsMine(parameter)) {
      if (options_.contiguous) KeepInPartition(parameter);
    } else if (options_.stage == 2) {
      d_.autograd().ClearGradient(parameter.id);
    }
  }
}

// buffered_reduce_fallback
void ZeroOptimizer::AverageApart() {
  const Tensor sums = Flatten(d_, apart_);
  d_.Call("aten::div_.Tensor", sums, static_cast<double>(options_.ranks));
  d_.Call("steelyard::sum_across_", sums);
  std::int64_t begin = 0;
  for (const Tensor& gradient : apart_) {
    const Dims sizes(gradient.sizes());
    d_.Call("aten::copy_", gradient,
            d_.Call("aten::as_strided", sums, sizes, ContiguousStrides(sizes), begin));
    begin += gradient.count();
  }
}

// Neighbours that go to one process are one.
std::vector<ZeroOptimizer::Slice> ZeroOptimizer::SlicesOfBucket() const {
  std::vector<Slice> slices;
  std::int64_t begin = 0;
  for (const std::size_t place : filled_) {
    for (std::int64_t rank = 0; rank < options_.ranks; ++rank) {
      const std::int64_t count = Within(parameters_[place], rank).count;
      if (count == 0) continue;
      if (!slices.empty() && slices.back().rank == rank) {
        slices.back().count += count;
      } else {
        slices.push_back({.rank = rank, .begin = begin, .count = count});
      }
      begin += count;
    }
  }
  return slices;
}

// average_tensor, allreduce_and_scatter
void ZeroOptimizer::Average(const Tensor& bucket) {
  d_.Call("aten::div_.Tensor", bucket, static_cast<double>(options_.ranks));
  std::vector<Slice> together;
  std::int64_t elements = 0;
  for (const Slice& slice : SlicesOfBucket()) {
    together.push_back(slice);
    elements += slice.count;
    if (elements <= options_.bucket) continue;
    SumAcross(bucket, together);
    together.clear();
    elements = 0;
  }
  if (!together.empty()) SumAcross(bucket, together);
}

// allreduce_and_copy_with_multiple_ranks
void ZeroOptimizer::SumAcross(const Tensor& bucket, const std::vector<Slice>& slices) {
  Tensors parts;
  parts.reserve(slices.size());
  for (const Slice& slice : slices) parts.push_back(Flat(d_, bucket, slice.begin, slice.count));
  const Tensor sums = Flatten(d_, parts);
  d_.Call("steelyard::sum_across_", sums);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (slices[i].rank == options_.rank) {
      d_.Call("aten::copy_", parts[i], Flat(d_, sums, begin, slices[i].count));
    }
    begin += slices[i].count;
  }
}

// copy_grads_in_partition
void ZeroOptimizer::KeepInPartition(const Parameter& parameter) {
  if (!kept_.defined()) {
    std::int64_t elements = 0;
    for (const Parameter& other : parameters_) {
      if (IsMine(other)) elements += other.count;
    }
    kept_ = d_.Call("aten::empty.memory_format", Dims{elements}, dtype());
    d_.SetRole(kept_, Role::kGradient);
    kept_elements_ = 0;
  }
  Tensor gradient = d_.autograd().gradient(parameter.id);
  const Dims sizes(gradient.sizes());
  const Tensor own =
      d_.Call("aten::as_strided", kept_, sizes, ContiguousStrides(sizes), kept_elements_);
  d_.Call("aten::copy_", own, gradient);
  d_.autograd().SetGradient(parameter.id, own);
  kept_elements_ += parameter.count;
}

// reduce_gradients, independent_gradient_partition_epilogue
void ZeroOptimizer::ReduceRest() {
  const bool is_last = IsLast();
  ++ended_;
  if (options_.stage == 1 && !is_last) return;
  const Outside python(d_);
  if (options_.stage == 1 && !options_.overlaps) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (d_.autograd().gradient(parameters_[i].id).defined()) PutIntoBucket(i);
    }
  }
  if (buckets_.empty() && options_.contiguous)
    Refuse("no parameter has a gradient that DeepSpeed could reduce");
  ReduceBucket();
  Tensors added;  // variables of the function, which outlive the loops
  Tensor last;
  for (Group& group : groups_) {
    Tensors gradients = MyGradients(group);
    if (group.summed.empty()) {
      group.summed = std::move(gradients);
    } else {
      Set(added, std::move(gradients));
      for (std::size_t i = 0; i < added.size(); ++i) {
        last = added[i];
        d_.Call("aten::add_.Tensor", group.summed[i], last);
      }
    }
    if (is_last) CollectAveraged(group);
  }
  Drop(buckets_);
  current_ = 0;
  kept_.reset();
  for (const Parameter& parameter : parameters_) d_.autograd().ClearGradient(parameter.id);
  Return(added, last);
}

// get_all_grad_tensors
std::vector<Tensor> ZeroOptimizer::MyGradients(const Group& group) {
  Tensors gradients;
  for (const std::size_t place : group.parameters) {
    const Parameter& parameter = parameters_[place];
    if (!IsMine(parameter)) continue;
    Tensor gradient = d_.autograd().gradient(parameter.id);
    if (!gradient.defined()) {
      gradient = d_.Call("aten::zeros_like", Tensor(&d_, parameter.id));
    }
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

// get_flat_partition
void ZeroOptimizer::CollectAveraged(Group& group) {
  std::int64_t elements = 0;
  std::size_t next = 0;
  for (const std::size_t place : group.parameters) {
    const Slice slice = Within(parameters_[place], options_.rank);
    if (slice.count == 0) continue;
    const Tensor& gradient = group.summed[next++];
    elements += slice.count;
    if (slice.count == parameters_[place].count) {
      group.averaged.push_back(gradient);
    } else {
      const Tensor row = d_.Call("aten::reshape", gradient, Dims{-1});
      group.averaged.push_back(
          d_.Call("aten::slice.Tensor", row, 0, slice.begin, slice.begin + slice.count));
    }
  }
  if (elements < group.partition) {
    group.averaged.push_back(d_.Call("aten::zeros", Dims{group.partition - elements}, dtype()));
  }
  Drop(group.summed);
}

// --- The step ------------------------------------------------------------------------------------

// check_overflow
void ZeroOptimizer::CheckOverflow() {
  Tensor found;
  {
    const Tensor count = d_.Call("aten::zeros", Dims{1}, DType::kFloat32);
    for (const Group& group : groups_) {
      for (const Tensor& gradient : group.averaged) {
        const Tensor one = HasInfOrNan(d_, gradient);
        d_.Call("aten::add_.Tensor", count, one);
      }
    }
    found = d_.Call("aten::to.dtype", count, DType::kBool);
  }
  const Tensor told = d_.Call("aten::to.dtype", found, DType::kUInt8);
  d_.Call("steelyard::sum_across_", told);
  found.reset();
}

// get_grad_norm_direct
Tensor ZeroOptimizer::NormOf(const Group& group) {
  Tensors norms;
  std::size_t count = 0;
  for (const std::size_t place : group.parameters) count += IsMine(parameters_[place]) ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor wide = d_.Call("aten::to.dtype", group.averaged[i], DType::kFloat64);
    norms.push_back(d_.Call("aten::linalg_vector_norm", wide, 2.0));
  }
  Tensor total;
  if (norms.empty()) {
    total = d_.Call("aten::empty.memory_format", Dims(), DType::kFloat32);
  } else {
    Tensor squares = d_.Call("aten::stack", norms);
    squares = d_.Call("aten::pow.Tensor_Scalar", squares, 2.0);
    squares = d_.Call("aten::sum", squares);
    total = d_.Call("aten::to.dtype", squares, DType::kFloat32);
  }
  d_.Call("steelyard::sum_across_", total);
  total = d_.Call("aten::pow.Tensor_Scalar", total, 0.5);
  MaskInvalid(d_, total);
  Drop(norms);
  return total;
}

// The first half of DeepSpeedZeroOptimizer.step
void ZeroOptimizer::TakeNorm() {
  const Outside python(d_);
  d_.UseStandIns();
  const bool is_low = dtype() == DType::kBFloat16;
  if (is_low && options_.checks_overflow) CheckOverflow();
  {
    Tensors norms;
    for (const Group& group : groups_) norms.push_back(NormOf(group));
    norm_ = CombineNorms(d_, norms);
  }
  if (!is_low || options_.checks_overflow) AskWhetherInvalid(d_, norm_);
  Tensor told = d_.Call("aten::div.Tensor", norm_, 1.0);
  if (options_.first_step) d_.SetRole(told, Role::kOptimizerState);  // else it stands for the last
  d_.Keep(std::move(told));
}

// The gradient of the master is a copy of what was averaged, which goes.
void ZeroOptimizer::SetMasterGradient(std::size_t index) {
  const Outside python(d_);
  Group& group = groups_[index];
  Tensor gradient;
  {
    const Tensor flat = Flatten(d_, group.averaged);
    gradient = d_.Call("aten::to.dtype", flat, DType::kFloat32);
  }
  d_.autograd().SetGradient(group.master.id(), gradient);
  Drop(group.averaged);
  if (options_.clips) Clip(d_, gradient, norm_);
}

void ZeroOptimizer::ReturnMaster(std::size_t index) {
  const Outside python(d_);
  Group& group = groups_[index];
  d_.autograd().ClearGradient(group.master.id());
  d_.Call("steelyard::put_back", group.whole, group.master);
  group.master.reset();
}

void ZeroOptimizer::GatherParameters() {
  const Outside python(d_);
  for (Group& group : groups_) {
    d_.Call("steelyard::gather_parameters", group.whole, group.partition * options_.ranks);
    Drop(group.whole);
  }
  norm_.reset();
  if (last_norm_.defined()) d_.Call("steelyard::release_storage", last_norm_);
  last_norm_.reset();
}

}  // namespace steelyard::ops
