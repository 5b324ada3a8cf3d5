# SPDX-License-Identifier: Apache-2.0
"""Small models of many kinds as they are trained: each returns its loss and its outputs.

MODELS maps a name to a Training: how the module and its inputs are made, and how a step of it
differs from the plain one. Modules of forward_models.py get the loss that is usual for them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from forward_models import (
    TINY,
    DetectionHead,
    DiffusionUNet,
    GraphNetwork,
    KeywordSpotter,
    MetricLearner,
    RadianceField,
    SequenceTagger,
    ShuffledChannels,
    SpatialTransformer,
    SuperResolution,
    Translator,
    VolumeUNet,
    WaveGenerator,
    ids,
    small,
)
from structured_models import (
    Capsules,
    ConditionalField,
    Critic,
    FourierOperator,
    GaussianProcess,
    MemoryNetwork,
    Phases,
    Reshaped,
    Rewritten,
    SelfTaught,
    SkippingClassifier,
    SpectralFilter,
    TruncatedRecurrence,
)
from torch import nn
from torch.nn import functional as F  # noqa: N812

Loss = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Training:
    make: Callable[[], nn.Module]
    inputs: Callable[[], Any]
    clip_norm: float | None = None
    accumulate: int = 1
    foreach: bool = False
    optimizers: tuple[str, ...] = ("sgd", "adamw")
    counted: bool = True  # by torch's counter, which fails in a branch that is differentiated

    @property
    def options(self) -> list[str]:
        """What says the same to `steelyard weigh`."""
        out = ["--foreach"] if self.foreach else []
        if self.clip_norm is not None:
            out += ["--clip-norm", str(self.clip_norm)]
        if self.accumulate > 1:
            out += ["--accumulate", str(self.accumulate)]
        return out


class WithLoss(nn.Module):
    """A module and its loss: of the last inputs, as many as `targets`, the loss is told."""

    def __init__(self, module: nn.Module, loss: Loss, targets: int = 1) -> None:
        super().__init__()
        self.module, self.loss, self.targets = module, loss, targets

    def forward(self, *inputs: torch.Tensor) -> tuple[Any, Any]:
        cut = len(inputs) - self.targets
        output = self.module(*inputs[:cut])
        return self.loss(output, *inputs[cut:]), output


def of(module: Callable[[], nn.Module], loss: Loss, targets: int = 1) -> Callable[[], nn.Module]:
    return lambda: WithLoss(module(), loss, targets)


def per_word(scores: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores.flatten(0, 1), words.flatten())


def tags(scores: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    return F.nll_loss(scores.flatten(0, 1), words.flatten())


def on_the_way(output: tuple[torch.Tensor, torch.Tensor], wanted: torch.Tensor) -> torch.Tensor:
    return F.smooth_l1_loss(output[0], wanted)


def smoothed(scores: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores, classes, label_smoothing=0.1)


def detected(output: tuple[torch.Tensor, torch.Tensor], classes: torch.Tensor) -> torch.Tensor:
    scores, sure = output
    return F.cross_entropy(scores, classes) + F.binary_cross_entropy(sure, torch.ones_like(sure))


def dice(parts: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    common = (parts * wanted).sum((2, 3, 4))
    total = parts.square().sum((2, 3, 4)) + wanted.square().sum((2, 3, 4))
    return 1 - (2 * common / (total + 1e-6)).mean()


def alike(output: tuple[torch.Tensor, ...], margin: torch.Tensor) -> torch.Tensor:
    spread, cosine, distance, nearest = output
    return spread.mean() + (1 - cosine).mean() + F.relu(distance - nearest + margin).mean()


class Segmenter(nn.Module):
    """A U-Net that grows by transposed convolutions, some of its convolutions grouped."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.down1 = nn.Sequential(nn.Conv2d(16, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.LeakyReLU())
        self.down2 = nn.Sequential(
            nn.Conv2d(32, 64, 4, 2, 1, groups=4), nn.BatchNorm2d(64), nn.LeakyReLU()
        )
        self.up1 = nn.Sequential(
            nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.Dropout2d(0.2)
        )
        self.up2 = nn.Sequential(nn.ConvTranspose2d(64, 16, 2, 2, groups=2), nn.ReLU())
        self.last = nn.Conv2d(32, 5, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        high = self.first(image)
        middle = self.down1(high)
        grown = self.up1(self.down2(middle))
        return self.last(torch.cat([self.up2(torch.cat([grown, middle], 1)), high], 1))


class LowRank(nn.Module):
    """A frozen linear layer with a trained product of two thin matrices beside it."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        self.dropout = nn.Dropout(0.05)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.up(self.down(self.dropout(x))) * 2.0


def low_rank_adapted() -> nn.Module:
    """Llama, frozen but for low-rank products beside the projections of queries and values."""
    model = small("LlamaForCausalLM", **TINY, vocab_size=500)()
    model.requires_grad_(False)
    for layer in model.model.layers:
        attention = layer.self_attn
        attention.q_proj = LowRank(attention.q_proj, 4)
        attention.v_proj = LowRank(attention.v_proj, 4)
    return model


class LinearRecurrence(nn.Module):
    """A state space: a diagonal recurrence, step by step, gated."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(300, 32)
        self.decay = nn.Parameter(torch.zeros(32))
        self.into, self.gate, self.out = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 300)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.embedding(words)
        rate = torch.exp(-F.softplus(self.decay))
        state, states = torch.zeros_like(x[:, 0]), []
        for step in self.into(x).unbind(1):
            state = torch.addcmul(step, state, rate)
            states.append(state)
        return self.out(torch.stack(states, 1) * F.silu(self.gate(x)))


