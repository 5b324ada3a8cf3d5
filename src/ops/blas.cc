// SPDX-License-Identifier: Apache-2.0
//
// The kernels of matrix products: mm, bmm and their relatives, which add to what they are given,
// and the forms that add in place (ATen/native/LinearAlgebra.cpp, Blas.cpp). What lies so that BLAS
// or oneDNN cannot read or write it is copied for the time of the product.

#include "ops/cuda/blas.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ops/contents/known_contents.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/linalg.h"
#include "ops/onednn/product.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/product.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- Kernels: the factors are the arguments kFirst and kFirst + 1 -------------------------------

void RequireBroadcast(const TensorView& bias, std::span<const std::int64_t> sizes) {
  const std::optional<Dims> common = BroadcastShapes(bias.sizes(), sizes);
  if (common && std::ranges::equal(std::span<const std::int64_t>(*common), sizes)) return;
  Contradict(fmt::format("{} does not broadcast to the product's shape {}", shape::Text(bias),
                         shape::Text(sizes)));
}

bool IsInPlace(const OpView& op) { return *op.def().alias == Alias::kInPlace; }

// PyTorch asks of a matrix whether it overlaps itself, not of a vector or a batch.
void RequireResult(const TensorView& self, DType dtype, std::span<const std::int64_t> sizes) {
  if (sizes.size() == 2) shape::RequireWritable(self);
  if (self.dtype() == dtype && std::ranges::equal(self.sizes(), sizes)) return;
  Refuse(fmt::format("a product of {} {} cannot be added to {} in place", NameOf(dtype),
                     shape::Text(sizes), shape::Text(self)));
}

// Where the factors do not come first, the argument before them is added to their product.
template <int kFirst>
void AddProduct(const OpView& op, const Dims& sizes, Outputs& out) {
  const DType dtype = op.tensor(kFirst).dtype();
  if (IsInPlace(op)) {
    RequireResult(op.self(), dtype, sizes);
    return out.AddLike(op.self());
  }
  if (kFirst == 1) {
    RequireBroadcast(op.self(), sizes);
    product::RequireSummandOf(op.self(), op.tensor(1));
  }
  out.Add(dtype, sizes);
}

template <int kFirst>
void MatrixShape(const OpView& op, Outputs& out) {
  const TensorView a = op.tensor(kFirst), b = op.tensor(kFirst + 1);
  shape::RequireRank("the first factor", a, 2);
  shape::RequireRank("the second factor", b, 2);
  product::RequireInner(a, b);
  product::RequireSameDType(a, b);
  AddProduct<kFirst>(op, {a.size(0), b.size(1)}, out);
}

// Batches of smaller products than this run in a loop that reads any layout
// (LinearAlgebra.cpp, bmm_out_or_baddbmm_).
constexpr std::int64_t kSmallBatchItem = 400;
bool IsLoop(const TensorView& a, const TensorView& b) {
  const Count item = Count(a.size(1)) * a.size(2) * b.size(2);
  return !item.overflowed() && item.value() < kSmallBatchItem;
}

// Larger matrices are written one after the other, and each is asked whether it overlaps itself.
void RequireWritableMatrices(const TensorView& self, const TensorView& a, const TensorView& b) {
  const bool asked = a.size(0) > 0 && a.size(2) > 0 && !IsLoop(a, b) && !product::UsesOneDnn(a, b);
  for (int i : {1, 2}) {
    if (!asked || self.size(i) <= 1 || self.stride(i) != 0) continue;
    Refuse("expanded matrices cannot be overwritten: " + shape::Text(self), "Clone them first.");
  }
}

template <int kFirst>
void BatchShape(const OpView& op, Outputs& out) {
  const TensorView a = op.tensor(kFirst), b = op.tensor(kFirst + 1);
  shape::RequireRank("the first factor", a, 3);
  shape::RequireRank("the second factor", b, 3);
  shape::RequireEqual("batch sizes", a.size(0), b.size(0));
  product::RequireInner(a, b);
  product::RequireSameDType(a, b);
  AddProduct<kFirst>(op, {a.size(0), a.size(1), b.size(2)}, out);
  if (IsInPlace(op) && op.target().device == Device::kCpu) RequireWritableMatrices(op.self(), a, b);
}

