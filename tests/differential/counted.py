# SPDX-License-Identifier: Apache-2.0
"""Flops of contractions that torch's counter does not know, or counts wrong."""

from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

aten = torch.ops.aten


Shape = tuple[int, ...]


def matrix_vector(matrix: Shape, *_: Any, **__: Any) -> int:
    """One multiplication and one addition for each element of the matrix."""
    return 2 * prod(matrix)


def added_matrix_vector(_: Shape, matrix: Shape, *__: Any, **___: Any) -> int:
    return 2 * prod(matrix)


def convolution(_: Shape, weight: Shape, *__: Any, out_shape: Shape, **___: Any) -> int:
    """Each element of the result is a product over one group's channels and the kernel."""
    return 2 * prod(out_shape) * prod(weight[1:])


def transposed_convolution(image: Shape, weight: Shape, *_: Any, **__: Any) -> int:
    """Each element of the image is spread over the kernel and the output channels."""
    return 2 * prod(image) * prod(weight[1:])


def convolution_gradients(
    gradient: Shape, image: Shape, weight: Shape, *rest: Any, **__: Any
) -> int:
    """As many multiply-adds as forward for the image and for the weight, where they are wanted."""
    wanted = sum(map(bool, rest[-1][:2]))
    transposed = len(rest) > 4 and rest[4]
    return wanted * 2 * prod(image if transposed else gradient) * prod(weight[1:])


def grouped_product(a: Shape, b: Shape, *_: Any, **__: Any) -> int:
    """Each row meets the matrix of its own group only; two stacks are multiplied one by one."""
    groups = a[0] if len(a) == 3 and len(b) == 3 else 1
    return 2 * groups * a[-2] * a[-1] * b[-1]


def recurrent_layer(steps: Shape, of_input: Shape, of_state: Shape, *_: Any, **__: Any) -> int:
    """At each step and for each of the batch, both matrices of the gates."""
    return 2 * prod(steps[:2]) * (prod(of_input) + prod(of_state))


def recurrent_layer_gradients(*shapes: Any, **__: Any) -> int:
    """For each product of the layer one for its operand's gradient and one for its weight's."""
    return 2 * recurrent_layer(*shapes)


def packed_product(rows: Shape, *_: Any, out_shape: Shape, **__: Any) -> int:
    """Each element of the result is a product over the rows' last dimension."""
    return 2 * prod(out_shape) * rows[-1]


def affine_grid(maps: Shape, size: Shape, *_: Any, **__: Any) -> int:
    """Each map times each place of its image."""
    return 2 * prod(maps) * prod(size[2:])


def distances(a: Shape, *_: Any, out_shape: Shape, **__: Any) -> int:
    """A product of the vectors with their norms and a one beside them."""
    return 2 * prod(out_shape) * (a[-1] + 2)


def pair_distances(
    a: Shape, b: Shape, p: float = 2.0, mode: int | None = None, *, out_shape: Shape, **__: Any
) -> int:
    """By a product where there are many rows."""
    many = mode == 1 or (not mode and max(a[-2], b[-2]) > 25)
    return distances(a, out_shape=out_shape) if p == 2 and many and prod(a) * prod(b) else 0


def three_factors(
    a: Shape, weight: Shape, b: Shape, *rest: Any, unroll_dim: int = 1, **_: Any
) -> int:
    """Rows times each of the matrices, and the results times rows again, unless one of the sums is
    a loop: then one of the products is element by element. What is broadcast is summed before."""
    loop = rest[4] if len(rest) > 4 else unroll_dim
    outputs, inner, columns = weight
    once = outputs * columns * min(inner, a[-1])
    again = outputs * min(columns, b[-1]) if loop < 2 else 0
    return 2 * prod(a[:-1]) * (once + again)


def pseudo_inverse(a: Shape, *_: Any, out_shape: Shape, **__: Any) -> int:
    """The product of the singular vectors, those of one side scaled."""
    return 2 * prod(out_shape) * min(a[-2:])


def added_products(_: Shape, a: Shape, b: Shape, *__: Any, **___: Any) -> int:
    """Of two matrices, or of a batch of them."""
    return 2 * prod(a) * b[-1]


