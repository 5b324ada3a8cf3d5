// SPDX-License-Identifier: Apache-2.0
//
// Fused attention on CUDA: the memory-efficient kernels, the flash kernels and cuDNN's, and their
// backward kernels (ATen/native/transformers/cuda/attention.cu, attention_backward.cu,
// mem_eff_attention/kernel_backward.h, flash_attn/flash_api.cpp). Operands are [batch, heads,
// length, size]; results are made as [batch, length, heads, size].

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "ir/layout.h"
#include "ops/attention_blocks.h"
#include "ops/cuda/capability.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/releases.h"
#include "ops/gradients/network.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/product.h"
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

// Which dimension is which of a tensor of heads.
struct Axes {
  int heads, length;
};
constexpr Axes kHeadsFirst{.heads = 1, .length = 2};
constexpr Axes kLengthFirst{.heads = 2, .length = 1};

// Heads of the query for each of the keys'.
std::int64_t HeadsSharing(const TensorView& query, const TensorView& key, const Axes& axes) {
  return query.size(axes.heads) / std::max<std::int64_t>(key.size(axes.heads), 1);
}

// Of all of the batch.
std::int64_t HeadsOf(const TensorView& query, const Axes& axes = kHeadsFirst) {
  const Count heads = Count(query.size(0)) * query.size(axes.heads);
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

// With dropout, and always before 2.15, seed and offset are numbers in the host's memory.
void EfficientAllocations(const OpView& op, Allocations& memory) {
  if (!DropsSome(op, 5) && !cuda::IsBefore(op.target(), cuda::kEfficientKeepsState)) {
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
  // In PyTorch a view of the first columns, which the gradient's formula takes here.
  Dims padded(bias.sizes());
  padded[3] = RoundUp(padded[3], kBiasAlignment);
  out.Add(bias.dtype(), padded);
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
void AllocateExpanded(const OpView& op, const Axes& axes, Allocations& memory,
                      std::array<Scratch, 2>& expanded) {
  const TensorView query = op.tensor(1), key = op.tensor(2);
  if (query.size(axes.heads) == key.size(axes.heads)) return;
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    const TensorView t = op.tensor(static_cast<int>(i) + 2);
    const Count elements =
        Count(t.size(0)) * query.size(axes.heads) * t.size(axes.length) * t.size(3);
    expanded[i] = memory.Allocate(allocations::Bytes(elements, t.dtype()), kFactory);
  }
}

void EfficientBackwardAllocations(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self();
  Scratch dense;
  if (!attention::LiesHeadsLast(gradient)) dense = memory.Allocate(gradient.bytes(), kFactory);
  for (int i = 0; i < kBiasWanted; ++i) {
    if (op.output(i).defined()) memory.Output(i, kFactory);
  }
  std::array<Scratch, 2> expanded;
  AllocateExpanded(op, kHeadsFirst, memory, expanded);
  if (op.output(kBiasWanted).defined()) memory.Output(kBiasWanted, kFactory);
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
  // In float, whose rounding decides where two are as good.
  const auto efficiency = [&](std::int64_t n) {
    const float waves = static_cast<float>(blocks * n) / static_cast<float>(places);
    return waves / std::ceil(waves);
  };
  float best = 0;
  for (std::int64_t n = 1; n <= most; ++n) {
    if (helps(n)) best = std::max(best, efficiency(n));
  }
  for (std::int64_t n = 1; n <= most; ++n) {
    if (helps(n) && efficiency(n) >= kNearBest * best) return n;
  }
  return 1;
}

// What the kernel is called with.
struct FlashCall {
  std::int64_t heads;  // of all of the batch
  std::int64_t queries, keys, width;
  bool drops;
  int state;  // the output that keeps the generator's, before one that keeps nothing
};

// A single query sees all keys, whose heads then take those of the query that share them for its
// rows (flash_api.cpp, seqlenq_ngroups_swapped).
FlashCall WithGroupsAsRows(FlashCall call, std::int64_t sharing) {
  if (call.queries != 1 || call.drops || sharing < 2) return call;
  call.queries = sharing;
  call.heads /= sharing;
  return call;
}

void AllocateFlash(const OpView& op, const FlashCall& call, Allocations& memory) {
  memory.Output(0, kFactory);
  memory.Output(1, kFactory);
  constexpr std::int64_t kStateBytes = 16;
  Scratch sums, results;
  const std::int64_t width = RoundUp(call.width, 32);
  const std::int64_t key_rows = width <= 64 ? 256 : width <= 128 ? 128 : 64;
  if (!call.drops && call.heads > 0) {
    const std::int64_t splits =
        SplitsOf(call.heads * DivideUp(call.queries, kFlashRows),
                 2 * std::int64_t{op.target().multiprocessors}, DivideUp(call.keys, key_rows));
    if (splits > 1) {
      const Count rows = Count(splits) * call.heads * call.queries;
      sums = memory.Allocate(allocations::Bytes(rows, DType::kFloat32), kFactory);
      results = memory.Allocate(allocations::Bytes(rows * width, DType::kFloat32), kFactory);
    }
  }
  if (!cuda::IsBefore(op.target(), cuda::kFlashKeepsState)) {  // on the device, and not on the host
    memory.Output(call.state, kFactory);
    memory.Output(call.state + 1, kFactory);
    if (call.drops) memory.Free(memory.Allocate(kStateBytes, kFactory));
  }
  allocations::Free(sums, memory);
  allocations::Free(results, memory);
}

void FlashAllocations(const OpView& op, Allocations& memory) {
  const TensorView query = op.self();
  const TensorView key = op.tensor(1);
  const FlashCall call{.heads = HeadsOf(query),
                       .queries = query.size(2),
                       .keys = key.size(2),
                       .width = query.size(3),
                       .drops = DropsSome(op, 3),
                       .state = 6};
  AllocateFlash(op, WithGroupsAsRows(call, HeadsSharing(query, key, kHeadsFirst)), memory);
}

// grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p,
// is_causal, philox_seed, philox_offset, scale
void FlashBackwardShape(const OpView& op, Outputs& out) {
  for (int i = 1; i <= 3; ++i) AddAlike(op.tensor(i), out);
}

// Sums of rows and of the query's gradient are float32; heads of the query that share one of the
// keys' have gradients of their own, which are then added up.
void AllocateFlashBackward(const OpView& op, const Axes& axes, Allocations& memory) {
  const TensorView query = op.tensor(1);
  std::array<Scratch, 2> dense;  // the gradient and the result
  constexpr std::array kLieDensely{0, 4};
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const TensorView t = op.tensor(kLieDensely[i]);
    const bool lies = axes.heads == kHeadsFirst.heads ? attention::LiesHeadsLast(t)
                                                      : IsContiguous(t.sizes(), t.strides());
    if (!lies) dense[i] = memory.Allocate(t.bytes(), kFactory);
  }
  for (int i = 0; i < 3; ++i) memory.Output(i, kFactory);
  constexpr std::int64_t kRows = 128, kWideHead = 128, kWideUnit = 64, kUnit = 32;
  const std::int64_t rows = RoundUp(query.size(axes.length), kRows);
  const std::int64_t width = RoundUp(query.size(3), query.size(3) > kWideHead ? kWideUnit : kUnit);
  const Count heads = HeadsOf(query, axes);
  const auto sums = memory.Allocate(allocations::Bytes(heads * rows, DType::kFloat32), kFactory);
  std::int64_t shares = 1;
  if (op.target().deterministic && heads.value() > 0) {
    shares = DivideUp(op.target().multiprocessors, heads.value());
  }
  const auto whole =
      memory.Allocate(allocations::Bytes(heads * rows * width * shares, DType::kFloat32), kFactory);
  std::array<Scratch, 2> expanded;
  AllocateExpanded(op, axes, memory, expanded);
  for (const Scratch& scratch :
       {expanded[1], expanded[0], Scratch(whole), Scratch(sums), dense[1], dense[0]}) {
    allocations::Free(scratch, memory);
  }
}

void FlashBackwardAllocations(const OpView& op, Allocations& memory) {
  AllocateFlashBackward(op, kHeadsFirst, memory);
}

// --- Flash, as its package has it ----------------------------------------------------------------
// query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, return_debug_mask,
// scale, window_size_left, window_size_right, seqused_k, alibi_slopes, block_table, num_splits
//
// Operands and results are [batch, length, heads, size].

constexpr int kWindowLeft = 11, kWindowRight = 12;

// How far a query sees: nothing where that is as far as there are keys.
std::optional<std::int64_t> WindowOf(const OpView& op, int argument, std::int64_t keys) {
  if (!op.given(argument)) return {};
  const std::int64_t window = op.integer(argument, -1);
  return window < 0 || window >= keys ? std::nullopt : std::optional(window);
}

void CheckFlashOperands(const TensorView& query, const TensorView& key, const TensorView& value) {
  constexpr std::int64_t kUnit = 8, kWidest = 256;
  for (const TensorView& t : {query, key, value}) {
    if (t.rank() != 4) Refuse("flash attention takes [batch, length, heads, size]");
    product::RequireSameDType(query, t);
  }
  if (!IsHalf(query.dtype())) Refuse("flash attention takes bfloat16 and float16");
  if (query.size(3) % kUnit != 0 || query.size(3) > kWidest) {
    Refuse(
        fmt::format("flash attention takes heads of a multiple of {} that are at most {} wide, "
                    "and these are of {}",
                    kUnit, kWidest, query.size(3)));
  }
  if (key.size(3) != query.size(3) || value.size(3) != query.size(3))
    Refuse("flash attention takes heads of one width");
  if (key.size(2) < 1 || query.size(2) % key.size(2) != 0 || value.size(2) != key.size(2)) {
    Refuse(fmt::format("{} heads of the query for {} of key and {} of value", query.size(2),
                       key.size(2), value.size(2)));
  }
  if (key.size(0) != query.size(0) || value.size(0) != query.size(0) ||
      value.size(1) != key.size(1)) {
    Refuse("batches or lengths of key and value differ");
  }
}

void PackageShape(const OpView& op, Outputs& out) {
  const TensorView query = op.self();
  CheckFlashOperands(query, op.tensor(1), op.tensor(2));
  for (const int sequence : {3, 4, 13, 15}) {
    if (op.given(sequence)) Refuse("sequences one behind the other are not modelled");
  }
  if (op.boolean(9)) Refuse("the mask of dropout is not modelled");
  AddAlike(query, out);
  out.Add(DType::kFloat32, Dims{query.size(0), query.size(2), query.size(1)});
  out.Add(DType::kUInt64, Dims{2});
  out.Add(DType::kUInt64, Dims());
  out.Add(query.dtype(), Dims{0});
}

void PackageAllocations(const OpView& op, Allocations& memory) {
  const TensorView query = op.self(), key = op.tensor(1);
  const FlashCall call{.heads = HeadsOf(query, kLengthFirst),
                       .queries = query.size(1),
                       .keys = key.size(1),
                       .width = query.size(3),
                       .drops = DropsSome(op, 7),
                       .state = 2};
  const bool sees_all =
      !WindowOf(op, kWindowLeft, call.keys) && !WindowOf(op, kWindowRight, call.keys);
  const std::int64_t sharing = HeadsSharing(query, key, kLengthFirst);
  AllocateFlash(op, sees_all ? WithGroupsAsRows(call, sharing) : call, memory);
}

// first + (first + 1) + ... + last, of those that are not negative.
Count SumOf(std::int64_t first, std::int64_t last) {
  first = std::max<std::int64_t>(first, 0);
  if (last < first) return 0;
  const Count twice = Count(first + last) * (last - first + 1);
  return twice.overflowed() ? twice : Count(twice.value() / 2);
}

// The last query sees the last key, each before it one less; with `left`, so many before that.
struct ScoresOf {
  TensorView query, key;
  bool causal;
  std::optional<std::int64_t> left;
};
struct CountedScores {
  Count all, hidden;
};
CountedScores CountScores(const ScoresOf& of) {
  const std::int64_t queries = of.query.size(1), keys = of.key.size(1);
  const Count heads = Count(of.query.size(0)) * of.query.size(2);
  const std::int64_t ahead = keys - queries;
  Count hidden = 0;
  if (ahead >= 0 && of.causal) hidden = SumOf(0, queries - 1);
  if (ahead >= 0 && of.left) hidden = hidden + SumOf(ahead - *of.left, keys - 1 - *of.left);
  return {.all = heads * queries * keys, .hidden = heads * hidden};
}

Work PackageWork(const OpView& op) {
  const TensorView query = op.self(), key = op.tensor(1);
  const bool causal = op.boolean(8);
  const auto left = WindowOf(op, kWindowLeft, key.size(1));
  const CountedScores scores = CountScores({query, key, causal, left});
  const std::int64_t width = query.size(3);
  return {.mac = scores.all * width * 2,
          .alu = scores.all * (causal || left ? 6 : 5),
          .special = scores.all,
          .masked = scores.hidden * width * 2};
}

// grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p,
// is_causal, rng_state, unused, scale, window_size_left, window_size_right

void PackageBackwardShape(const OpView& op, Outputs& out) {
  CheckFlashOperands(op.tensor(1), op.tensor(2), op.tensor(3));
  if (op.given(6) || op.given(7)) Refuse("sequences one behind the other are not modelled");
  FlashBackwardShape(op, out);
}

void PackageBackwardAllocations(const OpView& op, Allocations& memory) {
  AllocateFlashBackward(op, kLengthFirst, memory);
}

Work PackageBackwardWork(const OpView& op) {
  const TensorView query = op.tensor(1), key = op.tensor(2);
  constexpr int kLeft = 15;
  const CountedScores scores =
      CountScores({query, key, op.boolean(11), WindowOf(op, kLeft, key.size(1))});
  const std::int64_t width = query.size(3);
  return {.mac = scores.all * width * 5,
          .alu = scores.all * 5,
          .special = scores.all,
          .masked = scores.hidden * width * 5};
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
           {"aten::_flash_attention_forward",
            "Attention block by block, by FlashAttention's kernels, of heads inside of lengths.",
            "(Tensor query, Tensor key, Tensor value, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt "
            "max_q, SymInt max_k, float dropout_p, bool is_causal, bool return_debug_mask, *, "
            "float? scale=None, SymInt? window_size_left=None, SymInt? window_size_right=None, "
            "Tensor? seqused_k=None, Tensor? alibi_slopes=None, Tensor? block_table=None, int? "
            "num_splits=None) -> (Tensor output, Tensor softmax_logsumexp, Tensor rng_state, "
            "Tensor unused, Tensor debug_attn_mask)",
            "aten::_flash_attention_forward(bf16[2,9,4,8], bf16[2,7,2,8], bf16[2,7,2,8], None, "
            "None, 9, 7, 0.0, False, False)"},
           Fused(PackageShape, PackageAllocations, PackageWork, gradients::kPackageAttention)),
    Kernel(Family::kAttention,
           {"aten::_flash_attention_backward",
            "The gradients of attention, by FlashAttention's kernels, of heads inside of lengths.",
            "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor "
            "logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float "
            "dropout_p, bool is_causal, Tensor rng_state, Tensor unused, *, float? scale=None, "
            "SymInt? window_size_left=None, SymInt? window_size_right=None) -> (Tensor, Tensor, "
            "Tensor)",
            "aten::_flash_attention_backward(bf16[2,9,4,8], bf16[2,9,4,8], bf16[2,7,2,8], "
            "bf16[2,7,2,8], bf16[2,9,4,8], f32[2,4,9], None, None, 9, 7, 0.0, False, u64[2], "
            "u64[])"},
           Fused(PackageBackwardShape, PackageBackwardAllocations, PackageBackwardWork,
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