template <int kFirst>
void VectorShape(const OpView& op, Outputs& out) {
  const TensorView a = op.tensor(kFirst), v = op.tensor(kFirst + 1);
  shape::RequireRank("the matrix", a, 2);
  shape::RequireRank("the vector", v, 1);
  shape::RequireEqual("inner dimensions", a.size(1), v.size(0));
  product::RequireSameDType(a, v);
  AddProduct<kFirst>(op, {a.size(0)}, out);
}

void DotShape(const OpView& op, Outputs& out) {
  shape::RequireRank("the first factor", op.self(), 1);
  shape::RequireRank("the second factor", op.tensor(1), 1);
  shape::RequireEqual("lengths", op.self().size(0), op.tensor(1).size(0));
  product::RequireSameDType(op.self(), op.tensor(1));
  out.Add(op.self().dtype(), {});
  // Of two conjugates it is the conjugate of the product.
  if (op.self().value().conjugated && op.tensor(1).value().conjugated) out.Conjugate();
}

// How a product is computed: column by column, or as the product of the transposed factors, the
// second first, or column by column into a copy of what it is added to.
enum class Order : std::uint8_t { kByColumns, kByRows, kInCopy };
Order OrderOf(const TensorView& result) {
  const std::int64_t rows = result.size(-2), columns = result.size(-1);
  const std::int64_t down = result.stride(-2), across = result.stride(-1);
  if (down == 1 && (columns == 1 || across >= std::max<std::int64_t>(1, rows))) {
    return Order::kByColumns;
  }
  const bool by_rows = across == 1 && (rows == 1 || down >= std::max<std::int64_t>(1, columns));
  return by_rows ? Order::kByRows : Order::kInCopy;
}

// Of batches conjugates are copied as a whole (below).
void CopyUnread(const TensorView& a, const TensorView& b, const TensorView& result,
                product::FactorCopies& copies) {
  const Order order = OrderOf(result);
  const bool swapped = order == Order::kByRows;
  if (order == Order::kInCopy) copies.Add(Count(a.size(-2)) * b.size(-1), result.dtype());
  const std::array factors{swapped ? b : a, swapped ? a : b};
  for (const TensorView& factor : factors) {
    const Count elements = Count(factor.size(-2)) * factor.size(-1);
    if (!product::BlasReads(factor)) {
      copies.Add(elements, factor.dtype());
    } else if (factor.rank() == 2 && factor.value().conjugated &&
               !product::BlasConjugates(factor, swapped)) {
      copies.Add(elements, factor.dtype(), "aten::empty_strided");
    }
  }
}

// oneDNN's own, for the time of the product, and the factor that the product is to be scaled by.
template <int kFirst>
void AllocateScratch(const OpView& op, const onednn::Product& product, Allocations& memory,
                     std::string_view label = {}) {
  const double alpha = kFirst == 1 ? op.real(4, 1.0) : 1.0;
  if (alpha == 0.0) return;  // nothing is multiplied
  const std::int64_t factor = alpha == 1.0 ? 0 : allocations::Bytes(1, DType::kFloat32);
  const auto held = memory.Allocate(factor, label);
  const Count bytes = onednn::ProductScratch(product, op.target());
  memory.Free(memory.Allocate(allocations::Bytes(bytes, DType::kUInt8), label), label);
  memory.Free(held, label);
}

// What is copied before a product has no gaps.
bool MatrixHasGaps(const TensorView& matrix) {
  return product::BlasReads(matrix) && !product::OneDnnReads(matrix);
}
bool VectorHasGaps(const TensorView& vector) {
  return product::BlasReads(vector) && vector.stride(vector.size(0) == 1 ? 1 : 0) != 1;
}

onednn::Product ProductOf(const TensorView& a, const TensorView& b, Order order) {
  onednn::Product out{.rows = a.size(0), .columns = b.size(1), .depth = a.size(1)};
  if (out.rows == 1 || out.columns == 1) {
    const bool first_is_vector = out.columns != 1;
    out.matrix_has_gaps = MatrixHasGaps(first_is_vector ? b : a);
    out.vector_has_gaps = VectorHasGaps(first_is_vector ? a : b);
  } else if (order == Order::kByRows) {
    out.first_transposed = product::LiesTransposed(a);
  } else {
    std::swap(out.rows, out.columns);
    out.first_transposed = b.stride(1) == 1 && b.stride(0) >= b.size(1);
  }
  return out;
}

void TakeOutput(const OpView& op, Allocations& memory, std::string_view label = {}) {
  if (!IsInPlace(op)) memory.Output(0, label);
}

