// SPDX-License-Identifier: Apache-2.0
//
// What layers that several processes share run in one of them: torch.distributed.tensor.parallel on
// DTensors (torch/distributed/tensor: parallel/style.py, _api.py, _redistribute.py). A DTensor's
// own operators are those of its part; around them its functions make views, and sums or wholes of
// what all processes have. What collectives allocate on the CPU is Gloo's, which copies what it
// sends and what it receives.

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/linalg.h"
#include "ops/parallel/layer_styles.h"
#include "ops/parallel/ranks.h"
#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/label.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

std::int64_t ProductOf(std::span<const std::int64_t> sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

// The record of the profiler in which a DTensor's operators run.
constexpr std::string_view kSubclass = "PythonSubclass";

Tensor SumOf(Dispatcher& d, const Tensor& part) {
  const Tensor sum = d.Call("_c10d_functional::all_reduce", part, d.Text("sum"), d.Text("0"));
  return d.Call("_c10d_functional::wait_tensor", sum);
}

// --- Functions of autograd -----------------------------------------------------------------------

// What comes in passes on.
class Passing final : public PythonFunction {
 public:
  std::string_view name() const override { return "_ToTorchTensorBackward"; }
  bool takes_zeros() const override { return false; }
  std::vector<Tensor> Backward(Dispatcher&, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    return {arrived.begin(), arrived.end()};
  }
};

// Of a whole tensor, of which each process used a part: the sum of their gradients.
class Summing final : public PythonFunction {
 public:
  std::string_view name() const override { return "_FromTorchTensorBackward"; }
  bool takes_zeros() const override { return false; }
  std::vector<Tensor> Backward(Dispatcher& d, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    return {SumOf(d, arrived[0])};
  }
};

// Of a whole that was put together: this process's part.
class Taking final : public PythonFunction {
 public:
  Taking(std::int64_t begin, std::int64_t size) : begin_(begin), size_(size) {}
  std::string_view name() const override { return "RedistributeBackward"; }
  bool takes_zeros() const override { return false; }
  std::vector<Tensor> Backward(Dispatcher& d, std::span<const Tensor>,
                               std::span<const Tensor> arrived) override {
    return {d.Call("aten::clone", d.Call("aten::slice.Tensor", arrived[0], arrived[0].rank() - 1,
                                         begin_, begin_ + size_))};
  }

 private:
  std::int64_t begin_, size_;
};

// `make` gives a tensor without history of `from`, whose gradient `function` knows.
template <class Make>
Tensor WithFunction(Dispatcher& d, const Tensor& from, std::unique_ptr<PythonFunction> function,
                    const Make& make) {
  const Node context = d.context();
  const bool wanted = d.has_autograd() && d.grad_enabled() && from.requires_grad();
  const std::uint64_t sequence = wanted ? d.autograd().TakeSequence() : 0;
  Tensor made;
  {
    const Dispatcher::GradMode off(d, false);
    made = make();
  }
  if (wanted) {
    FunctionCall call{.function = std::move(function),
                      .operands = {from},
                      .saves_operands = false,
                      .sequence = sequence};
    d.autograd().AddFunction(std::move(call), {&made, 1}, context);
  }
  return made;
}

// DTensor.from_local
template <class Function>
Tensor Taken(Dispatcher& d, const Tensor& local) {
  return WithFunction(d, local, std::make_unique<Function>(),
                      [&] { return d.Call("aten::alias", local); });
}

// DTensor.to_local
Tensor Given(Dispatcher& d, const Tensor& local) { return Taken<Passing>(d, local); }

// The sum of all processes' parts, instead of the part.
Tensor Summed(Dispatcher& d, const Tensor& part) {
  return WithFunction(d, part, std::make_unique<Passing>(), [&] { return SumOf(d, part); });
}

// --- Wholes --------------------------------------------------------------------------------------

// Along the last dimension of parts as torch.chunk makes them, of which all but the last ones have
// `chunk` of `size` elements.
Tensor PutTogether(Dispatcher& d, const Tensor& part, std::int64_t size, std::int64_t ranks) {
  const Dispatcher::Inside record(d, "Redistribute");
  const std::int64_t chunk = DivideUp(size, ranks), missing = chunk - part.size(-1);
  Tensor padded = part;
  if (missing > 0) padded = d.Call("aten::constant_pad_nd", part, Dims{0, missing});
  Tensor whole = d.Call("steelyard::all_gather_parts", padded, ranks);
  whole = d.Call("aten::cat", d.CallMany("aten::chunk", whole, ranks, 0), whole.rank() - 1);
  if (chunk * ranks == size) return whole;
  const Tensor cut = d.Call("aten::slice.Tensor", whole, whole.rank() - 1, 0, size);
  return d.Call("aten::contiguous", cut);
}

// Of a process among others, and of the whole's last dimension where that is put together.
struct Place {
  std::int64_t ranks, rank, size;
};

Tensor Gathered(Dispatcher& d, const Tensor& part, const Place& place) {
  const std::int64_t begin = DivideUp(place.size, place.ranks) * place.rank;
  return WithFunction(d, part, std::make_unique<Taking>(begin, part.size(-1)),
                      [&] { return PutTogether(d, part, place.size, place.ranks); });
}

// The results' last dimension is shared; `size` of it where each process gets the whole, else 0.
Tensor Result(Dispatcher& d, const Tensor& part, const Place& place) {
  return place.size == 0 ? Given(d, part) : Gathered(d, part, place);
}

// --- Layers --------------------------------------------------------------------------------------

Place PlaceOf(const OpView& op, int i) {
  const Place place{.ranks = RanksOf(op, i), .rank = op.integer(i + 1), .size = op.integer(i + 2)};
  if (place.rank < 0 || place.rank >= place.ranks || place.size < 0) {
    Refuse(fmt::format("process {} of {} has no part of {}", place.rank, place.ranks, place.size));
  }
  return place;
}

// input, weight, bias, ranks, rank, size
std::vector<Tensor> ColumnLinear(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Tensor input = Taken<Summing>(d, d.tensor(op, 0));
  const Tensor part = d.Call("aten::linear", input, op.arg(1), op.arg(2));
  return {Result(d, part, PlaceOf(op, 3))};
}

// weight, indices, padding_idx, ranks, rank, size
std::vector<Tensor> ColumnEmbedding(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Tensor part = d.Call("aten::embedding", op.arg(0), op.arg(1), op.integer(2, -1));
  return {Result(d, part, PlaceOf(op, 3))};
}

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
  const Dims rows{ProductOf(sizes), input.size(-1)};
  const Tensor result = product(d.Call("aten::reshape", input, rows));
  sizes.push_back(result.size(1));
  return {d.Call("aten::_unsafe_view", result, sizes)};
}

