# SPDX-License-Identifier: Apache-2.0
"""flash_attention_2 of transformers where its package is not: PyTorch's call of the same kernels.

Imported, it lets models be made and exported with that attention on any machine.
"""

from typing import Any

import torch
from transformers import modeling_flash_attention_utils, modeling_utils
from transformers.integrations import flash_attention


def flash_attn_func(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
) -> torch.Tensor:
    """The package's function, by its arguments that transformers passes. PyTorch's operator has no
    softcap, which takes no memory."""
    left, right = (None if reach < 0 else reach for reach in window_size)
    return torch.ops.aten._flash_attention_forward(
        q,
        k,
        v,
        None,
        None,
        q.size(1),
        k.size(1),
        dropout_p,
        causal,
        False,
        scale=softmax_scale,
        window_size_left=left,
        window_size_right=right,
    )[0]


def functions(*_: Any, **__: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What lazy_import_flash_attention gives."""
    process = modeling_flash_attention_utils._lazy_define_process_function(flash_attn_func)
    return (flash_attn_func, None, None, None, None), (process, dict)


modeling_flash_attention_utils.lazy_import_flash_attention = functions
modeling_utils.lazy_import_flash_attention = functions
modeling_utils.PreTrainedModel._flash_attn_can_dispatch = lambda *_, **__: True
# As in releases of the package since 2.1.
flash_attention._use_top_left_mask = False