class Autoencoder(nn.Module):
    """A variational autoencoder: noise, and a loss of two parts."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(144, 64), nn.GELU(), nn.LayerNorm(64))
        self.mean, self.spread = nn.Linear(64, 8), nn.Linear(64, 8)
        self.decode = nn.Sequential(nn.Linear(8, 64), nn.Mish(), nn.Linear(64, 144))

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = self.encode(image.flatten(1))
        mean, spread = self.mean(hidden), self.spread(hidden)
        code = mean + torch.randn_like(spread) * torch.exp(0.5 * spread)
        return self.decode(code), mean, spread


def evidence(output: tuple[torch.Tensor, ...], image: torch.Tensor) -> torch.Tensor:
    drawn, mean, spread = output
    likely = F.binary_cross_entropy_with_logits(drawn, image.flatten(1), reduction="sum")
    return likely - 0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())


class Recommender(nn.Module):
    """Scores of what was seen and of what is offered, whose tables have sparse gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.items = nn.Embedding(500, 32, padding_idx=499, sparse=True)
        self.words = nn.Embedding(300, 32, sparse=True)
        self.bias = nn.Embedding(500, 1, sparse=True)
        self.mix = nn.Sequential(nn.Linear(64, 32), nn.ReLU())

    def forward(
        self, seen: torch.Tensor, words: torch.Tensor, offered: torch.Tensor
    ) -> torch.Tensor:
        user = self.mix(torch.cat([self.items(seen).mean(1), self.words(words).sum(1)], 1))
        scores = (self.items(offered) * user[:, None]).sum(-1)
        return scores + self.bias(offered).squeeze(-1)


class BagsOfWords(nn.Module):
    """Classes of texts, each a bag of words whose table has a sparse gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.EmbeddingBag(300, 32, mode="mean", sparse=True)
        self.scores = nn.Linear(32, 5)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.scores(self.bags(words))


class Actor(nn.Module):
    """A policy and a value, of observations."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy, self.value = nn.Linear(64, 6), nn.Linear(64, 1)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.body(seen)
        return self.policy(hidden).log_softmax(-1), self.value(hidden).squeeze(-1)


def proximal(
    output: tuple[torch.Tensor, torch.Tensor],
    actions: torch.Tensor,
    before: torch.Tensor,
    gain: torch.Tensor,
) -> torch.Tensor:
    scores, value = output
    chosen = scores.gather(-1, actions[:, None]).squeeze(-1)
    ratio = torch.exp(chosen - before)
    bounded = torch.clamp(ratio, 0.8, 1.2)
    policy = -torch.min(ratio * gain, bounded * gain).mean()
    entropy = -(scores.exp() * scores).sum(-1).mean()
    return policy + 0.5 * F.smooth_l1_loss(value, gain) - 0.01 * entropy


def words(model: str, batch: int = 2, length: int = 16, **sizes: Any) -> Training:
    """A language model that is given its labels."""
    return Training(
        small(model, **sizes),
        lambda: {"input_ids": ids(batch, length), "labels": ids(batch, length)},
    )


def told(value: torch.Tensor) -> torch.Tensor:
    """What a module gives is its loss."""
    return value


def judged(scores: torch.Tensor, margin: torch.Tensor) -> torch.Tensor:
    return F.relu(margin - scores).mean()


def zeros(*sizes: int) -> torch.Tensor:
    return torch.zeros(sizes)


GPT2 = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 500, "n_positions": 64}
WHISPER = {
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "vocab_size": 500,
    "max_source_positions": 100,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}

