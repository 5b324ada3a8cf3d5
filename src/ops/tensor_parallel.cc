// SPDX-License-Identifier: Apache-2.0
//
// What layers that several processes share run in one of them: torch.distributed.tensor.parallel on
// DTensors (torch/distributed/tensor: parallel/style.py, _api.py, _redistribute.py). A DTensor's
// own operators are those of its part; around them its functions make views, and sums or wholes of
// what all processes have. What collectives allocate on the CPU is Gloo's, which copies what it
// sends and what it receives.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/backward.h"
#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/linalg.h"
#include "ops/parallel/layer_styles.h"
#include "ops/parallel/ranks.h"
#include "ops/parallel/redistribute.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

// What a layer is told besides its tensors: who shares it, how what comes and what goes lies, and
// how large the whole is along what its parameter is shared by.
struct Sharing {
  Group group;
  Placement input, output;
  std::int64_t size;
  bool comes_distributed, goes_distributed;
};

// ranks, rank; `whole`: of what
Group GroupOf(const OpView& op, int i, std::string_view whole) {
  const Group group{.ranks = RanksOf(op, i), .rank = op.integer(i + 1)};
  if (group.rank < 0 || group.rank >= group.ranks) {
    Refuse(fmt::format("process {} of {} has no part of {}", group.rank, group.ranks, whole));
  }
  return group;
}

// ranks, rank, input, output, size, comes_distributed, goes_distributed
Sharing SharingOf(const OpView& op, int i) {
  const std::optional<Placement> input = PlacementNamed(op.text(i + 2));
  const std::optional<Placement> output = PlacementNamed(op.text(i + 3));
  if (!input || !output) Refuse("placements are written as R, S(1) and P");
  const std::int64_t size = op.integer(i + 4);
  if (size < 0) Refuse(fmt::format("nobody has a part of {}", size));
  return {.group = GroupOf(op, i, fmt::to_string(size)),
          .input = *input,
          .output = *output,
          .size = size,
          .comes_distributed = op.boolean(i + 5),
          .goes_distributed = op.boolean(i + 6)};
}

// Placements of what a layer computes with, and of what it gives.
struct LayerPlacements {
  Placement input = {}, input_gradient = {}, output = {};
};
constexpr LayerPlacements kByColumns{
    .input = kReplicate, .input_gradient = kPartial, .output = ShardOf(-1)};
constexpr LayerPlacements kByRows{
    .input = ShardOf(-1), .input_gradient = ShardOf(-1), .output = kPartial};

// Of a tensor that is a DTensor: so are its gradients.
void MarkDistributed(Dispatcher& d, const Tensor& tensor, const Placement& arrives) {
  if (d.has_autograd()) d.autograd().PlaceGradient(tensor.id(), {.from = arrives, .to = arrives});
}

// _prepare_input_fn
Tensor Arriving(Dispatcher& d, Tensor input, const Sharing& sharing, const LayerPlacements& layer) {
  const bool moves = sharing.input != layer.input;
  if (!sharing.comes_distributed) {
    const Placement arrives = moves ? OfGradient(sharing.input) : layer.input_gradient;
    input = Taken(d, input, {.from = sharing.input, .to = arrives, .group = sharing.group});
  }
  if (sharing.comes_distributed) MarkDistributed(d, input, layer.input_gradient);
  if (!moves) return input;
  return Redistributed(d, input, {.from = sharing.input, .to = layer.input, .group = sharing.group},
                       layer.input_gradient, Waits::kWhenUsed);
}

// _prepare_output_fn
Tensor Leaving(Dispatcher& d, Tensor part, const Sharing& sharing, const Placement& made,
               Tensor mask = {}) {
  if (sharing.output != made) {
    const Way way{.from = made,
                  .to = sharing.output,
                  .group = sharing.group,
                  .size = made.is_shard() ? sharing.size : 0};
    part = Redistributed(d, part, way, sharing.output, Waits::kWhenUsed, std::move(mask));
  }
  return sharing.goes_distributed ? part : Given(d, part);
}

// --- Layers --------------------------------------------------------------------------------------

