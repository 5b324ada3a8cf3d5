// SPDX-License-Identifier: Apache-2.0
//
// Collective operators: what this process allocates for a sum, a copy or a part of what all
// processes have (torch/csrc/distributed/c10d/Functional.cpp). A backend's own buffers are not
// counted, nor is what it sends.

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/backward.h"
#include "ops/cuda/copies.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/view.h"
#include "ops/optimizers/step.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

void RequireGroup(std::int64_t size) {
  if (size < 1) Refuse(fmt::format("a group of {} processes", size));
}

void CopyShape(const OpView& op, Outputs& out) { out.Add(op.self().dtype(), op.self().sizes()); }

// As many tensors as there are processes, one after the other: input, group_size
void AddGathered(const TensorView& t, std::int64_t processes, Outputs& out) {
  RequireGroup(processes);
  Dims sizes(t.sizes());
  if (sizes.empty()) sizes.push_back(1);
  const Count rows = Count(sizes[0]) * processes;
  if (rows.overflowed()) Refuse("the gathered tensor is too large");
  sizes[0] = rows.value();
  out.Add(t.dtype(), sizes);
}
void GatherShape(const OpView& op, Outputs& out) { AddGathered(op.self(), op.integer(1), out); }

// One of as many parts as there are processes: input, reduce_op, group_size
void AddScattered(const TensorView& t, std::int64_t processes, Outputs& out) {
  RequireGroup(processes);
  Dims sizes(t.sizes());
  if (sizes.empty() || sizes[0] % processes != 0) {
    Refuse(fmt::format("{} for {} processes", shape::Text(t), processes));
  }
  sizes[0] /= processes;
  out.Add(t.dtype(), sizes);
}
void ScatterShape(const OpView& op, Outputs& out) { AddScattered(op.self(), op.integer(2), out); }

// input, output_split_sizes
void ExchangeShape(const OpView& op, Outputs& out) {
  Dims sizes(op.self().sizes());
  if (sizes.empty()) Refuse("a 0-dim tensor cannot be exchanged");
  std::int64_t rows = 0;
  for (std::int64_t part : op.integers(1)) {
    if (part < 0 || __builtin_add_overflow(rows, part, &rows)) Refuse("parts of that size");
  }
  sizes[0] = rows;
  out.Add(op.self().dtype(), sizes);
}

// --- Gradients, registered in Python (torch/distributed/_functional_collectives.py) -------------

Tensor Arrived(Dispatcher& d, const Tensor& t) {
  return d.Call("_c10d_functional::wait_tensor", t);
}

std::vector<Tensor> Dense(Dispatcher& d, const Backward& b) {
  const std::uint32_t count = b.op().arg(0).list.count;
  std::vector<Tensor> out;
  out.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    out.push_back(d.Call("aten::contiguous", b.grad(static_cast<int>(i))));
  }
  return out;
}

// Whether the largest or smallest of all processes' elements is asked for; else they are added up.
// input, reduce_op
bool PicksExtreme(const OpView& op) { return op.text(1) == "max" || op.text(1) == "min"; }
// How gradients are reduced: of the extreme they are added up.
Argument ReductionOfGradient(Dispatcher& d, const OpView& op) {
  if (PicksExtreme(op)) return d.Text("sum");
  const std::string_view by = op.text(1);
  if (by != "sum" && by != "avg" && by != "premul_sum") {
    Refuse(fmt::format("PyTorch does not differentiate {} with '{}'", op.def().name->text(), by),
           "It differentiates those with 'sum', 'avg', 'premul_sum', 'max' and 'min'.");
  }
  return op.arg(1);
}

// Where an element is the extreme of all processes: (in == out) | (isnan(in) & isnan(out))
Tensor ExtremesOf(Dispatcher& d, const Tensor& input, const Tensor& output) {
  const Tensor equal = d.Call("aten::eq.Tensor", input, output);
  Tensor neither;
  {
    const Tensor of_input = d.Call("aten::isnan", input);
    const Tensor of_output = d.Call("aten::isnan", output);
    neither = d.Call("aten::bitwise_and.Tensor", of_input, of_output);
  }
  return d.Call("aten::bitwise_or.Tensor", equal, neither);
}

