// SPDX-License-Identifier: Apache-2.0
//
// Routines of LAPACK as kernels that overwrite matrices. Workspaces that PyTorch allocates are of
// the sizes that MKL 2024 asks for; what LAPACK takes from malloc is not PyTorch's memory.

#include "ops/lapack.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/memory_format.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace lapack {

Dims ColumnMajor(std::span<const std::int64_t> sizes) {
  Dims turned(sizes);
  const int last = turned.size() - 1;
  std::swap(turned[last], turned[last - 1]);
  Dims strides = ContiguousStrides(turned);
  std::swap(strides[last], strides[last - 1]);
  return strides;
}

// MAGMA and cuSOLVER, which stand for LAPACK on CUDA, have workspaces of their own.
void RequireHost(const Target& target) {
  if (target.device != Device::kCpu) Refuse("factors of matrices are not modelled on CUDA");
}

Tensor Made(Dispatcher& d, const Dims& sizes, const Dims& strides, DType dtype) {
  RequireHost(d.target());
  return d.Call("steelyard::result", sizes, strides, dtype);
}
Tensor MadeByRows(Dispatcher& d, const Dims& sizes, DType dtype) {
  return Made(d, sizes, ContiguousStrides(sizes), dtype);
}
Tensor MadeByColumns(Dispatcher& d, const Dims& sizes, DType dtype) {
  return Made(d, sizes, ColumnMajor(sizes), dtype);
}

void Run(Dispatcher& d, const Tensor& matrix, std::string_view routine, std::int64_t columns) {
  d.Call("steelyard::lapack", matrix, d.Text(routine), columns);
}

void RequireMatrix(const TensorView& a) {
  if (a.rank() < 2) Refuse("a matrix is needed, not " + shape::Text(a));
  if ((!IsFloating(a.dtype()) && !IsComplex(a.dtype())) || BitsOf(a.dtype()) < 32 ||
      a.dtype() == DType::kComplex32) {
    Refuse("LAPACK does not compute in the dtype of " + shape::Text(a));
  }
}
void RequireSquare(const TensorView& a) {
  RequireMatrix(a);
  if (a.size(-1) != a.size(-2)) Refuse(shape::Text(a) + " is not square");
}
void RequireSameType(const TensorView& a, const TensorView& b) {
  if (a.dtype() != b.dtype()) Refuse("both operands must be of one dtype");
}

Dims BatchOf(const TensorView& a) {
  return Dims(a.sizes().first(static_cast<std::size_t>(a.rank() - 2)));
}
Dims With(Dims batch, std::initializer_list<std::int64_t> last) {
  for (const std::int64_t size : last) batch.push_back(size);
  return batch;
}
std::int64_t Lesser(const TensorView& a) { return std::min(a.size(-1), a.size(-2)); }