// input, weight, bias, sharing
std::vector<Tensor> ColumnLinear(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Sharing sharing = SharingOf(op, 3);
  const Tensor input = Arriving(d, d.tensor(op, 0), sharing, kByColumns);
  const Tensor part = d.Call("aten::linear", input, op.arg(1), op.arg(2));
  return {Leaving(d, part, sharing, kByColumns.output)};
}

// weight, indices, padding_idx, sharing
std::vector<Tensor> ColumnEmbedding(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Sharing sharing = SharingOf(op, 3);
  const Tensor indices = Arriving(d, d.tensor(op, 1), sharing, kByColumns);
  const Tensor part = d.Call("aten::embedding", op.arg(0), indices, op.integer(2, -1));
  return {Leaving(d, part, sharing, kByColumns.output)};
}

// Which ids are not of this process's rows, and in which of its rows the others are
// (_MaskPartial._mask_tensor).
struct MaskedIds {
  Tensor mask, ids;
};
MaskedIds MaskedOf(Dispatcher& d, const Tensor& indices, std::int64_t begin, std::int64_t size) {
  const Dispatcher::GradMode off(d, false);
  MaskedIds masked;
  {
    const Tensor before = d.Call("aten::lt.Scalar", indices, begin);
    const Tensor behind = d.Call("aten::ge.Scalar", indices, begin + size);
    masked.mask = d.Call("aten::bitwise_or.Tensor", before, behind);
  }
  const Tensor copy = d.Call("aten::clone", indices);
  {
    const Dispatcher::FromPython python(d);
    masked.ids = d.Call("aten::sub.Tensor", copy, begin);
  }
  d.Call("aten::masked_fill_.Scalar", masked.ids, masked.mask, 0);
  return masked;
}

// weight, indices, padding_idx, sharing: what other processes have rows of is zero in a sum.
std::vector<Tensor> RowEmbedding(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Sharing sharing = SharingOf(op, 3);
  const Tensor weight = d.tensor(op, 0);
  const Tensor indices = Arriving(d, d.tensor(op, 1), sharing, {.input = kReplicate});
  if (d.has_autograd() && weight.requires_grad()) {
    d.autograd().PlaceGradient(weight.id(),
                               {.from = kReplicate, .to = ShardOf(0), .group = sharing.group});
  }
  Tensor part, mask;
  {
    const Dispatcher::Inside record(d, kSubclass);
    const std::int64_t begin = DivideUp(sharing.size, sharing.group.ranks) * sharing.group.rank;
    MaskedIds masked = MaskedOf(d, indices, begin, weight.size(0));
    mask = std::move(masked.mask);
    part = d.Call("steelyard::embedding_part", weight, masked.ids, indices, op.integer(2, -1),
                  sharing.size);
  }
  return {Leaving(d, part, sharing, kPartial, std::move(mask))};
}

// weight, masked, indices, padding_idx, size
std::vector<Tensor> EmbeddingPart(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::embedding", op.arg(0), op.arg(1), op.arg(3))};
}
// Each process computes that of the whole table.
Tensor GradientOfTable(Dispatcher& d, const Backward& b) {
  return d.Call("aten::embedding_dense_backward", b.grad(), b.saved(2), b.op().arg(4),
                b.op().arg(3), false);
}
constexpr Gradient kOfTable{"EmbeddingBackward0", {GradientOf(0, {2}, GradientOfTable)}};

// self, mat1, mat2, beta, alpha, ranks: each process adds its share of the bias to a sum of which
// it has a part.
std::vector<Tensor> AddProductPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::Inside record(d, kSubclass);
  Tensor share;
  {
    const Dispatcher::FromPython python(d);
    share = d.Call("aten::div.Tensor", op.arg(0), op.arg(5));
  }
  return {d.Call("aten::addmm", share, op.arg(1), op.arg(2))};
}

