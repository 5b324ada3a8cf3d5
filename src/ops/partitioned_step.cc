// SPDX-License-Identifier: Apache-2.0
//
// Operators that a step of DeepSpeed's engine with stage 3 of ZeRO runs besides those of the other
// stages (ops/parallel/partitioned_optimizer.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/parallel/engine_making.h"
#include "ops/parallel/partitioned_optimizer.h"
#include "ops/parallel/ranks.h"
#include "ops/parallel/replaced_by_engine.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

PartitionedOptimizer& OptimizerOf(Dispatcher& d) {
  return EngineOptimizer::Of<PartitionedOptimizer>(d);
}

std::size_t ModuleOf(std::int64_t module) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  if (module < 0 || module >= kMost) Refuse("a module that no model has");
  return static_cast<std::size_t>(module);
}

// parameters, counts, order, ranks, rank, first_step, micro_steps, reduce_bucket_size,
// contiguous_gradients, gradient_clipping, overlap_comm, sub_group_size,
// stage3_prefetch_bucket_size, stage3_max_live_parameters, stage3_max_reuse_distance,
// stage3_param_persistence_threshold, memory_efficient_linear
std::vector<Tensor> Enter(Dispatcher& d, const OpView& op) {
  if (op.integer(7) == 0) Refuse("DeepSpeed takes no reduce_bucket_size of 0");
  const PartitionOptions options{.ranks = RanksOf(op, 3),
                                 .rank = RankOf(op, 4, RanksOf(op, 3)),
                                 .first_step = op.boolean(5),
                                 .bucket = op.integer(7),
                                 .contiguous = op.boolean(8),
                                 .clips = op.real(9) != 0,
                                 .overlaps = op.boolean(10),
                                 .replaces_linear = op.boolean(16)};
  const GatherOptions gather{.ranks = options.ranks,
                             .first_step = options.first_step,
                             .overlaps = options.overlaps,
                             .ahead = op.integer(12),
                             .live = op.integer(13),
                             .soon = op.integer(14),
                             .small = op.integer(15)};
  std::vector<std::size_t> order;
  for (const std::int64_t module : op.integers(2)) order.push_back(ModuleOf(module));
  auto made = std::make_unique<PartitionedOptimizer>(d, options, gather, std::move(order));
  std::vector<Tensor> masters;
  for (const auto& group : InGroups(d.tensors(op, 0), op.integers(1))) {
    masters.push_back(made->AddGroup(group));
  }
  made->MakeBuffers();
  d.autograd().Listen(std::move(made));
  return masters;
}

// model, parameters, counts, ranks, reduce_bucket_size, contiguous_gradients
std::vector<Tensor> Make(Dispatcher& d, const OpView& op) {
  const MakingOptions options{
      .ranks = RanksOf(op, 3), .bucket = op.integer(4), .contiguous = op.boolean(5)};
  MakePartitionedEngine(d, d.tensors(op, 0), InGroups(d.tensors(op, 1), op.integers(2)), options);
  return {};
}

// parts, ranks, sizes, modules, places: of each parameter how many dimensions it has and how large
// they are, and of each parameter of a module both.
std::vector<Tensor> Partition(Dispatcher& d, const OpView& op) {
  PartitionedParameters& parameters = OptimizerOf(d).parameters();
  if (!parameters.is_empty()) return {};  // a further micro-step
  const std::vector<Tensor> parts = d.tensors(op, 0);
  const std::vector<std::int64_t> ranks = op.integers(1), sizes = op.integers(2);
  const std::vector<std::int64_t> modules = op.integers(3), places = op.integers(4);
  if (ranks.size() != parts.size() || places.size() != modules.size()) {
    Refuse("lists of parameters, and of modules, that are not as long as each other");
  }
  auto next = sizes.begin();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Dims whole;
    for (std::int64_t dim = 0; dim < ranks[i]; ++dim) {
      if (next == sizes.end()) Refuse("fewer sizes than parameters have dimensions");
      whole.push_back(*next++);
    }
    shape::RequireSizes(whole);
    parameters.Add(parts[i], whole);
  }
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto place = static_cast<std::size_t>(places[i]);
    if (place >= parts.size()) Refuse("a parameter that there is not");
    parameters.AddToModule(ModuleOf(modules[i]), place);
  }
  return {};
}