// Without anything to add up, what the product would be added to is multiplied by `beta` alone.
template <int kFirst>
void ScaleAlone(const OpView& op, Allocations& memory) {
  if (kFirst == 0 || op.output().count() == 0 || op.real(3, 1.0) == 0.0) return;
  const DType dtype = op.output().dtype();
  const auto box = memory.Allocate(allocations::BoxBytes(op.arg(3)), "aten::mul_");
  if (BoxedType(op.arg(3)) != dtype) {
    const std::int64_t bytes = allocations::Bytes(1, dtype);
    memory.Free(memory.Allocate(bytes, "aten::empty_strided"), "aten::mul");
  }
  memory.Free(box, "aten::mul_");
}

template <int kFirst>
void MatrixAllocations(const OpView& op, Allocations& memory) {
  TakeOutput(op, memory);
  const bool copies_addend = kFirst == 1 && !IsInPlace(op) && op.real(3, 1.0) != 0.0 &&
                             std::ranges::equal(op.self().sizes(), op.output().sizes());
  if (copies_addend) {
    allocations::CopyBlock(op.self(), op.output().strides(), op.output().dtype(), memory);
  }
  const TensorView a = op.tensor(kFirst), b = op.tensor(kFirst + 1);
  if (op.output().count() == 0) return;
  if (a.size(1) == 0) return ScaleAlone<kFirst>(op, memory);
  product::FactorCopies copies(memory);
  CopyUnread(a, b, op.output(), copies);
  if (product::UsesOneDnn(a, b)) {
    AllocateScratch<kFirst>(op, ProductOf(a, b, OrderOf(op.output())), memory);
  }
  copies.FreeAll();
}

// Each matrix of a batch is copied and freed on its own. Their events are alike, and a batch of
// more matrices than this can only come from a damaged file.
constexpr std::int64_t kMostCopiedItems = 1 << 16;

// Copies of conjugates for the time of a product of batches. A copy is dense, so that BLAS reads
// it.
void CopyConjugates(const TensorView& a, const TensorView& b, product::FactorCopies& copies) {
  for (const TensorView& factor : {b, a}) {
    if (!factor.value().conjugated) continue;
    copies.Add(work::Elements(factor), factor.dtype(), "aten::empty_strided");
  }
}
bool BatchIsRead(const TensorView& factor) {
  return factor.value().conjugated || product::BlasReads(factor);
}

// oneDNN needs no scratch for a result that does not lie row by row.
template <int kFirst>
void MultiplyByOneDnn(const OpView& op, Allocations& memory, std::string_view label = {}) {
  const TensorView a = op.tensor(kFirst), b = op.tensor(kFirst + 1);
  product::FactorCopies copies(memory);
  const bool is_read = product::OneDnnReads(a);
  if (!is_read) copies.Add(work::Elements(a), a.dtype());
  if (!product::OneDnnReads(b)) copies.Add(work::Elements(b), b.dtype());
  if (op.output().stride(-1) == 1 || op.output().size(-1) == 1) {
    AllocateScratch<kFirst>(op,
                            {.rows = a.size(1),
                             .columns = b.size(2),
                             .depth = a.size(2),
                             .batch = a.size(0),
                             .first_transposed = is_read && product::LiesTransposed(a),
                             .is_batch = true},
                            memory, label);
  }
  copies.FreeAll();
}

template <int kFirst>
void MultiplyBatch(const OpView& op, Allocations& memory) {
  const TensorView a = op.tensor(kFirst), b = op.tensor(kFirst + 1);
  if (op.output().count() == 0) return;
  if (a.size(2) == 0) return ScaleAlone<kFirst>(op, memory);
  if (product::UsesOneDnn(a, b)) return MultiplyByOneDnn<kFirst>(op, memory);
  if (IsLoop(a, b)) return;
  const bool is_written = OrderOf(op.output()) != Order::kInCopy;
  if (BatchIsRead(a) && BatchIsRead(b) && is_written) return;
  product::FactorCopies copies(memory);
  for (std::int64_t i = 0; i < std::min(a.size(0), kMostCopiedItems); ++i) {
    CopyUnread(a, b, op.output(), copies);
    copies.FreeAll(kFirst == 0 ? "" : "aten::addmm_");
  }
}

template <int kFirst>
void BatchAllocations(const OpView& op, Allocations& memory) {
  TakeOutput(op, memory);
  const TensorView a = op.tensor(kFirst), b = op.tensor(kFirst + 1);
  product::FactorCopies conjugates(memory);
  CopyConjugates(a, b, conjugates);
  MultiplyBatch<kFirst>(op, memory);
  conjugates.FreeAll();
}

