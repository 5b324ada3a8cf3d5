// SPDX-License-Identifier: Apache-2.0
//
// aten/src/ATen/native/cpu/FlashAttentionKernel.cpp, cpu_flash_attention_backward. Scores and their
// gradients are products in float32, which take no scratch.

#include "ops/onednn/attention_gradient.h"

#include <algorithm>

#include "ops/attention_blocks.h"
#include "ops/onednn/product.h"
#include "ops/rules/product.h"
#include "support/rounding.h"

namespace steelyard::onednn {
namespace {

class Blocks {
 public:
  Blocks(const AttentionGradient& attention, std::int64_t threads, Allocations& memory)
      : a_(attention), parallel_(std::min(threads, attention.heads)), memory_(memory) {}

  // Threads take heads.
  void Run() {
    const std::int64_t rows = attention::QueryRows(a_.queries);
    const std::int64_t columns = attention::KeyColumns(a_.keys);
    if (parallel_ < 1 || rows < 1 || columns < 1) return;
    const std::int64_t rounds = DivideUp(a_.heads, parallel_);
    const Count blocks = Count(DivideUp(a_.queries, rows)) * DivideUp(a_.keys, columns) * rounds;
    const bool few = !blocks.overflowed() && blocks.value() <= kMostBlocks;
    for (std::int64_t i = 0; i < (few ? rounds : 1); ++i) Head(rows, columns);
  }

 private:
  static constexpr std::int64_t kMostBlocks = 512;

  void Head(std::int64_t rows, std::int64_t columns) {
    for (std::int64_t i = 0; i < a_.queries; i += rows) {
      const std::int64_t height = std::min(rows, a_.queries - i);
      const std::int64_t seen = a_.causal ? std::min(i + rows, a_.keys) : a_.keys;
      for (std::int64_t k = 0; k < seen; k += columns) {
        const std::int64_t width = std::min(columns, a_.keys - k);
        Multiply(OfKeys(width, height, a_.gradient_has_gaps), false);
        Multiply({.rows = height,
                  .columns = a_.size,
                  .depth = width,
                  .matrix_has_gaps = a_.keys_have_gaps},
                 a_.scaled);
        Multiply(OfKeys(width, height, a_.queries_have_gaps), a_.scaled);
      }
    }
  }

  Product OfKeys(std::int64_t width, std::int64_t height, bool gaps) const {
    return {.rows = width,
            .columns = a_.size,
            .depth = height,
            .first_transposed = true,
            .matrix_has_gaps = gaps};
  }

  // A factor takes memory of its own.
  void Multiply(const Product& of, bool scaled) {
    if (!product::IsWorthOneDnn(Count(of.rows) * of.columns * of.depth)) return;
    const std::int64_t factors = scaled ? allocations::Bytes(parallel_, DType::kFloat32) : 0;
    const auto factor = memory_.Allocate(factors);
    const Count bytes = ProductScratch(of, Target{.threads = 1}) * parallel_;
    memory_.Free(memory_.Allocate(allocations::Bytes(bytes, DType::kUInt8)));
    memory_.Free(factor);
  }

  const AttentionGradient& a_;
  std::int64_t parallel_;
  Allocations& memory_;
};

}  // namespace

void AllocateProducts(const AttentionGradient& attention, const Target& target,
                      Allocations& memory) {
  Blocks(attention, target.threads, memory).Run();
}

}  // namespace steelyard::onednn