// module, arguments
std::vector<Tensor> EnterModule(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsProgram python(d);
  return OptimizerOf(d).EnterModule(ModuleOf(op.integer(0)), d.tensors(op, 1));
}
std::vector<Tensor> LeaveModule(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsProgram python(d);
  return OptimizerOf(d).LeaveModule(ModuleOf(op.integer(0)), d.tensors(op, 1));
}

// --- LinearFunctionForZeroStage3 -----------------------------------------------------------------

// It saves the parameter, not a view of it, which would keep its memory.
class LinearFunction final : public PythonFunction {
 public:
  explicit LinearFunction(std::vector<bool> wanted) : wanted_(std::move(wanted)) {}

  std::string_view name() const override { return "LinearFunctionForZeroStage3Backward"; }

  std::vector<Tensor> Backward(Dispatcher& d, std::span<const Tensor> operands,
                               std::span<const Tensor> arrived) override {
    const Dispatcher::FromPython python(d);
    const Tensor& gradient = arrived[0];
    const Tensor &input = operands[0], &weight = operands[1];
    std::vector<Tensor> out(operands.size());
    const bool has_batches = gradient.rank() > 2;
    if (wanted_[0]) out[0] = d.Call("aten::matmul", gradient, weight);
    if (wanted_[1])
      out[1] = has_batches ? OfWeight(d, gradient, input) : Product(d, gradient, input);
    if (wanted_.size() > 2 && wanted_[2]) {
      Dims all_but_last;
      for (int i = 0; i + 1 < gradient.rank(); ++i) all_but_last.push_back(i);
      out[2] =
          gradient.rank() == 1 ? gradient : d.Call("aten::sum.dim_IntList", gradient, all_but_last);
    }
    return out;
  }

 private:
  static Tensor Product(Dispatcher& d, const Tensor& gradient, const Tensor& input) {
    if (gradient.rank() == 1) {
      const Tensor column = d.Call("aten::unsqueeze", gradient, -1);
      const Tensor row = d.Call("aten::unsqueeze", input, 0);
      return d.Call("aten::mul.Tensor", column, row);
    }
    return d.Call("aten::matmul", d.Call("aten::t", gradient), input);
  }

  static Tensor OfWeight(Dispatcher& d, const Tensor& gradient, const Tensor& input) {
    const Tensor rows = d.Call("aten::reshape", gradient, Dims{-1, gradient.size(-1)});
    const Tensor transposed = d.Call("aten::t", rows);
    return d.Call("aten::matmul", transposed,
                  d.Call("aten::reshape", input, Dims{-1, input.size(-1)}));
  }

  std::vector<bool> wanted_;  // by operand
};

// input, weight, bias
std::vector<Tensor> Linear(Dispatcher& d, const OpView& op) {
  const Node context = d.context();
  const Dispatcher::AsCaller caller(d);
  const auto* const engine = EngineOptimizer::Find<PartitionedOptimizer>(d);
  if (engine == nullptr || !engine->replaces_linear()) {
    return {d.Call("aten::linear", op.arg(0), op.arg(1), op.arg(2))};
  }
  const Tensor bias = d.tensor(op, 2);
  std::vector<Tensor> operands{d.tensor(op, 0), d.tensor(op, 1)};
  if (bias.defined()) operands.push_back(bias);
  std::vector<bool> wanted;
  bool any = false;
  for (const Tensor& operand : operands) {
    wanted.push_back(d.grad_enabled() && operand.requires_grad());
    any = any || wanted.back();
  }
  const std::uint64_t sequence = any ? d.autograd().TakeSequence() : 0;
  Tensor result;
  {
    const Dispatcher::GradMode off(d, false);
    const Dispatcher::Inside record(d, "LinearFunctionForZeroStage3");
    const Dispatcher::FromPython python(d);
    const Tensor transposed = d.Call("aten::t", operands[1]);
    if (bias.defined() && operands[0].rank() == 2) {
      result = d.Call("aten::addmm", bias, operands[0], transposed);
    } else {
      result = d.Call("aten::matmul", operands[0], transposed);
      if (bias.defined()) d.Call("aten::add_.Tensor", result, bias);
    }
  }
  if (!any) return {result};
  FunctionCall call{.function = std::make_unique<LinearFunction>(std::move(wanted)),
                    .operands = std::move(operands),
                    .sequence = sequence};
  d.autograd().AddFunction(std::move(call), {&result, 1}, context);
  return {result};
}

// --- Kernels -------------------------------------------------------------------------------------