// bmm_out of dense batches, under the label of its caller.
void BatchIntoAllocations(const OpView& op, Allocations& memory) {
  if (op.output().count() == 0 || op.tensor(1).size(2) == 0) return;
  if (!product::UsesOneDnn(op.tensor(1), op.tensor(2))) return;
  MultiplyByOneDnn<1>(op, memory, Allocations::kCaller);
}
void BatchIntoOnCuda(const OpView& op, Allocations& memory) {
  if (op.output().count() == 0 || op.tensor(1).size(2) <= 1) return;
  cuda::UseBlasWorkspace(op, memory, Allocations::kCaller);
}
Work BatchIntoWork(const OpView& op) {
  return {.mac = work::Elements(op.output()) * op.tensor(1).size(-1)};
}

// oneDNN is given dense matrices and vectors only.
template <int kFirst>
void MultiplyVector(const OpView& op, Allocations& memory, std::string_view label) {
  const TensorView matrix = op.tensor(kFirst), vector = op.tensor(kFirst + 1);
  const bool by_onednn = product::UsesOneDnn(matrix, vector);
  product::FactorCopies copies(memory);
  const bool reads = by_onednn ? product::OneDnnReads(matrix) : product::BlasReads(matrix);
  if (!reads) copies.Add(work::Elements(matrix), matrix.dtype());
  if (by_onednn && !vector.is_contiguous()) copies.Add(work::Elements(vector), vector.dtype());
  if (by_onednn) {
    AllocateScratch<kFirst>(
        op,
        {.rows = matrix.size(0), .columns = 1, .depth = matrix.size(1), .first_transposed = false},
        memory, label);
  }
  copies.FreeAll(label);
}

void MvAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  MultiplyVector<0>(op, memory, "aten::addmv_");
}

void AddmvAllocations(const OpView& op, Allocations& memory) {
  TakeOutput(op, memory);
  if (op.tensor(1).count() != 0) return MultiplyVector<1>(op, memory, {});
  if (op.real(3, 1.0) == 0.0) return;
  memory.Free(memory.Allocate(allocations::Bytes(1, op.output().dtype())));
}

void DotAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  const TensorView a = op.self(), b = op.tensor(1);
  if (!product::UsesOneDnn(a, b)) return;
  product::FactorCopies copies(memory);
  for (const TensorView& factor : {a, b}) {
    if (!factor.is_contiguous()) copies.Add(work::Elements(factor), factor.dtype());
  }
  AllocateScratch<0>(op, {.rows = 1, .columns = 1, .depth = a.size(0)}, memory);
  copies.FreeAll();
}

// Multiply-adds: as many as the result has elements, times the inner dimension. What is added to
// the product costs an addition per element unless its factor `beta` is 0.
template <int kFirst>
Work ProductWork(const OpView& op) {
  const Count elements = work::Elements(op.output());
  Work w{.mac = elements * op.tensor(kFirst).size(-1)};
  if (kFirst == 1 && op.real(3, 1.0) != 0.0) w.alu = elements;
  return w;
}

// The same of a batch, as attention is computed without a fused kernel: what a softmax has made
// zero is multiplied for nothing.
template <int kFirst>
Work BatchWork(const OpView& op) {
  Work work = ProductWork<kFirst>(op);
  if (op.known() == nullptr) return work;
  const Count by_first = Count(op.known()->zeros(op.tensor(kFirst))) * op.output().size(-1);
  const Count by_second = Count(op.known()->zeros(op.tensor(kFirst + 1))) * op.output().size(-2);
  work.masked = by_first.value() < by_second.value() ? by_second : by_first;
  return work;
}

// The activation besides, whose kernels overwrite the product: as many operations as relu and gelu.
Work ActivatedProductWork(const OpView& op) {
  constexpr work::PerElement kRelu{.compare = 1}, kGelu{.alu = 4, .special = 1};
  const bool by_gelu = op.boolean(5);
  return ProductWork<1>(op) + work::Times(by_gelu ? kGelu : kRelu, work::Elements(op.output()));
}