// input, weight, bias, ranks
std::vector<Tensor> RowLinear(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller python(d);
  const Tensor input = Taken<Passing>(d, d.tensor(op, 0));
  const Tensor part = d.Call("steelyard::linear_part", input, op.arg(1), op.arg(2), op.arg(3));
  return {Summed(d, part)};
}

// --- Sizes of parts ------------------------------------------------------------------------------

// The one dimension that differs; kNone where none does.
constexpr int kNone = -1;
int SharedDim(const TensorView& part, const Dims& whole) {
  if (part.rank() != whole.size()) Contradict("a part has the dimensions of the whole");
  int dim = kNone;
  for (int i = 0; i < part.rank(); ++i) {
    if (part.size(i) == whole[i]) continue;
    if (dim != kNone) Refuse("more than one dimension is shared by the processes");
    dim = i;
  }
  return dim;
}

constexpr std::string_view kDivisible =
    "Name layers whose heads can be divided by --ranks, or leave them out of --tp-plan.";

// `whole` with its -1 computed.
Dims Resolved(const Dims& sizes, std::int64_t count) {
  std::int64_t others = 1;
  for (const std::int64_t size : sizes) others *= size == -1 ? 1 : size;
  Dims out;
  for (const std::int64_t size : sizes) {
    out.push_back(size == -1 && others > 0 ? count / others : size);
  }
  return out;
}

// A view takes runs of dimensions for other runs of as many elements. Where the run that has a
// dimension begins, before and after, and where it ends then.
struct Run {
  int in = 0, out = 0, out_end = 0;
};
Run RunWith(int dim, const Dims& whole, const Dims& sizes) {
  int i = 0, j = 0;
  while (i < whole.size() && j < sizes.size()) {
    Run run{.in = i, .out = j};
    std::int64_t in = whole[i++], out = sizes[j++];
    while (in != out && in > 0 && out > 0) {
      if (in < out && i < whole.size()) {
        in *= whole[i++];
      } else if (out < in && j < sizes.size()) {
        out *= sizes[j++];
      } else {
        Refuse("sizes of a view that do not fit the whole");
      }
    }
    run.out_end = j;
    if (dim < i) return run;
  }
  Refuse("a view of no element");
}

