// SPDX-License-Identifier: Apache-2.0
//
// Written like DeepSpeedZeroOptimizer_Stage3 and DeepSpeedZeRoOffload, whose methods the functions
// below stand for, so that tensors die where theirs do.
#include "ops/parallel/partitioned_optimizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "ir/layout.h"
#include "ops/parallel/buckets.h"
#include "ops/parallel/engine_norm.h"
#include "ops/parallel/streams.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

Tensor Flat(Dispatcher& d, const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  return d.Call("aten::as_strided", tensor, Dims{count}, Dims{1}, begin);
}

// Gives its argument on, in both directions, and tells of its gradient.
class Hook final : public PythonFunction {
 public:
  using Told = void (PartitionedOptimizer::*)(PartitionedOptimizer::Module module);
  Hook(std::string_view name, PartitionedOptimizer& optimizer, PartitionedOptimizer::Module module,
       Told told)
      : name_(name), optimizer_(optimizer), module_(module), told_(told) {}

  std::string_view name() const override { return name_; }

  std::vector<Tensor> Backward(Dispatcher&, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    (optimizer_.*told_)(module_);
    return {arrived.begin(), arrived.end()};
  }

 private:
  std::string_view name_;
  PartitionedOptimizer& optimizer_;
  PartitionedOptimizer::Module module_;
  Told told_;
};

Tensor Hooked(Dispatcher& d, const Tensor& tensor, std::unique_ptr<Hook> hook) {
  const Node context = d.context();
  FunctionCall call{.function = std::move(hook),
                    .operands = {tensor},
                    .saves_operands = false,
                    .sequence = d.autograd().TakeSequence()};
  Tensor given;
  {
    const Dispatcher::GradMode off(d, false);
    given = d.Call("aten::detach", tensor);
  }
  d.autograd().AddFunction(std::move(call), {&given, 1}, context);
  return given;
}

std::int64_t& At(std::vector<std::int64_t>& counts, std::size_t i) {
  if (i >= counts.size()) counts.resize(i + 1, 0);
  return counts[i];
}

}  // namespace

// --- The engine is made --------------------------------------------------------------------------

Tensor PartitionedOptimizer::AddGroup(const std::vector<Tensor>& parts) {
  Group group{.parts = parts};
  for (const Tensor& part : parts) {
    sum_of_[part.id()] = summed_ + group.count;
    group.count += part.count();
  }
  summed_ += group.count;
  group.master =
      d_.AddResident("master", Dims{group.count}, Dims{1}, DType::kFloat32, Role::kOptimizerState);
  d_.Keep(group.master);
  groups_.push_back(group);
  return group.master;
}

void PartitionedOptimizer::MakeBuffers() {
  const DType dtype = groups_[0].parts[0].dtype();
  std::vector<Tensor> parts;
  for (const Group& group : groups_) {
    parts.insert(parts.end(), group.parts.begin(), group.parts.end());
  }
  if (parts.size() > 1) {
    const Tensor flat = d_.AddResident("flat", Dims{summed_}, Dims{1}, dtype, Role::kParameter);
    d_.autograd().PutInto(flat, parts);
    d_.Keep(flat);
  }
  sums_ = d_.AddResident("gradients", Dims{summed_}, Dims{1}, dtype, Role::kGradient);
  if (options_.contiguous) {
    bucket_ = d_.AddResident("bucket", Dims{options_.bucket}, Dims{1}, dtype, Role::kGradient);
  }
  d_.Keep(
      d_.AddResident("inf_or_nan_tracker", Dims{1}, Dims{1}, DType::kBool, Role::kOptimizerState));
  if (options_.first_step) return;
  last_norm_ = d_.AddResident("norm", Dims(), Dims(), DType::kFloat64, Role::kOptimizerState);
}

// --- Hooks ---------------------------------------------------------------------------------------

// pre_sub_module_forward_function, _post_backward_module_hook
std::vector<Tensor> PartitionedOptimizer::EnterModule(Module module,
                                                      std::vector<Tensor> arguments) {
  if (module == PartitionedParameters::kRoot) parameters_.BeginForward();
  parameters_.Fetch(module, PartitionedParameters::Pass::kForward);
  std::vector<Tensor> results = parameters_.WholeOnes(module);
  At(arguments_left_, module) = 0;
  for (Tensor& argument : arguments) {
    if (d_.grad_enabled() && argument.requires_grad()) {
      ++arguments_left_[module];
      argument = Hooked(d_, argument,
                        std::make_unique<Hook>("PostBackwardFunctionModuleBackward", *this, module,
                                               &PartitionedOptimizer::EndBackward));
    }
    results.push_back(argument);
  }
  return results;
}

