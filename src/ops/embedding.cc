// SPDX-License-Identifier: Apache-2.0
//
// Vectors for ids: rows of a table, which may be scaled to a norm, the table's gradient, and
// one-hot vectors (ATen/native/Embedding.cpp, Onehot.cpp). An embedding is an index_select of ids
// in one dimension.

#include "ops/cuda/embedding.h"

#include <array>
#include <cstdint>
#include <vector>

#include "ops/cuda/copies.h"
#include "ops/cuda/cub.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image_backward.h"
#include "ops/gradients/network.h"
#include "ops/gradients/words.h"
#include "ops/indices.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- embedding(weight, indices, ...) ------------------------------------------------------------

std::vector<Tensor> Embedding(Dispatcher& d, const OpView& op) {
  shape::RequireRank("weight", op.self(), 2);
  const TensorView ids = op.tensor(1);
  if (ids.rank() == 1) {
    return {d.Call("aten::index_select", d.tensor(op, 0), 0, d.tensor(op, 1))};
  }
  Dims sizes(ids.sizes());
  sizes.push_back(op.self().size(1));
  return {d.Call("aten::view",
                 d.Call("aten::index_select", d.tensor(op, 0), 0,
                        d.Call("aten::reshape", d.tensor(op, 1), Dims{-1})),
                 sizes)};
}

void EmbeddingBackwardAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  const auto indices = allocations::Contiguous(op.tensor(1), memory);
  const auto gradient = allocations::Contiguous(op.self(), memory);
  allocations::Free(gradient, memory);
  allocations::Free(indices, memory);
}

// --- embedding_renorm_(self, indices, max_norm, norm_type) --------------------------------------

// The norm of one row after the other (ATen/native/Embedding.cpp).
void RenormAllocations(const OpView& op, Allocations& memory) {
  const TensorView self = op.self(), indices = op.tensor(1);
  shape::RequireRank("the table", self, 2);
  if (op.real(2) < 0) Refuse("rows of a negative norm");
  const auto dense = allocations::Contiguous(indices, memory);
  if (indices.count() > 0) {
    memory.Free(memory.Allocate(allocations::Bytes(1, RealOf(self.dtype())), "aten::norm"));
  }
  allocations::Free(dense, memory);
}

// Indices are sorted, and each row that they name is scaled once (cuda/Embedding.cu).
void RenormOnCuda(const OpView& op, Allocations& memory) {
  const TensorView indices = op.tensor(1);
  if (indices.count() == 0) return;
  const std::int64_t count = indices.count(), width = BitsOf(indices.dtype()) / 8;
  constexpr std::int64_t kPosition = 8, kShort = 4096;
  const auto dense = cuda::Contiguous(indices, memory);
  const auto flat = memory.Allocate(count * width);
  const auto sorted = memory.Allocate(count * width);
  const auto from = memory.Allocate(count * kPosition);
  const auto positions = memory.Allocate(count * kPosition);
  if (count > kShort) {
    const int bits = static_cast<int>(width) * 8;
    memory.Free(memory.Allocate(cuda::SortPairsBytes(count, bits, op.target(), {.key = width})));
  }
  memory.Free(positions);
  memory.Free(from);
  const auto rows = memory.Allocate(count * width);
  const auto found = memory.Allocate(kPosition);
  memory.Free(memory.Allocate(cuda::UniqueBytes(count, op.target(), width)));
  for (const auto& scratch : {found, rows, sorted, flat}) memory.Free(scratch);
  allocations::Free(dense, memory);
}

Work RenormWork(const OpView& op) {
  return {.alu = 2 * Count(op.tensor(1).count()) * op.self().size(1),
          .special = op.tensor(1).count()};
}

// --- one_hot(self, num_classes) -----------------------------------------------------------------

std::vector<Tensor> OneHot(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (self.dtype() != DType::kInt64) Refuse("classes are int64, not " + shape::Text(self));
  const std::int64_t classes = op.integer(1, -1);
  if (classes < 1) Refuse("the number of classes must be given", "It depends on values otherwise.");
  if (self.rank() >= Dims::kMaxRank) Refuse("too many dimensions");
  Dims sizes(self.sizes());
  sizes.push_back(classes);
  if (self.count() == 0) return {d.Call("aten::empty.memory_format", sizes, DType::kInt64)};
  if (d.target().device == Device::kCpu) {  // elsewhere they are not looked at
    std::vector<Tensor> limits = d.CallMany("aten::aminmax", d.tensor(op, 0));
    limits[1].reset();
    limits[0].reset();
  }
  const Tensor out = d.Call("aten::zeros", sizes, DType::kInt64);
  const Tensor places = d.Call("aten::unsqueeze", d.tensor(op, 0), -1);
  return {d.Call("aten::scatter_.value", out, -1, places, 1)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    CopyingOut(Composite(
        Family::kIndexing,
        {"aten::embedding", "Rows of a table chosen by ids of any shape.",
         "(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
         "bool sparse=False) -> Tensor",
         "aten::embedding(f32[100,16], i64[3,4])"},
        Embedding, gradients::kEmbedding)),
    Differentiable(
        gradients::kEmbeddingBackward,
        CopyingOut(OpaqueKernel(
            Family::kIndexing,
            {"aten::embedding_dense_backward", "The gradient of a table of embeddings.",
             "(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
             "scale_grad_by_freq) -> Tensor",
             "aten::embedding_dense_backward(f32[3,4,16], i64[3,4], 100, -1, False)"},
            TableGradientShape, {EmbeddingBackwardAllocations, cuda::EmbeddingGradient},
            work::PerInput<work::PerElement{.alu = 1}>, kGradientUnknown))),
    OpaqueKernel(
        Family::kIndexing,
        {"aten::embedding_renorm_", "Rows of a table, scaled to norms of at most a number.",
         "(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> "
         "Tensor(a!)",
         "aten::embedding_renorm_(f32[20,8], i64[5], 1.0, 2.0)"},
        shape::SameAs<0>, {RenormAllocations, RenormOnCuda}, RenormWork, gradients::kNotImplemented,
        precision::kFollow, Alias::kInPlace),
    Composite(Family::kSelection,
              {"aten::one_hot", "A 1 at the place of each class.",
               "(Tensor self, int num_classes=-1) -> Tensor", "aten::one_hot(i64[2,4], 5)"},
              OneHot, kNoGradient),
};

}  // namespace

std::span<const OpDef> Embedding() { return kRows; }

}  // namespace steelyard::ops
