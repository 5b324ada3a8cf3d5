// SPDX-License-Identifier: Apache-2.0
//
// What a training step of several processes runs besides the step of one: the loop that averages
// gradients, DistributedDataParallel, and ZeroRedundancyOptimizer.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/optimizers/step.h"
#include "ops/parallel/buckets.h"
#include "ops/parallel/ranks.h"
#include "ops/parallel/reducer.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "steelyard/units.h"

namespace steelyard::ops {
namespace {

// --- A loop over all gradients -------------------------------------------------------------------

// As torch.nn.parallel.DistributedDataParallel fills them: a small first one, so that the sums
// begin early; then so many bytes, in MiB.
constexpr std::array<std::int64_t, 2> kBucketLimits = {1 * kMiB, 25 * kMiB};

// Gradients that are summed at once, about in the order in which a backward pass makes them.
std::vector<std::vector<Tensor>> BucketsOf(Dispatcher& d, const OpView& op) {
  std::vector<TensorView> parameters = op.tensors(0);
  std::ranges::reverse(parameters);
  std::vector<Tensor> gradients;
  std::vector<BucketMember> members;
  for (const TensorView& parameter : parameters) {
    Tensor gradient = d.autograd().gradient(parameter.id());
    if (!gradient.defined()) continue;
    members.push_back({.dtype = gradient.dtype(), .bytes = gradient.view().bytes()});
    gradients.push_back(std::move(gradient));
  }
  std::vector<std::vector<Tensor>> buckets;
  for (const std::vector<std::size_t>& places : AssignBuckets(members, kBucketLimits)) {
    std::vector<Tensor>& bucket = buckets.emplace_back();
    for (const std::size_t place : places) bucket.push_back(std::move(gradients[place]));
  }
  return buckets;
}

// parameters, ranks: each bucket is one tensor while it is summed, and copied back.
std::vector<Tensor> AverageGradients(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  for (const std::vector<Tensor>& gradients : BucketsOf(d, op)) {
    std::vector<Tensor> rows;
    std::vector<std::int64_t> sizes;
    for (const Tensor& gradient : gradients) {
      rows.push_back(d.Call("aten::reshape", gradient, Dims{-1}));
      sizes.push_back(gradient.count());
    }
    const Tensor bucket = d.Call("aten::cat", rows, 0);
    rows.clear();
    d.Call("steelyard::sum_across_", bucket);
    d.Call("aten::div_.Scalar", bucket, RanksOf(op, 1));
    const std::span<const std::int64_t> parts(sizes);
    const std::vector<Tensor> summed = d.CallMany("aten::split_with_sizes", bucket, parts, 0);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Tensor part = d.Call("aten::view", summed[i], Dims(gradients[i].sizes()));
      d.Call("aten::copy_", gradients[i], part);
    }
  }
  return {};
}

// --- torch.nn.parallel.DistributedDataParallel ---------------------------------------------------

constexpr std::string_view kForwardRecord = "DistributedDataParallel.forward";
// Of what is sent at once, and how much of it is under way at a time (c10d/comm.cpp).
constexpr std::int64_t kBroadcast = 250 * kMiB;
constexpr std::size_t kInFlight = 2;

// Several tensors are sent in one, a single one as it is.
void Broadcast(Dispatcher& d, const std::vector<Tensor>& tensors) {
  std::vector<BucketMember> members;
  members.reserve(tensors.size());
  for (const Tensor& tensor : tensors) members.push_back({tensor.dtype(), tensor.view().bytes()});
  std::vector<Tensor> sent;
  for (const std::vector<std::size_t>& places : AssignBuckets(members, {&kBroadcast, 1})) {
    sent.push_back(Flatten(d, Pick(tensors, places)));
    if (sent.size() == kInFlight) sent.erase(sent.begin());
  }
  for (Tensor& tensor : sent) tensor.reset();
}

// buffers, ranks, bucket_bytes, views, first_step, micro_steps, parameters, static_graph
std::vector<Tensor> EnterDataParallel(Dispatcher& d, const OpView& op) {
  if (auto* reducer = dynamic_cast<Reducer*>(d.autograd().listener())) {
    reducer->BeginMicroStep();
    d.autograd().OpenRecord(kForwardRecord);
    return {};
  }
  {
    const Outside outside(d);
    const Dispatcher::Inside forward(d, kForwardRecord);
    Broadcast(d, d.tensors(op, 0));
  }
  const std::int64_t cap = op.integer(2);
  std::vector<std::int64_t> limits(kBucketLimits.begin(), kBucketLimits.end());
  if (cap > 0) limits = {cap};
  // Where unused parameters are looked for, buckets stay those of the constructor.
  const bool is_static = op.boolean(7), keeps_order = op.given(6) && !is_static;
  if (op.boolean(4) && !keeps_order) limits = {std::numeric_limits<std::int64_t>::max()};
  auto reducer = std::make_unique<Reducer>(d, ReducerOptions{.ranks = RanksOf(op, 1),
                                                             .limits = std::move(limits),
                                                             .views = op.boolean(3),
                                                             .micro_steps = op.integer(5, 1),
                                                             .delays = is_static && op.boolean(4),
                                                             .keeps_order = keeps_order});
  if (op.given(6)) reducer->MayLeaveOut(d.tensors(op, 6));
  reducer->BeginMicroStep();
  d.autograd().Listen(std::move(reducer));
  d.autograd().OpenRecord(kForwardRecord);
  return {};
}

// Around what the model gives, so that its backward pass is heard of.
class Sink final : public PythonFunction {
 public:
  std::string_view name() const override { return "_DDPSinkBackward"; }
  bool takes_zeros() const override { return false; }
  std::vector<Tensor> Backward(Dispatcher&, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    return {arrived.begin(), arrived.end()};
  }
};

// outputs, the last first, as they are let go: copies of them are what the caller gets, but of
// those that have no history, which stay.
std::vector<Tensor> LeaveDataParallel(Dispatcher& d, const OpView& op) {
  d.autograd().CloseRecord();
  std::vector<Tensor> outputs = d.tensors(op, 0);
  if (outputs.empty()) return {};
  std::ranges::reverse(outputs);
  const Node context = d.context();
  const Dispatcher::AsCaller python(d);
  FunctionCall call{.function = std::make_unique<Sink>(),
                    .operands = outputs,
                    .saves_operands = false,
                    .sequence = d.autograd().TakeSequence()};
  std::vector<Tensor> copies;
  {
    const Dispatcher::GradMode off(d, false);
    for (const Tensor& output : outputs) copies.push_back(d.Call("aten::clone", output));
  }
  d.autograd().AddFunction(std::move(call), copies, context);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].requires_grad()) std::swap(outputs[i], copies[i]);
  }
  std::ranges::reverse(outputs);
  return outputs;
}

