// SPDX-License-Identifier: Apache-2.0
//
// Which library multiplies, and so which workspace it takes: cuBLASLt where something is added
// before the factors (addmm_out_cuda_impl), cuBLAS elsewhere, whose workspace a thread keeps.
#include "ops/cuda/blas.h"

#include <cstdint>
#include <string_view>

#include "ir/layout.h"
#include "ops/cuda/capability.h"
#include "ops/cuda/releases.h"
#include "ops/rules/product.h"
#include "ops/rules/work.h"

namespace steelyard::cuda {
namespace {

constexpr std::int64_t kLargeWorkspace = std::int64_t{32} << 20;  // since compute capability 9.0
constexpr std::int64_t kSmallWorkspace = 2 * (std::int64_t{4} << 20) + 8 * (std::int64_t{16} << 10);
constexpr std::int64_t kLtWorkspace = std::int64_t{1} << 20;

// Whether cuBLASLt adds the argument before the factors as a row of biases (addmm_out_cuda_impl).
bool AddsBiasInLt(const OpView& op, int first) {
  if (first == 0 || op.tensor(first).rank() != 2 || op.tensor(first + 1).rank() != 2) return false;
  const TensorView bias = op.self(), b = op.tensor(first + 1);
  const bool is_row = bias.rank() == 1 || (bias.rank() == 2 && bias.size(0) == 1);
  return is_row && bias.size(-1) == b.size(1) && bias.is_contiguous() && IsFloating(b.dtype()) &&
         op.real(first + 2, 1.0) == 1.0 && b.size(0) > 1 && b.size(1) > 1;
}

// Whether it adds a whole matrix there, to a product of half precision that is written elsewhere.
bool AddsMatrixInLt(const OpView& op, int first, bool in_place) {
  if (first == 0 || in_place || IsBefore(op.target(), kMatricesAreAddedInLt)) return false;
  const TensorView added = op.self(), a = op.tensor(first), b = op.tensor(first + 1);
  if (added.rank() != 2 || a.rank() != 2 || b.rank() != 2) return false;
  const DType dtype = b.dtype();
  const bool is_half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  const bool is_whole = added.size(0) == a.size(0) && added.size(1) == b.size(1);
  const bool by_rows = added.stride(1) == 1 && added.stride(0) >= added.size(1);
  return is_half && is_whole && by_rows && op.real(first + 2, 1.0) != 0.0 && added.size(0) > 1 &&
         b.size(0) > 1 && b.size(1) > 1;
}

// Conjugated matrices are read as transposes.
bool IsRead(const TensorView& factor) {
  if (factor.rank() < 2)
    return factor.rank() == 0 || factor.is_contiguous() || factor.stride(0) != 0;
  const bool is_dense = factor.rank() == 2 && !factor.value().conjugated &&
                        IsNonOverlappingAndDense(factor.sizes(), factor.strides());
  if (is_dense) return true;
  if (!product::BlasReads(factor)) return false;
  return !factor.value().conjugated || product::BlasConjugates(factor, /*by_rows=*/true);
}

std::int64_t WorkspaceOf(const Target& target) {
  const bool large = IsBefore(target, kLargeSinceBlackwell) ? target.capability == kHopper
                                                            : target.capability >= kHopper;
  return large ? kLargeWorkspace : kSmallWorkspace;
}

// A handle of cuBLASLt is one of cuBLAS, which has its workspace as soon as it is asked for.
void UseLtWorkspace(const Target& target, Allocations& memory) {
  using enum Allocations::Kept;
  const bool keeps_handle = IsBefore(target, kWorkspacesAreFreed);
  if (keeps_handle && !IsBefore(target, kLtKeepsWorkspace)) {
    memory.Keep(kBlas, WorkspaceOf(target));
    return memory.Keep(kBlasLt, kLtWorkspace);
  }
  const Allocations::Scratch workspace = memory.Allocate(kLtWorkspace);
  if (keeps_handle) memory.Keep(kBlas, WorkspaceOf(target));
  memory.Free(workspace);
}

}  // namespace

void UseBlasWorkspace(const OpView& op, Allocations& memory, std::string_view label) {
  const std::int64_t bytes = WorkspaceOf(op.target());
  if (IsBefore(op.target(), kWorkspacesAreFreed)) {
    return memory.Keep(Allocations::Kept::kBlas, bytes);
  }
  memory.Free(memory.Allocate(bytes, label), label);
}

void Product(const OpView& op, int first, Allocations& memory) {
  const bool in_place = *op.def().alias == Alias::kInPlace;
  if (!in_place) memory.Output(0);
  const TensorView a = op.tensor(first), b = op.tensor(first + 1);
  if (op.output().count() == 0 || a.size(-1) == 0) return;
  const TensorView out = op.output();
  product::FactorCopies result(memory), copies(memory);
  if (in_place && out.rank() > 1 && !product::BlasReads(out)) {
    result.Add(work::Elements(out), out.dtype());
  }
  for (const TensorView& factor : {b, a}) {  // a row-major product is computed transposed
    if (!IsRead(factor)) copies.Add(work::Elements(factor), factor.dtype());
  }
  if (AddsBiasInLt(op, first) || AddsMatrixInLt(op, first, in_place)) {
    UseLtWorkspace(op.target(), memory);
  } else {
    UseBlasWorkspace(op, memory);
  }
  result.FreeAll();
  copies.FreeAll();
}

void Dot(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  UseBlasWorkspace(op, memory);
}

}  // namespace steelyard::cuda