// Of the run with the shared dimension that is the outermost one, before and after: heads, of which
// a process has some.
Dims ViewOfPart(const TensorView& part, const Dims& whole, const Dims& asked) {
  const int dim = SharedDim(part, whole);
  if (dim == kNone) return asked;
  shape::RequireSizes(whole);
  Dims sizes = Resolved(asked, ProductOf(whole));
  shape::RequireSizes(sizes);
  if (ProductOf(whole) == 0) Refuse("a view of no element");
  Run run = RunWith(dim, whole, sizes);
  while (run.in < dim && whole[run.in] == 1) ++run.in;
  while (run.out + 1 < run.out_end && sizes[run.out] == 1) ++run.out;
  const std::int64_t elements = sizes[run.out] * part.size(dim);
  if (run.in != dim || elements % whole[dim] != 0) {
    Refuse(fmt::format("{} of {} elements of a dimension cannot be viewed as a part of {}",
                       part.size(dim), whole[dim], sizes[run.out]),
           std::string(kDivisible));
  }
  sizes[run.out] = elements / whole[dim];
  return sizes;
}

// self, whole, size, ...
template <Label kTarget>
std::vector<Tensor> ViewPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller caller(d);
  return {d.Call(kOpNamed<kTarget>, op.arg(0), ViewOfPart(op.self(), op.ints(1), op.ints(2)))};
}

// self, whole, size, implicit
std::vector<Tensor> ExpandPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller caller(d);
  Dims sizes = op.ints(2);
  const int dim = SharedDim(op.self(), op.ints(1));
  const int at = dim + sizes.size() - op.self().rank();
  if (dim != kNone && sizes[at] != -1) sizes[at] = op.self().size(dim);
  return {d.Call("aten::expand", op.arg(0), sizes)};
}

// self, whole, and the rest of the target's arguments, in which kDim says along which dimension it
// cuts: a number of the module's own, which is of the whole.
template <Label kTarget, int kDim>
std::vector<Tensor> CutPart(Dispatcher& d, const OpView& op) {
  const Dispatcher::AsCaller caller(d);
  const int dim = SharedDim(op.self(), op.ints(1));
  if (dim != kNone && op.dim(kDim, op.self().rank()) == dim) {
    Refuse("it cuts a dimension that the processes share at a place of the whole",
           "Which elements a process would take of its part is not known.");
  }
  std::vector<Argument> args{op.arg(0)};
  for (int i = 2; i < op.arg_count(); ++i) args.push_back(op.arg(i));
  return d.CallWith(kOpNamed<kTarget>, args);
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

constexpr OpDef Sized(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kView, words, decompose);
}