// input, weight, bias, ranks: as aten::linear, with a share of the bias.
std::vector<Tensor> LinearPart(Dispatcher& d, const OpView& op) {
  const Tensor input = d.tensor(op, 0), weight = d.tensor(op, 1), bias = d.tensor(op, 2);
  if (!bias.defined()) return {d.Call("aten::linear", input, weight)};
  const auto product = [&](const Tensor& rows) {
    return d.Call("steelyard::addmm_part", bias, rows, d.Call("aten::t", weight), 1, 1, op.arg(3));
  };
  if (input.rank() == 2) return {product(input)};
  if (!input.is_contiguous() || input.rank() < 2) {
    Refuse("a rowwise layer with a bias of a tensor that is not contiguous is not modelled");
  }
  Dims sizes(input.sizes().first(static_cast<std::size_t>(input.rank() - 1)));
  const Dims rows{NumElements(sizes).value_or(0), input.size(-1)};
  const Tensor result = product(d.Call("aten::reshape", input, rows));
  sizes.push_back(result.size(1));
  return {d.Call("aten::_unsafe_view", result, sizes)};
}

// input, weight, bias, sharing
std::vector<Tensor> RowLinear(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Sharing sharing = SharingOf(op, 3);
  const Tensor input = Arriving(d, d.tensor(op, 0), sharing, kByRows);
  const Tensor part =
      d.Call("steelyard::linear_part", input, op.arg(1), op.arg(2), sharing.group.ranks);
  return {Leaving(d, part, sharing, kByRows.output)};
}

// input, weight, bias, ranks: the bias is added to the sum (transformers,
// distributed/tensor_parallel.py).
std::vector<Tensor> RowLinearInPlace(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Tensor sum = d.Call("aten::linear", op.arg(0), op.arg(1));
  d.Call("_c10d_functional::all_reduce_", sum, d.Text("sum"), d.Text("0"));
  const Tensor bias = d.tensor(op, 2);
  return {bias.defined() ? d.Call("aten::add.Tensor", sum, bias) : sum};
}

// --- Kernels -------------------------------------------------------------------------------------

// self, ranks
void GatherShape(const OpView& op, Outputs& out) {
  Dims sizes(op.self().sizes());
  if (sizes.empty()) Refuse("a number has no parts");
  const std::int64_t ranks = RanksOf(op, 1);
  shape::RequireSizes(Dims{sizes[0], ranks});
  sizes[0] *= ranks;
  shape::RequireSizes(sizes);
  out.Add(op.self().dtype(), sizes);
}
// Gloo's thread copies what it sends and, before all of it is there, what it receives.
void GatherOnCpu(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  for (const std::int64_t bytes : {op.self().bytes(), op.output().bytes()}) {
    memory.Free(memory.Allocate(bytes, "aten::empty"), "c10d::allgather_into_tensor_coalesced_");
  }
}
void GatherOnCuda(const OpView&, Allocations& memory) { memory.Output(0, "aten::empty"); }

// self, ranks
void ScatterShape(const OpView& op, Outputs& out) {
  Dims sizes(op.self().sizes());
  const std::int64_t ranks = RanksOf(op, 1);
  if (sizes.empty() || sizes[0] % ranks != 0) {
    Refuse("the processes cannot share the first dimension evenly");
  }
  sizes[0] /= ranks;
  out.Add(op.self().dtype(), sizes);
}
// Gloo adds up in a copy.
void ScatterOnCpu(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  memory.Free(memory.Allocate(op.self().bytes(), "aten::empty_strided"),
              "c10d::reduce_scatter_tensor_coalesced_");
}
Work ScatterWork(const OpView& op) { return {.alu = work::Elements(op.self())}; }

// --- Around modules ------------------------------------------------------------------------------

// self, ranks, rank, layout, desired, arrives, comes_distributed, goes_distributed
std::vector<Tensor> ToDistributed(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Group group = GroupOf(op, 1, shape::Text(op.self()));
  const std::optional<Placement> layout = PlacementNamed(op.text(3));
  const std::optional<Placement> desired = PlacementNamed(op.text(4));
  const std::optional<Placement> arrives = PlacementNamed(op.text(5));
  if (!layout || !desired || !arrives) Refuse("placements are written as R, S(1) and P");
  Tensor input = d.tensor(op, 0);
  const bool moves = *layout != *desired;
  if (!op.boolean(6)) {
    const Placement gradient = moves ? OfGradient(*layout) : *arrives;
    input = Taken(d, input, {.from = *layout, .to = gradient, .group = group});
  }
  if (moves) {
    input = Redistributed(d, input, {.from = *layout, .to = *desired, .group = group}, *arrives,
                          Waits::kAtOnce);
  }
  if (!op.boolean(7)) return {Given(d, input)};
  MarkDistributed(d, input, *arrives);
  return {input};
}

