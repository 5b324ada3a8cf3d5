// SPDX-License-Identifier: Apache-2.0
//
// Operators that a step of torch.distributed.fsdp.fully_shard runs. What its collectives allocate
// on the CPU is Gloo's (torch/csrc/distributed/c10d/ProcessGroupGloo.cpp), which copies what it
// sends.

#include "ops/parallel/fully_shard.h"

#include <algorithm>
#include <array>
#include <cmath>
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
#include "ops/parallel/ranks.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

Sharder& SharderOf(Dispatcher& d) {
  auto* const sharder = dynamic_cast<Sharder*>(d.autograd().listener());
  if (sharder == nullptr) Refuse("a unit of fully_shard outside of a step of it");
  return *sharder;
}

// parameters, rows, units, paths, ranks, keep_gathered, first_step, inputs, compute, reduce,
// output, cast_inputs
std::vector<Tensor> Enter(Dispatcher& d, const OpView& op) {
  auto made = std::make_unique<Sharder>(d, ShardOptions{.ranks = RanksOf(op, 4),
                                                        .keep_gathered = op.boolean(5),
                                                        .first_step = op.boolean(6),
                                                        .compute = op.dtype(8),
                                                        .reduce = op.dtype(9),
                                                        .output = op.dtype(10),
                                                        .cast_inputs = op.boolean(11, true)});
  Sharder& sharder = *made;
  d.autograd().Listen(std::move(made));
  for (const Argument& path : op.program().list(op.arg(3).list)) {
    sharder.AddUnit(op.program().text(path.text));
  }
  sharder.Checked(Sharder::kRoot);
  const std::vector<Tensor> parts = d.tensors(op, 0);
  const std::vector<std::int64_t> rows = op.integers(1), units = op.integers(2);
  if (rows.size() != parts.size() || units.size() != parts.size()) {
    Refuse("each parameter has a number of rows, and is of a unit");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sharder.AddParameter(sharder.Checked(units[i]), parts[i], rows[i]);
  }
  const Dispatcher::AsProgram python(d);
  std::vector<Tensor> inputs = d.tensors(op, 7);
  sharder.EnterUnit(Sharder::kRoot, inputs);
  std::vector<Tensor> results = sharder.whole(Sharder::kRoot);
  results.insert(results.end(), inputs.begin(), inputs.end());
  sharder.KeepArguments(std::move(inputs));
  return results;
}

// body, inputs, unit, operands
std::vector<Tensor> RunUnit(Dispatcher& d, const OpView& op) {
  Sharder& sharder = SharderOf(d);
  const Sharder::UnitIndex unit = sharder.Checked(op.integer(2));
  std::vector<Tensor> operands = d.tensors(op, 3);
  const std::ptrdiff_t count = op.integer(1);
  if (count < 0 || count > std::ssize(operands)) Refuse("more arguments than operands");
  std::vector<Tensor> arguments(operands.begin(), operands.begin() + count);
  const Dispatcher::AsProgram python(d);
  sharder.EnterUnit(unit, arguments);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i < arguments.size()) operands[i] = arguments[i];
    if (!operands[i].defined()) continue;
    Tensor whole = sharder.WholeOf(unit, operands[i].id());
    if (whole.defined()) operands[i] = std::move(whole);
  }
  // The module's call keeps its arguments until it returns.
  std::vector<Tensor> results = d.RunGraphHere(op.graph(0), std::move(operands));
  sharder.LeaveUnit(unit, results);
  return results;
}

// What is cast is let go in the order of the list: of what a model gives, the last comes first.
std::vector<Tensor> Leave(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsProgram python(d);
  std::vector<Tensor> results = d.tensors(op, 0);
  std::ranges::reverse(results);
  SharderOf(d).LeaveUnit(Sharder::kRoot, results);
  std::ranges::reverse(results);
  return results;
}

// --- Kernels ------------------------------------------------------------------------------------

void RoomAllocations(const OpView&, Allocations& memory) { memory.Output(0, "aten::empty"); }

// What a kernel that copies between several tensors and one is told of them, in numbers of 8 bytes
// that are sent to the device (aten/src/ATen/native/cuda/TensorShape.cu).
constexpr std::int64_t kTile = 2048;  // bytes that a block copies
void AllocateTold(Count numbers, Allocations& memory) {
  memory.Free(memory.Allocate(allocations::Bytes(numbers, DType::kInt64)));
}
Count Tiles(const std::vector<std::int64_t>& bytes, std::int64_t tile) {
  Count tiles;
  for (const std::int64_t size : bytes) tiles += DivideUp(size, tile);
  return tiles;
}

// What a process has of each tensor, of an even part of its rows, rounded up.
std::vector<std::int64_t> PartBytes(const std::vector<TensorView>& tensors, std::int64_t ranks) {
  std::vector<std::int64_t> parts;
  parts.reserve(tensors.size());
  for (const TensorView& whole : tensors) {
    const std::int64_t rows = whole.size(0);
    parts.push_back(rows == 0 ? 0 : whole.bytes() / rows * DivideUp(rows, ranks));
  }
  return parts;
}

