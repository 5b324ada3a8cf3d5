// SPDX-License-Identifier: Apache-2.0
//
// Fused attention on CUDA: the memory-efficient kernels, the flash kernels and cuDNN's, and their
// backward kernels (ATen/native/transformers/cuda/attention.cu, attention_backward.cu,
// mem_eff_attention/kernel_backward.h, flash_attn/flash_api.cpp). Operands are [batch, heads,
// length, size]; results are made as [batch, length, heads, size].

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "ir/layout.h"
#include "ops/attention_blocks.h"
#include "ops/cuda/capability.h"
#include "ops/cuda/reduce.h"
#include "ops/gradients/network.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"
#include "support/rounding.h"

namespace steelyard::ops {
namespace {

using attention::IsHalf;
using attention::WideType;
using Scratch = std::optional<Allocations::Scratch>;

constexpr std::string_view kFactory = "aten::empty";

// In the order of the dimensions of `t`, without gaps.
void AddAlike(const TensorView& t, Outputs& out) {
  out.Add(t.dtype(), t.sizes(), EmptyLikeStrides(t.sizes(), t.strides()));
}

// Of all of the batch.
std::int64_t HeadsOf(const TensorView& query) {
  const Count heads = Count(query.size(0)) * query.size(1);
  if (heads.overflowed()) Contradict("more than 2^63 heads of attention");
  return heads.value();
}

bool DropsSome(const OpView& op, int p) { return op.real(p) > 0.0; }

// --- Memory-efficient ----------------------------------------------------------------------------
// query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, scale

constexpr std::int64_t kStatisticsAlignment = 32;  // queries

void EfficientShape(const OpView& op, Outputs& out) {
  const TensorView query = op.self(), value = op.tensor(2);
  attention::AddHeadsLast(query.dtype(),
                          {query.size(0), query.size(1), query.size(2), value.size(3)}, out);
  const std::int64_t rows = op.boolean(4) ? RoundUp(query.size(2), kStatisticsAlignment) : 0;
  out.Add(DType::kFloat32, Dims{query.size(0), query.size(1), rows});
  out.Add(DType::kInt64, Dims());
  out.Add(DType::kInt64, Dims());
}

// With dropout, seed and offset are numbers in the host's memory.
void EfficientAllocations(const OpView& op, Allocations& memory) {
  if (!DropsSome(op, 5)) {
    memory.Output(2, kFactory);
    memory.Output(3, kFactory);
  }
  memory.Output(0, kFactory);
  memory.Output(1, kFactory);
  constexpr std::int64_t kWidestInRegisters = 128;
  if (IsHalf(op.self().dtype()) && op.tensor(2).size(3) > kWidestInRegisters) {
    memory.Free(memory.Allocate(allocations::Bytes(work::Elements(op.output()), DType::kFloat32),
                                kFactory));
  }
}

// The blocks of the backward kernels, rows of queries by columns of keys, as kernels/cutlassB.h
// lists them: the first whose heads are as wide as these, and that fits into the memory of a
// multiprocessor.
struct Blocks {
  std::int64_t rows, columns, widest;
  bool large = false;  // more memory than the multiprocessors of desktop devices have
};
constexpr std::int64_t kAnyWidth = 65536;
constexpr std::array kHalfBlocks{Blocks{64, 64, 32},
                                 Blocks{64, 64, 64},
                                 Blocks{128, 128, 128, true},
                                 Blocks{64, 64, 128},
                                 Blocks{128, 64, kAnyWidth, true},
                                 Blocks{64, 64, kAnyWidth}};
constexpr std::array kFullBlocks{Blocks{64, 64, 32},
                                 Blocks{64, 64, 64},
                                 Blocks{128, 64, 128, true},
                                 Blocks{64, 64, 128},
                                 Blocks{128, 64, kAnyWidth, true},
                                 Blocks{64, 64, kAnyWidth}};
constexpr std::array kOldBlocks{Blocks{64, 64, 32}, Blocks{64, 64, 64}, Blocks{64, 64, 128},
                                Blocks{64, 64, kAnyWidth}};

Blocks BlocksOf(std::int64_t width, bool half, const Target& target) {
  constexpr std::int64_t kMiddleWidth = 96;
  const int capability = target.capability;
  if (half && width > 64 && width <= kMiddleWidth &&
      (capability == cuda::kDesktopAmpere || capability == cuda::kDesktopAda)) {
    return {128, 64, kMiddleWidth};
  }
  const bool small = cuda::HasSmallMultiprocessors(capability);
  const std::span<const Blocks> list = capability < cuda::kAmpere
                                           ? std::span<const Blocks>(kOldBlocks)
                                       : half ? std::span<const Blocks>(kHalfBlocks)
                                              : std::span<const Blocks>(kFullBlocks);
  return *std::ranges::find_if(
      list, [&](const Blocks& b) { return width <= b.widest && !(b.large && small); });
}

// Bytes in which blocks of threads add up gradients: those of the query for each block of rows,
// with a lock, and, where wide half-precision heads do not fit into registers, those of key and
// value for each share of the keys.
std::int64_t EfficientWorkspace(const OpView& op) {
  const TensorView query = op.tensor(1), key = op.tensor(2), value = op.tensor(3);
  const bool half = IsHalf(query.dtype());
  const std::int64_t width = query.size(3), value_width = value.size(3);
  const Blocks blocks = BlocksOf(std::max(width, value_width), half, op.target());
  const std::int64_t heads = HeadsOf(query);
  constexpr std::int64_t kLockWords = 4, kMostShares = 200;
  std::int64_t words = DivideUp(query.size(2), blocks.rows) * DivideUp(width, blocks.columns) *
                       (blocks.rows * blocks.columns + kLockWords);
  if (half && blocks.widest > blocks.rows) {
    std::int64_t shares = std::min(DivideUp(key.size(2), blocks.columns),
                                   kMostShares / std::max<std::int64_t>(heads, 1));
    shares = op.target().deterministic ? 1 : std::max<std::int64_t>(shares, 1);
    words +=
        shares * blocks.columns * (RoundUp(width, blocks.rows) + RoundUp(value_width, blocks.rows));
  }
  return heads * RoundUp(words, kLockWords) * 4;
}

// grad_out, query, key, value, attn_bias, out, logsumexp, philox_seed, philox_offset, dropout_p,
// grad_input_mask, is_causal, scale
constexpr int kBiasWanted = 3;
constexpr std::int64_t kBiasAlignment = 16;  // elements of a row

bool WantsBias(const OpView& op) {
  const std::vector<std::int64_t> mask = op.integers(10);
  return mask.size() > kBiasWanted && mask[kBiasWanted] != 0 && op.given(4);
}

void EfficientBackwardShape(const OpView& op, Outputs& out) {
  for (int i = 1; i <= 3; ++i)
    attention::AddHeadsLast(op.tensor(i).dtype(), Dims(op.tensor(i).sizes()), out);
  if (!WantsBias(op)) return out.AddNone();
  const TensorView bias = op.tensor(4);
  Dims padded(bias.sizes());
  padded[3] = RoundUp(padded[3], kBiasAlignment);
  out.Add(bias.dtype(), bias.sizes(), ContiguousStrides(padded));
}

// What each row's gradient and result have in common: half-precision kernels find it on the way.
void AllocateEfficientDelta(const OpView& op, Allocations& memory, Scratch& delta) {
  const TensorView query = op.tensor(1), out = op.tensor(5);
  const Count rows = Count(query.size(0)) * query.size(1) * query.size(2);
  const std::int64_t bytes = allocations::Bytes(rows, DType::kFloat32);
  if (IsHalf(query.dtype())) {
    delta = memory.Allocate(bytes, kFactory);
    return;
  }
  const auto product =
      memory.Allocate(allocations::Bytes(out.count(), DType::kFloat32), "aten::mul");
  const auto sums = memory.Allocate(bytes, "aten::sum");
  const Dims sizes{query.size(0), query.size(2), query.size(1), out.size(3)};
  const Dims strides = ContiguousStrides(sizes);
  cuda::Stage(op, {sizes, strides}, DType::kFloat32, shape::DimSet{1} << 3,
              cuda::SumOf(DType::kFloat32), memory);
  delta = memory.Allocate(bytes, kFactory);
  memory.Free(sums);
  memory.Free(product);
}

// Gradients of key and value for each head of the query, where several share one of theirs. Query,
// key and value come after the gradient.
void AllocateExpanded(const OpView& op, Allocations& memory, std::array<Scratch, 2>& expanded) {
  const TensorView query = op.tensor(1), key = op.tensor(2);
  if (query.size(1) == key.size(1)) return;
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    const TensorView t = op.tensor(static_cast<int>(i) + 2);
    const Count elements = Count(t.size(0)) * query.size(1) * t.size(2) * t.size(3);
    expanded[i] = memory.Allocate(allocations::Bytes(elements, t.dtype()), kFactory);
  }
}

void EfficientBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self();
  Scratch dense;
  if (!attention::LiesHeadsLast(gradient)) dense = memory.Allocate(gradient.bytes(), kFactory);
  for (int i = 0; i <= kBiasWanted; ++i) {
    if (op.output(i).defined()) memory.Output(i, kFactory);
  }
  std::array<Scratch, 2> expanded;
  AllocateExpanded(op, memory, expanded);
  Scratch delta;
  AllocateEfficientDelta(op, memory, delta);
  const auto workspace = memory.Allocate(EfficientWorkspace(op), kFactory);
  allocations::Free(delta, memory);
  memory.Free(workspace);
  for (const Scratch& whole : expanded) allocations::Free(whole, memory);
  allocations::Free(dense, memory);
}

