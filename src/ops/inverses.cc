// SPDX-License-Identifier: Apache-2.0
//
// Inverses by roots, pseudoinverses, ranks and condition numbers of matrices, what tensors taken as
// matrices are inverted and solved by, and powers of vectors as matrices
// (ATen/native/LinearAlgebra.cpp). Tolerances are tensors of one float64 each, whatever the matrix
// is made of.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/factorization.h"
#include "ops/lapack.h"
#include "ops/rules/composite.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using namespace lapack;  // NOLINT(google-build-using-namespace)

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- Tolerances ---------------------------------------------------------------------------------

// Below which singular values count as none: absolutely, and relatively to the largest.
struct Tolerances {
  Tensor absolute, relative;
};

double DefaultRelative(const TensorView& a) {
  const double epsilon = BitsOf(RealOf(a.dtype())) == 64 ? 0x1p-52 : 0x1p-23;
  return epsilon * static_cast<double>(std::max(a.size(-1), a.size(-2)));
}
Tensor NumberOf(Dispatcher& d, double value) {
  return d.Call("aten::full", Dims{}, value, DType::kFloat64);
}
Tensor Zero(Dispatcher& d, DType dtype = DType::kFloat64) {
  return d.Call("aten::zeros", Dims{}, dtype);
}

// Arguments `first` and the one after it, as tensors.
Tolerances GivenTensors(Dispatcher& d, const OpView& op, int first) {
  for (int i : {first, first + 1}) {
    if (op.given(i) && IsComplex(op.tensor(i).dtype())) Refuse("a tolerance is a real number");
  }
  Tolerances out;
  out.absolute = op.given(first) ? d.tensor(op, first) : Zero(d);
  if (op.given(first + 1)) {
    out.relative = d.tensor(op, first + 1);
    return out;
  }
  Tensor missing = NumberOf(d, DefaultRelative(op.self()));
  if (!op.given(first)) {
    out.relative = std::move(missing);
    return out;
  }
  const Tensor zero = Zero(d);
  const Tensor positive = d.Call("aten::gt.Scalar", out.absolute, std::int64_t{0});
  out.relative = d.Call("aten::where.self", positive, zero, missing);
  return out;
}

// The same as numbers.
Tolerances GivenNumbers(Dispatcher& d, const OpView& op, int first) {
  const double absolute = op.real(first, 0.0);
  const double missing = absolute > 0 ? 0.0 : DefaultRelative(op.self());
  Tolerances out;
  out.absolute = NumberOf(d, absolute);
  out.relative = NumberOf(d, op.real(first + 1, missing));
  return out;
}

Tensor Limit(Dispatcher& d, const Tolerances& tolerances, const Tensor& largest) {
  const Tensor scaled =
      d.Call("aten::mul.Tensor", d.Call("aten::unsqueeze", tolerances.relative, -1), largest);
  return d.Call("aten::maximum", d.Call("aten::unsqueeze", tolerances.absolute, -1), scaled);
}
Tensor Largest(Dispatcher& d, const Tensor& falling) {
  return d.Call("aten::narrow", falling, -1, 0, 1);
}

// --- Pseudoinverses -----------------------------------------------------------------------------

// One over each value above the limit, none for others.
Tensor Inverted(Dispatcher& d, const Tensor& values, const Tensor& magnitudes, const Tensor& limit,
                DType dtype) {
  const Tensor zero = Zero(d, values.dtype());
  const Tensor inverse = d.Call("aten::reciprocal", values);
  const Tensor counts = d.Call("aten::gt.Tensor", magnitudes, limit);
  const Tensor chosen = d.Call("aten::where.self", counts, inverse, zero);
  return chosen.dtype() == dtype ? chosen : d.Call("aten::to.dtype", chosen, dtype);
}
// The right factor's conjugate is copied for the whole product.
Tensor Assembled(Dispatcher& d, const Tensor& left, const Tensor& values, const Tensor& right) {
  const Tensor turned = d.Call("aten::mH", right);
  const Tensor scaled = d.Call("aten::mul.Tensor", left, d.Call("aten::unsqueeze", values, -2));
  if (!IsComplex(right.dtype())) return d.Call("aten::matmul", scaled, turned);
  Tensor out;
  const Dispatcher::Inside frame(d, "aten::matmul");
  const Tensor resolved = d.Call("aten::resolve_conj", turned);
  out = d.Call("aten::matmul", scaled, resolved);
  return out;
}