// --- torch.distributed.optim.ZeroRedundancyOptimizer ---------------------------------------------

// parameters, together: how many are sent at once
std::vector<Tensor> SendParameters(Dispatcher& d, const OpView& op) {
  const Outside outside(d);
  const Dispatcher::Inside step(d, "Optimizer.step#ZeroRedundancyOptimizer.step");
  const std::vector<Tensor> parameters = d.tensors(op, 0);
  auto begin = parameters.begin();
  for (const std::int64_t count : op.integers(1)) {
    d.Call("steelyard::broadcast_", std::vector<Tensor>(begin, begin + count));
    begin += count;
  }
  return {};
}

Work SendWork(const OpView& op) {
  Work work;
  for (const TensorView& t : op.tensors(0)) work.move += work::Elements(t);
  return work;
}

// The number is cast to the dtype of the gradient, where the CPU computes.
void DivideAllocations(const OpView& op, Allocations& memory) {
  const DType dtype = op.self().dtype();
  if (op.target().device != Device::kCpu || dtype == DType::kFloat64) return;
  memory.Free(memory.Allocate(allocations::Bytes(1, dtype), "aten::empty_strided"), "aten::mul");
}

Work ReduceWork(const OpView& op) { return {.alu = work::Elements(op.self())}; }

constexpr std::array kRows{
    Composite("steelyard::enter_data_parallel",
              "Begins the forward pass of DistributedDataParallel, which sends buffers, and "
              "listens to gradients.",
              "(Tensor[] buffers, int ranks, int bucket_bytes, bool views, bool first_step, "
              "int micro_steps=1, Tensor[]? parameters=None, bool static_graph=False) -> ()",
              "", Family::kControl, EnterDataParallel, precision::kFollow, kNoGradient),
    Composite("steelyard::leave_data_parallel",
              "Ends the forward pass; gives copies of what the model gives.",
              "(Tensor[] outputs) -> Tensor[]", "", Family::kControl, LeaveDataParallel,
              precision::kFollow, kNoGradient),
    Kernel(Family::kElementwise,
           {"steelyard::divide_into_", "A gradient divided by a number, into its bucket.",
            "(Tensor(a!) self, Tensor gradient, Tensor number) -> Tensor(a!)",
            "steelyard::divide_into_(f32[2,3], f32[2,3], f64[])"},
           {.shape = shape::SameAs<0>,
            .fusion = Fusion::kOpaque,
            .allocations = DivideAllocations,
            .work = ReduceWork,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Kernel(Family::kDataMovement,
           {"steelyard::sum_across_",
            "The sum of all processes' tensors, in place, once it has arrived.",
            "(Tensor(a!) input) -> Tensor(a!)", "steelyard::sum_across_(f32[2,3])"},
           {.shape = shape::SameAs<0>,
            .fusion = Fusion::kOpaque,
            .allocations = allocations::None,
            .work = ReduceWork,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kInPlace),
    Composite("steelyard::send_parameters",
              "Each process sends the parameters that it stepped to all others; so many at once.",
              "(Tensor[] parameters, int[] together) -> ()", "", Family::kControl, SendParameters,
              precision::kFollow, kNoGradient),
    Kernel(Family::kDataMovement,
           {"steelyard::broadcast_", "Tensors of one process, side by side, overwrite all others'.",
            "(Tensor[] tensors) -> ()", "steelyard::broadcast_([f32[2,3], f32[5]])"},
           {.shape = shape::None,
            .fusion = Fusion::kOpaque,
            .allocations = allocations::None,
            .work = SendWork,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::ReadAllWriteAll),
    Composite("steelyard::average_gradients",
              "Averages the gradients of parameters over all processes, in buckets.",
              "(Tensor[] parameters, int ranks) -> ()", "", Family::kControl, AverageGradients,
              precision::kFollow, kNoGradient),
};

}  // namespace

std::span<const OpDef> DataParallelStep() { return kRows; }

}  // namespace steelyard::ops