bool LiesByColumns(const Tensor& a) {
  Dims sizes(a.sizes()), strides(a.strides());
  const int last = sizes.size() - 1;
  std::swap(sizes[last], sizes[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  return IsContiguous(sizes, strides);
}
Tensor CopyByColumns(Dispatcher& d, const Tensor& a) {
  return d.Call("aten::mT", d.Call("aten::clone", d.Call("aten::mT", a), kContiguousFormat));
}

void CheckErrors(Dispatcher& d, const Tensor& info, std::string_view name) {
  d.Call("aten::_linalg_check_errors", info, d.Text(name), info.rank() == 0);
}

void TriangleOfCopy(Dispatcher& d, std::string_view cut, const TensorView& a) {
  const Dispatcher::Inside frame(d, cut);
  d.Call("aten::empty.memory_format", Dims(a.sizes()), a.dtype());
}

}  // namespace lapack

namespace {

using lapack::Call;

// --- Parts --------------------------------------------------------------------------------------

// A tensor that an operator makes itself, or by resizing an empty one: size, stride, dtype.
void MadeShape(const OpView& op, Outputs& out) {
  const Dims sizes = op.ints(0), strides = op.ints(1);
  shape::RequireSizes(sizes);
  shape::RequireEqual("the number of sizes and of strides", sizes.size(), strides.size());
  out.Add(op.dtype(2).value_or(kDefaultFloat), sizes, strides);
}

void OwnShape(const OpView& op, Outputs& out) { out.AddLike(op.self()); }

// Operations of LAPACK's routines on an m x n matrix and r right-hand sides, as its users' guide
// counts them (LAPACK Working Note 41), and as Golub and Van Loan count those that iterate, which
// take as many steps as the numbers need.
struct Matrix {
  Count m, n, r;
  Count k() const { return m.value() < n.value() ? m : n; }
};
Count Third(Count count) { return count.overflowed() ? count : Count(count.value() / 3); }
Count Less(Count a, Count b) {
  if (a.overflowed() || b.overflowed()) return Count(-1);
  return Count(std::max<std::int64_t>(a.value() - b.value(), 0));
}
// 2mnk - (m + n)k^2 + 2k^3 / 3
Count EliminationOperations(const Matrix& a) {
  const Count k = a.k();
  const Count all = Count(2) * a.m * a.n * k + Third(Count(2) * k * k * k);
  return Less(all, (a.m + a.n) * k * k);
}
Count CholeskyOperations(const Matrix& a) { return Third(a.n * a.n * a.n); }
Count InverseOperations(const Matrix& a) { return Third(Count(2) * a.n * a.n * a.n); }
Count TriangularOperations(const Matrix& a) { return a.n * a.n * a.r; }
Count BothTrianglesOperations(const Matrix& a) { return Count(2) * a.n * a.n * a.r; }
Count OrthogonalOperations(const Matrix& a) { return Count(2) * EliminationOperations(a); }
Count EigenvectorOperations(const Matrix& a) { return Count(9) * a.n * a.n * a.n; }
Count EigenvalueOperations(const Matrix& a) { return Third(Count(4) * a.n * a.n * a.n); }
Count GeneralVectorOperations(const Matrix& a) { return Count(25) * a.n * a.n * a.n; }
Count GeneralValueOperations(const Matrix& a) { return Count(10) * a.n * a.n * a.n; }
// An orthogonal factorization, its product with the right-hand sides, and a triangular system.
Count LeastSquaresOperations(const Matrix& a) {
  return OrthogonalOperations(a) + Count(4) * a.m * a.k() * a.r + a.k() * a.k() * a.r;
}
Count SingularVectorOperations(const Matrix& a) {
  const Count k = a.k(), longer = a.m.value() < a.n.value() ? a.n : a.m;
  return Count(6) * longer * k * k + Count(20) * k * k * k;
}
Count SingularValueOperations(const Matrix& a) {
  const Count k = a.k(), longer = a.m.value() < a.n.value() ? a.n : a.m;
  return Less(Count(4) * longer * k * k, Third(Count(4) * k * k * k));
}

struct Routine {
  std::string_view name;
  Count (*operations)(const Matrix&);
};
constexpr std::array kRoutines{
    Routine{"getrf", EliminationOperations},    Routine{"getrs", BothTrianglesOperations},
    Routine{"potrf", CholeskyOperations},       Routine{"potri", InverseOperations},
    Routine{"potrs", BothTrianglesOperations},  Routine{"trtrs", TriangularOperations},
    Routine{"geqrf", OrthogonalOperations},     Routine{"orgqr", OrthogonalOperations},
    Routine{"syevd", EigenvectorOperations},    Routine{"syevd_n", EigenvalueOperations},
    Routine{"geev", GeneralVectorOperations},   Routine{"geev_n", GeneralValueOperations},
    Routine{"gelsy", LeastSquaresOperations},   Routine{"sytrf", CholeskyOperations},
    Routine{"gesdd", SingularVectorOperations}, Routine{"gesdd_n", SingularValueOperations},
};

// self, routine, rhs: the matrices that it overwrites, and columns that it solves for
Work RoutineWork(const OpView& op) {
  const TensorView self = op.self();
  if (self.rank() < 2) Refuse("LAPACK takes matrices, not " + shape::Text(self));
  const auto* routine = std::ranges::find(kRoutines, op.text(1), &Routine::name);
  if (routine == kRoutines.end()) Refuse("LAPACK has no routine " + std::string(op.text(1)));
  const Count batch = work::Elements(self.sizes().first(static_cast<std::size_t>(self.rank() - 2)));
  return {.alu = batch * routine->operations({self.size(-2), self.size(-1), op.integer(2)})};
}

// out, a, b: the product written over `out`; a factor of another dtype is cast.
void ProductIntoAllocations(const OpView& op, Allocations& memory) {
  const DType common = ResultType({op.tensor(1), op.tensor(2)});
  for (int i : {1, 2}) {
    const TensorView factor = op.tensor(i);
    if (factor.dtype() == common) continue;
    memory.Free(memory.Allocate(allocations::Bytes(factor.count(), common), "aten::empty_strided"),
                "aten::mul");
  }
}

// out, a: what is summed is cast to the dtype of the sums.
void SumIntoAllocations(const OpView& op, Allocations& memory) {
  if (const auto cast = allocations::Cast(op.tensor(1), op.self().dtype(), memory)) {
    memory.Free(*cast, "aten::sum");
  }
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Part(const Words& words, ShapeFn shape, AllocationsFn allocations,
                     WorkFn work = work::None, Alias alias = Alias::kNone) {
  return OpaqueKernel(Family::kContraction, words, shape, allocations, work, kGradientUnknown,
                      precision::kFollow, alias);
}
std::vector<Tensor> AnyOf(Dispatcher& d, const OpView& op) {
  d.Call("aten::any", d.tensor(op, 0));
  return {};
}

constexpr std::array kRows{
    OnlyWithin(Part({"steelyard::result", "A tensor that an operator makes itself.",
                     "(SymInt[] size, SymInt[] stride, ScalarType dtype) -> Tensor",
                     "steelyard::result([2,3], [1,2], f32)"},
                    MadeShape, allocations::Via<"^">)),
    OnlyWithin(Part({"steelyard::lapack", "A routine of LAPACK, over matrices that it overwrites.",
                     "(Tensor(a!) self, str routine, int columns=0) -> Tensor(a!)",
                     "steelyard::lapack(f32[3,3], 'getrf')"},
                    OwnShape, allocations::None, RoutineWork, Alias::kInPlace)),
    OnlyWithin(Part({"steelyard::product_into", "A product, over a third tensor.",
                     "(Tensor(a!) out, Tensor self, Tensor other) -> Tensor(a!)",
                     "steelyard::product_into(f32[2], i64[2], f32[2])"},
                    OwnShape, ProductIntoAllocations, work::PerOutput<work::PerElement{.alu = 1}>,
                    Alias::kInPlace)),
    OnlyWithin(Part(
        {"steelyard::sum_into", "Sums over the last dimension, over another tensor.",
         "(Tensor(a!) out, Tensor self) -> Tensor(a!)", "steelyard::sum_into(f32[2], f32[2,3])"},
        OwnShape, SumIntoAllocations,
        [](const OpView& op) { return Work{.alu = work::Elements(op.tensor(1))}; },
        Alias::kInPlace)),
    Call({"aten::_linalg_check_errors", "Asks whether LAPACK found an error.",
          "(Tensor info, str api_name, *, bool is_matrix) -> ()",
          "aten::_linalg_check_errors(i32[2], 'linalg.inv', is_matrix=False)"},
         AnyOf, kNoGradient),
};

}  // namespace

std::span<const OpDef> Lapack() { return kRows; }

}  // namespace steelyard::ops