constexpr OpDef ProductKernel(OpName name, std::string_view summary, Signature signature,
                              std::string_view example, Gradient grad, ShapeFn shape,
                              DeviceAllocations allocations, WorkFn work) {
  return Kernel(Family::kContraction, {name, summary, signature, example},
                {shape, Fusion::kOutFusable, allocations, work, grad, precision::kFollow});
}
constexpr OpDef InPlace(const Words& words, Gradient grad, ShapeFn shape,
                        DeviceAllocations allocations, WorkFn work) {
  return OpaqueKernel(Family::kContraction, words, shape, allocations, work, grad,
                      precision::kFollow, Alias::kInPlace);
}

// --- Sums of a batch's products ------------------------------------------------------------------

// self, batch1, batch2, beta, alpha: over `result`, one matrix after another
void AddEach(Dispatcher& d, const OpView& op, const Tensor& result) {
  const TensorView first = op.tensor(1), second = op.tensor(2);
  shape::RequireRank("the first factor", first, 3);
  shape::RequireRank("the second factor", second, 3);
  shape::RequireEqual("batch sizes", first.size(0), second.size(0));
  const std::int64_t batch = first.size(0);
  if (batch == 0) {
    if (op.real(3, 1.0) != 0.0) d.Call("aten::mul_.Tensor", result, op.arg(3));
    return;
  }
  for (std::int64_t i = 0; i < batch; ++i) {
    const Tensor a = d.Call("aten::select.int", op.arg(1), 0, i);
    const Tensor b = d.Call("aten::select.int", op.arg(2), 0, i);
    const Argument beta = i == 0 ? op.arg(3) : Argument::OfInt(1);
    d.Call("aten::addmm_", result, a, b, beta, op.arg(4));
  }
}

std::vector<Tensor> AddProducts(Dispatcher& d, const OpView& op) {
  shape::RequireRank("the first factor", op.tensor(1), 3);
  shape::RequireRank("the second factor", op.tensor(2), 3);
  const Dims sizes{op.tensor(1).size(1), op.tensor(2).size(2)};
  const Tensor spread = d.Call("aten::expand", op.arg(0), sizes);
  const Tensor result = d.Call("steelyard::resized", op.self().dtype(), sizes);
  if (op.real(3, 1.0) != 0.0) d.Call("aten::copy_", result, spread);
  AddEach(d, op, result);
  return {result};
}

std::vector<Tensor> AddProductsInPlace(Dispatcher& d, const OpView& op) {
  const Tensor self = d.tensor(op, 0);
  AddEach(d, op, self);
  return {self};
}

