// SPDX-License-Identifier: Apache-2.0
//
// Reductions, cumulative sums and softmax. A reduction's result is row-major whatever its operand
// is; where it accumulates in another dtype, the operand is cast as a whole.

#include "ops/gradients/reduction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/contents/words.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/indexing.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/norm.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

using work::PerElement;

// --- Shapes -------------------------------------------------------------------------------------

// Where an operator's arguments stand; -1: it has none.
struct Places {
  int dim = -1;
  int keep = -1;
  int dtype = -1;
  bool empty_is_none = false;  // an empty list of dimensions reduces none, not all
};

shape::DimSet ReducedDims(const OpView& op, const Places& at) {
  if (at.dim < 0) return ~shape::DimSet{0};
  const bool none = at.empty_is_none && op.given(at.dim) && op.ints(at.dim).empty();
  return none ? 0 : shape::DimsOf(op, at.dim, op.self().rank());
}

Dims ReducedSizes(const OpView& op, const Places& at) {
  const TensorView self = op.self();
  const shape::DimSet set = ReducedDims(op, at);
  const bool keep = at.keep >= 0 && op.boolean(at.keep);
  return shape::Without(self.sizes(), set,
                        keep ? shape::Reduced::kKeptAsOne : shape::Reduced::kDropped);
}

std::optional<DType> AskedType(const OpView& op, const Places& at) {
  return at.dtype < 0 ? std::nullopt : op.dtype(at.dtype);
}

// Sums of integers are int64.
DType SumType(const OpView& op, const Places& at) {
  const DType own = op.self().dtype();
  const DType wide = IsFloating(own) || IsComplex(own) ? own : DType::kInt64;
  return AskedType(op, at).value_or(wide);
}

// uint8 stays, for the sake of old masks; everything else becomes bool.
DType TruthType(const OpView& op, const Places&) {
  return op.self().dtype() == DType::kUInt8 ? DType::kUInt8 : DType::kBool;
}

DType FloatingType(const OpView& op, const Places& at) {
  const DType type = AskedType(op, at).value_or(op.self().dtype());
  if (!IsFloating(type) && !IsComplex(type)) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  return type;
}

DType OwnType(const OpView& op, const Places&) { return op.self().dtype(); }
DType IndexType(const OpView&, const Places&) { return DType::kInt64; }
DType NormType(const OpView& op, const Places& at) { return RealOf(FloatingType(op, at)); }

// Whether the reduced dimension must have an element to choose.
void RequireElements(const OpView& op, const Places& at) {
  if (shape::Fan(op.self().sizes(), ReducedDims(op, at)) == Count(0)) {
    Refuse("there is no element to choose in " + shape::Text(op.self()));
  }
}

template <DType (*kType)(const OpView&, const Places&), Places kAt>
void ReduceShape(const OpView& op, Outputs& out) {
  out.Add(kType(op, kAt), ReducedSizes(op, kAt));
}
template <Places kAt>
void RealReduceShape(const OpView& op, Outputs& out) {
  if (IsComplex(op.self().dtype())) Refuse("it is not defined for " + shape::Text(op.self()));
  ReduceShape<SumType, kAt>(op, out);
}
template <DType (*kType)(const OpView&, const Places&), Places kAt>
void ChooseShape(const OpView& op, Outputs& out) {
  RequireElements(op, kAt);
  out.Add(kType(op, kAt), ReducedSizes(op, kAt));
}
// The chosen values and where they stand.
template <Places kAt>
void ValuesAndIndicesShape(const OpView& op, Outputs& out) {
  RequireElements(op, kAt);
  out.Add(op.self().dtype(), ReducedSizes(op, kAt));
  out.Add(DType::kInt64, ReducedSizes(op, kAt));
}

// --- Allocations --------------------------------------------------------------------------------

// Whether a TensorIterator over a tensor of those sizes and strides has two innermost dimensions
// that are both reduced: those that lie densely behind each other have become one.
bool ReducesInTwo(Sizes sizes, const Dims& strides, shape::DimSet set) {
  std::vector<int> dims;
  for (int d = 0; d < strides.size(); ++d) {
    if (shape::Has(set, d) && sizes[static_cast<std::size_t>(d)] != 1) dims.push_back(d);
  }
  std::ranges::stable_sort(dims, {}, [&](int d) { return strides[d]; });
  for (std::size_t i = 1; i < dims.size(); ++i) {
    const int inner = dims[i - 1];
    const std::int64_t end = sizes[static_cast<std::size_t>(inner)] * strides[inner];
    if (end != strides[dims[i]]) return true;
  }
  return false;
}