Tensor OfSymmetric(Dispatcher& d, const Tensor& a, const Tolerances& tolerances) {
  std::vector<Tensor> both = d.CallMany("aten::linalg_eigh", a);
  Tensor vectors = std::move(both[1]), values = std::move(both[0]);
  const Tensor magnitudes = d.Call("aten::abs", values);
  const Tensor largest = d.Call("aten::amax", magnitudes, Dims{-1}, true);
  const Tensor limit = Limit(d, tolerances, largest);
  const Tensor inverted = Inverted(d, values, magnitudes, limit, a.dtype());
  return Assembled(d, vectors, inverted, vectors);
}
Tensor OfAny(Dispatcher& d, const Tensor& a, const Tolerances& tolerances) {
  std::vector<Tensor> all = d.CallMany("aten::svd", a);
  Tensor v = std::move(all[2]), values = std::move(all[1]), u = std::move(all[0]);
  const Tensor largest = Largest(d, values);
  const Tensor limit = Limit(d, tolerances, largest);
  const Tensor inverted = Inverted(d, values, values, limit, a.dtype());
  return Assembled(d, v, inverted, u);
}

// self, *, atol, rtol, hermitian
std::vector<Tensor> PseudoInverse(Dispatcher& d, const OpView& op) {
  RequireMatrix(op.self());
  if (op.self().count() == 0) Refuse("the pseudoinverse of no elements is not modelled");
  const Tolerances tolerances = GivenTensors(d, op, 1);
  const Tensor self = d.tensor(op, 0);
  return {op.boolean(3) ? OfSymmetric(d, self, tolerances) : OfAny(d, self, tolerances)};
}
std::vector<Tensor> PseudoInverseByNumbers(Dispatcher& d, const OpView& op) {
  RequireMatrix(op.self());
  const Tolerances t = GivenNumbers(d, op, 1);
  return {
      d.Call("aten::linalg_pinv.atol_rtol_tensor", op.arg(0), t.absolute, t.relative, op.arg(3))};
}
// self, rcond, hermitian: relative to the largest
std::vector<Tensor> PseudoInverseByRatio(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::linalg_pinv.atol_rtol_float", op.arg(0), 0.0, op.arg(1), op.arg(2))};
}
std::vector<Tensor> PseudoInverseByRatios(Dispatcher& d, const OpView& op) {
  const Tensor zero = Zero(d);
  return {d.Call("aten::linalg_pinv.atol_rtol_tensor", op.arg(0), zero, op.arg(1), op.arg(2))};
}
std::vector<Tensor> OldPseudoInverse(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::linalg_pinv", op.arg(0), op.arg(1), false)};
}

// --- Ranks --------------------------------------------------------------------------------------

