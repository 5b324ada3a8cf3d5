// SPDX-License-Identifier: Apache-2.0
//
// RAF's table is in RAF's operators. PyTorch's kernels stand beside them under the rule of the
// operator that RAF's importer makes of them; where a kernel does more (a product adds its bias),
// under that of its costly part. What RAF's table lacks has no row here and keeps its dtype.

#include "ops/raf_policy.h"

#include <algorithm>
#include <array>

namespace steelyard {
namespace {

using enum RafHint;

constexpr std::string_view kOfRaf = "raf::";

// By name.
constexpr std::array kRules{
    RafRule{"aten::_log_softmax", kOriginal, 1},
    RafRule{"aten::_log_softmax_backward_data", kOriginal, 2},
    RafRule{"aten::_slow_conv2d_backward", kLow, 3},
    RafRule{"aten::_slow_conv2d_forward", kLow, 4},
    RafRule{"aten::_softmax", kOriginal, 1},
    RafRule{"aten::_softmax_backward_data", kOriginal, 2},
    RafRule{"aten::_to_copy", kCast},
    RafRule{"aten::abs", kMajority, 1},
    RafRule{"aten::add", kEither, 2},
    RafRule{"aten::addmm", kLow, 3},
    RafRule{"aten::atan", kOriginal, 1},
    RafRule{"aten::avg_pool2d", kMajority, 1},
    RafRule{"aten::avg_pool2d_backward", kMajority, 2},
    RafRule{"aten::baddbmm", kLow, 3},
    RafRule{"aten::bmm", kLow, 2},
    RafRule{"aten::cat", kFew, 1},
    RafRule{"aten::ceil", kMajority, 1},
    RafRule{"aten::clamp", kMajority, 1},
    RafRule{"aten::clamp_min", kMajority, 1},
    RafRule{"aten::clone", kMajority, 1},
    RafRule{"aten::convolution", kLow, 3},
    RafRule{"aten::convolution_backward", kLow, 3},
    RafRule{"aten::copy_", kCast},
    RafRule{"aten::cos", kMajority, 1},
    RafRule{"aten::cumsum", kMajority, 1},
    RafRule{"aten::div", kMajority, 2},
    RafRule{"aten::embedding", kMajority, 1},
    RafRule{"aten::embedding_dense_backward", kOriginal, 1},
    RafRule{"aten::eq", kMajority, 2},
    RafRule{"aten::erf", kOriginal, 1},
    RafRule{"aten::exp", kOriginal, 1},
    RafRule{"aten::floor", kMajority, 1},
    RafRule{"aten::gather", kMajority, 1},
    RafRule{"aten::ge", kMajority, 2},
    RafRule{"aten::gelu", kOriginal, 1},
    RafRule{"aten::gelu_backward", kOriginal, 2},
    RafRule{"aten::gt", kMajority, 2},
    RafRule{"aten::index_select", kMajority, 1},
    RafRule{"aten::le", kMajority, 2},
    RafRule{"aten::log", kMajority, 1},
    RafRule{"aten::log2", kMajority, 1},
    RafRule{"aten::lt", kMajority, 2},
    RafRule{"aten::max", kMajority, 1},
    RafRule{"aten::max_pool2d_with_indices", kMajority, 1},
    RafRule{"aten::max_pool2d_with_indices_backward", kMajority, 2},
    RafRule{"aten::maximum", kMajority, 2},
    RafRule{"aten::mean", kMajority, 1},
    RafRule{"aten::min", kMajority, 1},
    RafRule{"aten::minimum", kMajority, 2},
    RafRule{"aten::mkldnn_convolution", kLow, 3},
    RafRule{"aten::mm", kLow, 2},
    RafRule{"aten::mul", kOriginal, 2},
    RafRule{"aten::native_layer_norm", kMajority, 1},
    RafRule{"aten::ne", kMajority, 2},
    RafRule{"aten::neg", kMajority, 1},
    RafRule{"aten::nll_loss_backward", kOriginal, 3},
    RafRule{"aten::nll_loss_forward", kOriginal, 2},
    RafRule{"aten::pow", kOriginal, 1},
    RafRule{"aten::prod", kMajority, 1},
    RafRule{"aten::reciprocal", kOriginal, 1},
    RafRule{"aten::relu", kMajority, 1},
    RafRule{"aten::round", kMajority, 1},
    RafRule{"aten::rsqrt", kOriginal, 1},
    RafRule{"aten::sigmoid", kMajority, 1},
    RafRule{"aten::sigmoid_backward", kMajority, 2},
    RafRule{"aten::sign", kMajority, 1},
    RafRule{"aten::sin", kMajority, 1},
    RafRule{"aten::sqrt", kMajority, 1},
    RafRule{"aten::sub", kEither, 2},
    RafRule{"aten::sum", kOriginal, 1},
    RafRule{"aten::tanh", kOriginal, 1},
    RafRule{"aten::tanh_backward", kOriginal, 2},
    RafRule{"aten::threshold_backward", kMajority, 2},
    RafRule{"aten::trunc", kMajority, 1},
    RafRule{"aten::where", kMajority, 3},
    RafRule{"raf::add", kEither, 2},
    RafRule{"raf::batch_matmul", kLow, 2},
    RafRule{"raf::batch_matmul_nt", kLow, 2},
    RafRule{"raf::batch_matmul_tn", kLow, 2},
    RafRule{"raf::bias_add", kMajority, 2},
    RafRule{"raf::cast", kCast},
    RafRule{"raf::concatenate", kFew, 1},
    RafRule{"raf::conv2d", kLow, 2},
    RafRule{"raf::conv2d_dx", kLow, 2},
    RafRule{"raf::divide", kMajority, 2},
    RafRule{"raf::embedding", kMajority, 2},
    RafRule{"raf::embedding_dx", kOriginal, 2},
    RafRule{"raf::exp", kOriginal, 1},
    RafRule{"raf::full", kMajority, 0},
    RafRule{"raf::gelu", kOriginal, 1},
    RafRule{"raf::gelu_dx", kOriginal, 2},
    RafRule{"raf::layer_norm", kMajority, 1},
    RafRule{"raf::layer_norm_dx", kMajority, 3},
    RafRule{"raf::less_equal", kMajority, 2},
    RafRule{"raf::log_softmax", kOriginal, 1},
    RafRule{"raf::matmul", kLow, 2},
    RafRule{"raf::matmul_nt", kLow, 2},
    RafRule{"raf::matmul_tn", kLow, 2},
    RafRule{"raf::max_pool2d", kMajority, 1},
    RafRule{"raf::max_pool2d_dx", kMajority, 3},
    RafRule{"raf::multiply", kOriginal, 2},
    RafRule{"raf::negative", kMajority, 1},
    RafRule{"raf::nll_loss", kOriginal, 2},
    RafRule{"raf::nll_loss_dpred", kOriginal, 3},
    RafRule{"raf::relu", kMajority, 1},
    RafRule{"raf::softmax", kOriginal, 1},
    RafRule{"raf::softmax_dx", kOriginal, 2},
    RafRule{"raf::split", kFollow, 1},
    RafRule{"raf::strided_slice", kMajority, 1},
    RafRule{"raf::subtract", kEither, 2},
    RafRule{"raf::sum", kOriginal, 1},
    RafRule{"raf::transpose", kMajority, 1},
    RafRule{"raf::transpose_dx", kMajority, 1},
    RafRule{"raf::where", kMajority, 3},
};
static_assert(std::ranges::is_sorted(kRules, {}, &RafRule::op), "they are looked up by name");
static_assert(std::ranges::adjacent_find(kRules, {}, &RafRule::op) == kRules.end());

}  // namespace

std::span<const RafRule> RafRules() { return kRules; }

const RafRule* FindRafRule(const OpDef& def) {
  static constexpr RafRule kView{"", kFollow, 1};
  if (*def.alias == Alias::kView) return &kView;
  const auto* rule = std::ranges::lower_bound(kRules, def.label(), {}, &RafRule::op);
  return rule != kRules.end() && rule->op == def.label() ? rule : nullptr;
}

std::string_view CastBefore(const OpDef* def) {
  return def != nullptr && def->label().starts_with(kOfRaf) ? "raf::cast" : "aten::_to_copy";
}

}  // namespace steelyard