// post_sub_module_forward_function, _pre_backward_module_hook
std::vector<Tensor> PartitionedOptimizer::LeaveModule(Module module, std::vector<Tensor> results) {
  parameters_.Release(module, PartitionedParameters::Pass::kForward);
  for (Tensor& result : results) {
    ++At(results_left_, module);
    if (!d_.grad_enabled() || !result.requires_grad()) continue;
    result = Hooked(d_, result,
                    std::make_unique<Hook>("PreBackwardFunctionForModuleBackward", *this, module,
                                           &PartitionedOptimizer::BeginBackward));
  }
  return results;
}

void PartitionedOptimizer::BeginBackward(Module module) {
  if (results_left_[module] == 0) return;
  parameters_.Fetch(module, PartitionedParameters::Pass::kBackward);
  --results_left_[module];
}

void PartitionedOptimizer::EndBackward(Module module) {
  if (--arguments_left_[module] != 0) return;
  parameters_.Release(module, PartitionedParameters::Pass::kBackward);
}

// --- Gradients -----------------------------------------------------------------------------------

void PartitionedOptimizer::OnReady(ValueId parameter) {
  if (d_.autograd().IsSparse(d_.autograd().gradient(parameter).id())) {
    Refuse("sparse gradients are not modelled under DeepSpeed",
           "With sparse=False they are dense: as large as the parameters.");
  }
  const Dispatcher::Inside hook(d_, "torch::autograd::AccumulateGrad");
  const Dispatcher::FromPython python(d_);
  const Dispatcher::GradMode off(d_, false);
  PutIntoBucket(parameters_.PlaceOfLeaf(parameter));
}

// reduce_independent_p_g_buckets_and_remove_grads
void PartitionedOptimizer::PutIntoBucket(Place place) {
  const std::int64_t count = parameters_.elements(place);
  if (filled_elements_ + count > options_.bucket && filled_elements_ > 0) ReduceBucket();
  const Tensor gradient = Gradient(place);
  if (options_.contiguous && filled_elements_ + count <= options_.bucket) {
    const Dims sizes(gradient.sizes());
    const Tensor part =
        d_.Call("aten::as_strided", bucket_, sizes, ContiguousStrides(sizes), filled_elements_);
    d_.Call("aten::copy_", part, gradient);
    d_.autograd().SetGradient(parameters_.leaf(place), part);
  }
  filled_.push_back(place);
  filled_elements_ += count;
}

// __reduce_and_partition_ipg_grads
void PartitionedOptimizer::ReduceBucket() {
  if (filled_.empty()) return;
  std::ranges::sort(filled_);
  OnStream(d_, options_.overlaps ? kReduceStream : kComputeStream,
           [&] { KeepParts(AverageAndScatter()); });
  filled_.clear();
  filled_elements_ = 0;
}

// The gradients' parts of one process after the other, each parameter's filled up to the size of
// the first process's.
Tensor PartitionedOptimizer::PutSideBySide(const Tensors& gradients, Tensors& padding) {
  constexpr std::int64_t kMostRanks = 8192;  // each of which has a part of each gradient
  if (options_.ranks > kMostRanks) {
    Refuse(fmt::format("parts of {} processes are not modelled one by one", options_.ranks),
           fmt::format("Name {} at most: --ranks.", kMostRanks));
  }
  Tensors parts;
  for (std::int64_t rank = 0; rank < options_.ranks; ++rank) {
    for (const Tensor& gradient : gradients) {
      const std::int64_t size = DivideUp(gradient.count(), options_.ranks);
      const std::int64_t begin = std::min(rank * size, gradient.count());
      const std::int64_t count = std::min(size, gradient.count() - begin);
      parts.push_back(Flat(d_, gradient, begin, count));
      if (count == size) continue;
      padding.push_back(d_.Call("aten::empty.memory_format", Dims{size - count}, gradient.dtype()));
      parts.push_back(padding.back());
    }
  }
  return d_.Call("aten::cat", parts, 0);
}

// __avg_scatter_grads, reduce_scatter_coalesced: this process's part of each sum.
Tensors PartitionedOptimizer::AverageAndScatter() {
  Tensors gradients, padding;
  for (const Place place : filled_) {
    gradients.push_back(Gradient(place));
    if (gradients.back().is_contiguous()) continue;
    Refuse("DeepSpeed takes no gradient whose elements do not lie in a row",
           "Make the model's parameters contiguous.");
  }
  const bool is_even = gradients.size() == 1 && gradients[0].count() % options_.ranks == 0;
  const Tensor all = is_even ? d_.Call("aten::reshape", gradients[0], Dims{-1})
                             : PutSideBySide(gradients, padding);
  d_.Call("aten::div_.Tensor", all, static_cast<double>(options_.ranks));
  const std::int64_t of_rank = all.count() / options_.ranks;
  const std::int64_t first = options_.rank * of_rank;
  d_.Call("steelyard::reduce_scatter_into", Flat(d_, all, first, of_rank), all, false);
  Tensors parts;
  std::int64_t begin = first;
  for (const Tensor& gradient : gradients) {
    const std::int64_t size = DivideUp(gradient.count(), options_.ranks);
    const std::int64_t left = std::max<std::int64_t>(0, gradient.count() - options_.rank * size);
    parts.push_back(Flat(d_, all, begin, std::min(size, left)));
    begin += size;
  }
  Drop(gradients);
  Drop(padding);
  return parts;
}