// How many singular values, or eigenvalues of a symmetric matrix, are above the limit.
std::vector<Tensor> RankAbove(Dispatcher& d, const Tensor& a, const Tensor& out,
                              const Tolerances& tolerances, bool symmetric) {
  Tensor values, largest;
  if (symmetric) {
    values = d.Call("aten::linalg_eigvalsh", a);
    values = d.Call("aten::abs", values);
    largest = d.Call("aten::amax", values, Dims{-1}, true);
  } else {
    values = d.Call("aten::linalg_svdvals", a);
    largest = Largest(d, values);
  }
  const Tensor limit = Limit(d, tolerances, largest);
  {
    const Tensor above = d.Call("aten::gt.Tensor", values, limit);
    d.Call("steelyard::sum_into", out, above);
  }
  return {out};
}
Tensor EmptyRank(Dispatcher& d, const OpView& op) {
  RequireMatrix(op.self());
  if (op.self().count() == 0) Refuse("the rank of no elements is not modelled");
  return d.Call("aten::empty.memory_format", BatchOf(op.self()), DType::kInt64);
}
// self, *, atol, rtol, hermitian
std::vector<Tensor> Rank(Dispatcher& d, const OpView& op) {
  const Tensor out = EmptyRank(d, op);
  const Tolerances tolerances = GivenTensors(d, op, 1);
  return RankAbove(d, d.tensor(op, 0), out, tolerances, op.boolean(3));
}
std::vector<Tensor> RankByNumbers(Dispatcher& d, const OpView& op) {
  const Tensor out = EmptyRank(d, op);
  const Tolerances tolerances = GivenNumbers(d, op, 1);
  return RankAbove(d, d.tensor(op, 0), out, tolerances, op.boolean(3));
}
// self, tol, hermitian
std::vector<Tensor> RankByNumber(Dispatcher& d, const OpView& op) {
  const Tensor out = EmptyRank(d, op);
  Tolerances tolerances;
  tolerances.absolute = NumberOf(d, op.real(1));
  tolerances.relative = NumberOf(d, 0.0);
  return RankAbove(d, d.tensor(op, 0), out, tolerances, op.boolean(2));
}
std::vector<Tensor> RankByTensor(Dispatcher& d, const OpView& op) {
  const Tensor out = EmptyRank(d, op);
  const TensorView limit = op.tensor(1);
  if (IsComplex(limit.dtype())) Refuse("a tolerance is a real number");
  if (limit.rank() > op.self().rank() - 2) Refuse("ranks at several tolerances are not modelled");
  const Tolerances tolerances{d.tensor(op, 1), Zero(d, op.tensor(1).dtype())};
  return RankAbove(d, d.tensor(op, 0), out, tolerances, op.boolean(2));
}

// --- Condition numbers --------------------------------------------------------------------------

// The matrix's norm times its inverse's.
std::vector<Tensor> NormTimesInverseNorm(Dispatcher& d, const OpView& op, OpName norm,
                                         const Argument& order) {
  RequireSquare(op.self());
  std::vector<Tensor> both = d.CallMany("aten::linalg_inv_ex", op.arg(0));
  const Tensor inverse = std::move(both[0]);
  Tensor info = std::move(both[1]);
  for (int i = 0; i < 2; ++i) info = d.Call("aten::unsqueeze_", info, -1);
  {
    const Tensor failed = d.Call("aten::gt.Scalar", info, std::int64_t{0});
    d.Call("aten::masked_fill_.Scalar", inverse, failed, kInfinity);
  }
  const Tensor own = d.Call(norm, op.arg(0), order);
  const Tensor of_inverse = d.Call(norm, inverse, order);
  const Tensor out = d.Call("aten::mul.Tensor", own, of_inverse);
  d.Call("aten::nan_to_num_", out, kInfinity, kInfinity, -kInfinity);
  return {out};
}

// self, p: by the largest and the smallest singular value unless another norm is asked for
std::vector<Tensor> Condition(Dispatcher& d, const OpView& op) {
  RequireMatrix(op.self());
  if (op.self().count() == 0) Refuse("the condition of no elements is not modelled");
  const double order = op.real(1, 2.0), size = std::abs(order);
  if (size == 1 || std::isinf(size)) {
    return NormTimesInverseNorm(d, op, "aten::linalg_matrix_norm", op.arg(1));
  }
  if (size != 2) Refuse("a matrix has no norm of that order");
  const Tensor values = d.Call("aten::linalg_svdvals", op.arg(0));
  const Tensor largest = d.Call("aten::narrow", values, -1, 0, 1);
  const Tensor smallest = d.Call("aten::narrow", values, -1, values.size(-1) - 1, 1);
  const Tensor ratio = order < 0 ? d.Call("aten::div.Tensor", smallest, largest)
                                 : d.Call("aten::div.Tensor", largest, smallest);
  return {d.Call("aten::squeeze.dim", ratio, -1)};
}
std::vector<Tensor> ConditionByName(Dispatcher& d, const OpView& op) {
  RequireSquare(op.self());
  if (op.self().count() == 0) Refuse("the condition of no elements is not modelled");
  if (op.text(1) == "fro") {
    return NormTimesInverseNorm(d, op, "aten::linalg_matrix_norm.str_ord", op.arg(1));
  }
  if (op.text(1) != "nuc") Refuse("a matrix has no norm of that name");
  const Tensor values = d.Call("aten::linalg_svdvals", op.arg(0));
  const Tensor inverses = d.Call("aten::reciprocal", values);
  const Tensor of_inverses = d.Call("aten::sum.dim_IntList", inverses, Dims{-1});
  const Tensor sum = d.Call("aten::sum.dim_IntList", values, Dims{-1});
  return {d.Call("aten::mul.Tensor", sum, of_inverses)};
}

