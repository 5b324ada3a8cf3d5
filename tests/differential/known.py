# SPDX-License-Identifier: Apache-2.0
"""Where rows and PyTorch differ and may: each with the reason.

test_known.py fails for an entry that excuses nothing any more, so that the lists stay true.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch

from calls import Call
from compare import Extent
from table import Row

# Rows of operators that PyTorch does not define, by namespace.
NOT_PYTORCHS = {
    "higher_order": "their signature is a program's way to pass graphs; PyTorch has no schema",
    "raf": "operators of another compiler's programs",
    "steelyard": "steps of eager PyTorch that are no operators",
    "torchao": "defined by the package torchao, which the tests do without",
    "torchvision": "defined by the package torchvision, which the tests do without",
    "transformers": "defined by the package transformers, which the tests do without",
}


def namespace_reason(op: str) -> str | None:
    """Why PyTorch cannot be asked about the operator; None if it can."""
    return NOT_PYTORCHS.get(op.split("::")[0])


# Kernels that PyTorch has on CUDA alone.
ON_CUDA = (
    "aten::_conv_depthwise2d",
    "aten::conv_depthwise3d",
    "aten::_cudnn_rnn",
    "aten::_flash_attention_backward",
    "aten::_flash_attention_forward",
    "aten::_fused_rms_norm_backward",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_cudnn_attention_backward",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_grouped_mm",
    "aten::_thnn_fused_gru_cell",
    "aten::_thnn_fused_gru_cell_backward",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_lstm_cell_backward",
    "aten::_thnn_fused_lstm_cell_backward_impl",
    "aten::cudnn_batch_norm",
    "aten::cudnn_batch_norm_backward",
    "aten::cudnn_convolution",
)


def trial_reason(op: str) -> str | None:
    """Why PyTorch cannot run the operator on the CPU; None if it can."""
    if op in ON_CUDA:
        return "a kernel of CUDA: test_cuda.py, tests/oracle/test_cuda.py"
    return namespace_reason(op)


# Rows without an example: why.
NO_EXAMPLE = {
    "raf": "a part of a training step cannot be written as a call of its own",
    "higher_order": "a graph cannot be written in a call",
    "steelyard": "a part of a training step cannot be written as a call of its own",
}

# Kernels whose alias column is not what PyTorch's schema says.
# Tensors of a schema that autograd gives undefined to, which a row must say to be given None.
UNDEFINED = {
    "aten::_scaled_dot_product_efficient_attention_backward": ["attn_bias"],
    "aten::_flash_attention_backward": ["cum_seq_q", "cum_seq_k"],
    "aten::_scaled_dot_product_flash_attention_backward": ["cum_seq_q", "cum_seq_k"],
    "aten::_scaled_dot_product_cudnn_attention_backward": ["attn_bias", "cum_seq_q", "cum_seq_k"],
}

ALIASES = {
    "aten::broadcast_tensors": "each output is a view of its own tensor, which no schema can say",
    "aten::_unsafe_view": "a view that the schema hides: its source dies with the call",
}

# Refusals, as patterns of their messages, of calls that PyTorch takes.
REFUSALS = {
    "*rows of a negative norm*": "nobody asks for them",
    "*aten::scatter*value_reduce*an index must be int64*": "PyTorch looks at none of no elements",
    '*aten::scatter*reduce*argument "index" must be a tensor*': "PyTorch does nothing without one",
    "*_c10d_functional*reduce_scatter_tensor*for * processes*": "a process group refuses it",
    "*a reduction of *": "PyTorch takes any other number for one of the three",
    "*aten::convolution_backward*factors of different dtypes*": "autograd has none",
    "*channels of the * differ*": "PyTorch does not check and reads what lies behind the tensor",
    "*does not end in the normalized shape*": "the kernel trusts its caller, which checks",
    "*an unknown memory format*": "PyTorch takes any number",
    "*a pool over * dimensions of *": "PyTorch averages over the last dimensions of any tensor",
    "*aten::native_group_norm*the channels of * in * groups*": "the kernel trusts its numbers",
    "*aten::_reshape_alias*is too large*": "PyTorch does not check the strides",
    "*aten::_scaled_dot_product_flash*lengths of key and value differ*": "PyTorch does not check",
    "*aten::_scaled_dot_product_attention_math*of different dtypes*": "its caller checks",
    "*aten::relu6_*a floating-point tensor is needed*": "nobody rectifies integers",
    "*aten::lstm*differ: * vs *": "oneDNN does not check and reads what lies behind the weights",
    "*aten::lstm*the state has 4 dimensions*": "oneDNN does not check",
    "*aten::lstm*the bias has 2 dimensions*": "oneDNN does not check",
    "*repetitions must be int64 or int32*": "no model counts in another dtype",
    "*aten::lstm.input*states and * weights for*": "PyTorch ignores the weights that are left over",
    "*aten::_prelu_kernel*the weight is larger than the tensor*": "its caller checks",
    "*transforms of no elements are not modelled*": "the refusal says so",
    "*aten::_fft_c2r*": "its callers check",
    "*stft aligned to its window is not modelled*": "the refusal says so",
    "*embedding_bag*the indices has 2 dimensions*": "torch.nn.functional makes them one",
    "*aten::one_hot*the number of classes must be given*": "it depends on values",
    "*antialiased uint8 images are not modelled*": "the refusal says so",
    "*affine maps are floating-point*": "nobody maps pixels by integers",
    "*aten::affine_grid_generator*maps of *0*": "a grid for no image",
    "*aten::pad_sequence*dimensions of the sequences differ*": "nobody pads rows with matrices",
    "*distinct rows of no elements are not modelled*": "the refusal says so",
    "*factors of half precision are not modelled*": "the refusal says so",
    "*aten::lu_unpack*LAPACK does not compute in the dtype*": "nobody factorizes integers",
    "*ranks at several tolerances are not modelled*": "the refusal says so",
    "*the * of no elements is not modelled*": "the refusal says so",
    "*least squares of nothing are not modelled*": "the refusal says so",
    "*other drivers than gelsy are not modelled*": "the refusal says so",
    "*systems that are repeated over a batch are not modelled*": "the refusal says so",
    "*covariances of * are not modelled*": "the refusal says so",
    "*weighted covariances are not modelled*": "the refusal says so",
    "*correlations of one variable are not modelled*": "the refusal says so",
    "*histograms of densities are not modelled*": "the refusal says so",
    "*windows of other than real numbers are not modelled*": "the refusal says so",
    "*more places than samples are not modelled*": "the refusal says so",
    "*integrals of no samples are not modelled*": "the refusal says so",
    "*singular values without vectors are not modelled here*": "the refusal says so",
    "*the power 0 is not modelled*": "the refusal says so",
    "*aten::linalg_solve_triangular*dtype*": "nobody solves systems of two dtypes",
    "*LAPACK does not compute in the dtype of *0*": "it does not compute anything",
    "*aten::einsum*0 elements cannot have the shape*": "a product of nothing",
}

# Refusals, as patterns of their messages, of training steps that PyTorch takes.
STEP_REFUSALS = {
    "*the gradient of * is not known*": "the row says so",
}

# Kernels that trust their caller to have made operands dense and equal in dtype, and some of which
# read out of bounds when called with sizes that do not fit: tested by their example, and by the
# variants of the composites that call them.
TRUSTING = frozenset(
    {
        "aten::_adaptive_avg_pool2d_backward",
        "aten::_cholesky_solve_helper",
        "aten::_ctc_loss",
        "aten::_ctc_loss_backward",
        "aten::conv_tbc_backward",
        "aten::_embedding_bag",
        "aten::_embedding_bag_backward",
        "aten::_embedding_bag_dense_backward",
        "aten::_embedding_bag_forward_only",
        "aten::_embedding_bag_per_sample_weights_backward",
        "aten::_fused_adagrad_",
        "aten::_fused_adam_",
        "aten::_fused_adamw_",
        "aten::_fused_sgd_",
        "aten::_pdist_backward",
        "aten::_pdist_forward",
        "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
        "aten::_slow_conv2d_backward.output_mask",
        "aten::_slow_conv2d_forward",
        "aten::_transform_bias_rescale_qkv",
        "aten::_weight_norm_interface",
        "aten::_weight_norm_interface_backward",
        "aten::adaptive_max_pool3d_backward",
        "aten::fractional_max_pool2d_backward",
        "aten::fractional_max_pool3d_backward",
        "aten::mkldnn_convolution",
        "aten::mkldnn_rnn_layer",
        "aten::mkldnn_rnn_layer_backward",
        "aten::multi_margin_loss_backward",
        "aten::nll_loss2d_backward",
        "aten::rrelu_with_noise",
        "aten::rrelu_with_noise_",
        "aten::slow_conv3d_forward",
        "aten::slow_conv_dilated2d",
        "aten::slow_conv_dilated3d",
        "aten::slow_conv_transpose2d",
        "aten::slow_conv_transpose3d",
    }
)


@dataclass(frozen=True)
class Known:
    """A difference of the rows `ops` (a pattern of names) in the calls that `when` picks.

    `extent` is what is compared nevertheless.
    """

    ops: str
    why: str
    when: Callable[[Call], bool] = lambda call: True
    extent: Extent = Extent.RESULTS


@dataclass(frozen=True)
class KnownValues:
    """The same for the values of gradients."""

    ops: str
    why: str
    when: Callable[[Call], bool] = lambda call: True
    draws: str = "*"


def is_mixed(call: Call) -> bool:
    return len({t.dtype for t in call.tensors()}) > 1


def differ_in_size(call: Call) -> bool:
    return len({tuple(t.sizes) for t in call.tensors() if t.sizes}) > 1


def has_several(call: Call) -> bool:
    return any(math.prod(t.sizes) > 1 for t in call.tensors())


def is_empty(call: Call) -> bool:
    return any(0 in t.sizes for t in call.tensors())


def has(dtype: str) -> Callable[[Call], bool]:
    return lambda call: any(t.dtype == dtype for t in call.tensors())


def one_of(*calls: str) -> Callable[[Call], bool]:
    return lambda call: str(call) in calls


BACKWARD = "autograd calls it with operands of one size and dtype"
NOTHING = "what PyTorch does for no elements at all is not modelled"
WORKSPACE = "MKL chooses the blocks of large matrices, and with them its workspace"
MIXED = "a loss casts operands of different dtypes twice, which is not modelled"

# Calls in which a row's events differ.
DIFFERENCES: tuple[Known, ...] = (
    Known(
        "aten::lstm.input",
        "copies of transposed weights and the path of other dtypes, step by step, are not modelled",
        lambda call: (
            any(t.dtype not in ("f32", "bf16") for t in call.tensors())
            or any(t != t.contiguous(t.dtype, t.sizes) for t in call.tensors())
        ),
        extent=Extent.RESULTS,
    ),
    Known(
        "aten::gelu_backward",
        "oneDNN reorders operands of unlike layouts, which is not modelled",
        lambda call: (
            is_mixed(call) or any(t != t.contiguous(t.dtype, t.sizes) for t in call.tensors())
        ),
    ),
    Known("aten::mish_backward", BACKWARD, is_mixed, extent=Extent.NOTHING),
    Known("aten::soft_margin_loss_backward", BACKWARD, is_mixed, extent=Extent.NOTHING),
    Known(
        "aten::ctc_loss.Tensor",
        "lengths are short, and rows take targets to be as long as there is room for",
        extent=Extent.NOTHING,
    ),
    Known("aten::mse_loss", MIXED, is_mixed),
    Known("aten::smooth_l1_loss", MIXED, is_mixed),
    Known("aten::huber_loss", MIXED, is_mixed),
    Known("aten::binary_cross_entropy*", MIXED, is_mixed),
    Known(
        "aten::*unique*",
        "equal elements are given, and rows take them to be distinct",
        has_several,
        extent=Extent.NOTHING,
    ),
    Known(
        "aten::isin.Tensor_Tensor",
        "equal elements are given, and rows take them to be distinct",
        lambda call: math.prod(list(call.tensors())[-1].sizes) > 7,
        extent=Extent.NOTHING,
    ),
    Known(
        "aten::linalg_qr",
        WORKSPACE,
        lambda call: any(size > 16 for t in call.tensors() for size in t.sizes),
    ),
    Known("aten::*linalg*", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::inverse", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::matrix_exp", NOTHING, is_empty, extent=Extent.NOTHING),
    Known(
        "aten::*matrix_exp",
        "elements in one place make a large norm, and rows take it that nothing is squared",
        lambda call: any(0 in t.strides for t in call.tensors()),
    ),
    Known("aten::nuclear_norm*", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::svd", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::mse_loss", NOTHING, is_empty),
    Known("aten::soft_margin_loss", NOTHING, is_empty),
    Known("aten::smooth_l1_loss", NOTHING, is_empty),
    Known("aten::*batch_norm*", NOTHING, is_empty),
    Known("aten::scaled_dot_product_attention", NOTHING, is_empty),
    Known(
        "aten::addbmm_",
        "what is given is resized to the result's shape",
        lambda call: next(iter(call.tensors())).sizes[0] == 1,
        extent=Extent.NOTHING,
    ),
    Known(
        "aten::*fused_moving_avg_obs*",
        "zeros are given, and rows take observer and rounding to be on",
        lambda call: any(t.dtype != "bool" for t in list(call.tensors())[1:3]),
        extent=Extent.NOTHING,
    ),
    Known("aten::_fake_quantize_learnable_*_backward", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::pixel_unshuffle", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::native_channel_shuffle", NOTHING, is_empty, extent=Extent.NOTHING),
    Known("aten::upsample_bi*2d*", "uint8 has a kernel of its own", has("u8")),
    Known("aten::*_cell", NOTHING, is_empty),
    Known(
        "aten::scaled_dot_product_attention",
        "a mask of one dimension is not given to the fused kernel",
        lambda call: any(len(t.sizes) == 1 for t in call.tensors()),
    ),
    Known("aten::_scaled_dot_product_attention_math", "its caller checks dtypes", is_mixed),
)


# Training steps of which a row's events differ, besides the calls above.
STEP_DIFFERENCES: tuple[Known, ...] = (
    Known(
        "_c10d_functional*",
        "in a forward pass a dense copy dies in the record of the node in Python",
        lambda call: "{" in str(call),
        extent=Extent.NOTHING,
    ),
    Known(
        "aten::cl*_.Tensor",
        "with one limit of whole numbers the other one's ties are found first",
        is_mixed,
        extent=Extent.NOTHING,
    ),
    Known(
        "_c10d_functional::wait_tensors",
        "gradients wait for each other at a node in Python",
        extent=Extent.NOTHING,
    ),
    Known(
        "aten::*matrix_exp",
        "a gradient of ones makes a large norm, and rows take it that nothing is squared",
        lambda call: any(t.sizes and t.sizes[-1] > 1 for t in call.tensors()),
        extent=Extent.RESULTS,
    ),
    Known(
        "aten::float_power.Tensor_Scalar",
        "the exponent becomes a complex number, which programs do not hold",
        has("c64"),
    ),
    Known("aten::index_fill*.int_Tensor", "equal places are given, and rows take them to differ"),
)


# Rows of which gradients' values differ, in the draws (values.py) that the pattern names.
VALUE_DIFFERENCES: tuple[KnownValues, ...] = (
    KnownValues("aten::*prod*", "it is taken that no factor is 0", draws="-1, 0, 1 and 2"),
    KnownValues("aten::linalg_vander", "it is taken that no factor is 0", draws="-1, 0, 1 and 2"),
    KnownValues("aten::combinations", "which elements are chosen is written by no operator"),
    KnownValues("aten::ctc_loss.Tensor", "the lengths are in tensors, which only the data tell"),
    KnownValues("aten::*quantile*", "which elements are picked is written by no operator"),
    KnownValues(
        "aten::index_fill*.int_Tensor", "equal places are given, and rows take them to be distinct"
    ),
    KnownValues("aten::_grouped_mm", "the ends of groups are drawn, and leave rows that are not"),
)


def step_reason(op: str) -> str | None:
    """Why a training step of the operator is not tried; None if it is."""
    return namespace_reason(op)


def extent_of_step(row: Row, call: Call, refusal: str) -> Extent:
    """The same for a training step."""
    if any(fnmatch(refusal, pattern) for pattern in STEP_REFUSALS):
        return Extent.NOTHING
    found = [entry.extent for entry in STEP_DIFFERENCES if excuses(entry, row, call)]
    return min([*found, extent_of(row, call, refusal)])


def extent_of(row: Row, call: Call, refusal: str) -> Extent:
    """How much of the call to compare, `refusal` being what the row says against it."""
    if any(fnmatch(refusal, pattern) for pattern in REFUSALS):
        return Extent.NOTHING
    found = [entry.extent for entry in DIFFERENCES if excuses(entry, row, call)]
    return min(found, default=Extent.ALL)


def value_excuses(row: Row, call: Call, draw: str) -> list[str]:
    """Why the values of the step's gradients may differ in a draw."""
    return [
        entry.why
        for entry in VALUE_DIFFERENCES
        if excuses(entry, row, call) and fnmatch(draw, entry.draws)
    ]


def excuses(entry: Known | KnownValues, row: Row, call: Call) -> bool:
    return fnmatch(row.name, entry.ops) and entry.when(call)
