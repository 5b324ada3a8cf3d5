// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/product.h"

#include <fmt/core.h>

#include <algorithm>

#include "ops/rules/allocations.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::product {
namespace {

// Products of bfloat16 with no more multiplications than this stay out of oneDNN
// (mkldnn/Matmul.cpp, mkldnn_gemm_min_size).
constexpr std::int64_t kOneDnnLeast = std::int64_t{16} * 16 * 16;

}  // namespace

void RequireSameDType(const TensorView& a, const TensorView& b) {
  if (a.dtype() == b.dtype()) return;
  Refuse(fmt::format("factors of different dtypes: {} and {}", shape::Text(a), shape::Text(b)));
}

void RequireSummandOf(const TensorView& summand, const TensorView& factor) {
  if (summand.dtype() == factor.dtype()) return;
  Refuse(fmt::format("a product of {} is added to {}, which is of another dtype",
                     NameOf(factor.dtype()), shape::Text(summand)));
}

void RequireInner(const TensorView& a, const TensorView& b) {
  const std::int64_t columns = a.size(-1);
  const bool transposed = columns != b.size(-2) && columns == b.size(-1);
  shape::RequireEqual("inner dimensions", columns, b.size(-2),
                      transposed ? "Is the second factor transposed?" : "");
}

bool BlasReads(const TensorView& factor) {
  const std::int64_t rows = factor.size(-2), columns = factor.size(-1);
  const std::int64_t down = factor.stride(-2), across = factor.stride(-1);
  return (across == 1 && down >= std::max<std::int64_t>(1, columns)) ||
         (down == 1 && across >= std::max<std::int64_t>(1, rows));
}

bool BlasConjugates(const TensorView& factor, bool by_rows) {
  const std::int64_t inner = factor.stride(by_rows ? -1 : -2);
  const std::int64_t outer = factor.stride(by_rows ? -2 : -1);
  return inner != 1 || outer < std::max<std::int64_t>(1, factor.size(by_rows ? -1 : -2));
}

bool OneDnnReads(const TensorView& factor) {
  if (factor.is_contiguous()) return true;
  if (factor.stride(-2) != 1 || factor.stride(-1) != factor.size(-2)) return false;
  return factor.rank() == 2 || factor.stride(-3) == factor.size(-2) * factor.size(-1);
}

bool UsesOneDnn(const TensorView& a, const TensorView& b) {
  if (a.dtype() != DType::kBFloat16) return false;
  return IsWorthOneDnn(work::Elements(a) * (b.rank() > 1 ? b.size(-1) : 1));
}

bool IsWorthOneDnn(Count multiplications) {
  return multiplications.overflowed() || multiplications.value() > kOneDnnLeast;
}

bool LiesTransposed(const TensorView& factor) {
  const std::int64_t rows = factor.size(-2);
  return rows != 1 && factor.stride(-2) == 1 && factor.stride(-1) >= rows;
}

void FactorCopies::Add(Count elements, DType dtype, std::string_view label) {
  copies_.push_back(memory_->Allocate(allocations::Bytes(elements, dtype), label));
}

void FactorCopies::FreeAll(std::string_view label) {
  for (std::size_t i = copies_.size(); i-- > 0;) memory_->Free(copies_[i], label);
  copies_.clear();
}

}  // namespace steelyard::product