// --- Tensors as matrices ------------------------------------------------------------------------

std::int64_t ProductOf(std::span<const std::int64_t> sizes) {
  const std::optional<std::int64_t> count = NumElements(sizes);
  if (!count) Contradict(fmt::format("{} has more than 2^63 elements", shape::Text(sizes)));
  return *count;
}

// self, ind: how many dimensions are the rows
std::vector<Tensor> TensorInverse(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const std::int64_t rows = op.integer(1, 2);
  if (rows <= 0 || rows > self.rank()) Refuse("a number of dimensions that is not there");
  const auto split = static_cast<std::size_t>(rows);
  const auto first = self.sizes().first(split), last = self.sizes().subspan(split);
  const std::int64_t n = ProductOf(last);
  shape::RequireEqual("rows and columns", ProductOf(first), n);
  Dims sizes(last);
  for (const std::int64_t size : first) sizes.push_back(size);
  const Tensor matrix = d.Call("aten::reshape", op.arg(0), Dims{n, n});
  const std::vector<Tensor> both = d.CallMany("aten::linalg_inv_ex", matrix, false);
  d.Call("aten::_linalg_check_errors", both[1], d.Text("inv"), true);
  return {d.Call("aten::reshape", both[0], sizes)};
}

// self, other, dims
std::vector<Tensor> TensorSolution(Dispatcher& d, const OpView& op) {
  Tensor self = d.tensor(op, 0);
  if (op.given(2)) {
    const Dims dims = op.ints(2);
    Dims places;
    for (int i = 0; i < dims.size(); ++i) places.push_back(self.rank() - dims.size() + i);
    self = d.Call("aten::movedim.intlist", self, dims, places);
  }
  const TensorView other = op.tensor(1);
  if (other.rank() > self.rank()) Refuse("more dimensions on the right than on the left");
  const Dims sizes(self.sizes().subspan(static_cast<std::size_t>(other.rank())));
  const std::int64_t n = ProductOf(sizes);
  shape::RequireEqual("rows and columns", other.count(), n);
  self = d.Call("aten::reshape", self, Dims{n, n});
  const Tensor sides = d.Call("aten::flatten.using_ints", op.arg(1));
  const Tensor out = d.Call("aten::linalg_solve", self, sides);
  return {d.Call("aten::reshape", out, sizes)};
}

// x, N: the powers of each number, up to N of them
std::vector<Tensor> PowersOfNumbers(Dispatcher& d, const OpView& op) {
  if (op.self().dtype() == DType::kBool) Refuse("truth values have no powers");
  Tensor numbers = d.tensor(op, 0);
  if (numbers.rank() == 0) numbers = d.Call("aten::unsqueeze", numbers, -1);
  Dims sizes(numbers.sizes());
  const std::int64_t count = op.given(1) ? op.integer(1) : numbers.size(-1);
  if (count < 2) Refuse("two powers or more are needed");
  sizes.push_back(count - 1);
  Tensor spread = d.Call("aten::expand", d.Call("aten::unsqueeze", numbers, -1), sizes);
  Tensor ones;
  const Tensor powers = d.Call("aten::cumprod", spread, -1);
  spread.reset();
  sizes[sizes.size() - 1] = 1;
  ones = d.Call("aten::new_ones", powers, sizes);
  return {d.Call("aten::cat", std::vector<Tensor>{ones, powers}, -1)};
}

// --- Rows ---------------------------------------------------------------------------------------

// self, upper: over a copy of the root
std::vector<Tensor> CholeskyInverse(Dispatcher& d, const OpView& op) {
  const TensorView root = op.self();
  RequireHost(d.target());
  RequireSquare(root);
  const Tensor info = d.Call("aten::zeros", BatchOf(root), DType::kInt32);
  const Tensor out = [&] {
    const Dispatcher::Inside frame(d, "aten::resize_");
    return MadeByColumns(d, Dims(root.sizes()), root.dtype());
  }();
  d.Call("aten::copy_", out, d.tensor(op, 0));
  Run(d, out, "potri");
  CheckErrors(d, info, "cholesky_inverse");
  return {out};
}