// self
std::vector<Tensor> ToLocal(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  return {Given(d, d.tensor(op, 0))};
}

// parameter, ranks
std::vector<Tensor> SumGradient(Dispatcher& d, const OpView& op) {
  const Tensor parameter = d.tensor(op, 0);
  if (!d.has_autograd() || !parameter.requires_grad()) return {};
  d.autograd().PlaceGradient(
      parameter.id(), {.from = kPartial, .to = kReplicate, .group = {.ranks = RanksOf(op, 1)}});
  return {};
}

constexpr OpDef Around(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kControl, words, decompose);
}

constexpr std::array kRows{
    Composite(Family::kContraction,
              {"steelyard::column_linear",
               "A Linear layer of which each process has some rows of the weight, of `size`: a "
               "part of the result, or what becomes of the parts of all.",
               "(Tensor input, Tensor weight, Tensor? bias, int ranks, int rank, str input_layout, "
               "str output_layout, int size, bool comes_distributed=False, bool "
               "goes_distributed=False) -> Tensor",
               "steelyard::column_linear(f32[2,3,8], f32[5,8], f32[5], 2, 0, 'R', 'R', 10)"},
              ColumnLinear),
    Composite(Family::kContraction,
              {"steelyard::row_linear",
               "A Linear layer of which each process has some columns of the weight, of `size`: "
               "the sum of all processes' results, or a part of it.",
               "(Tensor input, Tensor weight, Tensor? bias, int ranks, int rank, str input_layout, "
               "str output_layout, int size, bool comes_distributed=False, bool "
               "goes_distributed=False) -> Tensor",
               "steelyard::row_linear(f32[2,4,8], f32[5,8], f32[5], 2, 0, 'S(-1)', 'S(1)', 16)"},
              RowLinear),
    Composite(Family::kContraction,
              {"steelyard::row_linear_in_place",
               "The same without gradients, as transformers has it: the sum overwrites this "
               "process's result.",
               "(Tensor input, Tensor weight, Tensor? bias, int ranks) -> Tensor",
               "steelyard::row_linear_in_place(f32[2,4,8], f32[5,8], f32[5], 2)"},
              RowLinearInPlace),
    Casting(precision::kLow,
            Composite(Family::kContraction,
                      {"steelyard::linear_part",
                       "A product with a transposed weight, and one process's share of a bias.",
                       "(Tensor input, Tensor weight, Tensor? bias, int ranks) -> Tensor",
                       "steelyard::linear_part(f32[2,3,8], f32[5,8], f32[5], 2)"},
                      LinearPart)),
    Composite(
        Family::kIndexing,
        {"steelyard::column_embedding",
         "Rows of a table of which each process has some columns, of `size`: a part of them, or "
         "what becomes of the parts of all.",
         "(Tensor weight, Tensor indices, SymInt? padding_idx, int ranks, int rank, str "
         "input_layout, str output_layout, int size, bool comes_distributed=False, bool "
         "goes_distributed=False) -> Tensor",
         "steelyard::column_embedding(f32[100,8], i64[3,4], -1, 2, 0, 'R', 'R', 16)"},
        ColumnEmbedding),
    Composite(
        Family::kIndexing,
        {"steelyard::row_embedding",
         "Rows of a table of which each process has some, of `size`: the sum of what each finds, "
         "or a part of it.",
         "(Tensor weight, Tensor indices, SymInt? padding_idx, int ranks, int rank, str "
         "input_layout, str output_layout, int size, bool comes_distributed=False, bool "
         "goes_distributed=False) -> Tensor",
         "steelyard::row_embedding(f32[50,8], i64[3,4], -1, 2, 0, 'R', 'S(1)', 100)"},
        RowEmbedding),
    Composite(
        Family::kIndexing,
        {"steelyard::embedding_part",
         "Rows of a part of a table, by ids within it; the gradient is that of the whole "
         "table of `size` rows, by the ids within that.",
         "(Tensor weight, Tensor masked, Tensor indices, int padding_idx, int size) -> Tensor",
         "steelyard::embedding_part(f32[50,8], i64[3,4], i64[3,4], -1, 100)"},
        EmbeddingPart, kOfTable),
    Composite(Family::kContraction,
              {"steelyard::addmm_part", "A product, and one process's share of what is added.",
               "(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha, int ranks) -> "
               "Tensor",
               "steelyard::addmm_part(f32[5], f32[2,3], f32[3,5]{1,3}, 1, 1, 2)"},
              AddProductPart, gradients::kAddmm),
    Kernel(Family::kDataMovement,
           {"steelyard::all_gather_parts", "All processes' parts, one after the other.",
            "(Tensor self, int ranks) -> Tensor", "steelyard::all_gather_parts(f32[2,3], 2)"},
           {.shape = GatherShape,
            .fusion = Fusion::kOpaque,
            .allocations = DeviceAllocations{GatherOnCpu, GatherOnCuda},
            .work = work::Move,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::ReadAllWriteAll),
    Kernel(Family::kDataMovement,
           {"steelyard::reduce_scatter_parts",
            "This process's part, along the first dimension, of the sum of all processes' tensors.",
            "(Tensor self, int ranks) -> Tensor", "steelyard::reduce_scatter_parts(f32[4,3], 2)"},
           {.shape = ScatterShape,
            .fusion = Fusion::kOpaque,
            .allocations = DeviceAllocations{ScatterOnCpu, GatherOnCuda},
            .work = ScatterWork,
            .grad = kNoGradient,
            .precision = precision::kFollow},
           Alias::kNone, traffic::ReadAllWriteAll),
    Around({"steelyard::to_distributed", "What comes to a module becomes a DTensor.",
            "(Tensor self, int ranks, int rank, str layout, str desired, str arrives, bool "
            "comes_distributed=False, bool goes_distributed=True) -> Tensor",
            "steelyard::to_distributed(f32[2,4,8], 2, 0, 'S(1)', 'R', 'P')"},
           ToDistributed),
    Around({"steelyard::to_local", "What a module gives is no DTensor any more.",
            "(Tensor self) -> Tensor", "steelyard::to_local(f32[2,4,8])"},
           ToLocal),
    Around({"steelyard::sum_gradient",
            "The gradient of a parameter is a sum over processes, which is made whenever it is "
            "used.",
            "(Tensor parameter, int ranks) -> ()", ""},
           SumGradient),
};

constexpr std::array<std::string_view, 3> kLinear{"input", "weight", "bias"};
constexpr std::array<std::string_view, 3> kEmbedding{"weight", "indices", "padding_idx"};

constexpr std::array kStyles{
    LayerStyle{.name = "colwise",
               .op = "aten::linear",
               .replacement = "steelyard::column_linear",
               .arguments = kLinear,
               .input = "input",
               .takes = kByColumns.input,
               .gives = kByColumns.output,
               .splits_bias = true},
    LayerStyle{.name = "rowwise",
               .op = "aten::linear",
               .replacement = "steelyard::row_linear",
               .without_gradients = "steelyard::row_linear_in_place",
               .arguments = kLinear,
               .input = "input",
               .weight_dim = 1,
               .takes = kByRows.input,
               .gives = kByRows.output},
    LayerStyle{.name = "colwise",
               .op = "aten::embedding",
               .replacement = "steelyard::column_embedding",
               .arguments = kEmbedding,
               .input = "indices",
               .weight_dim = 1,
               .takes = kByColumns.input,
               .gives = kByColumns.output},
    LayerStyle{.name = "rowwise",
               .op = "aten::embedding",
               .replacement = "steelyard::row_embedding",
               .arguments = kEmbedding,
               .input = "indices",
               .takes = kReplicate,
               .gives = kPartial},
};

}  // namespace

std::span<const LayerStyle> LayerStyles() { return kStyles; }
std::span<const OpDef> TensorParallel() { return kRows; }

}  // namespace steelyard::ops