// Half-precision sums that run in two dimensions are made in float32 as a whole (sum_out in
// ATen/native/ReduceOps.cpp).
void SumAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const DType dtype = op.output().dtype();
  const auto cast = allocations::Cast(self, dtype, memory);
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const shape::DimSet set = shape::DimsOf(op, 1, self.rank());
  if (half && self.count() > 0 &&
      ReducesInTwo(self.sizes(), shape::CastStrides(self, dtype), set)) {
    const std::int64_t bytes = allocations::Bytes(work::Elements(op.output()), DType::kFloat32);
    const Allocations::Scratch wide = memory.Allocate(bytes, "aten::empty");
    allocations::Free(allocations::Cast(self, DType::kFloat32, memory), memory);
    memory.Free(wide);
  }
  allocations::Free(cast, memory);
}

// Of floating-point numbers; integers, all of which are numbers, are summed by `sum`.
void NanSumAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  const DType dtype = op.output().dtype();
  std::optional<Allocations::Scratch> numbers;  // the operand with zeros for what are none
  if (!IsFloating(dtype) && IsFloating(op.self().dtype())) {
    numbers = memory.Allocate(op.self().bytes(), "aten::empty_strided");
  }
  const auto cast = allocations::Cast(op.self(), dtype, memory);
  if (cast) memory.Free(*cast, IsFloating(dtype) ? "" : "aten::sum");
  allocations::Free(numbers, memory);
}

// Norms of complex numbers read them as they are.
template <Places kAt>
void NormAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const DType read = AskedType(op, kAt).value_or(op.self().dtype());
  allocations::Free(allocations::Cast(op.self(), read, memory), memory);
}

// The output, then the operand in its dtype.
void CastToOutput(const OpView& op, Allocations& memory) {
  memory.Output(0);
  allocations::Free(allocations::Cast(op.self(), op.output().dtype(), memory), memory);
}
void CastToOutputByFactory(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  allocations::Free(allocations::Cast(op.self(), op.output().dtype(), memory), memory);
}
void ContiguousByFactory(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}
// Over all dimensions the operand is first flattened.
void ArgMaxAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const Dims flat{self.count()};
  if (op.given(1) || ViewStrides(self.sizes(), self.strides(), flat)) return;
  allocations::Free(allocations::Contiguous(self, memory), memory);
}

// A sum that is then divided by a boxed count, both in float32 for half-precision results
// (mean_out in ATen/native/ReduceOps.cpp).
void MeanAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const DType dtype = op.output().dtype();
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const DType summed = half ? DType::kFloat32 : dtype;
  const auto wide = allocations::Cast(op.output(), summed, memory);
  if (const auto cast = allocations::Cast(op.self(), summed, memory)) {
    memory.Free(*cast, "aten::sum");
  }
  const auto box = memory.Allocate(BitsOf(DType::kInt64) / 8, "aten::div_");
  const auto divisor = memory.Allocate(BitsOf(summed) / 8, "aten::empty_strided");
  memory.Free(divisor, "aten::div_");
  memory.Free(box, "aten::div_");
  allocations::Free(wide, memory);
}

// --- Allocations on CUDA ------------------------------------------------------------------------

// What a thread keeps of its elements.
enum class Keeps : std::uint8_t {
  kSum,    // one number; of half-precision elements a float32
  kTruth,  // a bool
  kValue,  // an element
  kPlace,  // an element, in float32 or wider, and where it stands
};

cuda::Accumulator AccumulatorOf(Keeps keeps, DType dtype) {
  switch (keeps) {
    case Keeps::kSum:
      return cuda::SumOf(dtype);
    case Keeps::kTruth:
      return {.bytes = 1};
    case Keeps::kValue:
      return {.bytes = std::max(BitsOf(dtype) / 8, 1)};
    case Keeps::kPlace:
      return {.bytes = 2 * static_cast<std::int64_t>(sizeof(std::int64_t)), .fits_result = false};
  }
  __builtin_unreachable();
}