// --- Flash ---------------------------------------------------------------------------------------
// query, key, value, dropout_p, is_causal, return_debug_mask, scale

void FlashShape(const OpView& op, Outputs& out) {
  const TensorView query = op.self();
  AddAlike(query, out);
  out.Add(DType::kFloat32, Dims{query.size(0), query.size(1), query.size(2)});
  out.AddNone();  // cumulated lengths, of nested tensors
  out.AddNone();
  out.AddNone();  // max_q and max_k are numbers
  out.AddNone();
  out.Add(DType::kUInt64, Dims{2});
  out.Add(DType::kUInt64, Dims());
  out.Add(query.dtype(), Dims{0});
}

constexpr std::int64_t kFlashRows = 64, kMostSplits = 128;

// flash_api.cpp, num_splits_heuristic: into how many parts the keys are split, so that every
// multiprocessor has work.
std::int64_t SplitsOf(std::int64_t blocks, std::int64_t places, std::int64_t key_blocks) {
  constexpr double kFull = 0.8, kNearBest = 0.85;
  if (static_cast<double>(blocks) >= kFull * static_cast<double>(places)) return 1;
  const std::int64_t most = std::min({kMostSplits, places, key_blocks});
  const auto helps = [&](std::int64_t n) {
    return n == 1 || DivideUp(key_blocks, n) != DivideUp(key_blocks, n - 1);
  };
  const auto efficiency = [&](std::int64_t n) {
    const double waves = static_cast<double>(blocks * n) / static_cast<double>(places);
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (std::int64_t n = 1; n <= most; ++n) {
    if (helps(n)) best = std::max(best, efficiency(n));
  }
  for (std::int64_t n = 1; n <= most; ++n) {
    if (helps(n) && efficiency(n) >= kNearBest * best) return n;
  }
  return 1;
}

void FlashAllocations(const OpView& op, Allocations& memory) {
  const TensorView query = op.self(), key = op.tensor(1);
  memory.Output(0, kFactory);
  memory.Output(1, kFactory);
  const bool drops = DropsSome(op, 3);
  constexpr std::int64_t kStateBytes = 16;
  Scratch sums, results;
  const std::int64_t width = RoundUp(query.size(3), 32);
  const std::int64_t key_rows = width <= 64 ? 256 : width <= 128 ? 128 : 64;
  const std::int64_t heads = HeadsOf(query);
  if (!drops && heads > 0) {
    const std::int64_t splits =
        SplitsOf(heads * DivideUp(query.size(2), kFlashRows),
                 2 * std::int64_t{op.target().multiprocessors}, DivideUp(key.size(2), key_rows));
    if (splits > 1) {
      const Count rows = Count(splits) * heads * query.size(2);
      sums = memory.Allocate(allocations::Bytes(rows, DType::kFloat32), kFactory);
      results = memory.Allocate(allocations::Bytes(rows * width, DType::kFloat32), kFactory);
    }
  }
  memory.Output(6, kFactory);
  memory.Output(7, kFactory);
  if (drops) memory.Free(memory.Allocate(kStateBytes, kFactory));
  allocations::Free(results, memory);
  allocations::Free(sums, memory);
}

// grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p,
// is_causal, philox_seed, philox_offset, scale
void FlashBackwardShape(const OpView& op, Outputs& out) {
  for (int i = 1; i <= 3; ++i) AddAlike(op.tensor(i), out);
}

// Sums of rows and of the query's gradient are float32; heads of the query that share one of the
// keys' have gradients of their own, which are then added up.
void FlashBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), query = op.tensor(1), result = op.tensor(4);
  Scratch dense_gradient, dense_result;
  if (!attention::LiesHeadsLast(gradient))
    dense_gradient = memory.Allocate(gradient.bytes(), kFactory);
  if (!attention::LiesHeadsLast(result)) dense_result = memory.Allocate(result.bytes(), kFactory);
  for (int i = 0; i < 3; ++i) memory.Output(i, kFactory);
  constexpr std::int64_t kRows = 128, kWideHead = 128, kWideUnit = 64, kUnit = 32;
  const std::int64_t rows = RoundUp(query.size(2), kRows);
  const std::int64_t width = RoundUp(query.size(3), query.size(3) > kWideHead ? kWideUnit : kUnit);
  const Count heads = Count(query.size(0)) * query.size(1);
  const auto sums = memory.Allocate(allocations::Bytes(heads * rows, DType::kFloat32), kFactory);
  std::int64_t shares = 1;
  if (op.target().deterministic && !heads.overflowed() && heads.value() > 0) {
    shares = DivideUp(op.target().multiprocessors, heads.value());
  }
  const auto whole =
      memory.Allocate(allocations::Bytes(heads * rows * width * shares, DType::kFloat32), kFactory);
  std::array<Scratch, 2> expanded;
  AllocateExpanded(op, memory, expanded);
  for (const Scratch& scratch :
       {expanded[1], expanded[0], Scratch(whole), Scratch(sums), dense_result, dense_gradient}) {
    allocations::Free(scratch, memory);
  }
}

