// SPDX-License-Identifier: Apache-2.0
//
// Norms over dimensions, of vectors and of matrices (ATen/native/ReduceOps.cpp, LinearAlgebra.cpp).
// Most are a TensorIterator of their own; what is written with other operators in ATen is a
// composite here too. Norms of matrices go by sums of absolute values or by singular values.

#include "ops/rules/norm.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/cuda/reduce.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/reduction.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

// --- norm(self, p, dim, keepdim, dtype) ---------------------------------------------------------

DType NormType(const OpView& op, int dtype_at) {
  const DType type =
      dtype_at >= 0 ? op.dtype(dtype_at).value_or(op.self().dtype()) : op.self().dtype();
  if (!IsFloating(type) && !IsComplex(type)) {
    Refuse("a floating-point tensor is needed, not " + shape::Text(op.self()));
  }
  return type;
}

template <int kDType>
void NormShape(const OpView& op, Outputs& out) {
  out.Add(RealOf(NormType(op, kDType)), shape::ReducedSizes(op, 2, 3));
}

// The result is made before linalg_vector_norm writes it.
template <int kDType>
void NormAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const DType type = NormType(op, kDType);
  const bool of_one = shape::Fan(op.self().sizes(), shape::DimsOf(op, 2, op.self().rank())) == 1;
  if (IsComplex(type) && of_one) {  // absolute values, computed as complex numbers
    memory.Free(memory.Allocate(allocations::Bytes(op.self().count(), type), "aten::abs"),
                "aten::abs");
    return;
  }
  if (const auto cast = allocations::Cast(op.self(), type, memory)) {
    memory.Free(*cast, "aten::linalg_vector_norm");
  }
}

template <int kDType>
void NormOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0);
  const TensorView self = op.self();
  const DType type = NormType(op, kDType);
  const bool widened = IsHalf(self.dtype()) && type == DType::kFloat32;  // as it is read
  const DType read = widened ? self.dtype() : type;
  const auto cast = allocations::Cast(self, read, memory);
  const Dims strides = shape::CastStrides(self, read);
  cuda::Stage(op, {self.sizes(), strides}, read, shape::DimsOf(op, 2, self.rank()),
              cuda::SumOf(RealOf(type)), memory);
  allocations::Free(cast, memory);
}

std::vector<Tensor> NormOfAll(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::norm.ScalarOpt_dim", d.tensor(op, 0), op.arg(1), Dims(), false)};
}

std::vector<Tensor> NormOfAllAs(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::norm.ScalarOpt_dim_dtype", d.tensor(op, 0), op.arg(1), Dims(), false,
                 op.arg(2))};
}

std::vector<Tensor> FrobeniusNorm(Dispatcher& d, const OpView& op) {
  if (op.ints(1).size() > 2) Refuse("a Frobenius norm is of one or two dimensions");
  return {d.Call("aten::norm.ScalarOpt_dim", d.tensor(op, 0), 2, op.arg(1), op.arg(2))};
}

// --- linalg_norm, linalg_matrix_norm(self, ord, dim, keepdim, dtype) ----------------------------

// linalg_norm in ATen/native/LinearAlgebra.cpp: two dimensions with an order are a matrix.
std::vector<Tensor> LinalgNorm(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  const int dims = op.given(2) ? op.ints(2).size() : self.rank();
  if (op.given(2) && op.given(1) && dims != 1 && dims != 2) {
    Refuse("a norm with an order is of one or two dimensions");
  }
  if (!op.given(2) && op.given(1) && dims != 1 && dims != 2) {
    Refuse("a norm with an order is of a vector or a matrix, not " + shape::Text(self));
  }
  if (op.given(1) && dims == 2) {
    const Dims matrix = op.given(2) ? op.ints(2) : Dims{0, 1};
    return {d.Call("aten::linalg_matrix_norm", d.tensor(op, 0), op.arg(1), matrix, op.arg(3),
                   op.arg(4))};
  }
  const Argument order = op.given(1) ? op.arg(1) : Argument::OfFloat(2.0);
  return {
      d.Call("aten::linalg_vector_norm", d.tensor(op, 0), order, op.arg(2), op.arg(3), op.arg(4))};
}