// Over all dimensions of a tensor that is first made contiguous, or flattened.
template <Keeps kKeeps>
void ReduceWholeOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const Dims flat{self.count()};
  const bool flattens = kKeeps == Keeps::kPlace;
  const bool reads = flattens && ViewStrides(self.sizes(), self.strides(), flat).has_value();
  const auto copy = reads ? std::nullopt : cuda::Contiguous(self, memory);
  const Dims strides = ContiguousStrides(self.sizes());
  cuda::Stage(op, {self.sizes(), strides}, self.dtype(), ~shape::DimSet{0},
              AccumulatorOf(kKeeps, self.dtype()), memory);
  allocations::Free(copy, memory);
}
// Half-precision elements are read as they are where the result is float32; others of another dtype
// are cast first.
template <Keeps kKeeps, Places kAt>
void ReduceOnCuda(const OpView& op, Allocations& memory) {
  for (int i = 0; i < op.output_count(); ++i) memory.Output(i);
  const TensorView self = op.self();
  const DType dtype = op.output().dtype();
  const bool as_is =
      kKeeps != Keeps::kSum ||
      (dtype == DType::kFloat32 && IsFloating(self.dtype()) && BitsOf(self.dtype()) < 32);
  const DType read = as_is || RealOf(self.dtype()) != self.dtype() ? self.dtype() : dtype;
  const auto cast = allocations::Cast(self, read, memory);
  const Dims strides = shape::CastStrides(self, read);
  cuda::Stage(op, {self.sizes(), strides}, read, ReducedDims(op, kAt),
              AccumulatorOf(kKeeps, kKeeps == Keeps::kSum ? dtype : self.dtype()), memory);
  allocations::Free(cast, memory);
}

// Norms of one element each are absolute values: half precision is cast first.
template <Places kAt>
void NormsOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  if (shape::Fan(self.sizes(), ReducedDims(op, kAt)) != 1)
    return ReduceOnCuda<Keeps::kSum, kAt>(op, memory);
  memory.Output(0);
  const DType dtype = op.output().dtype();
  const bool is_real = RealOf(self.dtype()) == self.dtype();
  allocations::Free(is_real ? allocations::Cast(self, dtype, memory) : std::nullopt, memory);
}

// Products of booleans keep one; they are cast first, as whole numbers are.
template <Places kAt>
void ProductOnCuda(const OpView& op, Allocations& memory) {
  const bool truths = op.output().dtype() == DType::kBool;
  if (!truths) return ReduceOnCuda<Keeps::kSum, kAt>(op, memory);
  memory.Output(0);
  const TensorView self = op.self();
  const auto cast = allocations::Cast(self, DType::kBool, memory);
  const Dims strides = shape::CastStrides(self, DType::kBool);
  cuda::Stage(op, {self.sizes(), strides}, DType::kBool, ReducedDims(op, kAt), {.bytes = 1},
              memory);
  allocations::Free(cast, memory);
}

template <Places kAt>
void PlaceOnCuda(const OpView& op, Allocations& memory) {
  if (op.given(kAt.dim)) return ReduceOnCuda<Keeps::kPlace, kAt>(op, memory);
  ReduceWholeOnCuda<Keeps::kPlace>(op, memory);
}

// --- Work ---------------------------------------------------------------------------------------

// One operation for each element and one for each result.
Work MeanWork(const OpView& op) {
  return {.alu = work::Elements(op.self()) + work::Elements(op.output())};
}

// --- Makers -------------------------------------------------------------------------------------

constexpr OpDef Reduce(OpName name, std::string_view summary, Signature signature,
                       std::string_view example, Gradient grad, Fusion fusion, ShapeFn shape,
                       DeviceAllocations allocations,
                       WorkFn work = work::PerInput<PerElement{.alu = 1}>) {
  return Kernel(Family::kReduction, {name, summary, signature, example},
                {shape, fusion, allocations, work, grad, precision::kFollow});
}

constexpr OpDef Call(OpName name, std::string_view summary, Signature signature,
                     std::string_view example, DecomposeFn decompose,
                     Gradient grad = kGradientFromParts) {
  return Composite(name, summary, signature, example, Family::kReduction, decompose,
                   precision::kFollow, grad);
}