// --- cuDNN ---------------------------------------------------------------------------------------
// query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, return_debug_mask, scale

void CudnnShape(const OpView& op, Outputs& out) {
  const TensorView query = op.self(), value = op.tensor(2);
  const std::int64_t rows = op.boolean(4) ? query.size(2) : 0;
  attention::AddHeadsLast(query.dtype(),
                          {query.size(0), query.size(1), query.size(2), value.size(3)}, out);
  out.Add(DType::kFloat32, Dims{query.size(0), query.size(1), rows, 1});
  out.AddNone();  // cumulated lengths, of nested tensors
  out.AddNone();
  out.AddNone();  // max_q and max_k are numbers
  out.AddNone();
  out.Add(DType::kInt64, Dims());
  out.Add(DType::kInt64, Dims());
  out.Add(query.dtype(), Dims{0});
}

void CudnnAllocations(const OpView&, Allocations& memory) {
  for (const int i : {0, 1, 6, 7}) memory.Output(i, kFactory);
}

// grad_out, query, key, value, out, logsumexp, philox_seed, philox_offset, attn_bias, cum_seq_q,
// cum_seq_k, max_q, max_k, dropout_p, is_causal, scale
//
// The workspace is the library's own choice. Taken is what its graph needs at least: the query's
// gradient and a sum for each of its rows, in float32.
void CudnnBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView query = op.tensor(1);
  for (int i = 0; i < 3; ++i) memory.Output(i, kFactory);
  constexpr std::int64_t kRows = 128;
  const Count rows = Count(query.size(0)) * query.size(1) * RoundUp(query.size(2), kRows);
  const std::int64_t bytes = allocations::Bytes(rows * (query.size(3) + 1), DType::kFloat32);
  memory.Free(memory.Allocate(bytes, kFactory));
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr Columns Fused(ShapeFn shape, AllocationsFn allocations, WorkFn work, Gradient grad) {
  return {shape, Fusion::kOpaque,   DeviceAllocations{allocations::OutputsOnly, allocations}, work,
          grad,  precision::kFollow};
}