void WithoutMemoryShape(const OpView& op, Outputs& out) {
  const std::vector<std::int64_t> asked = op.integers(0);
  const Dims sizes(asked);
  shape::RequireSizes(sizes);
  out.Add(op.dtype(1).value_or(DType::kFloat32), sizes);
}

void EmptyCache(const OpView&, Allocations& memory) { memory.EmptyCache(); }
// self, elements
void GiveMemory(const OpView& op, Allocations& memory) {
  memory.GiveMemory(0, allocations::Bytes(op.integer(1), op.self().dtype()), Allocations::kCaller);
}

constexpr OpDef Part(OpName name, std::string_view summary, Signature signature,
                     DecomposeFn decompose) {
  return Composite(name, summary, signature, "", Family::kControl, decompose, precision::kFollow,
                   kNoGradient);
}

constexpr std::array kRows{
    Part("steelyard::enter_partitioned_engine",
         "Begins a step of DeepSpeed's engine that keeps parameters in parts, with the order in "
         "which the step before has called modules. Gives of each group of parts, which it steps, "
         "a copy in float32.",
         "(Tensor[] parameters, int[] counts, int[] order, int ranks, int rank, bool first_step, "
         "int micro_steps, int reduce_bucket_size=500000000, bool contiguous_gradients=True, "
         "float gradient_clipping=1.0, bool overlap_comm=True, int sub_group_size=1000000000, "
         "int stage3_prefetch_bucket_size=50000000, int stage3_max_live_parameters=1000000000, "
         "int stage3_max_reuse_distance=1000000000, "
         "int stage3_param_persistence_threshold=100000, bool memory_efficient_linear=True) "
         "-> Tensor[]",
         Enter),
    Part("steelyard::make_partitioned_engine",
         "DeepSpeed's engine of stage 3 is made of a model, of which it steps these parameters.",
         "(Tensor[] model, Tensor[] parameters, int[] counts, int ranks, int reduce_bucket_size, "
         "bool contiguous_gradients) -> ()",
         Make),
    Part("steelyard::partition_parameters",
         "Tells the engine which parameters there are, how large they are as a whole, and which "
         "modules have which.",
         "(Tensor[] parameters, int[] ranks, int[] sizes, int[] modules, int[] places) -> ()",
         Partition),
    Part("steelyard::enter_engine_module",
         "A module is called: its parameters are gathered. Gives them, and its arguments.",
         "(int module, Tensor[] arguments) -> Tensor[]", EnterModule),
    Part("steelyard::leave_engine_module",
         "A module returns: its parameters are let go. Gives its results.",
         "(int module, Tensor[] results) -> Tensor[]", LeaveModule),
    Composite("steelyard::engine_linear",
              "As aten::linear, which in DeepSpeed's stage 3 saves its operands.",
              "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
              "steelyard::engine_linear(f32[2,3], f32[4,3], f32[4])", Family::kContraction, Linear,
              precision::kFollow),
    Kernel(Family::kDataMovement,
           {"steelyard::without_memory", "A tensor that has no memory.",
            "(SymInt[] size, ScalarType? dtype=None) -> Tensor",
            "steelyard::without_memory([6], f32)"},
           {.shape = WithoutMemoryShape,
            .fusion = Fusion::kOpaque,
            .allocations = DeviceAllocations{allocations::None, allocations::None},
            .work = work::None,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::None),
    Kernel(Family::kDataMovement,
           {"steelyard::empty_cache", "torch.cuda.empty_cache.", "() -> ()",
            "steelyard::empty_cache()"},
           {.shape = shape::None,
            .fusion = Fusion::kOpaque,
            .allocations = DeviceAllocations{allocations::None, EmptyCache},
            .work = work::None,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::None),
    Kernel(Family::kDataMovement,
           {"steelyard::give_memory", "A tensor that has no memory gets so many elements.",
            "(Tensor self, int elements) -> ()", "steelyard::give_memory(f32[2,3], 6)"},
           {.shape = shape::None,
            .fusion = Fusion::kOpaque,
            .allocations = DeviceAllocations{GiveMemory, GiveMemory},
            .work = work::None,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::None),
};

}  // namespace

std::span<const OpDef> PartitionedStep() { return kRows; }

std::string_view ReplacedByEngine(std::string_view op) {
  return op == "aten::linear" ? "steelyard::engine_linear" : op;
}

}  // namespace steelyard::ops