MODELS: dict[str, Training] = {
    "tagger": Training(of(SequenceTagger, tags), lambda: (ids(4, 20), ids(4, 20))),
    "translator": Training(of(Translator, per_word), lambda: (ids(3, 9), ids(3, 5), ids(3, 5))),
    "diffusion": Training(
        of(DiffusionUNet, F.mse_loss),
        lambda: (zeros(2, 3, 16, 16), ids(1, 2)[0], zeros(2, 3, 16, 16)),
    ),
    "graph": Training(
        of(GraphNetwork, F.cross_entropy),
        lambda: (zeros(30, 16), ids(2, 80), ids(1, 30)[0], ids(1, 4)[0]),
    ),
    "detection": Training(
        of(DetectionHead, detected), lambda: (zeros(1, 3, 64, 64), ids(1, 40)[0])
    ),
    "volume": Training(
        of(VolumeUNet, dice), lambda: (zeros(1, 1, 8, 16, 16), zeros(1, 3, 8, 16, 16))
    ),
    "keywords": Training(of(KeywordSpotter, smoothed), lambda: (zeros(2, 4000), ids(1, 2)[0])),
    "super-resolution": Training(
        of(SuperResolution, F.l1_loss), lambda: (zeros(1, 3, 20, 24), zeros(1, 3, 40, 48))
    ),
    "transformer-network": Training(
        of(SpatialTransformer, F.cross_entropy), lambda: (zeros(3, 1, 28, 28), ids(1, 3)[0])
    ),
    "metric": Training(of(MetricLearner, alike), lambda: (zeros(6, 40), zeros(20, 40), zeros(6))),
    "radiance": Training(
        of(RadianceField, F.mse_loss), lambda: (zeros(16, 3), zeros(16, 3), zeros(16, 4))
    ),
    "vocoder": Training(of(WaveGenerator, F.l1_loss), lambda: (zeros(1, 20, 30), zeros(1, 1, 120))),
    "shuffled": Training(
        of(ShuffledChannels, F.cross_entropy), lambda: (zeros(2, 3, 32, 32), ids(1, 2)[0])
    ),
    "segmenter": Training(
        of(Segmenter, F.cross_entropy), lambda: (zeros(2, 3, 32, 32), ids(64, 32).view(2, 32, 32))
    ),
    "recurrence": Training(of(LinearRecurrence, per_word), lambda: (ids(2, 12), ids(2, 12))),
    "autoencoder": Training(
        of(Autoencoder, evidence), lambda: (zeros(4, 12, 12), zeros(4, 12, 12))
    ),
    "actor": Training(
        of(Actor, proximal, targets=3),
        lambda: (zeros(32, 24), ids(1, 32)[0], zeros(32), zeros(32)),
    ),
    "recommender": Training(
        of(Recommender, F.binary_cross_entropy_with_logits),
        lambda: (ids(8, 20), ids(8, 12), ids(8, 10), zeros(8, 10)),
        optimizers=("sgd",),
    ),
    "bags": Training(
        of(BagsOfWords, F.cross_entropy),
        lambda: (ids(4, 10), ids(1, 4)[0]),
        optimizers=("sgd",),
    ),
    "critic": Training(of(Critic, judged), lambda: (zeros(2, 3, 16, 16), zeros(2, 1))),
    "gaussian-process": Training(
        of(GaussianProcess, told, targets=0), lambda: (zeros(8, 5), zeros(8))
    ),
    "operator": Training(
        of(FourierOperator, F.mse_loss), lambda: (zeros(2, 1, 12, 12), zeros(2, 1, 12, 12))
    ),
    "spectral": Training(
        of(lambda: SpectralFilter(6), F.mse_loss), lambda: (zeros(4, 6), zeros(4, 9))
    ),
    "truncated": Training(
        of(TruncatedRecurrence, on_the_way), lambda: (zeros(4, 7, 12), zeros(4, 7, 8)), accumulate=2
    ),
    "rewritten": Training(Rewritten, lambda: (zeros(4, 10, 24),)),
    "reshaped": Training(Reshaped, lambda: (zeros(20, 24),)),
    "phases": Training(Phases, lambda: (zeros(20, 24),)),
    "self-taught": Training(of(SelfTaught, told, targets=0), lambda: (ids(2, 12), zeros(8, 20))),
    "capsules": Training(of(Capsules, F.mse_loss), lambda: (zeros(2, 12, 6), zeros(2, 5))),
    "memory": Training(of(MemoryNetwork, F.l1_loss), lambda: (zeros(2, 4, 8), zeros(2, 4, 6))),
    "field": Training(
        of(ConditionalField, told, targets=0), lambda: (zeros(3, 6, 8), ids(3, 6) % 5)
    ),
    "skipping": Training(
        of(SkippingClassifier, F.cross_entropy),
        lambda: (zeros(6, 24), ids(1, 6)[0]),
        counted=False,
    ),
    "mamba": words("MambaForCausalLM", hidden_size=64, num_hidden_layers=2, vocab_size=500),
    "experts": words(
        "OlmoeForCausalLM",
        **TINY,
        vocab_size=500,
        num_experts=8,
        num_experts_per_tok=2,
        experts_implementation="batched_mm",  # grouped products are exported by device
    ),
    "window": words(
        "MistralForCausalLM",
        2,
        64,
        **TINY,
        vocab_size=500,
        sliding_window=16,
        num_key_value_heads=2,
    ),
    "whisper": Training(
        small("WhisperForConditionalGeneration", **WHISPER),
        lambda: {"input_features": zeros(1, 80, 200), "labels": ids(1, 8)},
    ),
    "low-rank": Training(low_rank_adapted, lambda: {"input_ids": ids(2, 16), "labels": ids(2, 16)}),
    "clipped": Training(
        small("GPT2LMHeadModel", **GPT2),
        lambda: {"input_ids": ids(2, 16), "labels": ids(2, 16)},
        clip_norm=1.0,
        foreach=True,
    ),
    "accumulated": Training(
        small("BertForMaskedLM", **TINY, vocab_size=500),
        lambda: {"input_ids": ids(2, 16), "labels": ids(2, 16)},
        clip_norm=0.5,
        accumulate=3,
    ),
}