constexpr std::array kRows{
    Kernel(Family::kAttention,
           {"aten::_scaled_dot_product_efficient_attention",
            "Attention block by block, by CUTLASS's kernels.",
            "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, "
            "float dropout_p=0., bool is_causal=False, *, float? scale=None) -> (Tensor output, "
            "Tensor log_sumexp, Tensor philox_seed, Tensor philox_offset)",
            "aten::_scaled_dot_product_efficient_attention(f32[2,4,9,8], f32[2,4,7,8], "
            "f32[2,4,7,8], None, True)"},
           Fused(EfficientShape, EfficientAllocations, attention::FusedWork<3, 6>,
                 gradients::kEfficientAttention)),
    Kernel(
        Family::kAttention,
        {"aten::_scaled_dot_product_efficient_attention_backward",
         "The gradients of attention, by CUTLASS's kernels.",
         "(Tensor grad_out_, Tensor query, Tensor key, Tensor value, Tensor? attn_bias, Tensor "
         "out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, float dropout_p, "
         "bool[4] grad_input_mask, bool is_causal=False, *, float? scale=None) -> (Tensor, "
         "Tensor, Tensor, Tensor)",
         "aten::_scaled_dot_product_efficient_attention_backward(f32[2,4,9,8], f32[2,4,9,8], "
         "f32[2,4,7,8], f32[2,4,7,8], None, f32[2,4,9,8], f32[2,4,32], i64[], i64[], 0.0, [True, "
         "True, True, False])"},
        Fused(EfficientBackwardShape, EfficientBackwardAllocations,
              attention::FusedBackwardWork<4, 11>, kGradientUnknown)),
    Casting(
        precision::kLowOnCuda,
        Kernel(
            Family::kAttention,
            {"aten::_scaled_dot_product_flash_attention",
             "Attention block by block, by FlashAttention's kernels.",
             "(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, "
             "bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor "
             "logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor "
             "rng_state, Tensor unused, Tensor debug_attn_mask)",
             "aten::_scaled_dot_product_flash_attention(bf16[2,4,9,8], bf16[2,4,7,8], "
             "bf16[2,4,7,8])"},
            Fused(FlashShape, FlashAllocations, attention::FusedWork<-1, 4>,
                  gradients::kCudaFlashAttention))),
    Kernel(
        Family::kAttention,
        {"aten::_scaled_dot_product_flash_attention_backward",
         "The gradients of attention, by FlashAttention's kernels.",
         "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor "
         "logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float "
         "dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? "
         "scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
         "aten::_scaled_dot_product_flash_attention_backward(bf16[2,4,9,8], bf16[2,4,9,8], "
         "bf16[2,4,7,8], bf16[2,4,7,8], bf16[2,4,9,8], f32[2,4,9], None, None, 9, 7, 0.0, False, "
         "u64[2], u64[])"},
        Fused(FlashBackwardShape, FlashBackwardAllocations, attention::FusedBackwardWork<-1, 11>,
              kGradientUnknown)),
    Kernel(Family::kAttention,
           {"aten::_scaled_dot_product_cudnn_attention", "Attention block by block, by cuDNN.",
            "(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool compute_log_sumexp, "
            "float dropout_p=0., bool is_causal=False, bool return_debug_mask=False, *, float? "
            "scale=None) -> (Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, "
            "SymInt max_q, SymInt max_k, Tensor philox_seed, Tensor philox_offset, Tensor "
            "debug_attn_mask)",
            "aten::_scaled_dot_product_cudnn_attention(bf16[2,4,9,8], bf16[2,4,7,8], "
            "bf16[2,4,7,8], None, True)"},
           Fused(CudnnShape, CudnnAllocations, attention::FusedWork<3, 6>,
                 gradients::kCudnnAttention)),
    Kernel(Family::kAttention,
           {"aten::_scaled_dot_product_cudnn_attention_backward",
            "The gradients of attention, by cuDNN.",
            "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor "
            "logsumexp, Tensor philox_seed, Tensor philox_offset, Tensor? attn_bias, Tensor? "
            "cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool "
            "is_causal, *, float? scale=None) -> (Tensor, Tensor, Tensor)",
            "aten::_scaled_dot_product_cudnn_attention_backward(bf16[2,4,9,8], bf16[2,4,9,8], "
            "bf16[2,4,7,8], bf16[2,4,7,8], bf16[2,4,9,8], f32[2,4,9,1], i64[], i64[], None, None, "
            "None, 9, 7, 0.0, False)"},
           Fused(FlashBackwardShape, CudnnBackwardAllocations, attention::FusedBackwardWork<8, 14>,
                 kGradientUnknown)),
};

}  // namespace

std::span<const OpDef> CudaAttention() { return kRows; }

}  // namespace steelyard::ops