// The part of the gradient that each of those that are equal has.
Tensor PartOf(Dispatcher& d, const Tensor& grad, const Tensor& holders) {
  const Tensor part = d.Call("aten::div.Tensor", grad, holders);
  return d.Call("aten::to.dtype", part, grad.dtype());
}
Tensor WhereIt(Dispatcher& d, const Tensor& mask, const Tensor& part) {
  return d.Call("aten::where.ScalarOther", mask, part, std::int64_t{0});
}

// input, reduce_op, group_name
Tensor AllReduceSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  Tensor out;
  {
    const Tensor grad = d.Call("aten::contiguous", b.grad());
    out = Arrived(
        d, d.Call("_c10d_functional::all_reduce", grad, ReductionOfGradient(d, op), op.arg(2)));
  }
  if (!PicksExtreme(op)) return out;
  Tensor mask = ExtremesOf(d, b.saved(0), b.result());
  Tensor holders;
  {
    const Tensor ones = d.Call("aten::to.dtype", mask, DType::kFloat32);
    holders = d.Call("_c10d_functional::all_reduce", ones, d.Text("sum"), op.arg(2));
  }
  Tensor part = PartOf(d, out, holders);
  Tensor share = WhereIt(d, mask, part);
  Return(out, mask, holders, part);
  return share;
}

// inputs, reduce_op, group_name
std::vector<Tensor> AllReduceList(Dispatcher& d, const Backward& b) {
  constexpr OpName kSums = "_c10d_functional::all_reduce_coalesced";
  const OpView& op = b.op();
  Tensors out;
  {
    Tensors grads = Dense(d, b);
    out = d.CallMany(kSums, grads, ReductionOfGradient(d, op), op.arg(2));
    Drop(grads);
  }
  if (!PicksExtreme(op)) return out;
  Tensors masks, holders, shares;
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    masks.push_back(ExtremesOf(d, b.saved(0, i), b.saved(kResult, i)));
  }
  {
    Tensors ones;
    for (const Tensor& mask : masks)
      ones.push_back(d.Call("aten::to.dtype", mask, DType::kFloat32));
    holders = d.CallMany(kSums, ones, d.Text("sum"), op.arg(2));
    Drop(ones);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    shares.push_back(WhereIt(d, masks[i], PartOf(d, out[i], holders[i])));
  }
  Return(out, masks, holders);
  return shares;
}

// input, group_size, group_name
Tensor AllGatherSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return Arrived(d, d.Call("_c10d_functional::reduce_scatter_tensor", grad, d.Text("sum"),
                           op.arg(1), op.arg(2)));
}

void RequireSum(const OpView& op) {
  if (op.text(1) != "sum") Refuse("PyTorch differentiates only sums of all processes' tensors");
}

// input, reduce_op, group_size, group_name
Tensor ReduceScatterSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  RequireSum(op);
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return Arrived(d, d.Call("_c10d_functional::all_gather_into_tensor", grad, op.arg(2), op.arg(3)));
}

// inputs, group_size, group_name
std::vector<Tensor> AllGatherList(Dispatcher& d, const Backward& b) {
  Tensors grads = Dense(d, b);
  Tensors out = d.CallMany("_c10d_functional::reduce_scatter_tensor_coalesced", grads,
                           d.Text("sum"), b.op().arg(1), b.op().arg(2));
  Drop(grads);
  return out;
}

// inputs, reduce_op, group_size, group_name
std::vector<Tensor> ReduceScatterList(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  RequireSum(op);
  Tensors grads = Dense(d, b);
  Tensors out =
      d.CallMany("_c10d_functional::all_gather_into_tensor_coalesced", grads, op.arg(2), op.arg(3));
  Drop(grads);
  return out;
}

// input, output_split_sizes, input_split_sizes, group_name
Tensor AllToAllSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Tensor grad = d.Call("aten::contiguous", b.grad());
  return Arrived(
      d, d.Call("_c10d_functional::all_to_all_single", grad, op.arg(2), op.arg(1), op.arg(3)));
}