// --- Cumulative sums and differences ------------------------------------------------------------

template <Places kAt>
void CumulativeShape(const OpView& op, Outputs& out) {
  op.dim(kAt.dim, op.self().rank());
  out.Add(SumType(op, kAt), op.self().sizes());
}

// self, dim, dtype: of the tensor's own
void RunningInPlaceShape(const OpView& op, Outputs& out) {
  op.dim(1, op.self().rank());
  shape::RequireWritable(op.self());
  const DType own = op.self().dtype();
  if (own == DType::kBool || op.dtype(2).value_or(own) != own) {
    Refuse("what is added up is not of the dtype of " + shape::Text(op.self()));
  }
  out.AddLike(op.self());
}
void CumulativeAllocations(const OpView& op, Allocations& memory) {
  if (op.self().rank() > 0) return CastToOutput(op, memory);
  memory.Output(0);
}

// A single row is scanned by all blocks of threads together.
void ScanOnCuda(const OpView& op, DType dtype, Allocations& memory) {
  const TensorView self = op.self();
  if (self.size(op.dim(1, self.rank())) != self.count()) return;
  const std::int64_t width = BitsOf(dtype) / 8;
  memory.Free(memory.Allocate(IsComplex(dtype) ? cuda::ComplexScanBytes(self.count(), width)
                                               : cuda::ScanBytes(self.count(), width)));
}

// Rows have to lie densely.
void CumulateOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  if (self.rank() == 0 || self.count() == 0) return;
  const DType dtype = op.output().dtype();
  const auto cast = allocations::Cast(self, dtype, memory);
  const Dims strides = shape::CastStrides(self, dtype);
  std::optional<Allocations::Scratch> dense;
  if (!IsContiguous(self.sizes(), strides)) {
    dense = memory.Allocate(allocations::Bytes(self.count(), dtype), "aten::empty");
  }
  ScanOnCuda(op, dtype, memory);
  allocations::Free(dense, memory);
  allocations::Free(cast, memory);
}

// A number is filled with itself, by way of a copy.
void RunningInPlaceAllocations(const OpView& op, Allocations& memory) {
  if (op.self().rank() > 0) return;
  memory.Free(memory.Allocate(op.self().bytes(), "aten::empty_strided"), "aten::fill_");
}

// Where they do not, operand and result are dense copies.
void RunningInPlaceOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  if (self.rank() == 0) return RunningInPlaceAllocations(op, memory);
  if (self.count() == 0) return;
  std::optional<Allocations::Scratch> operand, result;
  if (!self.is_contiguous()) {
    result = memory.Allocate(self.bytes(), "aten::empty");
    operand = memory.Allocate(self.bytes(), "aten::empty");
  }
  ScanOnCuda(op, self.dtype(), memory);
  allocations::Free(operand, memory);
  allocations::Free(result, memory);
}
constexpr OpDef RunningInPlace(const Words& words, Gradient grad) {
  return OpaqueKernel(Family::kReduction, words, RunningInPlaceShape,
                      DeviceAllocations{RunningInPlaceAllocations, RunningInPlaceOnCuda},
                      work::PerOutput<PerElement{.alu = 1}>, grad, precision::kFollow,
                      Alias::kInPlace);
}

// reversed_cumsum(grad * output) / input; zeros are looked for first.
std::vector<Tensor> CumprodBackward(Dispatcher& d, const OpView& op) {
  const TensorView input = op.tensor(1);
  const Tensor grad = d.tensor(op, 0);
  if (input.count() <= 1) return {grad};
  const int dim = op.dim(2, input.rank());
  if (input.size(dim) == 1) return {grad};
  d.Note("products are differentiated as if no factor were 0");
  const Tensor factors = gradients::Conjugate(d, d.tensor(op, 1));
  Tensor product;
  {
    const Tensor output = gradients::Conjugate(d, d.tensor(op, 3));
    product = d.Call("aten::mul.Tensor", output, grad);
  }
  const Tensor zeros = d.Call("aten::eq.Scalar", op.arg(1), std::int64_t{0});
  d.Call("aten::any", zeros);
  Tensor reversed = d.Call("aten::flip", product, Dims{dim});
  Tensor sum = d.Call("aten::cumsum", reversed, dim);
  const Tensor gradient = d.Call("aten::flip", sum, Dims{dim});
  sum.reset();
  reversed.reset();
  return {d.Call("aten::div.Tensor", gradient, factors)};
}

