// SPDX-License-Identifier: Apache-2.0
//
// Written like FSDPState and FSDPParamGroup, whose methods the functions below are named after, so
// that tensors die where theirs do.
#include "ops/parallel/fully_shard.h"

#include <fmt/core.h>

#include <memory>
#include <span>
#include <string_view>

#include "ir/layout.h"
#include "ops/parallel/streams.h"

namespace steelyard::ops {
namespace {

// RegisterPostBackwardFunction: gives its arguments on, in both directions.
class ArgumentsReady final : public PythonFunction {
 public:
  ArgumentsReady(Sharder& shard, Sharder::UnitIndex unit) : shard_(shard), unit_(unit) {}

  std::string_view name() const override { return "RegisterPostBackwardFunctionBackward"; }

  std::vector<Tensor> Backward(Dispatcher&, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    shard_.OnArguments(unit_);
    return {arrived.begin(), arrived.end()};
  }

 private:
  Sharder& shard_;
  Sharder::UnitIndex unit_;
};

// What gradients are divided by besides.
struct Factors {
  bool averages = true;  // by the number of processes, while they are summed
  std::int64_t before = 1;
  double after = 1;
};

// A dtype in which sums may overflow is divided by about the root of the number of processes before
// and after it is summed (_get_gradient_divide_factors); of others the mean is taken.
Factors FactorsOf(DType dtype, std::int64_t ranks) {
  if (dtype == DType::kFloat32 || dtype == DType::kBFloat16) return {};
  Factors factors{.averages = false};
  while (ranks % factors.before == 0 && ranks > factors.before * factors.before) {
    factors.before *= 2;
  }
  factors.after = static_cast<double>(ranks) / static_cast<double>(factors.before);
  return factors;
}

}  // namespace

void Sharder::AddParameter(UnitIndex unit, Tensor part, std::int64_t rows) {
  units_[unit].parameters.push_back({.part = std::move(part), .rows = rows});
}

Sharder::UnitIndex Sharder::Checked(std::int64_t unit) const {
  if (unit < 0 || unit >= std::ssize(units_)) Refuse("a unit that the model has not");
  return static_cast<UnitIndex>(unit);
}

std::vector<Tensor> Sharder::WholeOnes(const Unit& unit) {
  std::vector<Tensor> out;
  out.reserve(unit.parameters.size());
  for (const Parameter& parameter : unit.parameters) out.push_back(parameter.whole);
  return out;
}

Tensor Sharder::WholeOf(UnitIndex unit, ValueId part) const {
  for (const Parameter& parameter : units_[unit].parameters) {
    if (parameter.part.id() == part) return parameter.whole;
  }
  return {};
}

std::string Sharder::Record(std::string_view what, const Unit& unit) const {
  return unit.path.empty() ? fmt::format("FSDP::{}", what)
                           : fmt::format("FSDP::{} ({})", what, unit.path);
}

// --- Parameters ----------------------------------------------------------------------------------

// FSDPParamGroup.unshard
void Sharder::Gather(Unit& unit) {
  if (unit.gathered.defined() || unit.is_whole || unit.parameters.empty()) return;
  const Dispatcher::GradMode off(d_, false);
  const Dispatcher::Inside record(d_, Record("all_gather", unit));
  DType dtype = ComputeDType(unit.parameters[0]);
  std::int64_t count = 0, bytes = 0;
  for (const Parameter& parameter : unit.parameters) {
    const DType own = ComputeDType(parameter);
    if (own != dtype) dtype = DType::kUInt8;  // they travel as bytes
    count += parameter.part.count();
    bytes += parameter.part.count() * BitsOf(own) / 8;
  }
  if (dtype == DType::kUInt8) count = bytes;
  OnStream(d_, kGatherStream, [&] {
    const Tensor cast = CastParts(unit);
    unit.gathered = d_.Call("steelyard::gather_buffer", Dims{count * options_.ranks}, dtype);
    d_.Call("steelyard::all_gather_into", unit.gathered);
  });
}

DType Sharder::ComputeDType(const Parameter& parameter) const {
  const DType own = parameter.part.dtype();
  return IsFloating(own) ? options_.compute.value_or(own) : own;
}

// In one piece; undefined where none is cast.
Tensor Sharder::CastParts(const Unit& unit) {
  std::int64_t count = 0;
  for (const Parameter& parameter : unit.parameters) {
    if (ComputeDType(parameter) != parameter.part.dtype()) count += parameter.part.count();
  }
  if (count == 0) return {};
  return d_.Call("steelyard::gather_buffer", Dims{count}, *options_.compute);
}

// One whole parameter, with memory for a whole number of equal parts.
Tensor Sharder::Whole(const Parameter& parameter) {
  const Dims padded{parameter.part.count() * options_.ranks};
  const DType dtype = ComputeDType(parameter);
  const Tensor stored = options_.first_step ? d_.Call("aten::empty.memory_format", padded, dtype)
                                            : d_.Call("steelyard::gathered", padded, dtype);
  Dims sizes(parameter.part.sizes());
  sizes[0] = parameter.rows;
  Tensor whole = d_.Call("aten::as_strided", stored, sizes, ContiguousStrides(sizes));
  d_.autograd().MakeLeaf(whole.id(), parameter.part.requires_grad());
  return whole;
}

// FSDPParamGroup.wait_for_unshard
void Sharder::CopyOut(Unit& unit) {
  if (!unit.gathered.defined()) return;
  if (unit.state == State::kForward) copied_.reset();
  {
    const Dispatcher::GradMode off(d_, false);
    const Dispatcher::Inside record(d_, Record("all_gather_copy_out", unit));
    for (Parameter& parameter : unit.parameters) {
      if (parameter.whole.defined()) {
        d_.Call("steelyard::renew_storage", parameter.whole);
      } else {
        parameter.whole = Whole(parameter);
      }
    }
    d_.Call("steelyard::copy_out_of", WholeOnes(unit), options_.ranks);
  }
  unit.is_whole = true;
  if (unit.state == State::kForward) copied_ = std::move(unit.gathered);
  unit.gathered.reset();
}

// FSDPParamGroup.reshard
void Sharder::Release(Unit& unit) {
  if (!std::exchange(unit.is_whole, false)) return;
  for (const Parameter& parameter : unit.parameters) {
    d_.Call("steelyard::release_storage", parameter.whole);
  }
}

// --- The forward pass ----------------------------------------------------------------------------

void Sharder::EnterUnit(UnitIndex index, std::vector<Tensor>& arguments) {
  Unit& unit = units_[index];
  if (options_.cast_inputs && options_.compute) {
    CastFloating("FSDP::cast_forward_inputs", *options_.compute, arguments);
  }
  if (unit.parameters.empty()) return;
  const Dispatcher::Inside record(d_, Record("pre_forward", unit));
  unit.state = State::kForward;
  Gather(unit);
  CopyOut(unit);
  if (d_.grad_enabled()) RegisterArguments(index, arguments);
}

void Sharder::CastFloating(std::string_view record, DType dtype, std::vector<Tensor>& tensors) {
  const Dispatcher::Inside inside(d_, record);
  for (Tensor& tensor : tensors) {
    if (!tensor.defined() || !IsFloating(tensor.dtype()) || tensor.dtype() == dtype) continue;
    tensor = d_.Call("aten::to.dtype", tensor, dtype);
  }
}

void Sharder::RegisterArguments(UnitIndex index, std::vector<Tensor>& arguments) {
  const Node context = d_.context();
  FunctionCall call{.function = std::make_unique<ArgumentsReady>(*this, index),
                    .saves_operands = false};
  std::vector<Tensor> results;
  for (Tensor& argument : arguments) {
    if (!argument.defined() || !argument.requires_grad()) continue;
    const Dispatcher::GradMode off(d_, false);
    call.operands.push_back(argument);
    results.push_back(d_.Call("aten::alias", argument));
    argument = results.back();
  }
  if (results.empty()) return;
  call.sequence = d_.autograd().TakeSequence();
  d_.autograd().AddFunction(std::move(call), results, context);
}

void Sharder::LeaveUnit(UnitIndex index, std::vector<Tensor>& results) {
  Unit& unit = units_[index];
  if (!unit.parameters.empty()) {
    const Dispatcher::Inside record(d_, Record("post_forward", unit));
    if (index != kRoot && !options_.keep_gathered) Release(unit);
    unit.calls.push_back(order_.size());
    order_.push_back(index);
    unit.state = State::kIdle;
  }
  for (const Tensor& result : results) {
    if (!result.defined() || !result.requires_grad()) continue;
    hooks_.emplace_back(d_.autograd().EdgeOf(result.id()).node, index);
  }
  if (index != kRoot) return;
  copied_.reset();
  if (options_.output) CastFloating("FSDP::cast_forward_outputs", *options_.output, results);
  arguments_.clear();
}

// --- The backward pass ---------------------------------------------------------------------------

void Sharder::BeforeNode(GradNodeId node) {
  for (const auto& [hooked, unit] : hooks_) {
    if (hooked == node) BeforeBackward(units_[unit]);
  }
}

// FSDPParamGroup.pre_backward
void Sharder::BeforeBackward(Unit& unit) {
  if (unit.parameters.empty() || unit.state == State::kBeforeBackward) return;
  const Dispatcher::Inside record(d_, Record("pre_backward", unit));
  unit.state = State::kBeforeBackward;
  Gather(unit);
  CopyOut(unit);
  GatherNext(unit);
}

// What was left before this unit comes after it now.
void Sharder::GatherNext(Unit& unit) {
  if (unit.calls.empty()) return;
  const std::size_t place = unit.calls.back();
  unit.calls.pop_back();
  if (place == 0) return;
  Unit& next = units_[order_[place - 1]];
  const Dispatcher::Inside record(d_, fmt::format("FSDP::backward_prefetch for {}", next.path));
  Gather(next);
}

void Sharder::OnArguments(UnitIndex unit) { AfterBackward(units_[unit]); }

// FSDPParamGroup.post_backward
void Sharder::AfterBackward(Unit& unit) {
  unit.state = State::kAfterBackward;
  std::vector<std::pair<ValueId, Tensor>> gradients;
  {
    const Dispatcher::Inside record(d_, Record("post_backward_reshard", unit));
    for (const Parameter& parameter : unit.parameters) {
      if (!parameter.whole.defined()) continue;
      Tensor gradient = d_.autograd().TakeGradient(parameter.whole.id());
      if (gradient.defined()) gradients.emplace_back(parameter.part.id(), std::move(gradient));
    }
    Release(unit);
  }
  if (reduced_.defined()) {
    const Dispatcher::Inside record(d_, fmt::format("FSDP::post_backward_rs_wait ({})", unit.path));
    reduced_.reset();
  }
  if (!gradients.empty()) Reduce(unit, std::move(gradients));
}

// foreach_reduce
void Sharder::Reduce(Unit& unit, std::vector<std::pair<ValueId, Tensor>> gradients) {
  const Dispatcher::GradMode off(d_, false);
  const Dispatcher::Inside record(d_, Record("post_backward_reduce", unit));
  const DType own = d_.ViewOf(gradients[0].first).dtype();
  const DType dtype = options_.reduce.value_or(own);
  std::int64_t count = 0;
  for (const auto& [part, gradient] : gradients) count += d_.ViewOf(part).count();
  reduced_ = d_.Call("aten::empty.memory_format", Dims{count * options_.ranks}, dtype);
  std::vector<ValueId> parts;
  std::vector<Tensor> whole;
  for (auto& [part, gradient] : gradients) {
    parts.push_back(part);
    whole.push_back(std::move(gradient));
  }
  d_.Call("steelyard::chunk_cat_into", whole, reduced_, options_.ranks);
  while (!whole.empty()) whole.pop_back();
  Tensor sums;
  OnStream(d_, kReduceStream,
           [&] { sums = d_.Call("steelyard::reduced_buffer", Dims{count}, dtype); });
  const Factors factors = FactorsOf(dtype, options_.ranks);
  const Dispatcher::FromPython python(d_);
  if (factors.before != 1) d_.Call("aten::div_.Tensor", reduced_, factors.before);
  d_.Call("steelyard::reduce_scatter_into", sums, reduced_, factors.averages);
  if (factors.after != 1) d_.Call("aten::div_.Tensor", sums, factors.after);
  const Tensor reduced = sums;  // until the function returns
  if (dtype != own) {
    OnStream(d_, kReduceStream, [&] { sums = d_.Call("steelyard::cast_reduced", reduced, own); });
  }
  std::int64_t begin = 0;
  for (const ValueId part : parts) {
    const Dims sizes(d_.ViewOf(part).sizes()), strides(d_.ViewOf(part).strides());
    const std::int64_t size = d_.ViewOf(part).count();
    d_.autograd().SetGradient(part, d_.Call("aten::as_strided", sums, sizes, strides, begin));
    begin += size;
  }
}

// FSDPState._root_post_backward_final_callback
void Sharder::OnBackwardEnd() {
  {
    const Dispatcher::Inside record(d_, "FSDP::root_post_backward_callback");
    for (Unit& unit : units_) {
      if (!unit.parameters.empty() && unit.state != State::kAfterBackward) AfterBackward(unit);
      unit.state = State::kIdle;
    }
    for (Unit& unit : units_) unit.gathered.reset();
    reduced_.reset();
  }
  for (Unit& unit : units_) {
    for (Parameter& parameter : unit.parameters) {
      parameter.whole.reset();
      parameter.part.reset();
    }
  }
}

}  // namespace steelyard::ops