constexpr Gradient Registered(std::string_view node, GradientFn formula) {
  return {node, {GradientOf(0, {}, formula)}, InPython{.context = {}}};
}
constexpr Gradient RegisteredForLists(std::string_view node, GradientsFn formula) {
  return {node, {GradientsOf({0}, {}, formula)}, InPython{.context = {}}};
}
constexpr Gradient kAllReduce{"GeneratedBackwardFor__c10d_functional_all_reduce_defaultBackward",
                              {SavingIf(PicksExtreme, GradientOf(0, {0, kResult}, AllReduceSelf))},
                              InPython{.context = {}}};
constexpr Gradient kAllReduceList{
    "GeneratedBackwardFor__c10d_functional_all_reduce_coalesced_defaultBackward",
    {SavingIf(PicksExtreme, GradientsOf({0}, {0, kResult}, AllReduceList))},
    InPython{.context = {}}};
constexpr Gradient kAllGatherList = RegisteredForLists(
    "GeneratedBackwardFor__c10d_functional_all_gather_into_tensor_coalesced_defaultBackward",
    AllGatherList);
constexpr Gradient kReduceScatterList = RegisteredForLists(
    "GeneratedBackwardFor__c10d_functional_reduce_scatter_tensor_coalesced_defaultBackward",
    ReduceScatterList);
constexpr Gradient kAllGather = Registered(
    "GeneratedBackwardFor__c10d_functional_all_gather_into_tensor_defaultBackward", AllGatherSelf);
constexpr Gradient kReduceScatter =
    Registered("GeneratedBackwardFor__c10d_functional_reduce_scatter_tensor_defaultBackward",
               ReduceScatterSelf);
constexpr Gradient kAllToAll = Registered(
    "GeneratedBackwardFor__c10d_functional_all_to_all_single_defaultBackward", AllToAllSelf);
constexpr Gradient kOldAllGather = Registered(
    "GeneratedBackwardFor__c10d_functional_autograd_all_gather_into_tensor_defaultBackward",
    AllGatherSelf);
constexpr Gradient kOldReduceScatter = Registered(
    "GeneratedBackwardFor__c10d_functional_autograd_reduce_scatter_tensor_defaultBackward",
    ReduceScatterSelf);
constexpr Gradient kOldAllToAll =
    Registered("GeneratedBackwardFor__c10d_functional_autograd_all_to_all_single_defaultBackward",
               AllToAllSelf);

std::vector<Tensor> Themselves(Dispatcher& d, const OpView& op) { return d.tensors(op, 0); }

// inputs, reduce_op, group_name
std::vector<Tensor> ReduceEachInPlace(Dispatcher& d, const OpView& op) {
  std::vector<Tensor> out;
  for (const Tensor& t : d.tensors(op, 0)) {
    out.push_back(d.Call("_c10d_functional::all_reduce_", t, op.arg(1), op.arg(2)));
  }
  return out;
}

// An addition for each element that arrives.
Work ReduceWork(const OpView& op) { return {.alu = work::Elements(op.self())}; }

// --- The same of lists ---------------------------------------------------------------------------

void CopyShapes(const OpView& op, Outputs& out) {
  for (const TensorView& t : op.tensors(0)) out.Add(t.dtype(), t.sizes());
}
void GatherShapes(const OpView& op, Outputs& out) {
  for (const TensorView& t : op.tensors(0)) AddGathered(t, op.integer(1), out);
}
void ScatterShapes(const OpView& op, Outputs& out) {
  for (const TensorView& t : op.tensors(0)) AddScattered(t, op.integer(2), out);
}