// split_with_sizes_copy: a part of each process goes to each parameter.
void CopyOutAllocations(const OpView& op, Allocations& memory) {
  const std::int64_t ranks = RanksOf(op, 1);
  const std::vector<std::int64_t> parts = PartBytes(op.tensors(0), ranks);
  const Target& target = op.target();
  const std::int64_t most =
      std::int64_t{target.multiprocessors} * target.multiprocessor_threads / 128 * 2;
  const std::int64_t passes =
      std::max<std::int64_t>(1, DivideUp(Tiles(parts, kTile).value() * ranks, most));
  const auto at_once =
      std::min(static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(passes)))), ranks);
  const std::int64_t tile = kTile * DivideUp(passes, at_once);
  AllocateTold(Tiles(parts, tile) + 4 * static_cast<std::int64_t>(parts.size()) + 1, memory);
}

// _chunk_cat: gradients, output, ranks. What has no whole number of parts is copied into what has,
// and what is of another dtype than the output is copied by `cat`, one after the other.
void PadAllocations(const OpView& op, Allocations& memory) {
  const std::int64_t ranks = RanksOf(op, 2);
  const std::vector<TensorView> gradients = op.tensors(0);
  const std::vector<std::int64_t> parts = PartBytes(gradients, ranks);
  std::vector<Allocations::Scratch> padded;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] * ranks == gradients[i].bytes()) continue;
    padded.push_back(memory.Allocate(parts[i] * ranks, "aten::empty"));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (gradients[i].dtype() == op.tensor(1).dtype()) continue;
    memory.Free(memory.Allocate(parts[i] * ranks, "aten::empty"), "aten::cat");
  }
  for (const Allocations::Scratch scratch : padded) memory.Free(scratch, "aten::_chunk_cat");
}

void ChunkCatAllocations(const OpView& op, Allocations& memory) {
  const std::vector<TensorView> gradients = op.tensors(0);
  std::vector<std::int64_t> parts = PartBytes(gradients, RanksOf(op, 2));
  for (std::size_t i = 0; i < parts.size(); ++i) {  // tiles are of what is written
    parts[i] = parts[i] * BitsOf(op.tensor(1).dtype()) / BitsOf(gradients[i].dtype());
  }
  AllocateTold(Tiles(parts, kTile) + 6 * static_cast<std::int64_t>(parts.size()) + 2, memory);
}

// sizes, dtype
void GatheredShape(const OpView& op, Outputs& out) {
  const std::vector<std::int64_t> asked = op.integers(0);
  const Dims sizes(asked);
  shape::RequireSizes(sizes);
  out.Add(op.dtype(1).value_or(DType::kFloat32), sizes);
}
void GatheredAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, Allocations::kCaller);
}
void UseStream(const OpView& op, Allocations& memory) {
  const std::int64_t stream = op.integer(0);
  if (stream < 0 || stream > std::numeric_limits<std::uint8_t>::max()) {
    Refuse(fmt::format("a device has no stream {}", stream));
  }
  memory.UseStream(static_cast<std::uint8_t>(stream));
}
void Renew(const OpView&, Allocations& memory) { memory.RenewStorage(0, Allocations::kCaller); }
void Release(const OpView&, Allocations& memory) { memory.ReleaseStorage(0, Allocations::kCaller); }

// tensor, dtype
void CastShape(const OpView& op, Outputs& out) { out.Add(*op.dtype(1), op.self().sizes()); }
void CastAllocations(const OpView&, Allocations& memory) {
  memory.Output(0, "aten::empty_strided");
}

// Twice: by the operator, and by the thread of Gloo that receives.
void AllGatherAllocations(const OpView& op, Allocations& memory) {
  if (op.target().device != Device::kCpu) return;
  for (int copy = 0; copy < 2; ++copy) {
    memory.Free(memory.Allocate(op.self().bytes(), "aten::empty"), "c10d::_allgather_base_");
  }
}

// Gloo adds up all of a copy of the input, and divides it by a number where it averages.
void ReduceScatterAllocations(const OpView& op, Allocations& memory) {
  if (op.target().device != Device::kCpu) return;
  const TensorView input = op.tensor(1);
  const auto copy = memory.Allocate(input.bytes(), "aten::empty_strided");
  if (op.boolean(2)) {
    const auto number = memory.Allocate(allocations::Bytes(1, DType::kFloat64), "aten::div_");
    const auto cast = memory.Allocate(allocations::Bytes(1, input.dtype()), "aten::empty_strided");
    memory.Free(cast, "aten::div_");
    memory.Free(number, "aten::div_");
  }
  memory.Free(copy, Allocations::kCaller);
}

Work GatherWork(const OpView& op) { return {.move = work::Elements(op.self())}; }
Work CopyOutWork(const OpView& op) {
  Work work;
  for (const TensorView& whole : op.tensors(0)) work.move += work::Elements(whole);
  return work;
}
Work ReduceWork(const OpView& op) { return {.alu = work::Elements(op.tensor(1))}; }
Work PutWork(const OpView& op) { return {.move = work::Elements(op.tensor(1))}; }