// Each round is a node; more of them than this is no model.
constexpr std::int64_t kMaxDifferences = 64;

Tensor Difference(Dispatcher& d, const Tensor& t, int dim) {
  const std::int64_t size = t.size(dim);
  const OpName minus = t.dtype() == DType::kBool ? OpName("aten::logical_xor") : "aten::sub.Tensor";
  return d.Call(minus, d.Call("aten::slice.Tensor", t, dim, 1, size),
                d.Call("aten::slice.Tensor", t, dim, 0, size - 1));
}

Tensor Extended(Dispatcher& d, const OpView& op, int dim) {
  std::vector<Tensor> parts;
  for (int i : {3, 0, 4}) {  // prepend, self, append
    if (op.given(i)) parts.push_back(d.tensor(op, i));
  }
  return parts.size() == 1 ? parts[0] : d.Call("aten::cat", parts, dim);
}

std::vector<Tensor> Diff(Dispatcher& d, const OpView& op) {
  if (op.self().rank() == 0) Refuse("diff needs at least one dimension");
  const int dim = op.dim(2, op.self().rank());
  const std::int64_t asked = op.integer(1);
  if (asked < 0 || asked > kMaxDifferences) Refuse("diff is repeated 0 to 64 times");
  if (asked == 0) return {d.Call("aten::zeros_like", d.tensor(op, 0))};  // then overwritten
  const Tensor extended = Extended(d, op, dim);
  Tensor result = extended;
  for (std::int64_t i = std::min(asked, extended.size(dim)); i > 0; --i) {
    result = Difference(d, result, dim);
  }
  return {result};
}

// --- Composites ---------------------------------------------------------------------------------

std::vector<Tensor> SumOfAll(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::sum.dim_IntList", d.tensor(op, 0), Dims(), false, op.arg(1))};
}
// self, dim, keepdim, dtype
std::vector<Tensor> NanMean(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (!IsFloating(self.dtype()))
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  Tensor numbers;
  {
    const Tensor detached = d.Call("aten::detach", op.arg(0));
    const Tensor present = d.Call("aten::ne.Tensor", detached, detached);
    d.Call("aten::logical_not_", present);
    numbers = d.Call("aten::sum.dim_IntList", present, op.arg(1), op.arg(2));
  }
  const Tensor sum = d.Call("aten::nansum", op.arg(0), op.arg(1), op.arg(2), op.arg(3));
  return {d.Call("aten::div.Tensor", sum, numbers)};
}
std::vector<Tensor> MeanOfAll(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::mean.dim", d.tensor(op, 0), Dims(), false, op.arg(1))};
}

// --- Softmax ------------------------------------------------------------------------------------

// Row-major whatever the operand is.
void SoftmaxShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  op.dim(1, self.rank());
  const bool widen = op.boolean(2);
  if (!IsFloating(self.dtype())) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(self));
  }
  out.Add(widen ? DType::kFloat32 : self.dtype(), self.sizes());
}

void SoftmaxAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  allocations::Free(allocations::Contiguous(op.self(), memory), memory);
}

// A logarithm for each row besides.
Work LogSoftmaxWork(const OpView& op) {
  const TensorView self = op.self();
  const shape::DimSet row = shape::DimSet{1} << op.dim(1, self.rank());
  const Count rows = work::Elements(shape::Without(self.sizes(), row, shape::Reduced::kDropped));
  return work::Times({.alu = 5, .special = 1}, work::Elements(self)) + Work{.special = rows};
}

void SoftmaxOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  allocations::Free(cuda::Contiguous(op.self(), memory), memory);
}

// On CUDA the kernel itself reads float16 and gives float32.
template <Label kKernel>
std::vector<Tensor> Softmax(Dispatcher& d, const OpView& op) {
  if (d.target().device == Device::kCuda && op.self().dtype() == DType::kFloat16 &&
      op.dtype(2) == DType::kFloat32) {
    return {d.Call(kOpNamed<kKernel>, d.tensor(op, 0), op.arg(1), true)};
  }
  const Tensor self =
      op.given(2) ? d.Call("aten::to.dtype", d.tensor(op, 0), op.arg(2)) : d.tensor(op, 0);
  return {d.Call(kOpNamed<kKernel>, self, op.arg(1), false)};
}

