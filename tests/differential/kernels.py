# SPDX-License-Identifier: Apache-2.0
"""What the kernels named steelyard::* compute: steps of eager PyTorch that are no operators."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

Function = Callable[..., Any]

# Kernels that are a step of several operators, which their name does not tell apart. Their results
# are nan: what is computed from them is not compared by accident. Gradients take operands again.
OPAQUE = frozenset(
    f"steelyard::{name}"
    for name in (
        "add_bags",
        "add_to_rows",
        "bag_products",
        "pair_buffer",
        "pair_like",
        "pair_terms",
        "reduce_in_place",
    )
)


def convolution_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    mask: Sequence[bool],
) -> Any:
    return torch.ops.aten.convolution_backward(
        grad,
        self,
        weight,
        [grad.shape[1]],
        stride,
        padding,
        dilation,
        False,
        [0] * len(stride),
        groups,
        mask,
    )


def dilated_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    mask: Sequence[bool],
) -> Any:
    """The sizes tell the dilation."""
    dilation = [
        max(1, (n + 2 * p - (m - 1) * s - 1) // max(k - 1, 1))
        for n, m, k, s, p in zip(
            self.shape[2:], grad.shape[2:], kernel, stride, padding, strict=True
        )
    ]
    return convolution_backward(grad, self, weight, stride, padding, dilation, 1, mask)


def transposed_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    mask: Sequence[bool],
) -> Any:
    """The sizes tell the padding of the output."""
    extra = [
        m - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
        for n, m, k, s, p, d in zip(
            self.shape[2:],
            grad.shape[2:],
            weight.shape[2:],
            stride,
            padding,
            dilation,
            strict=True,
        )
    ]
    return torch.ops.aten.convolution_backward(
        grad,
        self,
        weight,
        [grad.shape[1]],
        stride,
        padding,
        dilation,
        True,
        extra,
        groups,
        mask,
    )


def slow_transposed_backward(
    grad: torch.Tensor,
    self: torch.Tensor,
    weight: torch.Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    mask: Sequence[bool],
) -> Any:
    return transposed_backward(grad, self, weight, stride, padding, [1] * len(kernel), 1, mask)


def transposed_convolution(
    self: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    return torch.ops.aten.convolution(
        self, weight, bias, stride, padding, dilation, True, output_padding, groups
    )


def slices_reduced(
    self: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str
) -> torch.Tensor:
    """A mean is divided in a step of its own."""
    if reduce == "mean":
        return self.index_add_(dim, index, source)
    return self.index_reduce_(dim, index, source, reduce)


def slices_reduced_and_counted(
    self: torch.Tensor,
    counts: torch.Tensor,
    index: torch.Tensor,
    source: torch.Tensor,
    reduce: str,
) -> torch.Tensor:
    counts.index_add_(0, index, torch.ones_like(source))
    return slices_reduced(self, 0, index, source, reduce)


def elements_reduced(
    self: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor, reduce: str
) -> torch.Tensor:
    return self.scatter_reduce_(dim, index, source, "sum" if reduce == "mean" else reduce)


def rows_reduced(
    self: torch.Tensor,
    dim: int,
    index: torch.Tensor,
    source: torch.Tensor,
    reduce: str,
    include_self: bool,
) -> torch.Tensor:
    return self.scatter_reduce_(dim, index, source, reduce, include_self=include_self)


def borders_named(borders: torch.Tensor, are_offsets: bool) -> dict[str, Any]:
    name = "offsets" if are_offsets else "lengths"
    return {name: borders, "axis": borders.dim() - 1}


def reduce_segments(
    self: torch.Tensor,
    data: torch.Tensor,
    reduce: str,
    borders: torch.Tensor,
    are_offsets: bool,
    initial: float | None = None,
) -> torch.Tensor:
    """Lengths are checked in steps of their own."""
    given = borders_named(borders, are_offsets)
    return self.copy_(torch.segment_reduce(data, reduce, initial=initial, unsafe=True, **given))


def spread_segments(
    self: torch.Tensor,
    grad: torch.Tensor,
    output: torch.Tensor,
    data: torch.Tensor,
    reduce: str,
    borders: torch.Tensor,
    are_offsets: bool,
    initial: float | None = None,
) -> torch.Tensor:
    given = borders_named(borders, are_offsets)
    spread = torch.ops.aten._segment_reduce_backward
    return self.copy_(spread(grad, output, data, reduce, initial=initial, **given))


def as_strided_in_place(
    self: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> Any:
    return self.as_strided_(size, stride, offset)


def lstm_layer(*given: Any) -> Any:
    if not given[15]:
        return torch.ops.aten.mkldnn_rnn_layer(*given)
    with torch.enable_grad():  # else there is no workspace
        made = torch.ops.aten.mkldnn_rnn_layer(*(detached(each) for each in given))
    return tuple(detached(each) for each in made)


def detached(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value


def lstm_layer_backward(*given: Any) -> Any:
    """Operands as of the layer, then three gradients, the workspace and three results."""
    layer, (grad_output, grad_hidden, grad_cells, workspace, *outputs) = given[:16], given[16:]
    reverse, sizes, mode, hidden_size, layers, has_biases, both, batch_first = layer[7:15]
    found = torch.ops.aten.mkldnn_rnn_layer_backward(
        *layer[:7],
        *outputs,
        grad_output,
        grad_hidden,
        grad_cells,
        reverse,
        mode,
        hidden_size,
        layers,
        has_biases,
        True,
        both,
        sizes,
        batch_first,
        workspace,
    )
    of_input, *of_weights, of_hidden, of_cells = found
    return of_input, of_hidden, of_cells, *of_weights


def distances(
    first: torch.Tensor, second: torch.Tensor, power: float, sizes: Sequence[int]
) -> torch.Tensor:
    without_products = 2
    return torch.ops.aten._cdist_forward(first, second, power, without_products).view(sizes)


def two_class_gradient(
    grad: torch.Tensor, self: torch.Tensor, target: torch.Tensor
) -> torch.Tensor:
    return torch.ops.aten.binary_cross_entropy_backward(grad, self, target, None, 0)


def column_storage(
    self: torch.Tensor, sizes: Sequence[int], *windows: Sequence[int]
) -> torch.Tensor:
    """The image lies at the beginning of room for the larger of image and columns."""
    image = torch.ops.aten.col2im(self, sizes[-2:], *windows)
    storage = self.new_empty(max(self.numel(), image.numel()))
    storage[: image.numel()] = image.flatten()
    return storage


def sparse(indices: torch.Tensor, values: torch.Tensor, size: Sequence[int]) -> torch.Tensor:
    return torch.sparse_coo_tensor(indices, values, size, check_invariants=False)


KERNELS: dict[str, Function] = {
    # PyTorch boxes a number itself where it is passed for a tensor.
    "steelyard::box": lambda number: number,
    "steelyard::box_imaginary": lambda number: complex(0, number),
    "steelyard::add_outer": lambda self, column, row, beta=1, alpha=1: (
        beta * self + alpha * column * row
    ),
    "steelyard::add_outer_": lambda self, column, row, beta=1, alpha=1: self.mul_(beta).add_(
        alpha * column * row
    ),
    "steelyard::add_sparse_": lambda self, indices, values, alpha=1: self.add_(
        sparse(indices, values, self.shape), alpha=alpha
    ),
    "steelyard::as_strided_": as_strided_in_place,
    "steelyard::add_exponents_": lambda self, *operands: torch.ldexp(*operands, out=self),
    "steelyard::bag_of_indices": lambda indices, _, size: indices.new_zeros(size),
    "steelyard::bag_maxima": lambda self, bags, columns: self.new_zeros(bags, columns),
    "steelyard::channels_shuffled": torch.ops.aten.native_channel_shuffle,
    "steelyard::column_storage": column_storage,
    "steelyard::copied_result": torch.clone,
    "steelyard::ctc_gradients": lambda *operands: (
        torch.ops.aten._ctc_loss_backward(*operands),
        torch.empty_like(operands[6]),
    ),
    "steelyard::dense_plus_sparse": lambda self, indices, values: (
        self + sparse(indices, values, self.shape)
    ),
    "steelyard::distance_gradients": torch.ops.aten._cdist_backward,
    "steelyard::distances": distances,
    "steelyard::index_reduced": slices_reduced,
    "steelyard::index_reduced_and_counted": slices_reduced_and_counted,
    "steelyard::reduce_segments_": reduce_segments,
    "steelyard::rows_reduced": rows_reduced,
    "steelyard::scatter_reduced": elements_reduced,
    "steelyard::lstm_layer": lstm_layer,
    "steelyard::lstm_layer_backward": lstm_layer_backward,
    "steelyard::spread_segments_": spread_segments,
    "steelyard::mul_into": torch.ops.aten.mul_,
    "steelyard::numbers": lambda numbers, dtype: torch.tensor(numbers, dtype=dtype),
    "steelyard::onednn_convolution_backward": convolution_backward,
    "steelyard::onednn_transposed_backward": transposed_backward,
    "steelyard::resized": lambda dtype, size: torch.empty(size, dtype=dtype),
    "steelyard::slow_conv3d_backward": dilated_backward,
    "steelyard::slow_conv_dilated2d_backward": dilated_backward,
    "steelyard::slow_conv_dilated3d_backward": dilated_backward,
    "steelyard::slow_conv_transpose2d_backward": slow_transposed_backward,
    "steelyard::slow_conv_transpose3d_backward": slow_transposed_backward,
    "steelyard::transposed_convolution": transposed_convolution,
    "steelyard::sparse_coo": sparse,
    "steelyard::sparse_sum": lambda indices, values, others, added, _: (
        torch.cat([indices, others], 1),
        torch.cat([values, added]),
    ),
    "steelyard::stand_in": lambda: None,
    "steelyard::two_class_gradient": two_class_gradient,
}