constexpr OpDef Silent(const Words& words, DeviceAllocations allocations, WorkFn work,
                       TrafficFn traffic) {
  return Kernel(Family::kDataMovement, words,
                {.shape = shape::None,
                 .fusion = Fusion::kOpaque,
                 .allocations = allocations,
                 .work = work,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic);
}

constexpr OpDef Room(const Words& words, AllocationsFn allocations) {
  return Kernel(Family::kDataMovement, words,
                {.shape = GatheredShape,
                 .fusion = Fusion::kOpaque,
                 .allocations = DeviceAllocations{allocations, allocations},
                 .work = work::Move,
                 .grad = kNoGradient,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::WriteOnly);
}

constexpr std::array kRows{
    Composite(
        "steelyard::enter_fully_shard",
        "Begins the forward pass of a model that fully_shard was applied to: which parameters "
        "belong to which unit. Gives the root's, whole, and the inputs as the policy casts them.",
        "(Tensor[] parameters, int[] rows, int[] units, Any[] paths, int ranks, bool "
        "keep_gathered, bool first_step, Tensor[] inputs=[], ScalarType? compute=None, "
        "ScalarType? reduce=None, ScalarType? output=None, bool cast_inputs=True) -> Tensor[]",
        "", Family::kControl, Enter, precision::kFollow, kNoGradient),
    Composite("steelyard::run_shard_unit",
              "Runs a graph of `inputs` tensors, and others, with its unit's parameters gathered.",
              "(Graph body, int inputs, int unit, Any... operands) -> Any[]", "", Family::kControl,
              RunUnit, precision::kFollow, kGradientFromParts),
    Composite("steelyard::leave_fully_shard",
              "Ends the forward pass, with these results, which the policy may cast.",
              "(Tensor[] results) -> Tensor[]", "", Family::kControl, Leave, precision::kFollow,
              kNoGradient),
    Room({"steelyard::gathered", "Memory for a parameter that was gathered.",
          "(SymInt[] size, ScalarType? dtype=None) -> Tensor", "steelyard::gathered([6], f32)"},
         GatheredAllocations),
    Room(
        {"steelyard::gather_buffer", "Memory for all processes' parts.",
         "(SymInt[] size, ScalarType? dtype=None) -> Tensor", "steelyard::gather_buffer([6], f32)"},
        RoomAllocations),
    Room({"steelyard::reduced_buffer", "Memory for parts of gradients.",
          "(SymInt[] size, ScalarType? dtype=None) -> Tensor",
          "steelyard::reduced_buffer([6], f32)"},
         RoomAllocations),
    Kernel(Family::kDataMovement,
           {"steelyard::cast_reduced", "Parts of gradients in the dtype of their parameters.",
            "(Tensor self, ScalarType dtype) -> Tensor", "steelyard::cast_reduced(bf16[6], f32)"},
           {.shape = CastShape,
            .fusion = Fusion::kOpaque,
            .allocations = DeviceAllocations{CastAllocations, CastAllocations},
            .work = work::Move,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::ReadAllWriteAll),
    Silent({"steelyard::renew_storage", "A gathered parameter gets its memory back.",
            "(Tensor self) -> ()", "steelyard::renew_storage(f32[2,3])"},
           {Renew, Renew}, GatherWork, traffic::ReadAllWriteAll),
    Silent({"steelyard::use_stream", "What follows allocates on that stream of the device.",
            "(int stream) -> ()", "steelyard::use_stream(1)"},
           {allocations::None, UseStream}, work::None, traffic::None),
    Silent({"steelyard::release_storage", "A gathered parameter loses its memory.",
            "(Tensor self) -> ()", "steelyard::release_storage(f32[2,3])"},
           {Release, Release}, work::None, traffic::None),
    Silent({"steelyard::all_gather_into", "All processes' parts, side by side.",
            "(Tensor output) -> ()", "steelyard::all_gather_into(f32[6])"},
           AllGatherAllocations, GatherWork, traffic::ReadAllWriteAll),
    Silent({"steelyard::copy_out_of", "Parameters are copied from all processes' parts.",
            "(Tensor[] parameters, int ranks) -> ()", "steelyard::copy_out_of([f32[2,3]], 2)"},
           {allocations::None, CopyOutAllocations}, CopyOutWork, traffic::ReadAllWriteAll),
    Silent({"steelyard::chunk_cat_into", "The processes' parts of several gradients, side by side.",
            "(Tensor[] gradients, Tensor output, int ranks) -> ()",
            "steelyard::chunk_cat_into([f32[2,3]], f32[6], 2)"},
           {PadAllocations, ChunkCatAllocations}, PutWork, traffic::ReadAllWriteAll),
    Silent(
        {"steelyard::reduce_scatter_into", "This process's part of all processes' sums, or means.",
         "(Tensor output, Tensor input, bool averages) -> ()",
         "steelyard::reduce_scatter_into(f32[3], f32[6], True)"},
        ReduceScatterAllocations, ReduceWork, traffic::ReadAllWriteAll),
};

}  // namespace

std::span<const OpDef> ShardedStep() { return kRows; }

}  // namespace steelyard::ops