// Singular values of the matrices in dimensions `dims`, made one number each by `reduce`.
template <class Reduce>
Tensor ReducedSingular(Dispatcher& d, const OpView& op, const Reduce& reduce) {
  const TensorView self = op.self();
  const int first = shape::WrapDim(op.ints(2)[0], self.rank());
  const int second = shape::WrapDim(op.ints(2)[1], self.rank());
  if (first == second) Refuse("a matrix norm is of two different dimensions");
  Dims order, back = Dims::Filled(self.rank(), 0);
  for (int i = 0; i < self.rank(); ++i) {
    if (i != first && i != second) order.push_back(i);
  }
  order.push_back(first);
  order.push_back(second);
  for (int i = 0; i < order.size(); ++i) back[static_cast<int>(order[i])] = i;
  const Tensor cast =
      op.given(4) ? d.Call("aten::to.dtype", op.arg(0), op.arg(4)) : d.tensor(op, 0);
  Tensor out;
  {
    const Tensor values = d.Call("aten::linalg_svdvals", d.Call("aten::permute", cast, order));
    out = reduce(values);
  }
  if (!op.boolean(3)) return out;
  return d.Call("aten::permute", d.Call("aten::unsqueeze", out, -1), back);
}

// The largest or smallest sum of a row or column's absolute values, or the largest or smallest
// singular value.
std::vector<Tensor> MatrixNorm(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  NormType(op, 4);
  if (self.rank() < 2) Refuse("a matrix is needed, not " + shape::Text(self));
  const Dims dims = op.ints(2);
  if (dims.size() != 2) Refuse("a matrix norm is of two dimensions");
  int first = shape::WrapDim(dims[0], self.rank()), second = shape::WrapDim(dims[1], self.rank());
  if (first == second) Refuse("a matrix norm is of two different dimensions");
  const double order = op.real(1);
  if (std::abs(order) == 2) {
    return {ReducedSingular(d, op, [&](const Tensor& values) {
      return d.Call(order > 0 ? OpName("aten::amax") : OpName("aten::amin"), values, Dims{-1},
                    op.arg(3));
    })};
  }
  if (std::abs(order) != 1 && !std::isinf(order)) Refuse("a matrix has no norm of that order");
  if (std::isinf(order)) std::swap(first, second);
  if (!op.boolean(3) && first < second) --second;
  const Tensor sums =
      d.Call("aten::linalg_vector_norm", d.tensor(op, 0), 1.0, Dims{first}, op.arg(3), op.arg(4));
  return {d.Call(order > 0 ? OpName("aten::amax") : OpName("aten::amin"), sums, Dims{second},
                 op.arg(3))};
}

std::vector<Tensor> MatrixNormByName(Dispatcher& d, const OpView& op) {
  const std::string_view name = op.given(1) ? op.text(1) : "fro";
  if (name != "fro" && name != "nuc") Refuse("a matrix has no norm of that name");
  if (op.self().rank() < 2) Refuse("a matrix is needed, not " + shape::Text(op.self()));
  if (op.ints(2).size() != 2) Refuse("a matrix norm is of two dimensions");
  if (name == "nuc") {
    return {ReducedSingular(d, op, [&](const Tensor& values) {
      return d.Call("aten::sum.dim_IntList", values, Dims{-1}, op.arg(3));
    })};
  }
  return {
      d.Call("aten::linalg_vector_norm", d.tensor(op, 0), 2.0, op.arg(2), op.arg(3), op.arg(4))};
}

// linalg_norm by name: of two dimensions, or of a matrix.
std::vector<Tensor> LinalgNormByName(Dispatcher& d, const OpView& op) {
  const int rank = op.self().rank();
  if (op.given(2) ? op.ints(2).size() > 2 : rank != 1 && rank != 2) {
    Refuse("a norm with a name is of a matrix, not " + shape::Text(op.self()));
  }
  const Dims dims = op.given(2) ? op.ints(2) : Dims{0, 1};
  return {
      d.Call("aten::linalg_matrix_norm.str_ord", op.arg(0), op.arg(1), dims, op.arg(3), op.arg(4))};
}

std::vector<Tensor> NuclearNorm(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::linalg_matrix_norm.str_ord", op.arg(0), d.Text("nuc"), Dims{-2, -1},
                 op.arg(1))};
}

