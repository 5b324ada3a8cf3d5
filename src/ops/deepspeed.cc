// SPDX-License-Identifier: Apache-2.0
//
// Operators that a step of DeepSpeed's engine with ZeRO runs (ops/parallel/deepspeed.h).

#include "ops/parallel/deepspeed.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/parallel/engine_making.h"
#include "ops/parallel/ranks.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

EngineOptimizer& OptimizerOf(Dispatcher& d) { return EngineOptimizer::Of<EngineOptimizer>(d); }

std::size_t GroupOf(const EngineOptimizer& optimizer, const OpView& op) {
  const auto group = static_cast<std::size_t>(op.integer(0));
  if (group >= optimizer.group_count()) Refuse("a group that the step of DeepSpeed has not");
  return group;
}

// parameters, counts, stage, ranks, rank, first_step, micro_steps, reduce_bucket_size,
// overlap_comm, contiguous_gradients, gradient_clipping, check_grad_overflow
std::vector<Tensor> Enter(Dispatcher& d, const OpView& op) {
  if (op.integer(7) == 0) Refuse("DeepSpeed takes no reduce_bucket_size of 0");
  if (op.boolean(8) && !op.boolean(9)) {
    Refuse("overlap_comm without contiguous_gradients is not modelled", "Leave one of them away.");
  }
  auto made =
      std::make_unique<ZeroOptimizer>(d, ZeroOptions{.stage = static_cast<int>(op.integer(2)),
                                                     .ranks = RanksOf(op, 3),
                                                     .rank = RankOf(op, 4, RanksOf(op, 3)),
                                                     .first_step = op.boolean(5),
                                                     .micro_steps = op.integer(6),
                                                     .bucket = op.integer(7),
                                                     .overlaps = op.boolean(8),
                                                     .contiguous = op.boolean(9),
                                                     .clips = op.real(10) != 0,
                                                     .checks_overflow = op.boolean(11)});
  std::vector<Tensor> masters;
  for (const auto& group : InGroups(d.tensors(op, 0), op.integers(1))) {
    masters.push_back(made->AddGroup(group));
  }
  d.autograd().Listen(std::move(made));
  return masters;
}

// parameters, counts, ranks
std::vector<Tensor> Make(Dispatcher& d, const OpView& op) {
  MakeEngine(d, InGroups(d.tensors(op, 0), op.integers(1)), RanksOf(op, 2));
  return {};
}

// `loss / gradient_accumulation_steps`, `loss * loss_scale`. The caller keeps the loss.
std::vector<Tensor> ScaleLoss(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsProgram outside(d);
  const Dispatcher::FromPython python(d);
  const Tensor loss = d.tensor(op, 0);
  d.Hold(loss);
  Tensor mean = d.Call("aten::div.Tensor", loss, op.arg(1));
  Tensor scaled = d.Call("aten::mul.Tensor", mean, 1.0);
  return {std::move(mean), std::move(scaled)};
}

std::vector<Tensor> ReduceRest(Dispatcher& d, const OpView&) {
  OptimizerOf(d).ReduceRest();
  return {};
}
std::vector<Tensor> TakeNorm(Dispatcher& d, const OpView&) {
  OptimizerOf(d).TakeNorm();
  return {};
}
std::vector<Tensor> SetMasterGradient(Dispatcher& d, const OpView& op) {
  EngineOptimizer& optimizer = OptimizerOf(d);
  optimizer.SetMasterGradient(GroupOf(optimizer, op));
  return {};
}
std::vector<Tensor> ReturnMaster(Dispatcher& d, const OpView& op) {
  EngineOptimizer& optimizer = OptimizerOf(d);
  optimizer.ReturnMaster(GroupOf(optimizer, op));
  return {};
}
std::vector<Tensor> Gather(Dispatcher& d, const OpView&) {
  OptimizerOf(d).GatherParameters();
  return {};
}

// Twice: by the operator, and by the thread of Gloo that receives.
void GatherAllocations(const OpView& op, Allocations& memory) {
  const std::vector<TensorView> parameters = op.tensors(0);
  if (parameters.empty()) Refuse("no parameters are gathered");
  const std::int64_t bytes = allocations::Bytes(op.integer(1), parameters[0].dtype());
  for (int copy = 0; copy < 2; ++copy) {
    memory.Free(memory.Allocate(bytes, "aten::empty"), "c10d::_allgather_base_");
  }
}
Work GatherWork(const OpView& op) { return {.move = op.integer(1)}; }
Work PutBackWork(const OpView& op) { return {.move = work::Elements(op.tensor(1))}; }

constexpr OpDef Silent(const Words& words, DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kDataMovement, words,
                {.shape = shape::None,
                 .fusion = Fusion::kOpaque,
                 .allocations = allocations,
                 .work = work,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::ReadAllWriteAll);
}

constexpr OpDef Part(OpName name, std::string_view summary, Signature signature,
                     DecomposeFn decompose) {
  return Composite(name, summary, signature, "", Family::kControl, decompose, precision::kFollow,
                   kNoGradient);
}

constexpr std::array kRows{
    Part("steelyard::enter_deepspeed",
         "Begins a step of DeepSpeed's engine, which listens to gradients. Gives of each group of "
         "parameters the part that this process steps, in float32.",
         "(Tensor[] parameters, int[] counts, int stage, int ranks, int rank, bool first_step, "
         "int micro_steps, int reduce_bucket_size=500000000, bool overlap_comm=False, "
         "bool contiguous_gradients=True, float gradient_clipping=1.0, "
         "bool check_grad_overflow=True) -> Tensor[]",
         Enter),
    Part("steelyard::make_engine",
         "DeepSpeed's engine of stage 1 or 2 is made of a model's parameters, by groups.",
         "(Tensor[] parameters, int[] counts, int ranks) -> ()", Make),
    Composite("steelyard::scale_engine_loss",
              "A loss divided by the number of micro-steps; and that, multiplied by a scale.",
              "(Tensor loss, int steps=1) -> (Tensor, Tensor)", "", Family::kControl, ScaleLoss,
              precision::kFollow),
    Part("steelyard::end_engine_backward",
         "Reduces the gradients that are left, and keeps those of this process's part.",
         "(Tensor scaled, Tensor mean) -> ()", ReduceRest),
    Part("steelyard::take_partition_norm", "The norm of all processes' gradients.", "() -> ()",
         TakeNorm),
    Part("steelyard::set_master_gradient",
         "The gradient of what is stepped of a group, of which the norm is clipped.",
         "(int group) -> ()", SetMasterGradient),
    Part("steelyard::return_master", "Parameters of a group become what was stepped.",
         "(int group) -> ()", ReturnMaster),
    Silent({"steelyard::put_back", "What was stepped of parameters is copied to its place in them.",
            "(Tensor[] parameters, Tensor master) -> ()",
            "steelyard::put_back([f32[2,3], f32[5]], f32[6])"},
           allocations::None, PutBackWork),
    Silent({"steelyard::gather_parameters",
            "All processes' parts of parameters that lie in one piece of so many elements.",
            "(Tensor[] parameters, int elements) -> ()",
            "steelyard::gather_parameters([f32[2,3], f32[5]], 12)"},
           {GatherAllocations, allocations::None}, GatherWork),
    Part("steelyard::gather_partitions", "All processes' parts of the parameters are gathered.",
         "() -> ()", Gather),
};

}  // namespace

std::span<const OpDef> DeepSpeedStep() { return kRows; }

}  // namespace steelyard::ops
