// SPDX-License-Identifier: Apache-2.0
//
// Attention: a fused kernel where one applies, that of the CPU (cpu/FlashAttentionKernel.cpp) or
// those of attention_cuda.cc, else products and a softmax (ATen/native/transformers/attention.cpp,
// sdp_utils_cpp.cpp, cuda/sdp_utils.cpp).

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/attention_blocks.h"
#include "ops/attention_choice.h"
#include "ops/cuda/capability.h"
#include "ops/cuda/releases.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/network.h"
#include "ops/gradients/reduction.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/product.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"

namespace steelyard::ops {
namespace {

using attention::IsHalf;
using attention::QueryRows;
using attention::WideType;

// --- _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, mask,
// scale): [batch, heads, length, size] ------------------------------------------------------------

// Heads of the query in groups may share one of key and value.
bool HeadsFit(std::span<const std::int64_t> query, std::span<const std::int64_t> key,
              std::span<const std::int64_t> value) {
  return key[1] == value[1] && key[1] > 0 && query[1] % key[1] == 0;
}

void FlashShape(const OpView& op, Outputs& out) {
  const TensorView query = op.self(), key = op.tensor(1), value = op.tensor(2);
  for (const TensorView& t : {query, key, value}) {
    shape::RequireRank("query, key and value", t, 4);
    shape::RequireEqual("head sizes", t.size(3), query.size(3));
    shape::RequireEqual("batch sizes", t.size(0), query.size(0));
    product::RequireSameDType(t, query);
  }
  shape::RequireEqual("lengths of key and value", key.size(2), value.size(2));
  if (!HeadsFit(query.sizes(), key.sizes(), value.sizes())) {
    Refuse(fmt::format("{} heads of the query for {} of key and {} of value", query.size(1),
                       key.size(1), value.size(1)));
  }
  shape::Like(query, query.dtype(), out);
  const std::int64_t heads = query.size(1), length = query.size(2);
  // Made as [batch, length, heads], given as [batch, heads, length].
  const Dims made = ContiguousStrides(Dims{query.size(0), length, heads});
  out.Add(WideType(query.dtype()), Dims{query.size(0), heads, length},
          Dims{made[0], made[2], made[1]});
}

using Scratch = std::optional<Allocations::Scratch>;

// Besides the outputs each thread needs the scores of a block, two numbers per query and its rows
// of the result; half-precision scores are kept a second time in their own dtype.
void FlashAllocations(const OpView& op, Allocations& memory) {
  const TensorView query = op.self();
  memory.Output(0, "aten::empty_strided");
  memory.Output(1, "aten::empty");
  const std::array packed{attention::Packed(query, memory), attention::Packed(op.tensor(1), memory),
                          attention::Packed(op.tensor(2), memory)};
  const Scratch mask = attention::PackedMask(op.tensor(5), memory);
  const std::int64_t rows = QueryRows(query.size(2));
  const std::int64_t columns = attention::KeyColumns(op.tensor(1).size(2));
  const Count scores = Count(rows) * columns;
  const Count buffer = scores + Count(2) * rows + Count(rows) * query.size(3);
  const Allocations::Scratch wide = memory.Allocate(
      allocations::Bytes(buffer * op.target().threads, WideType(query.dtype())), "aten::empty");
  if (IsHalf(query.dtype())) {
    memory.Free(memory.Allocate(allocations::Bytes(scores * op.target().threads, query.dtype()),
                                "aten::empty"));
  }
  memory.Free(wide);
  for (const Scratch& copy : {packed[2], packed[1], packed[0], mask})
    allocations::Free(copy, memory);
}

// --- Composites ----------------------------------------------------------------------------------

// _safe_softmax(self, dim, dtype): rows that are masked entirely become 0 instead of NaN.
std::vector<Tensor> SafeSoftmax(Dispatcher& d, const OpView& op) {
  const Tensor out = d.Call("aten::softmax.int", op.arg(0), op.arg(1), op.arg(2));
  const Tensor masked = d.Call("aten::isneginf", op.arg(0));
  const Tensor rows = d.Call("aten::all.dim", masked, op.arg(1), true);
  const Tensor zero = d.Call("aten::scalar_tensor", 0.0, out.dtype());
  d.Call("aten::masked_fill_.Tensor", out, rows, zero);
  return {out};
}

// A mask of booleans as one to add: 0 where it is true, else minus infinity.
Tensor AdditiveMask(Dispatcher& d, const Tensor& mask, DType dtype) {
  if (!mask.defined() || mask.dtype() != DType::kBool) return mask;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (cuda::IsBefore(d.target(), cuda::kMaskIsChosen)) {
    const Tensor numbers = d.Call("aten::zeros_like", mask, dtype);
    d.Call("aten::masked_fill_.Scalar", numbers, d.Call("aten::logical_not", mask), -kInfinity);
    return numbers;
  }
  return d.Call("aten::where.ScalarOther", mask, d.Call("aten::scalar_tensor", 0.0, dtype),
                -kInfinity);
}

Tensor CausalMask(Dispatcher& d, const Tensor& query, const Tensor& key) {
  const Dims sizes{query.size(-2), key.size(-2)};
  const Tensor lower = d.Call("aten::tril", d.Call("aten::ones", sizes, DType::kBool));
  return AdditiveMask(d, lower, query.dtype());
}

// Key or value with its heads repeated for those of the query.
Tensor ForEachHead(Dispatcher& d, const Tensor& t, const Tensor& query) {
  if (t.rank() < 3 || query.rank() < 3 || t.size(-3) == 0 || query.size(-3) % t.size(-3) != 0) {
    Refuse(fmt::format("the heads of {} do not repeat to those of {}", shape::Text(t.view()),
                       shape::Text(query.view())));
  }
  return d.Call("aten::repeat_interleave.self_int", t, query.size(-3) / t.size(-3), -3);
}

// _scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal,
// dropout_mask, scale, enable_gqa): the result and the scores. Half-precision operands are computed
// in float32, and rows that are masked entirely become 0.
std::vector<Tensor> AttentionByProducts(Dispatcher& d, const OpView& op) {
  if (op.given(6)) Refuse("attention with a given dropout mask");
  const bool plain = cuda::IsBefore(d.target(), cuda::kProductsAreWide);
  const DType dtype = op.self().dtype(), wide = plain ? dtype : WideType(dtype);
  const Tensor wide_query = d.Call("aten::to.dtype", op.arg(0), wide);
  Tensor key = d.Call("aten::to.dtype", op.arg(1), wide);
  Tensor value = d.Call("aten::to.dtype", op.arg(2), wide);
  Tensor mask = d.tensor(op, 3);
  const double usual_scale = 1.0 / std::sqrt(static_cast<double>(wide_query.size(-1)));
  const double root_of_scale = std::sqrt(op.given(7) ? op.real(7) : usual_scale);
  const Tensor query = d.Call("aten::mul.Scalar", wide_query, root_of_scale);
  if (op.boolean(5)) {
    if (mask.defined()) Refuse("causal attention takes no mask");
    mask = CausalMask(d, query, key);
  }
  // The repeated heads die before the query and, the key first, in the order of a tuple.
  Tensor value_heads = value, key_heads = key;
  if (op.boolean(8) && (key.size(-3) != query.size(-3) || value.size(-3) != query.size(-3))) {
    key_heads = ForEachHead(d, key, query);
    value_heads = ForEachHead(d, value, query);
  }
  Tensor scores = d.Call(
      "aten::matmul", query,
      d.Call("aten::mul.Scalar", d.Call("aten::transpose.int", key_heads, -2, -1), root_of_scale));
  if (mask.defined()) d.Call("aten::add_.Tensor", scores, mask);
  scores =
      plain ? d.Call("aten::softmax.int", scores, -1) : d.Call("aten::_safe_softmax", scores, -1);
  if (op.real(4) > 0.0) scores = d.Call("aten::dropout", scores, op.arg(4), true);
  // The scores are converted before the result is computed: arguments are evaluated last first.
  const Tensor given_scores = d.Call("aten::to.dtype", scores, dtype);
  return {d.Call("aten::to.dtype", d.Call("aten::matmul", scores, value_heads), dtype),
          given_scores};
}

void RequireAttention(const TensorView& query, const TensorView& key, const TensorView& value) {
  for (const TensorView& t : {query, key, value}) {
    if (t.rank() < 2)
      Refuse(fmt::format("attention needs two dimensions or more: {}", shape::Text(t)));
    product::RequireSameDType(query, t);
  }
  shape::RequireEqual("head sizes of query and key", query.size(-1), key.size(-1));
  shape::RequireEqual("lengths of key and value", key.size(-2), value.size(-2));
}

bool MaskFitsFlash(const Tensor& mask, const TensorView& query, const TensorView& key) {
  if (!mask.defined()) return true;
  if (mask.rank() != 2 && mask.rank() != query.rank()) return false;
  const auto fits = [&](int dim, std::int64_t size) {
    return mask.size(dim) == 1 || mask.size(dim) == size;
  };
  return fits(-2, query.size(-2)) && fits(-1, key.size(-2));
}

// The conditions of the fused kernel (sdp_utils_cpp.cpp, use_flash_attention_cpp). A mask that
// requires a gradient is none for it, whether gradients are recorded or not.
bool UsesFlash(const OpView& op, const Tensor& mask) {
  const TensorView query = op.self(), key = op.tensor(1), value = op.tensor(2);
  if (op.real(4) > 0.0 || !IsFloating(query.dtype())) return false;
  if (mask.defined() && mask.requires_grad()) return false;
  for (const TensorView& t : {query, key, value}) {
    if ((t.rank() != 3 && t.rank() != 4) || t.rank() != query.rank()) return false;
    if (t.size(0) != query.size(0) || t.size(-1) != query.size(-1)) return false;
    if (t.stride(-1) != 1 || t.size(-2) == 0) return false;
  }
  if (query.rank() == 4 && !HeadsFit(query.sizes(), key.sizes(), value.sizes())) return false;
  return MaskFitsFlash(mask, query, key);
}

// The fused kernel takes four dimensions; images of three are one batch.
Tensor CallFlash(Dispatcher& d, const OpView& op, const Tensor& mask) {
  Tensor query = d.tensor(op, 0), key = d.tensor(op, 1), value = d.tensor(op, 2), bias = mask;
  const bool unbatched = query.rank() == 3;
  if (unbatched) {
    for (Tensor* t : {&query, &key, &value}) *t = d.Call("aten::unsqueeze", *t, 0);
    if (bias.defined() && bias.rank() == 3) bias = d.Call("aten::unsqueeze", bias, 0);
  }
  const Tensor out = d.Call("aten::_scaled_dot_product_flash_attention_for_cpu", query, key, value,
                            op.arg(4), op.arg(5), bias, op.arg(6));
  return unbatched ? d.Call("aten::squeeze.dim", out, 0) : out;
}

// --- On CUDA: the first kernel whose conditions hold (cuda/sdp_utils.cpp) ------------------------

enum class CudaKernel : std::uint8_t { kCudnn, kFlash, kEfficient, kProducts };

// Whether autograd records query, key, value or mask.
bool RecordsOperands(Dispatcher& d, const OpView& op) {
  const auto requires_grad = [&](int i) { return op.tensor(i).value().requires_grad; };
  return d.grad_enabled() && (requires_grad(0) || requires_grad(1) || requires_grad(2) ||
                              (op.given(3) && requires_grad(3)));
}

bool LastLiesDense(const TensorView& t) { return t.stride(-1) == 1; }

bool HasSameHeads(const OpView& op) {
  const std::int64_t heads = op.self().size(1);
  return op.tensor(1).size(1) == heads && op.tensor(2).size(1) == heads;
}

// What all fused kernels ask for.
bool MayFuse(const OpView& op) {
  const TensorView query = op.self(), key = op.tensor(1), value = op.tensor(2);
  for (const TensorView& t : {query, key, value}) {
    if (t.rank() != 4 || t.size(0) != query.size(0) || t.size(2) == 0) return false;
    if (!LastLiesDense(t)) return false;
  }
  const bool grouped = op.boolean(7);
  if (!HasSameHeads(op) && !(grouped && HeadsFit(query.sizes(), key.sizes(), value.sizes())))
    return false;
  return !op.given(3) || LastLiesDense(op.tensor(3));
}

bool MayFlash(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kWidest = 256, kWide = 192, kWideWithDropout = 224;
  const TensorView query = op.self(), key = op.tensor(1), value = op.tensor(2);
  const int capability = d.target().capability;
  if (!IsHalf(query.dtype()) || op.given(3) || capability < cuda::kAmpere) return false;
  const std::int64_t width = query.size(3);
  if (key.size(3) != width || value.size(3) != width || width > kWidest) return false;
  if (op.boolean(5) && query.size(2) != key.size(2)) return false;
  if (!RecordsOperands(d, op) || !cuda::HasSmallMultiprocessors(capability) || width <= kWide) {
    return true;
  }
  return width > kWideWithDropout && op.real(4) == 0.0;
}

bool MayBeEfficient(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kHalfAlignment = 8, kFullAlignment = 4;
  const TensorView query = op.self();
  const DType dtype = query.dtype();
  const int capability = d.target().capability;
  if (cuda::IsBefore(d.target(), cuda::kEfficientIsGrouped) && !HasSameHeads(op)) return false;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat16 &&
      !(dtype == DType::kBFloat16 && capability >= cuda::kAmpere)) {
    return false;
  }
  const std::int64_t alignment = IsHalf(dtype)                 ? kHalfAlignment
                                 : capability >= cuda::kAmpere ? kFullAlignment
                                                               : 1;
  return query.size(3) % alignment == 0 && op.tensor(2).size(3) % alignment == 0;
}

// cuDNN comes first on devices of compute capability 9 and 10; before, after all others.
bool MayCudnn(Dispatcher& d, const OpView& op) {
  constexpr std::int64_t kAlignment = 8, kUsual = 128, kWidest = 256, kMiddle = 192;
  constexpr double kDropoutSteps = 16;
  const TensorView query = op.self(), key = op.tensor(1), value = op.tensor(2);
  const Target& target = d.target();
  const int generation = target.capability / 10;
  if (cuda::IsBefore(target, cuda::kCudnnIsFirst)) return false;
  if (!target.cudnn_attention || target.deterministic || generation < 9 || generation > 10) {
    return false;
  }
  if (!IsHalf(query.dtype()) || key.size(2) == 1) return false;
  const double dropout = op.real(4);
  if (dropout * kDropoutSteps != std::floor(dropout * kDropoutSteps)) return false;
  if (dropout > 0 && query.size(2) == 1) return false;
  if (op.given(3) && d.grad_enabled() && op.tensor(3).value().requires_grad) return false;
  const std::int64_t width = query.size(3), value_width = value.size(3);
  if (width % kAlignment != 0 || value_width % kAlignment != 0) return false;
  if (std::max(width, value_width) <= kUsual) return true;
  if (std::max(width, value_width) > kWidest) return false;
  return !RecordsOperands(d, op) || (width == kMiddle && value_width == kUsual) ||
         (width == kWidest && value_width == kWidest);
}

CudaKernel CudaKernelFor(Dispatcher& d, const OpView& op) {
  if (!MayFuse(op)) return CudaKernel::kProducts;
  if (MayCudnn(d, op)) return CudaKernel::kCudnn;
  if (MayFlash(d, op)) return CudaKernel::kFlash;
  return MayBeEfficient(d, op) ? CudaKernel::kEfficient : CudaKernel::kProducts;
}

// A mask whose rows begin at multiples of 8 elements, as large as the scores.
Tensor AlignedMask(Dispatcher& d, Tensor mask, const OpView& op) {
  constexpr std::int64_t kAlignment = 8;
  const TensorView query = op.self(), key = op.tensor(1);
  bool aligned = LastLiesDense(mask.view());
  for (int i = 0; i + 1 < mask.rank(); ++i)
    aligned = aligned && mask.strides()[static_cast<std::size_t>(i)] % kAlignment == 0;
  if (!aligned) {
    const std::int64_t width = mask.size(-1);
    const Tensor padded = d.Call("aten::pad", mask, Dims{0, kAlignment - width % kAlignment});
    mask = d.Call("aten::slice.Tensor", padded, -1, 0, width);
  }
  return d.Call("aten::expand", mask,
                Dims{query.size(0), query.size(1), query.size(2), key.size(2)});
}

// Heads padded to a multiple of 8 elements.
Tensor PaddedHead(Dispatcher& d, const Tensor& t) {
  constexpr std::int64_t kAlignment = 8;
  const std::int64_t rest = t.size(-1) % kAlignment;
  return rest == 0 ? t : d.Call("aten::pad", t, Dims{0, kAlignment - rest});
}

// Images of three dimensions are one batch of heads, and their mask is for all of it: since 2.15,
// so that fused kernels take them.
constexpr int kImagesAreHeads = 15;
Tensor AttendToImages(Dispatcher& d, const OpView& op) {
  constexpr int kDimensions = 4;
  const auto with_batch = [&](int i) { return d.Call("aten::unsqueeze", op.arg(i), 0); };
  const Tensor query = with_batch(0), key = with_batch(1), value = with_batch(2);
  Tensor mask = d.tensor(op, 3);
  while (mask.defined() && mask.rank() < kDimensions) mask = d.Call("aten::unsqueeze", mask, 0);
  const Tensor out = d.Call("aten::scaled_dot_product_attention", query, key, value, mask,
                            op.arg(4), op.arg(5), op.arg(6), op.arg(7));
  return d.Call("aten::squeeze.dim", out, 0);
}

std::vector<Tensor> AttendOnCuda(Dispatcher& d, const OpView& op) {
  if (op.boolean(7) && cuda::IsBefore(d.target(), cuda::kHeadsAreGrouped)) {
    Contradict("this release of PyTorch has no attention with enable_gqa",
               "Name a later one with --torch.");
  }
  const bool are_images =
      std::ranges::all_of(std::array{0, 1, 2}, [&](int i) { return op.tensor(i).rank() == 3; });
  if (are_images && !cuda::IsBefore(d.target(), kImagesAreHeads)) return {AttendToImages(d, op)};
  const Tensor query = d.tensor(op, 0), key = d.tensor(op, 1), value = d.tensor(op, 2);
  const CudaKernel kernel = CudaKernelFor(d, op);
  Tensor mask = AdditiveMask(d, d.tensor(op, 3), query.dtype());
  const bool keeps = RecordsOperands(d, op);
  switch (kernel) {
    case CudaKernel::kCudnn: {
      d.NoteEstimate("the workspaces of attention in cuDNN are not known to the byte");
      const std::vector<Tensor> out =
          d.CallMany("aten::_scaled_dot_product_cudnn_attention", query, key, value, mask, keeps,
                     op.arg(4), op.arg(5), false, op.arg(6));
      return {out[0]};
    }
    case CudaKernel::kFlash: {
      const std::int64_t width = query.size(-1);
      const Tensor padded_query = PaddedHead(d, query), padded_key = PaddedHead(d, key),
                   padded_value = PaddedHead(d, value);
      const std::vector<Tensor> out =
          d.CallMany("aten::_scaled_dot_product_flash_attention", padded_query, padded_key,
                     padded_value, op.arg(4), op.arg(5));
      if (out[0].size(-1) == width) return {out[0]};
      return {d.Call("aten::slice.Tensor", out[0], -1, 0, width)};
    }
    case CudaKernel::kEfficient: {
      if (mask.defined()) mask = AlignedMask(d, mask, op);
      const std::vector<Tensor> out =
          d.CallMany("aten::_scaled_dot_product_efficient_attention", query, key, value, mask,
                     keeps, op.arg(4), op.arg(5), op.arg(6));
      return {out[0]};
    }
    case CudaKernel::kProducts:
      return {d.Call("aten::_scaled_dot_product_attention_math", query, key, value, mask, op.arg(4),
                     op.arg(5), std::nullopt, op.arg(6), op.arg(7))};
  }
  __builtin_unreachable();
}

// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale,
// enable_gqa).
std::vector<Tensor> Attend(Dispatcher& d, const OpView& op) {
  RequireAttention(op.self(), op.tensor(1), op.tensor(2));
  if (d.target().device == Device::kCuda) return AttendOnCuda(d, op);
  const Tensor given = d.tensor(op, 3);
  const Tensor mask = AdditiveMask(d, given, op.self().dtype());
  if (UsesFlash(op, mask)) return {CallFlash(d, op, mask)};
  return {d.Call("aten::_scaled_dot_product_attention_math", op.arg(0), op.arg(1), op.arg(2), mask,
                 op.arg(4), op.arg(5), std::nullopt, op.arg(6), op.arg(7))};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr std::array kRows{
    OpDef{.name = "aten::_scaled_dot_product_flash_attention_for_cpu",
          .summary = "Attention block by block, without keeping the scores.",
          .signature =
              "(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, "
              "*, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
          .example = "aten::_scaled_dot_product_flash_attention_for_cpu(f32[2,4,200,8], "
                     "f32[2,2,600,8], f32[2,2,600,8])",
          .family = Family::kAttention,
          .shape = FlashShape,
          .alias = Alias::kNone,
          .fusion = Fusion::kOpaque,
          .decompose = kIsKernel,
          .allocations = FlashAllocations,
          .work = attention::FusedWork<5, 4>,
          .traffic = traffic::ReadAllWriteAll,
          .grad = gradients::kFlashAttention,
          .precision = precision::kFollow},
    Composite("aten::_safe_softmax", "Softmax whose entirely masked rows are 0.",
              "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
              "aten::_safe_softmax(f32[2,8], -1)", Family::kAttention, SafeSoftmax,
              precision::kFollow, gradients::kSafeSoftmax),
    Composite("aten::_scaled_dot_product_attention_math",
              "Attention by two products, with its scores.",
              "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
              "dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? "
              "scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
              "aten::_scaled_dot_product_attention_math(bf16[2,4,9,8], bf16[2,2,7,8], "
              "bf16[2,2,7,6], None, 0.1, True, enable_gqa=True)",
              Family::kAttention, AttentionByProducts, precision::kFollow),
    Casting(precision::kLow,
            Composite("aten::scaled_dot_product_attention",
                      "Softmax of scaled products of queries and keys, applied to values.",
                      "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
                      "dropout_p=0., bool "
                      "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
                      "aten::scaled_dot_product_attention(f32[2,4,9,8], f32[2,4,7,8], "
                      "f32[2,4,7,8], bool[9,7])",
                      Family::kAttention, Attend, precision::kFollow)),
};

}  // namespace

std::span<const OpDef> Attention() { return kRows; }

}  // namespace steelyard::ops

namespace steelyard::attention {

bool FusesOnCuda(Dispatcher& d, const Tensor& query, const Tensor& key, const Tensor& value) {
  const std::array arguments{Argument::OfValue(query.id()),
                             Argument::OfValue(key.id()),
                             Argument::OfValue(value.id()),
                             Argument::None(),
                             Argument::OfFloat(0.0),
                             Argument::OfBool(false),
                             Argument::None(),
                             Argument::OfBool(false)};
  const Dispatcher::Recorded call(d, d.AddArguments(arguments), {});
  const OpView op = call.View(*FindOp("aten::scaled_dot_product_attention"));
  return ops::CudaKernelFor(d, op) != ops::CudaKernel::kProducts;
}

}  // namespace steelyard::attention