std::vector<Tensor> NuclearNormOf(Dispatcher& d, const OpView& op) {
  return {
      d.Call("aten::linalg_matrix_norm.str_ord", op.arg(0), d.Text("nuc"), op.arg(1), op.arg(2))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Norm(OpName name, Signature signature, std::string_view example, ShapeFn shape,
                     DeviceAllocations allocations, Gradient grad) {
  return Kernel(Family::kReduction, {name, "Norms over dimensions.", signature, example},
                {shape, Fusion::kReduction, allocations, work::Norm, grad, precision::kFollow});
}

constexpr std::array kRows{
    Casting(precision::kFullResultOnCuda,
            Norm("aten::norm.ScalarOpt_dim",
                 "(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
                 "aten::norm.ScalarOpt_dim(f32[2,8], 2, [1], True)", NormShape<-1>,
                 {NormAllocations<-1>, NormOnCuda<-1>}, gradients::kNorm)),
    Norm("aten::norm.ScalarOpt_dim_dtype",
         "(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
         "aten::norm.ScalarOpt_dim_dtype(f32[2,8], 2, [1], True, dtype=f64)", NormShape<4>,
         {NormAllocations<4>, NormOnCuda<4>}, gradients::kNormAs),
    CopyingOut(
        Casting(precision::kFullResultOnCuda,
                Composite(Family::kReduction,
                          {"aten::norm.Scalar", "The norm of all elements.",
                           "(Tensor self, Scalar p=2) -> Tensor", "aten::norm.Scalar(f32[2,8])"},
                          NormOfAll, gradients::kNormOfAll))),
    CopyingOut(Composite(Family::kReduction,
                         {"aten::norm.ScalarOpt_dtype", "The norm of all elements.",
                          "(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
                          "aten::norm.ScalarOpt_dtype(f32[2,8], 2, dtype=f64)"},
                         NormOfAllAs, gradients::kNormOfAllAs)),
    Casting(precision::kFullOnCuda,
            Composite(
                Family::kReduction,
                {"aten::frobenius_norm.dim", "Roots of sums of squares over one or two dimensions.",
                 "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
                 "aten::frobenius_norm.dim(f32[2,8], [1])"},
                FrobeniusNorm)),
    Composite(
        Family::kReduction,
        {"aten::linalg_norm", "The norm of a vector or a matrix.",
         "(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
         "dtype=None) -> Tensor",
         "aten::linalg_norm(f32[2,8], None, [1], True)"},
        LinalgNorm),
    Casting(precision::kFullResultOnCuda,
            Composite(
                Family::kReduction,
                {"aten::linalg_matrix_norm", "Norms of matrices by their order.",
                 "(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? "
                 "dtype=None) -> Tensor",
                 "aten::linalg_matrix_norm(f32[2,3,8], 1)"},
                MatrixNorm)),
    Casting(precision::kFullResultOnCuda,
            Composite(Family::kReduction,
                      {"aten::linalg_matrix_norm.str_ord", "Norms of matrices by name.",
                       "(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, "
                       "ScalarType? "
                       "dtype=None) -> Tensor",
                       "aten::linalg_matrix_norm.str_ord(f32[2,3,8])"},
                      MatrixNormByName)),
    Composite(
        Family::kReduction,
        {"aten::linalg_norm.ord_str", "The norm of a matrix by its name.",
         "(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
         "-> Tensor",
         "aten::linalg_norm.ord_str(f32[4,3], 'nuc')"},
        LinalgNormByName),
    Casting(precision::kFullOnCuda, Composite(Family::kReduction,
                                              {"aten::nuclear_norm", "Sums of singular values.",
                                               "(Tensor self, bool keepdim=False) -> Tensor",
                                               "aten::nuclear_norm(f32[4,3])"},
                                              NuclearNorm)),
    Casting(precision::kFullOnCuda,
            Composite(Family::kReduction,
                      {"aten::nuclear_norm.dim", "Sums of singular values of two dimensions.",
                       "(Tensor self, int[2] dim, bool keepdim=False) -> Tensor",
                       "aten::nuclear_norm.dim(f32[4,2,3], [0,2], True)"},
                      NuclearNormOf)),
};

}  // namespace

std::span<const OpDef> Norm() { return kRows; }

}  // namespace steelyard::ops