Tensor PartitionedOptimizer::SumOf(Place place) {
  for (const Group& group : groups_) {
    for (const Tensor& part : group.parts) {
      if (parameters_.PlaceOfPart(part.id()) != place) continue;
      return Flat(d_, sums_, sum_of_.at(part.id()), part.count());
    }
  }
  Refuse("a gradient of a parameter that the engine does not step");
}

// partition_grads
void PartitionedOptimizer::KeepParts(const Tensors& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Place place = filled_[i];
    const Tensor& sum = sums[i];
    if (parameters_.elements_of_part(place) * options_.rank < parameters_.elements(place)) {
      const Tensor kept = Flat(d_, SumOf(place), 0, sum.count());
      if (adds_) {
        d_.Call("aten::add_.Tensor", kept, sum);
      } else {
        d_.Call("aten::copy_", kept, sum);
      }
    }
    d_.autograd().ClearGradient(parameters_.leaf(place));
  }
}

// independent_gradient_partition_epilogue, backward_epilogue
void PartitionedOptimizer::ReduceRest() {
  const Outside python(d_);
  ReduceBucket();
  parameters_.ReleaseLeftovers();
  adds_ = true;
}

// --- The step ------------------------------------------------------------------------------------

// get_grad_norm_direct
Tensor PartitionedOptimizer::NormOf(const Group& group) {
  Tensors norms;
  for (const Tensor& part : group.parts) {
    const Tensor sum = Flat(d_, sums_, sum_of_.at(part.id()), part.count());
    const Tensor wide = d_.Call("aten::to.dtype", sum, DType::kFloat64);
    norms.push_back(d_.Call("aten::linalg_vector_norm", wide, 2.0));
  }
  Tensor squares;
  {
    Tensor each = d_.Call("aten::stack", norms);
    each = d_.Call("aten::pow.Tensor_Scalar", each, 2.0);
    squares = d_.Call("aten::sum", each);
  }
  d_.Call("steelyard::sum_across_", squares);
  Tensor norm = d_.Call("aten::pow.Tensor_Scalar", squares, 0.5);
  Tensor infinite = d_.Call("aten::isinf", norm);
  Tensor nan = d_.Call("aten::isnan", norm);
  Tensor either = d_.Call("aten::logical_or", nan, infinite);
  Tensor mark = d_.NumberTensor(kAnyNumber);
  norm = d_.Call("aten::where.self", either, mark, norm);
  Return(norms, squares, infinite, nan, either, mark);
  return norm;
}

// The first half of DeepSpeedZeroOptimizer_Stage3.step
void PartitionedOptimizer::TakeNorm() {
  const Outside python(d_);
  d_.UseStandIns();
  parameters_.ReleaseAll();
  for (const Group& group : groups_) norms_.push_back(NormOf(group));
  norm_ = CombineNorms(d_, norms_);
  AskWhetherInvalid(d_, norm_);
  Tensor told = d_.Call("aten::div.Tensor", norm_, 1.0);
  if (options_.first_step) d_.SetRole(told, Role::kOptimizerState);  // else it stands for the last
  d_.Keep(std::move(told));
}

// _prepare_fp32_grad_for_sub_group, unscale_and_clip_grads
void PartitionedOptimizer::SetMasterGradient(std::size_t index) {
  const Outside python(d_);
  const Group& group = groups_[index];
  Tensor gradient;
  {
    Tensors sums;
    for (const Tensor& part : group.parts) {
      sums.push_back(Flat(d_, sums_, sum_of_.at(part.id()), part.count()));
    }
    const Tensor flat = Flatten(d_, sums);
    gradient = d_.Call("aten::to.dtype", flat, DType::kFloat32);
  }
  d_.autograd().SetGradient(group.master.id(), gradient);
  if (options_.clips) {
    ScaleByNorm(d_, gradient, norm_);
  } else {
    d_.Call("aten::mul_.Tensor", gradient, 1.0);
  }
}

// _reassign_or_swap_out_partitioned_parameters, _release_sub_group
void PartitionedOptimizer::ReturnMaster(std::size_t index) {
  const Outside python(d_);
  const Group& group = groups_[index];
  d_.Call("steelyard::put_back", group.parts, group.master);
  d_.autograd().ClearGradient(group.master.id());
}

// _post_step
void PartitionedOptimizer::GatherParameters() {
  const Outside python(d_);
  parameters_.GatherSmall();
  Drop(norms_);
  norm_.reset();
  if (last_norm_.defined()) d_.Call("steelyard::release_storage", last_norm_);
  last_norm_.reset();
  groups_.clear();
}

}  // namespace steelyard::ops