void ResizedShape(const OpView& op, Outputs& out) { out.Add(*op.dtype(0), op.ints(1)); }

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    TakingBits(MathBits::kConjugate,
               Casting(precision::kLow,
                       ProductKernel("aten::mm", "Product of two matrices.",
                                     "(Tensor self, Tensor mat2) -> Tensor",
                                     "aten::mm(f32[2,3], f32[3,5])", gradients::kMm, MatrixShape<0>,
                                     {MatrixAllocations<0>, cuda::Multiply<0>}, ProductWork<0>))),
    TakingBits(MathBits::kConjugate,
               Casting(precision::kLow,
                       ProductKernel("aten::addmm", "Product of two matrices plus a matrix or row.",
                                     "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
                                     "Scalar alpha=1) -> Tensor",
                                     "aten::addmm(f32[5], f32[2,3], f32[3,5]{1,3})",
                                     gradients::kAddmm, MatrixShape<1>,
                                     {MatrixAllocations<1>, cuda::Multiply<1>}, ProductWork<1>))),
    Casting(precision::kLowOnCpu,
            ProductKernel(
                "aten::_addmm_activation",
                "Product of two matrices plus a matrix or row, and relu or gelu of it.",
                "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool "
                "use_gelu=False) -> Tensor",
                "aten::_addmm_activation(f32[5], f32[2,3], f32[3,5]{1,3}, use_gelu=True)",
                kGradientUnknown, MatrixShape<1>, {MatrixAllocations<1>, cuda::Multiply<1>},
                ActivatedProductWork)),
    TakingBits(MathBits::kConjugate,
               Casting(precision::kLow,
                       ProductKernel("aten::bmm", "Products of a batch of matrices.",
                                     "(Tensor self, Tensor mat2) -> Tensor",
                                     "aten::bmm(f32[2,8,9]{144,18,2}, f32[2,9,7])", gradients::kBmm,
                                     BatchShape<0>, {BatchAllocations<0>, cuda::Multiply<0>},
                                     BatchWork<0>))),
    TakingBits(MathBits::kConjugate,
               Casting(precision::kLow,
                       ProductKernel(
                           "aten::baddbmm", "Products of a batch of matrices plus a tensor.",
                           "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar "
                           "alpha=1) -> Tensor",
                           "aten::baddbmm(f32[2,1,5], f32[2,4,3], f32[2,3,5])", gradients::kBaddbmm,
                           BatchShape<1>, {BatchAllocations<1>, cuda::Multiply<1>}, BatchWork<1>))),
    Casting(precision::kLowOnCuda,
            ProductKernel("aten::mv", "Product of a matrix and a vector.",
                          "(Tensor self, Tensor vec) -> Tensor", "aten::mv(f32[2,3]{6,2}, f32[3])",
                          gradients::kMv, VectorShape<0>, {MvAllocations, cuda::Multiply<0>},
                          ProductWork<0>)),
    Casting(precision::kLowOnCuda,
            ProductKernel(
                "aten::addmv", "Product of a matrix and a vector plus a vector.",
                "(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                "aten::addmv(f32[2], f32[2,3], f32[3])", gradients::kAddmv, VectorShape<1>,
                {AddmvAllocations, cuda::Multiply<1>}, ProductWork<1>)),
    TakingBits(
        MathBits::kConjugate,
        CopyingOut(Casting(precision::kPromoteOnCuda,
                           ProductKernel("aten::dot", "Inner product of two vectors.",
                                         "(Tensor self, Tensor tensor) -> Tensor",
                                         "aten::dot(f32[3], f32[3])", gradients::kDot, DotShape,
                                         {DotAllocations, cuda::Dot}, ProductWork<0>)))),
    TakingBits(
        MathBits::kConjugate,
        InPlace({"aten::addmm_", "Adds the product of two matrices, in place.",
                 "(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
                 "Tensor(a!)",
                 "aten::addmm_(f32[2,5]{1,2}, f32[2,3], f32[3,5])"},
                gradients::kAddmm, MatrixShape<1>, {MatrixAllocations<1>, cuda::Multiply<1>},
                ProductWork<1>)),
    TakingBits(
        MathBits::kConjugate,
        InPlace(
            {"aten::baddbmm_", "Adds the products of a batch of matrices, in place.",
             "(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
             "Tensor(a!)",
             "aten::baddbmm_(f32[2,8,7], f32[2,8,9], f32[2,9,7])"},
            gradients::kBaddbmm, BatchShape<1>, {BatchAllocations<1>, cuda::Multiply<1>},
            BatchWork<1>)),
    InPlace({"aten::addmv_", "Adds the product of a matrix and a vector, in place.",
             "(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> "
             "Tensor(a!)",
             "aten::addmv_(f32[2], f32[2,3], f32[3])"},
            gradients::kAddmv, VectorShape<1>, {AddmvAllocations, cuda::Multiply<1>},
            ProductWork<1>),
    OnlyWithin(InPlace(
        {"steelyard::bmm_into", "Products of a batch of matrices, where there is room for them.",
         "(Tensor(a!) out, Tensor self, Tensor mat2) -> Tensor(a!)",
         "steelyard::bmm_into(f32[2,8,7], f32[2,8,9], f32[2,9,7])"},
        kGradientUnknown, BatchShape<1>, {BatchIntoAllocations, BatchIntoOnCuda}, BatchIntoWork)),
    OpaqueKernel(Family::kContraction,
                 {"steelyard::resized", "A result whose size an operator sets when it has made it.",
                  "(ScalarType dtype, SymInt[] size) -> Tensor", "steelyard::resized(f32, [4,5])"},
                 ResizedShape, allocations::Via<"aten::resize_">, work::None, kGradientUnknown),
    Composite(Family::kContraction,
              {"aten::addbmm", "Adds the sum of a batch's products.",
               "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
               "Tensor",
               "aten::addbmm(f32[4,5], f32[2,4,3], f32[2,3,5])"},
              AddProducts, gradients::kAddbmm, precision::kLow),
    Composite(Family::kContraction,
              {"aten::addbmm_", "Adds the sum of a batch's products, in place.",
               "(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) "
               "-> Tensor(a!)",
               "aten::addbmm_(f32[4,5], f32[2,4,3], f32[2,3,5])"},
              AddProductsInPlace, gradients::kAddbmm),
};

}  // namespace

std::span<const OpDef> Blas() { return kRows; }

}  // namespace steelyard::ops
