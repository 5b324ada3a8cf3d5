// SPDX-License-Identifier: Apache-2.0
//
// Overloads whose results are written into tensors that they are given ("aten::add.out"). None has
// a row: what it computes is what another overload of its operator computes, the one that takes the
// same arguments without those tensors. Here that one runs, and what it gives is laid into them: a
// kernel that makes its result writes it there and makes none. Sizes that differ are taken over, as
// by at::native::resize_output; a dtype that differs is copied into. What has no kernel for it in
// PyTorch, where torchgen writes one, computes its result apart and copies it.

#include "ops/dispatch/out_overloads.h"

#include <algorithm>
#include <array>

#include "ops/dispatch/autograd.h"
#include "ops/dispatch/bind_arguments.h"

namespace steelyard {
namespace {

constexpr std::string_view kOut = "_out", kPlainOut = ".out", kOutOf = ".Out";
// The kernels of torch.fft, which copy wherever they are called with a tensor for the result.
constexpr std::string_view kTransform = "aten::_fft_";

// Of ATen, sorted: those that torchgen writes (native_functions.yaml, `autogen`), and a few whose
// own kernels copy what another one gives.
constexpr auto kComputedApart = std::to_array<std::string_view>({
    "__lshift__.Tensor",
    "__rshift__.Tensor",
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool2d_backward",
    "_adaptive_avg_pool3d",
    "_adaptive_avg_pool3d_backward",
    "_cdist_backward",
    "_cdist_forward",
    "_cholesky_solve_helper",
    "_conj_physical",
    "_convolution",
    "_ctc_loss",
    "_ctc_loss_backward",
    "_embedding_bag",
    "_embedding_bag_dense_backward",
    "_embedding_bag_forward_only",
    "_embedding_bag_per_sample_weights_backward",
    "_euclidean_dist",
    "_fft_c2c",
    "_fft_c2r",
    "_fft_r2c",
    "_native_batch_norm_legit_no_training",
    "_pdist_backward",
    "_pdist_forward",
    "_reshape_alias_copy",
    "_slow_conv2d_backward.output_mask",
    "_to_copy",
    "_trilinear",
    "_unique",
    "_unique2",
    "_unsafe_view",
    "_weight_norm_interface",
    "_weight_norm_interface_backward",
    "adaptive_avg_pool1d",
    "add.Scalar",
    "affine_grid_generator",
    "alias_copy",
    "as_strided_copy",
    "as_strided_scatter",
    "avg_pool1d",
    "bartlett_window",
    "bartlett_window.periodic",
    "bernoulli.Tensor",
    "bernoulli.p",
    "binary_cross_entropy_with_logits",
    "bincount",
    "bitwise_and.Scalar_Tensor",
    "bitwise_left_shift.Scalar_Tensor",
    "bitwise_or.Scalar_Tensor",
    "bitwise_right_shift.Scalar_Tensor",
    "bitwise_xor.Scalar_Tensor",
    "blackman_window",
    "blackman_window.periodic",
    "block_diag",
    "bucketize.Scalar",
    "celu",
    "channel_shuffle",
    "cholesky_solve",
    "clone",
    "constant_pad_nd",
    "convolution",
    "convolution_backward",
    "copy",
    "count_nonzero",
    "count_nonzero.dim_IntList",
    "detach_copy",
    "diag_embed",
    "diagonal_backward",
    "diagonal_copy",
    "diagonal_scatter",
    "dist",
    "div.Scalar",
    "div.Scalar_mode",
    "dot",
    "embedding",
    "embedding_dense_backward",
    "empty_like",
    "empty_strided",
    "expand_copy",
    "fake_quantize_per_tensor_affine_cachemask",
    "fill.Scalar",
    "fill.Tensor",
    "flip",
    "floor_divide.Scalar",
    "full_like",
    "grid_sampler_2d",
    "grid_sampler_2d_backward",
    "grid_sampler_3d",
    "grid_sampler_3d_backward",
    "hamming_window",
    "hamming_window.periodic",
    "hamming_window.periodic_alpha",
    "hamming_window.periodic_alpha_beta",
    "hann_window",
    "hann_window.periodic",
    "hardswish_backward",
    "index_fill.int_Scalar",
    "index_fill.int_Tensor",
    "index_put",
    "isinf",
    "isnan",
    "kaiser_window",
    "kaiser_window.beta",
    "kaiser_window.periodic",
    "lift_fresh_copy",
    "masked_fill.Scalar",
    "masked_fill.Tensor",
    "masked_scatter",
    "median",
    "mkldnn_convolution",
    "mkldnn_rnn_layer",
    "mkldnn_rnn_layer_backward",
    "mul.Scalar",
    "nanmedian",
    "native_batch_norm_backward",
    "native_dropout",
    "native_dropout_backward",
    "native_group_norm",
    "native_group_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "norm.Scalar",
    "norm.ScalarOpt_dtype",
    "ones_like",
    "permute_copy",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "prod",
    "put",
    "rand_like",
    "randn_like",
    "relu",
    "remainder.Scalar_Tensor",
    "repeat",
    "repeat_interleave.Tensor",
    "roll",
    "rot90",
    "rrelu_with_noise_backward",
    "rsub.Scalar",
    "rsub.Tensor",
    "scalar_tensor",
    "select_backward",
    "select_copy.int",
    "select_scatter",
    "slice_backward",
    "slice_copy.Tensor",
    "slice_scatter",
    "slow_conv_dilated2d",
    "slow_conv_dilated3d",
    "squeeze_copy",
    "squeeze_copy.dim",
    "squeeze_copy.dims",
    "std_mean.correction",
    "sub.Scalar",
    "sum",
    "t_copy",
    "tensordot",
    "trace",
    "transpose_copy.int",
    "tril_indices",
    "triu_indices",
    "unfold_backward",
    "unfold_copy",
    "uniform",
    "unique_consecutive",
    "unique_dim",
    "unsafe_split.Tensor",
    "unsafe_split_with_sizes",
    "unsqueeze_copy",
    "upsample_bilinear2d.vec",
    "upsample_nearest2d.vec",
    "var_mean.correction",
    "vdot",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
    "view_copy.dtype",
    "zeros_like",
});

// What the other overloads of the operator are called: "aten::add" of "aten::add.out",
// "ns::gather" of "ns::gather_out".
std::string_view OperatorOf(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) return name.substr(0, dot);
  if (name.ends_with(kOut)) name.remove_suffix(kOut.size());
  return name;
}

// Rows of an operator that make their results, those that are named like the overload first:
// "sum.IntList" of "sum.IntList_out", "xlogy.Scalar_Self" of "xlogy.OutScalar_Self", "sub.Tensor"
// of "sub.out".
std::vector<const OpDef*> OverloadsOf(std::string_view name) {
  std::vector<const OpDef*> out;
  for (const OpDef* def : AllOps()) {
    if (def->label() == OperatorOf(name) && !def->overwrites()) out.push_back(def);
  }
  const auto named_alike = [&](const OpDef* def) {
    const std::string_view row = def->name->text();
    const std::size_t dot = row.rfind('.');
    const std::string_view overload = dot == std::string_view::npos ? "" : row.substr(dot + 1);
    if (name.ends_with(kOut)) return name.substr(0, name.size() - kOut.size()) == row;
    if (name.ends_with(kPlainOut)) return overload.empty() || overload == "Tensor";
    const std::size_t prefixed = name.find(kOutOf);
    return prefixed != std::string_view::npos && name.substr(prefixed + kOutOf.size()) == overload;
  };
  std::ranges::stable_partition(out, named_alike);
  return out;
}

bool IsTensor(const Program& program, const Argument& argument) {
  return argument.kind == ArgKind::kValue &&
         program.values[argument.value].kind == ValueKind::kTensor;
}

std::optional<OutCall> Match(Program& program, const OpDef& def, std::span<const Argument> given) {
  OutCall call{.def = &def, .bound = {}, .places = {}};
  std::vector<Argument> rest;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view name = program.text(given[i].name);
    if (!name.empty() && IsTensor(program, given[i]) && def.signature->IndexOf(name) < 0) {
      call.places.push_back(i);
    } else {
      rest.push_back(given[i]);
    }
  }
  const bool all = static_cast<int>(call.places.size()) == def.signature->returns();
  if (call.places.empty() || !all) return std::nullopt;
  try {
    BindArguments(program, def, rest, call.bound);
  } catch (const RuleError&) {
    return std::nullopt;
  }
  return call;
}