constexpr std::array kRows{
    Casting(precision::kFullOnCpu,
            Call({"aten::cholesky_inverse", "Inverse matrices by their triangular roots.",
                  "(Tensor self, bool upper=False) -> Tensor", "aten::cholesky_inverse(f32[3,3])"},
                 CholeskyInverse, gradients::kCholeskyInverse)),
    Call({"aten::linalg_pinv.atol_rtol_tensor", "Pseudoinverses of matrices.",
          "(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
          "aten::linalg_pinv.atol_rtol_tensor(f32[2,5,3])"},
         PseudoInverse, gradients::kPseudoInverse),
    Call({"aten::linalg_pinv.atol_rtol_float", "Pseudoinverses of matrices.",
          "(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
          "aten::linalg_pinv.atol_rtol_float(f32[3,3], hermitian=True)"},
         PseudoInverseByNumbers),
    Call({"aten::linalg_pinv", "Pseudoinverses of matrices.",
          "(Tensor self, float rcond, bool hermitian=False) -> Tensor",
          "aten::linalg_pinv(f32[3,5], 1e-5)"},
         PseudoInverseByRatio),
    Call({"aten::linalg_pinv.rcond_tensor", "Pseudoinverses of matrices.",
          "(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
          "aten::linalg_pinv.rcond_tensor(f32[3,5], f64[])"},
         PseudoInverseByRatios),
    Casting(precision::kFullOnCpu,
            Call({"aten::pinverse", "Pseudoinverses of matrices.",
                  "(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor",
                  "aten::pinverse(f32[5,3])"},
                 OldPseudoInverse)),
    Casting(
        precision::kFullOnCpu,
        Call({"aten::linalg_matrix_rank.atol_rtol_tensor", "Ranks of matrices.",
              "(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> "
              "Tensor",
              "aten::linalg_matrix_rank.atol_rtol_tensor(f32[2,5,3])"},
             Rank, kNoGradient)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_matrix_rank.atol_rtol_float", "Ranks of matrices.",
                  "(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
                  "Tensor",
                  "aten::linalg_matrix_rank.atol_rtol_float(f32[3,3], hermitian=True)"},
                 RankByNumbers, kNoGradient)),
    Casting(precision::kFullOnCpu, Call({"aten::linalg_matrix_rank", "Ranks of matrices.",
                                         "(Tensor self, float tol, bool hermitian=False) -> Tensor",
                                         "aten::linalg_matrix_rank(f32[3,5], 1e-5)"},
                                        RankByNumber, kNoGradient)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_matrix_rank.tol_tensor", "Ranks of matrices.",
                  "(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
                  "aten::linalg_matrix_rank.tol_tensor(f32[3,5], f32[])"},
                 RankByTensor, kNoGradient)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_cond", "Condition numbers of matrices.",
                  "(Tensor self, Scalar? p=None) -> Tensor", "aten::linalg_cond(f32[2,3,3], 1)"},
                 Condition)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_cond.p_str", "Condition numbers of matrices by a norm's name.",
                  "(Tensor self, str p) -> Tensor", "aten::linalg_cond.p_str(f32[3,3], 'nuc')"},
                 ConditionByName)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_tensorinv", "The inverse of a tensor taken as a matrix.",
                  "(Tensor self, int ind=2) -> Tensor", "aten::linalg_tensorinv(f32[3,3], 1)"},
                 TensorInverse)),
    Casting(precision::kFullOnCpu,
            Call({"aten::linalg_tensorsolve", "The solution of a linear system of tensors.",
                  "(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
                  "aten::linalg_tensorsolve(f32[3,3], f32[3])"},
                 TensorSolution)),
    Composite(Family::kElementwise,
              {"aten::linalg_vander", "Powers of numbers, from the power 0 up.",
               "(Tensor x, *, SymInt? N=None) -> Tensor", "aten::linalg_vander(f32[2,4])"},
              PowersOfNumbers),
};

}  // namespace

std::span<const OpDef> Inverses() { return kRows; }

}  // namespace steelyard::ops