void MakeEach(const OpView& op, Allocations& memory) {
  for (int i = 0; i < op.output_count(); ++i) memory.Output(i, "aten::empty");
}
// What is sent lies densely until all of it is on its way; `kDense` copies it.
using DenseCopy = std::optional<Allocations::Scratch> (*)(const TensorView&, Allocations&);
template <DenseCopy kDense>
void MakeEachFromDense(const OpView& op, Allocations& memory) {
  std::vector<std::optional<Allocations::Scratch>> dense;
  const std::vector<TensorView> sent = op.tensors(0);
  for (int i = 0; i < op.output_count(); ++i) {
    dense.push_back(kDense(sent[static_cast<std::size_t>(i)], memory));
    memory.Output(i, "aten::empty");
  }
  for (const auto& scratch : dense) allocations::Free(scratch, memory);
}
template <DenseCopy kDense>
void MakeFromDense(const OpView& op, Allocations& memory) {
  const auto dense = kDense(op.self(), memory);
  memory.Output(0, "aten::empty");
  allocations::Free(dense, memory);
}
constexpr DeviceAllocations kEachFromDense{MakeEachFromDense<allocations::Contiguous>,
                                           MakeEachFromDense<cuda::Contiguous>};
constexpr DeviceAllocations kFromDense{MakeFromDense<allocations::Contiguous>,
                                       MakeFromDense<cuda::Contiguous>};

Work ReduceEach(const OpView& op) {
  Work work;
  for (const TensorView& t : op.tensors(0)) work.alu += work::Elements(t);
  return work;
}
Work MoveEach(const OpView& op) {
  Work work;
  for (int i = 0; i < op.output_count(); ++i) work.move += work::Elements(op.output(i));
  return work;
}

constexpr OpDef Received(const Words& words, ShapeFn shape, WorkFn work, const Gradient& grad,
                         DeviceAllocations allocations = allocations::Via<"aten::empty">) {
  return Kernel(Family::kDataMovement, words,
                {.shape = shape,
                 .fusion = Fusion::kOpaque,
                 .allocations = allocations,
                 .work = work,
                 .grad = grad,
                 .precision = precision::kFollow});
}

constexpr OpDef ReceivedList(const Words& words, ShapeFn shape, WorkFn work, const Gradient& grad,
                             DeviceAllocations allocations) {
  return OpaqueKernel(Family::kDataMovement, words, shape, allocations, work, grad);
}

// What PyTorch has registered no gradient for changes nothing of how autograd sees its operand.
constexpr OpDef Overwriting(const Words& words, WorkFn work) {
  return OpaqueKernel(Family::kDataMovement, words, shape::SameAs<0>, allocations::None, work,
                      kGradientFromParts, precision::kFollow, Alias::kInPlace);
}