// The row of the kernel that made the value; nullptr where none did.
const OpDef* MakerOf(const Program& program, ValueId value) {
  for (std::size_t i = program.main().nodes.size(); i-- > 0;) {
    const Node& node = program.main().nodes[i];
    if (std::ranges::find(program.results(node), value) == program.results(node).end()) continue;
    return FindOp(OpName::FromRuntime(program.op_name(node.op)));
  }
  return nullptr;
}

// Whether that kernel writes element by element, in whatever order they lie.
bool IsWrittenOneByOne(const Program& program, ValueId value) {
  const OpDef* def = MakerOf(program, value);
  return def != nullptr &&
         (*def->fusion == Fusion::kElementwise || *def->fusion == Fusion::kBroadcast);
}

}  // namespace

std::optional<OutCall> FindOutCall(Program& program, std::string_view name,
                                   std::span<const Argument> given) {
  const auto may_be_out = [&](const Argument& argument) {
    return argument.name != kNoString && IsTensor(program, argument);
  };
  if (std::ranges::none_of(given, may_be_out)) return std::nullopt;
  for (const OpDef* def : OverloadsOf(name)) {
    if (std::optional<OutCall> call = Match(program, *def, given)) return call;
  }
  return std::nullopt;
}

const OpDef* CopierOf(const Program& program, const OpDef* called, const Tensor& result) {
  if (IsComputedApart(*called) || !result.defined()) return called;
  const OpDef* maker = MakerOf(program, result.id());
  return maker != nullptr && maker->name->text().starts_with(kTransform) ? maker : called;
}

bool IsComputedApart(const OpDef& def) {
  constexpr std::string_view kAten = "aten::";
  std::string_view name = def.name->text();
  if (!name.starts_with(kAten)) return false;
  name.remove_prefix(kAten.size());
  return name.starts_with("_foreach_") || std::ranges::binary_search(kComputedApart, name);
}

Tensor PutInto(Dispatcher& d, Program& program, Autograd* autograd, const Tensor& out,
               Tensor result, const Before& before) {
  if (!result.defined()) return result;
  const bool same_sizes = std::ranges::equal(out.sizes(), result.sizes());
  const bool same_strides = std::ranges::equal(out.strides(), result.strides());
  const StorageId room = out.view().value().storage, own = result.view().value().storage;
  const bool fresh = own >= before.storages;
  const bool fits = same_sizes && (same_strides || IsWrittenOneByOne(program, result.id()));
  if (out.dtype() == result.dtype() && fresh && fits) {
    for (Value& value : std::span(program.values).subspan(before.values)) {
      if (value.storage == own) value.storage = room;
    }
    if (autograd != nullptr) autograd->MoveStorage(own, room);
    return d.Call("steelyard::put", out, result);
  }
  return same_sizes ? d.Call("aten::copy_", out, result) : result;
}

}  // namespace steelyard