constexpr std::array kRows{
    Composite(Family::kContraction,
              {"steelyard::column_linear",
               "A Linear layer of which each process has some rows of the weight: a part of the "
               "result, or all of its `size` columns, gathered.",
               "(Tensor input, Tensor weight, Tensor? bias, int ranks, int rank, int size=0) -> "
               "Tensor",
               "steelyard::column_linear(f32[2,3,8], f32[5,8], f32[5], 2, 0, 10)"},
              ColumnLinear),
    Composite(Family::kContraction,
              {"steelyard::row_linear",
               "A Linear layer of which each process has some columns of the weight: the sum of "
               "all processes' results.",
               "(Tensor input, Tensor weight, Tensor? bias, int ranks) -> Tensor",
               "steelyard::row_linear(f32[2,3,8], f32[5,8], f32[5], 2)"},
              RowLinear),
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
         "Rows of a table of which each process has some columns: a part of them, or all of "
         "their `size` columns, gathered.",
         "(Tensor weight, Tensor indices, SymInt? padding_idx, int ranks, int rank, int size=0) "
         "-> Tensor",
         "steelyard::column_embedding(f32[100,8], i64[3,4], -1, 2, 0, 16)"},
        ColumnEmbedding),
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
    Sized({"steelyard::view_part", "A view of a part, with the sizes that one of the whole has.",
           "(Tensor self, SymInt[] whole, SymInt[] size) -> Tensor",
           "steelyard::view_part(f32[2,4], [2,8], [2,4,2])"},
          ViewPart<"aten::view">),
    Sized({"steelyard::unsafe_view_part",
           "A view of a part, with the sizes that one of the whole has.",
           "(Tensor self, SymInt[] whole, SymInt[] size) -> Tensor",
           "steelyard::unsafe_view_part(f32[2,4], [2,8], [2,4,2])"},
          ViewPart<"aten::_unsafe_view">),
    Sized({"steelyard::reshape_part", "A part with the sizes that the whole is given.",
           "(Tensor self, SymInt[] whole, SymInt[] shape) -> Tensor",
           "steelyard::reshape_part(f32[2,4], [2,8], [2,4,2])"},
          ViewPart<"aten::reshape">),
    Sized({"steelyard::expand_part", "A part, spread as the whole is.",
           "(Tensor self, SymInt[] whole, SymInt[] size, *, bool implicit=False) -> Tensor",
           "steelyard::expand_part(f32[1,4], [1,8], [3,8])"},
          ExpandPart),
    Sized({"steelyard::slice_part", "A slice of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
           "step=1) -> Tensor",
           "steelyard::slice_part(f32[2,4], [2,8], 0, 0, 1)"},
          CutPart<"aten::slice.Tensor", 2>),
    Sized({"steelyard::narrow_part", "A stretch of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, int dim, SymInt start, SymInt length) -> Tensor",
           "steelyard::narrow_part(f32[2,4], [2,8], 0, 0, 1)"},
          CutPart<"aten::narrow", 2>),
    Sized({"steelyard::select_part", "An index of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, int dim, SymInt index) -> Tensor",
           "steelyard::select_part(f32[2,4], [2,8], 0, 0)"},
          CutPart<"aten::select.int", 2>),
    Sized({"steelyard::split_part", "Pieces of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, SymInt split_size, int dim=0) -> Tensor[]",
           "steelyard::split_part(f32[2,4], [2,8], 1, 0)"},
          CutPart<"aten::split.Tensor", 3>),
    Sized({"steelyard::split_sizes_part", "Pieces of a part, along what is no part.",
           "(Tensor self, SymInt[] whole, SymInt[] split_sizes, int dim=0) -> Tensor[]",
           "steelyard::split_sizes_part(f32[2,4], [2,8], [1,1], 0)"},
          CutPart<"aten::split_with_sizes", 3>),
};

constexpr std::array<std::string_view, 3> kLinear{"input", "weight", "bias"};
constexpr std::array<std::string_view, 3> kEmbedding{"weight", "indices", "padding_idx"};

constexpr std::array kStyles{
    LayerStyle{.name = "colwise",
               .op = "aten::linear",
               .replacement = "steelyard::column_linear",
               .arguments = kLinear,
               .input = "input",
               .splits_bias = true,
               .splits_result = true},
    LayerStyle{.name = "rowwise",
               .op = "aten::linear",
               .replacement = "steelyard::row_linear",
               .arguments = kLinear,
               .input = "input",
               .weight_dim = 1,
               .takes_part = true},
    LayerStyle{.name = "colwise_gather",
               .op = "aten::linear",
               .replacement = "steelyard::column_linear",
               .arguments = kLinear,
               .input = "input",
               .splits_bias = true,
               .gathers = true},
    LayerStyle{.name = "colwise",
               .op = "aten::embedding",
               .replacement = "steelyard::column_embedding",
               .arguments = kEmbedding,
               .input = "indices",
               .weight_dim = 1,
               .splits_result = true},
    LayerStyle{.name = "colwise_gather",
               .op = "aten::embedding",
               .replacement = "steelyard::column_embedding",
               .arguments = kEmbedding,
               .input = "indices",
               .weight_dim = 1,
               .gathers = true},
};

constexpr std::array kPartCalls{
    PartCall{"aten::view", "steelyard::view_part"},
    PartCall{"aten::_unsafe_view", "steelyard::unsafe_view_part"},
    PartCall{"aten::reshape", "steelyard::reshape_part"},
    PartCall{"aten::expand", "steelyard::expand_part"},
    PartCall{"aten::slice.Tensor", "steelyard::slice_part"},
    PartCall{"aten::narrow", "steelyard::narrow_part"},
    PartCall{"aten::select.int", "steelyard::select_part"},
    PartCall{"aten::split.Tensor", "steelyard::split_part"},
    PartCall{"aten::split_with_sizes", "steelyard::split_sizes_part"},
};

}  // namespace

std::span<const LayerStyle> LayerStyles() { return kStyles; }
std::span<const PartCall> PartCalls() { return kPartCalls; }
std::span<const OpDef> TensorParallel() { return kRows; }

}  // namespace steelyard::ops