def over_time(x: Shape, weight: Shape, _: Shape, pad: int = 0, **__: Any) -> int:
    """A row times a matrix for each step of the result and place of the kernel with an input."""
    steps, batch, channels = x
    width, outputs = weight[0], weight[2]
    pairs = [step + place for step in range(steps - width + 1 + 2 * pad) for place in range(width)]
    return 2 * sum(0 <= at - pad < steps for at in pairs) * batch * channels * outputs


def matrix_polynomial(matrices: Shape, *_: Any, **__: Any) -> int:
    """Five products of degree 18; a number is its own exponential."""
    return 0 if matrices[-1] == 1 else 10 * prod(matrices) * matrices[-1]


def eigenvectors_product(matrices: Shape, *_: Any, **__: Any) -> int:
    """The vectors, scaled, times the vectors."""
    return 2 * prod(matrices) * matrices[-1]


def polar_products(a: Shape, *_: Any, **__: Any) -> int:
    """The right vectors, scaled, times themselves, and the left ones times them."""
    return 2 * (prod(a) + prod(a[:-2]) * a[-1] ** 2) * a[-1]


def attention_layer(query: Shape, _: Shape, __: Shape, width: int, *rest: Any, **___: Any) -> int:
    """Three projections at once, scores and what they weigh, and one projection more."""
    rows, length = prod(query[:2]), query[1]
    projection: int = prod(rest[3])
    return 2 * rows * (3 * width * width + 2 * length * width + projection)


def encoder_layer(source: Shape, width: int, *rest: Any, **_: Any) -> int:
    """That, and two matrices more."""
    attention = attention_layer(source, source, source, width, *rest)
    matrices: int = prod(rest[12]) + prod(rest[14])
    return attention + 2 * prod(source[:2]) * matrices


# Contractions that torch's counter does not know and counts as nothing, or, _slow_conv2d_forward,
# counts as a convolution, whose arguments it has not. The gradients of grouped convolutions it
# counts as if every channel met all of the weight's.
NOT_COUNTED_BY_TORCH = {
    aten.mv: matrix_vector,
    aten._addmm_activation: added_products,
    aten._euclidean_dist: distances,
    aten._int_mm: packed_product,
    aten._native_multi_head_attention: attention_layer,
    aten._transformer_encoder_layer_fwd: encoder_layer,
    aten._trilinear: three_factors,
    aten._weight_int4pack_mm_for_cpu: packed_product,
    aten._weight_int8pack_mm: packed_product,
    aten.affine_grid_generator: affine_grid,
    aten.cdist: pair_distances,
    aten.addbmm: added_products,
    aten.addbmm_: added_products,
    aten.addmm_: added_products,
    aten.addmv: added_matrix_vector,
    aten.addmv_: added_matrix_vector,
    aten.baddbmm_: added_products,
    aten.conv_tbc: over_time,
    aten.convolution_backward: convolution_gradients,
    aten.dot: matrix_vector,  # a matrix of one row
    aten._grouped_mm: grouped_product,
    aten._slow_conv2d_backward: convolution_gradients,
    aten._slow_conv2d_forward: convolution,
    aten.linalg_matrix_exp: matrix_polynomial,
    aten.linalg_matrix_sqrth: eigenvectors_product,
    aten.linalg_pinv: pseudo_inverse,
    aten.linalg_polar: polar_products,
    aten.mkldnn_convolution: convolution,
    aten.mkldnn_rnn_layer: recurrent_layer,
    aten.mkldnn_rnn_layer_backward: recurrent_layer_gradients,
    aten.slow_conv3d_forward: convolution,
    aten.slow_conv_dilated2d: convolution,
    aten.slow_conv_dilated3d: convolution,
    aten.slow_conv_transpose2d: transposed_convolution,
    aten.slow_conv_transpose3d: transposed_convolution,
    aten.vdot: matrix_vector,  # as dot
}


def counter() -> FlopCounterMode:
    """torch's counter, told of these."""
    return FlopCounterMode(display=False, custom_mapping=NOT_COUNTED_BY_TORCH)