constexpr std::array kRows{
    Received({"_c10d_functional::all_reduce", "The sum of all processes' tensors.",
              "(Tensor input, Any reduce_op, Any group_name) -> Tensor",
              "_c10d_functional::all_reduce(f32[2,3], 'sum', '0')"},
             CopyShape, ReduceWork, kAllReduce),
    Overwriting({"_c10d_functional::all_reduce_", "The sum of all processes' tensors, in place.",
                 "(Tensor(a!) input, Any reduce_op, Any group_name) -> Tensor(a!)",
                 "_c10d_functional::all_reduce_(f32[2,3], 'sum', '0')"},
                ReduceWork),
    Overwriting({"_c10d_functional::broadcast_", "The tensor of one process, in place.",
                 "(Tensor(a!) input, int src, Any group_name) -> Tensor(a!)",
                 "_c10d_functional::broadcast_(f32[2,3], 0, '0')"},
                work::Move),
    ReceivedList({"_c10d_functional::all_reduce_coalesced", "The sums of all processes' tensors.",
                  "(Tensor[] inputs, Any reduce_op, Any group_name) -> Tensor[]",
                  "_c10d_functional::all_reduce_coalesced([f32[2,3], f32[5]], 'sum', '0')"},
                 CopyShapes, ReduceEach, kAllReduceList, MakeEach),
    Composite(
        Family::kDataMovement,
        {"_c10d_functional::all_reduce_coalesced_", "The sums of all processes' tensors, in place.",
         "(Tensor[](a!) inputs, Any reduce_op, Any group_name) -> Tensor[](a!)",
         "_c10d_functional::all_reduce_coalesced_([f32[2,3], f32[5]], 'sum', '0')"},
        ReduceEachInPlace),
    ReceivedList({"_c10d_functional::all_gather_into_tensor_coalesced", "All processes' tensors.",
                  "(Tensor[] inputs, int group_size, Any group_name) -> Tensor[]",
                  "_c10d_functional::all_gather_into_tensor_coalesced([f32[2,3], f32[5]], 4, '0')"},
                 GatherShapes, MoveEach, kAllGatherList, kEachFromDense),
    ReceivedList({"_c10d_functional::reduce_scatter_tensor_coalesced",
                  "This process's parts of the sums of all tensors.",
                  "(Tensor[] inputs, str reduce_op, int group_size, Any group_name) -> Tensor[]",
                  "_c10d_functional::reduce_scatter_tensor_coalesced([f32[8,3], f32[4]], 'sum', "
                  "4, '0')"},
                 ScatterShapes, ReduceEach, kReduceScatterList, kEachFromDense),
    Composite(
        Family::kDataMovement,
        {"_c10d_functional::wait_tensors", "The tensors themselves, once they have arrived.",
         "(Tensor[] tensors) -> Tensor[]", "_c10d_functional::wait_tensors([f32[2,3], f32[5]])"},
        Themselves),
    Received({"_c10d_functional::all_gather_into_tensor", "All processes' tensors.",
              "(Tensor input, int group_size, Any group_name) -> Tensor",
              "_c10d_functional::all_gather_into_tensor(f32[2,3], 4, '0')"},
             GatherShape, work::Move, kAllGather, kFromDense),
    Received({"_c10d_functional::reduce_scatter_tensor",
              "This process's part of the sum of all tensors.",
              "(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor",
              "_c10d_functional::reduce_scatter_tensor(f32[8,3], 'sum', 4, '0')"},
             ScatterShape, ReduceWork, kReduceScatter, kFromDense),
    Received({"_c10d_functional::all_to_all_single", "A part of each process's tensor.",
              "(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, Any "
              "group_name) -> Tensor",
              "_c10d_functional::all_to_all_single(f32[4,3], [1,3,0,0], [2,2,0,0], '0')"},
             ExchangeShape, work::Move, kAllToAll, kFromDense),
    Received({"_c10d_functional::broadcast", "The tensor of one process.",
              "(Tensor input, int src, Any group_name) -> Tensor",
              "_c10d_functional::broadcast(f32[2,3], 0, '0')"},
             CopyShape, work::Move, gradients::kClone),
    Received({"_c10d_functional_autograd::all_gather_into_tensor", "All processes' tensors.",
              "(Tensor input, int group_size, Any group_name) -> Tensor",
              "_c10d_functional_autograd::all_gather_into_tensor(f32[2,3], 4, '0')"},
             GatherShape, work::Move, kOldAllGather, kFromDense),
    Received({"_c10d_functional_autograd::reduce_scatter_tensor",
              "This process's part of the sum of all tensors.",
              "(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor",
              "_c10d_functional_autograd::reduce_scatter_tensor(f32[8,3], 'sum', 4, '0')"},
             ScatterShape, ReduceWork, kOldReduceScatter, kFromDense),
    Received({"_c10d_functional_autograd::all_to_all_single", "A part of each process's tensor.",
              "(Tensor input, SymInt[] output_split_sizes, SymInt[] input_split_sizes, Any "
              "group_name) -> Tensor",
              "_c10d_functional_autograd::all_to_all_single(f32[4,3], [1,3,0,0], [2,2,0,0], '0')"},
             ExchangeShape, work::Move, kOldAllToAll, kFromDense),
    Composite("_c10d_functional::wait_tensor", "The tensor itself, once it has arrived.",
              "(Tensor tensor) -> Tensor", "_c10d_functional::wait_tensor(f32[2,3])",
              Family::kDataMovement, decompose::Itself, precision::kFollow),
};

}  // namespace

std::span<const OpDef> Collective() { return kRows; }

}  // namespace steelyard::ops