constexpr OpDef SoftmaxKernel(OpName name, std::string_view summary, std::string_view example,
                              Gradient grad, WorkFn work) {
  return Kernel(
      Family::kNormalization,
      {name, summary, "(Tensor self, int dim, bool half_to_float) -> Tensor", example},
      {SoftmaxShape, Fusion::kReduction, DeviceAllocations{SoftmaxAllocations, SoftmaxOnCuda}, work,
       grad, precision::kFollow});
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr WorkFn kCompare = work::PerInput<PerElement{.compare = 1}>;

constexpr std::array kRows{
    CopyingOut(Casting(precision::kFullResultOnCuda,
                       Call("aten::sum", "The sum of all elements.",
                            "(Tensor self, *, ScalarType? dtype=None) -> Tensor",
                            "aten::sum(i32[2,8])", SumOfAll, gradients::kSum))),
    Casting(
        precision::kFullResultOnCuda,
        Reduce(
            "aten::sum.dim_IntList", "Sums over dimensions.",
            "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
            "aten::sum.dim_IntList(bool[2,3,8], [0,-1], True)", gradients::kSumDim,
            Fusion::kReduction, ReduceShape<SumType, Places{.dim = 1, .keep = 2, .dtype = 3}>,
            {SumAllocations, ReduceOnCuda<Keeps::kSum, Places{.dim = 1, .keep = 2, .dtype = 3}>})),
    Reduce("aten::nansum", "Sums of what are numbers over dimensions.",
           "(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
           "Tensor",
           "aten::nansum(f32[2,3,8], [0,-1], True)", gradients::kNanSum, Fusion::kReduction,
           RealReduceShape<Places{.dim = 1, .keep = 2, .dtype = 3}>,
           {NanSumAllocations, ReduceOnCuda<Keeps::kSum, Places{.dim = 1, .keep = 2, .dtype = 3}>},
           work::PerInput<PerElement{.alu = 1, .compare = 1}>),
    Call("aten::nanmean", "Means of what are numbers over dimensions.",
         "(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
         "Tensor",
         "aten::nanmean(f32[2,8], [1], True)", NanMean),
    Call("aten::mean", "The mean of all elements.",
         "(Tensor self, *, ScalarType? dtype=None) -> Tensor", "aten::mean(bf16[2,8])", MeanOfAll,
         gradients::kMean),
    Reduce("aten::mean.dim", "Means over dimensions.",
           "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
           "aten::mean.dim(f32[2,3,8], [-1], True)", gradients::kMeanDim, Fusion::kReduction,
           ReduceShape<FloatingType, Places{.dim = 1, .keep = 2, .dtype = 3}>,
           {MeanAllocations, ReduceOnCuda<Keeps::kSum, Places{.dim = 1, .keep = 2, .dtype = 3}>},
           MeanWork),
    CopyingOut(Casting(
        precision::kFullOrResult,
        Reduce("aten::prod", "The product of all elements.",
               "(Tensor self, *, ScalarType? dtype=None) -> Tensor", "aten::prod(i32[2,8])",
               gradients::kProd, Fusion::kReduction, ReduceShape<SumType, Places{.dtype = 1}>,
               {CastToOutputByFactory, ProductOnCuda<Places{}>}))),
    Casting(
        precision::kFullOrResult,
        Reduce("aten::prod.dim_int", "Products over a dimension.",
               "(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
               "aten::prod.dim_int(f32[2,8], 1)", gradients::kProdDim, Fusion::kReduction,
               ReduceShape<SumType, Places{.dim = 1, .keep = 2, .dtype = 3}>,
               {CastToOutput, ProductOnCuda<Places{.dim = 1, .keep = 2}>})),
    Reduce("aten::any", "Whether one element is not zero.", "(Tensor self) -> Tensor",
           "aten::any(f32[2,8])", kNoGradient, Fusion::kReduction, ReduceShape<TruthType, Places{}>,
           {CastToOutput, ReduceOnCuda<Keeps::kTruth, Places{}>}),
    Reduce("aten::any.dim", "Whether one element of a dimension is not zero.",
           "(Tensor self, int dim, bool keepdim=False) -> Tensor", "aten::any.dim(bool[2,8], 1)",
           kNoGradient, Fusion::kReduction, ReduceShape<TruthType, Places{.dim = 1, .keep = 2}>,
           {CastToOutput, ReduceOnCuda<Keeps::kTruth, Places{.dim = 1, .keep = 2}>}),
    Reduce("aten::any.dims", "Whether one element of some dimensions is not zero.",
           "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
           "aten::any.dims(bool[2,8], [0,1])", kNoGradient, Fusion::kReduction,
           ReduceShape<TruthType, Places{.dim = 1, .keep = 2, .empty_is_none = true}>,
           {CastToOutput,
            ReduceOnCuda<Keeps::kTruth, Places{.dim = 1, .keep = 2, .empty_is_none = true}>}),
    Reduce("aten::all", "Whether no element is zero.", "(Tensor self) -> Tensor",
           "aten::all(bool[2,8])", kNoGradient, Fusion::kReduction,
           ReduceShape<TruthType, Places{}>, {CastToOutput, ReduceOnCuda<Keeps::kTruth, Places{}>}),
    Reduce("aten::all.dim", "Whether no element of a dimension is zero.",
           "(Tensor self, int dim, bool keepdim=False) -> Tensor",
           "aten::all.dim(f32[2,8], 1, True)", kNoGradient, Fusion::kReduction,
           ReduceShape<TruthType, Places{.dim = 1, .keep = 2}>,
           {CastToOutput, ReduceOnCuda<Keeps::kTruth, Places{.dim = 1, .keep = 2}>}),
    Reduce("aten::all.dims", "Whether no element of some dimensions is zero.",
           "(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
           "aten::all.dims(bool[2,8])", kNoGradient, Fusion::kReduction,
           ReduceShape<TruthType, Places{.dim = 1, .keep = 2, .empty_is_none = true}>,
           {CastToOutput,
            ReduceOnCuda<Keeps::kTruth, Places{.dim = 1, .keep = 2, .empty_is_none = true}>}),
    Reduce("aten::amax", "The largest elements of dimensions.",
           "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
           "aten::amax(f32[2,3,8], [0,2], True)", gradients::kAmax, Fusion::kReduction,
           ChooseShape<OwnType, Places{.dim = 1, .keep = 2}>,
           {allocations::OutputsOnly, ReduceOnCuda<Keeps::kValue, Places{.dim = 1, .keep = 2}>}),
    Reduce("aten::amin", "The smallest elements of dimensions.",
           "(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", "aten::amin(f32[2,8])",
           gradients::kAmin, Fusion::kReduction, ChooseShape<OwnType, Places{.dim = 1, .keep = 2}>,
           {allocations::OutputsOnly, ReduceOnCuda<Keeps::kValue, Places{.dim = 1, .keep = 2}>}),
    Reduce("aten::max", "The largest element.", "(Tensor self) -> Tensor",
           "aten::max(f32[8,2]{1,8})", gradients::kMaxAll, Fusion::kReduction,
           ChooseShape<OwnType, Places{}>, {ContiguousByFactory, ReduceWholeOnCuda<Keeps::kValue>}),
    Reduce("aten::min", "The smallest element.", "(Tensor self) -> Tensor", "aten::min(f32[2,8])",
           gradients::kMinAll, Fusion::kReduction, ChooseShape<OwnType, Places{}>,
           {ContiguousByFactory, ReduceWholeOnCuda<Keeps::kValue>}),
    Reduce("aten::max.dim", "The largest elements of a dimension, and where they stand.",
           "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           "aten::max.dim(f32[2,8], 1)", gradients::kMaxDim, Fusion::kReduction,
           ValuesAndIndicesShape<Places{.dim = 1, .keep = 2}>,
           {allocations::OutputsOnly, ReduceOnCuda<Keeps::kPlace, Places{.dim = 1, .keep = 2}>},
           kCompare),
    Reduce("aten::min.dim", "The smallest elements of a dimension, and where they stand.",
           "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           "aten::min.dim(f32[2,8], 1, True)", gradients::kMinDim, Fusion::kReduction,
           ValuesAndIndicesShape<Places{.dim = 1, .keep = 2}>,
           {allocations::OutputsOnly, ReduceOnCuda<Keeps::kPlace, Places{.dim = 1, .keep = 2}>},
           kCompare),
    Reduce("aten::argmax", "Where the largest element stands.",
           "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
           "aten::argmax(f32[2,8], 1)", kNoGradient, Fusion::kReduction,
           ChooseShape<IndexType, Places{.dim = 1, .keep = 2}>,
           {ArgMaxAllocations, PlaceOnCuda<Places{.dim = 1, .keep = 2}>}, kCompare),
    Reduce("aten::argmin", "Where the smallest element stands.",
           "(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", "aten::argmin(f32[2,8])",
           kNoGradient, Fusion::kReduction, ChooseShape<IndexType, Places{.dim = 1, .keep = 2}>,
           {ArgMaxAllocations, PlaceOnCuda<Places{.dim = 1, .keep = 2}>}, kCompare),
    Casting(
        precision::kFullResultOnCuda,
        Reduce("aten::linalg_vector_norm", "Norms over dimensions.",
               "(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
               "dtype=None) -> Tensor",
               "aten::linalg_vector_norm(f32[2,3,8], 2, [-1], True)", gradients::kVectorNorm,
               Fusion::kReduction, ReduceShape<NormType, Places{.dim = 2, .keep = 3, .dtype = 4}>,
               {NormAllocations<Places{.dim = 2, .keep = 3, .dtype = 4}>,
                NormsOnCuda<Places{.dim = 2, .keep = 3, .dtype = 4}>},
               work::Norm)),
    Knowing(contents::SummedUp,
            Casting(precision::kFullResultOnCuda,
                    Reduce("aten::cumsum", "Sums of all elements up to each.",
                           "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                           "aten::cumsum(bool[2,8], -1)", gradients::kCumsum, Fusion::kOpaque,
                           CumulativeShape<Places{.dim = 1, .dtype = 2}>,
                           {CumulativeAllocations, CumulateOnCuda}))),
    Casting(precision::kFullResultOnCuda,
            Reduce("aten::cumprod", "Products of all elements up to each.",
                   "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                   "aten::cumprod(f32[2,8], -1)", gradients::kCumprod, Fusion::kOpaque,
                   CumulativeShape<Places{.dim = 1, .dtype = 2}>,
                   {CumulativeAllocations, CumulateOnCuda})),
    RunningInPlace({"aten::cumsum_", "Sums of all elements up to each, in place.",
                    "(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)",
                    "aten::cumsum_(f32[2,8], -1)"},
                   gradients::kCumsum),
    RunningInPlace({"aten::cumprod_", "Products of all elements up to each, in place.",
                    "(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)",
                    "aten::cumprod_(f32[2,8], -1)"},
                   gradients::kCumprod),
    Call("aten::cumprod_backward", "The gradient of products of all elements up to each.",
         "(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor",
         "aten::cumprod_backward(f32[2,8], f32[2,8], 1, f32[2,8])", CumprodBackward),
    Call("aten::diff", "Differences of neighbours, `n` times over.",
         "(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
         "aten::diff(i64[2,8], prepend=i64[2,1])", Diff),
    Knowing(contents::Softmax,
            SoftmaxKernel("aten::_softmax", "Exponentials along `dim`, scaled to sum to one.",
                          "aten::_softmax(f32[2,8], -1, False)", gradients::kSoftmax,
                          work::PerOutput<PerElement{.alu = 4, .special = 1}>)),
    SoftmaxKernel("aten::_log_softmax", "The logarithm of softmax along `dim`.",
                  "aten::_log_softmax(f32[2,8], 0, False)", gradients::kLogSoftmax, LogSoftmaxWork),
    Casting(precision::kFullResultOnCuda,
            Call("aten::softmax.int", "Exponentials along `dim`, scaled to sum to one.",
                 "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                 "aten::softmax.int(bf16[2,8], -1, dtype=f32)", Softmax<"aten::_softmax">)),
    Casting(precision::kFullResultOnCuda,
            Call("aten::log_softmax.int", "The logarithm of softmax along `dim`.",
                 "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                 "aten::log_softmax.int(f32[2,8], 1)", Softmax<"aten::_log_softmax">)),
};

}  // namespace

std::span<const OpDef> Reduction() { return kRows; }

}  // namespace steelyard::ops
