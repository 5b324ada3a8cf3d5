# SPDX-License-Identifier: Apache-2.0
"""Small models of many kinds, with random weights: what users bring besides transformers.

MODELS maps a name to a pair of functions: one makes the module, the other its inputs. Those written
out here are made of the operators that networks of their kind are made of; the rest are
architectures of transformers and torchvision at small sizes.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional as F  # noqa: N812

Maker = tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...] | dict[str, Any]]]


class SequenceTagger(nn.Module):
    """Embeddings, gated recurrent units in both directions, a class for each word."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 64)
        self.gru = nn.GRU(64, 48, num_layers=2, batch_first=True, bidirectional=True)
        self.classes = nn.Linear(96, 20)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return F.log_softmax(self.classes(self.gru(self.embedding(words))[0]), -1)


class Translator(nn.Module):
    """An encoder of Elman units, and a decoder that steps through cells with attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(500, 32)
        self.encoder = nn.RNN(32, 40, batch_first=True)
        self.cell = nn.LSTMCell(32 + 40, 40)
        self.out = nn.Linear(40, 500)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory, last = self.encoder(self.embedding(source))
        h, c = last[0], torch.zeros_like(last[0])
        steps = []
        for word in self.embedding(target).unbind(1):
            scores = torch.einsum("bsd,bd->bs", memory, h)
            context = torch.einsum("bs,bsd->bd", scores.softmax(-1), memory)
            h, c = self.cell(torch.cat([word, context], -1), (h, c))
            steps.append(self.out(h))
        return torch.stack(steps, 1)


class Residual(nn.Module):
    """A block of a diffusion model: two convolutions, told the time."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, inputs), nn.GroupNorm(8, outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(64, outputs)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class SelfAttention(nn.Module):
    """Attention over the pixels of an image."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.qkv, self.out = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        pixels = self.norm(x).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(pixels).unflatten(-1, (3, 4, channels // 4)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return x + self.out(mixed).transpose(1, 2).reshape(batch, channels, height, width)


class DiffusionUNet(nn.Module):
    """Predicts the noise of an image at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 64))
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.down1, self.down2 = Residual(32, 32), Residual(32, 64)
        self.shrink = nn.Conv2d(32, 32, 3, stride=2, padding=1)
        self.middle = SelfAttention(64)
        self.up1, self.up2 = Residual(64, 32), Residual(64, 32)
        self.last = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, image: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        rates = torch.exp(torch.arange(16, device=step.device) * (-math.log(10000) / 16))
        angles = step[:, None].float() * rates[None]
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        high = self.down1(self.first(image), time)
        low = self.up1(self.middle(self.down2(self.shrink(high), time)), time)
        grown = F.interpolate(low, scale_factor=2.0, mode="nearest")
        return self.last(self.up2(torch.cat([grown, high], 1), time))


class GraphNetwork(nn.Module):
    """Means of neighbours, then attention over edges, then a mean over each graph."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.others = nn.Linear(16, 32), nn.Linear(16, 32)
        self.weight, self.out = nn.Linear(64, 1), nn.Linear(32, 4)

    def forward(
        self, nodes: torch.Tensor, edges: torch.Tensor, graph: torch.Tensor
    ) -> torch.Tensor:
        source, target = edges[0], edges[1]
        zero = torch.zeros_like(nodes)
        index = target[:, None].expand(-1, nodes.shape[1])
        mean = zero.scatter_reduce(0, index, nodes[source], "mean", include_self=False)
        h = F.elu(self.own(nodes) + self.others(mean))
        score = F.leaky_relu(self.weight(torch.cat([h[source], h[target]], -1))).squeeze(-1)
        score = score.exp()
        total = torch.zeros(h.shape[0], device=h.device).index_add(0, target, score)
        share = score / (total[target] + 1e-9)
        h = torch.zeros_like(h).index_add(0, target, share[:, None] * h[source])
        place = graph[:, None].expand(-1, h.shape[1])
        pooled = torch.zeros(4, h.shape[1], device=h.device).scatter_reduce(0, place, h, "amax")
        return self.out(pooled)


class DetectionHead(nn.Module):
    """Features of two scales, boxes and scores of anchors, the best of which are cut out."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.next = nn.Sequential(nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU())
        self.side, self.deep = nn.Conv2d(16, 24, 1), nn.Conv2d(32, 24, 1)
        self.scores, self.boxes = nn.Conv2d(24, 3, 1), nn.Conv2d(24, 12, 1)
        self.classes = nn.Linear(24 * 4 * 4, 10)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        high = self.stem(image)
        low = self.deep(self.next(high))
        high = self.side(high) + F.interpolate(low, size=high.shape[-2:], mode="nearest")
        score = self.scores(high).permute(0, 2, 3, 1).reshape(-1)
        best, where = score.sigmoid().topk(40)
        offsets = self.boxes(high).permute(0, 2, 3, 1).reshape(-1, 4)[where]
        y, x = torch.meshgrid(
            torch.arange(high.shape[2], device=image.device),
            torch.arange(high.shape[3], device=image.device),
            indexing="ij",
        )
        centre = torch.stack([x, y], -1).reshape(-1, 2).repeat_interleave(3, 0)[where].float()
        low_corner = centre - offsets[:, :2].exp()
        boxes = torch.cat([low_corner, centre + offsets[:, 2:].exp()], -1).clamp(0, 31)
        rows = torch.cat([torch.zeros_like(boxes[:, :1]), boxes], -1)
        cut = torch.ops.torchvision.roi_align(high, rows, 1.0, 4, 4, 2, True)
        return self.classes(cut.flatten(1)), best


class QuantizedPerceptron(nn.Module):
    """Linear layers as torch.ao writes them: int8 weights by channel, int8 activations."""

    def __init__(self) -> None:
        super().__init__()
        sizes = (64, 128, 32)
        for i, (inputs, outputs) in enumerate(pairwise(sizes)):
            self.register_buffer(f"w{i}", torch.ones(outputs, inputs, dtype=torch.int8))
            self.register_buffer(f"scale{i}", torch.ones(outputs))
            self.register_buffer(f"zero{i}", torch.zeros(outputs, dtype=torch.int64))
            self.register_parameter(f"bias{i}", nn.Parameter(torch.zeros(outputs)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ops = torch.ops.quantized_decomposed
        for i in range(2):
            x = ops.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
            x = ops.dequantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
            weight = ops.dequantize_per_channel(
                getattr(self, f"w{i}"),
                getattr(self, f"scale{i}"),
                getattr(self, f"zero{i}"),
                0,
                -127,
                127,
                torch.int8,
            )
            x = F.relu(F.linear(x, weight, getattr(self, f"bias{i}")))
        return x


class PackedWeights(nn.Module):
    """Weight-only int8 in bfloat16, as torchao runs it on the CPU."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("w", torch.ones(96, 64, dtype=torch.int8))
        self.register_buffer("scale", torch.ones(96, dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1]).to(torch.bfloat16)
        y = torch.ops.aten._weight_int8pack_mm(rows, self.w, self.scale)
        return F.gelu(y.reshape(*x.shape[:-1], -1))


class VolumeUNet(nn.Module):
    """Segments a volume."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8), nn.PReLU())
        self.second = nn.Sequential(
            nn.Conv3d(8, 16, 3, padding=1), nn.InstanceNorm3d(16), nn.PReLU(16)
        )
        self.last = nn.Conv3d(24, 3, 1)

    def forward(self, volume: torch.Tensor) -> torch.Tensor:
        high = self.first(volume)
        low = self.second(F.max_pool3d(high, 2))
        grown = F.interpolate(low, size=high.shape[2:], mode="trilinear", align_corners=False)
        return self.last(torch.cat([high, grown], 1)).softmax(1)


class FourierOperator(nn.Module):
    """A Fourier neural operator: linear maps of the lowest frequencies, in complex numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.lift, self.out = nn.Linear(3, 20), nn.Linear(20, 1)
        self.weights = nn.ParameterList(
            nn.Parameter(torch.zeros(20, 20, 6, 6, dtype=torch.complex64)) for _ in range(2)
        )
        self.local = nn.ModuleList(nn.Linear(20, 20) for _ in range(2))

    def forward(self, field: torch.Tensor) -> torch.Tensor:
        x = self.lift(field)
        for weight, local in zip(self.weights, self.local, strict=True):
            spectrum = torch.fft.rfft2(x.permute(0, 3, 1, 2))
            low = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :6, :6], weight)
            padded = F.pad(low, (0, spectrum.shape[-1] - 6, 0, spectrum.shape[-2] - 6))
            smooth = torch.fft.irfft2(padded, s=x.shape[1:3]).permute(0, 2, 3, 1)
            x = F.gelu(smooth + local(x))
        return self.out(x)


class KeywordSpotter(nn.Module):
    """A spectrogram, convolutions over it, a recurrent layer over time."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.ones(200))
        self.register_buffer("filters", torch.ones(40, 129))
        self.conv = nn.Conv1d(40, 32, 5, stride=2, padding=2)
        self.gru = nn.GRU(32, 24)
        self.out = nn.Linear(24, 12)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        spectrum = torch.stft(wave, 256, 100, 200, self.window, return_complex=True)
        mel = torch.matmul(self.filters, spectrum.abs() ** 2)
        mel = torch.log(torch.clamp(mel, min=1e-6))
        mel = (mel - mel.mean(-1, keepdim=True)) / (mel.std(-1, keepdim=True) + 1e-5)
        return self.out(self.gru(F.relu(self.conv(mel)).permute(2, 0, 1))[0][-1])


class SuperResolution(nn.Module):
    """Sub-pixel convolution beside a bicubic enlargement."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 32, 5, padding=2),
            nn.PReLU(32),
            nn.Conv2d(32, 12, 3, padding=1),
            nn.PixelShuffle(2),
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        large = F.interpolate(image, scale_factor=2, mode="bicubic", align_corners=False)
        return torch.clip(large + self.body(image), 0, 1)


class SpatialTransformer(nn.Module):
    """Finds an affine map of the image, samples it so, and classifies what it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.locate = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 32), nn.Tanh())
        self.theta = nn.Linear(32, 6)
        self.classes = nn.Linear(28 * 28, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        theta = self.theta(self.locate(image)).view(-1, 2, 3)
        grid = F.affine_grid(theta, list(image.shape), align_corners=False)
        seen = F.grid_sample(image, grid, align_corners=False)
        return self.classes(seen.flatten(1))


class MetricLearner(nn.Module):
    """Embeddings compared by distances and angles, with what is most alike."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(40, 64), nn.PReLU(), nn.Linear(64, 32))

    def forward(self, anchor: torch.Tensor, others: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a, b = F.normalize(self.embed(anchor), dim=-1), F.normalize(self.embed(others), dim=-1)
        distances = torch.cdist(a, b)
        return (
            distances.logsumexp(-1),
            F.cosine_similarity(a, b[: a.shape[0]]),
            F.pairwise_distance(a, b[: a.shape[0]]),
            distances.aminmax(dim=1)[0],
        )


class RadianceField(nn.Module):
    """Samples along rays, positional encoding, densities composed to colours."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(39, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, origins: torch.Tensor, directions: torch.Tensor) -> torch.Tensor:
        depth = torch.linspace(2.0, 6.0, 24, device=origins.device)
        points = origins[:, None] + directions[:, None] * depth[None, :, None]
        waves = [points]
        for power in range(6):
            waves += [torch.sin(points * 2.0**power), torch.cos(points * 2.0**power)]
        raw = self.net(torch.cat(waves, -1))
        colour, density = raw[..., :3].sigmoid(), F.softplus(raw[..., 3])
        clear = torch.exp(-density * (4.0 / 24))
        shifted = torch.cat([torch.ones_like(clear[:, :1]), clear[:, :-1]], -1)
        weight = (1 - clear) * torch.cumprod(shifted, -1)
        cumulated = torch.cumsum(weight, -1)
        place = torch.searchsorted(cumulated, 0.5 * cumulated[:, -1:]).clamp(max=23)
        median = torch.gather(depth.expand(weight.shape), 1, place)
        return torch.cat([(weight[..., None] * colour).sum(1), median], -1)


class WaveGenerator(nn.Module):
    """A vocoder: weight-normed transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.first = norm(nn.Conv1d(20, 32, 7, padding=3))
        self.residual = norm(nn.Conv1d(32, 32, 3, padding=3, dilation=3))
        self.last = norm(nn.Conv1d(32, 1, 7, padding=3))

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        x = F.interpolate(self.first(mel), scale_factor=4, mode="linear")
        return torch.tanh(self.last(x + self.residual(F.leaky_relu(x, 0.1))))


class ShuffledChannels(nn.Module):
    """Grouped convolutions with shuffled channels, and gates from their statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 24, 3, 2, 1)
        self.grouped = nn.Conv2d(24, 24, 1, groups=3)
        self.gate = nn.Linear(48, 24)
        self.out = nn.Linear(24, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = F.channel_shuffle(self.grouped(F.hardswish(self.first(image))), 3)
        variance, mean = torch.var_mean(x, dim=(2, 3))
        gate = torch.sigmoid(self.gate(torch.cat([mean, variance], -1)))
        return self.out((x * gate[:, :, None, None]).amax((2, 3)))


def ids(batch: int, length: int) -> torch.Tensor:
    return torch.zeros(batch, length, dtype=torch.long)


def small(model: str, **sizes: Any) -> Callable[[], nn.Module]:
    """An architecture of transformers with these sizes in its config."""

    def make() -> nn.Module:
        cls = getattr(transformers, model)
        config = cls.config_class(**sizes)
        config.use_cache = False
        return cls(config)

    return make


TINY = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}


def clip() -> nn.Module:
    text = {**TINY, "vocab_size": 1000}
    vision = {**TINY, "image_size": 64, "patch_size": 16}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=32)
    return transformers.CLIPModel(config)


MODELS: dict[str, Maker] = {
    "clip": (clip, lambda: {"input_ids": ids(2, 12), "pixel_values": torch.zeros(2, 3, 64, 64)}),
    "wav2vec2": (
        small("Wav2Vec2Model", **TINY, num_conv_pos_embeddings=16, conv_dim=[32] * 7),
        lambda: {"input_values": torch.zeros(1, 4000)},
    ),
    "whisper": (
        small(
            "WhisperModel",
            d_model=64,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=128,
            decoder_ffn_dim=128,
            vocab_size=500,
            max_source_positions=100,
            pad_token_id=0,
        ),
        lambda: {"input_features": torch.zeros(1, 80, 200), "decoder_input_ids": ids(1, 8)},
    ),
    "mamba": (
        small("MambaForCausalLM", hidden_size=64, num_hidden_layers=2, vocab_size=500),
        lambda: {"input_ids": ids(2, 16)},
    ),
    "fnet": (
        small("FNetModel", hidden_size=64, intermediate_size=128, num_hidden_layers=2),
        lambda: {"input_ids": ids(2, 32)},
    ),
    "patchtst": (
        small("PatchTSTModel", d_model=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128),
        lambda: {"past_values": torch.zeros(2, 32, 1)},
    ),
    "r3d": (
        lambda: torchvision.models.video.r3d_18(num_classes=10),
        lambda: (torch.zeros(1, 3, 4, 32, 32),),
    ),
    "tagger": (SequenceTagger, lambda: (ids(4, 20),)),
    "translator": (Translator, lambda: (ids(3, 9), ids(3, 5))),
    "diffusion": (DiffusionUNet, lambda: (torch.zeros(2, 3, 16, 16), ids(1, 2)[0])),
    "graph": (GraphNetwork, lambda: (torch.zeros(30, 16), ids(2, 80), ids(1, 30)[0])),
    "detection": (DetectionHead, lambda: (torch.zeros(1, 3, 64, 64),)),
    "quantized": (QuantizedPerceptron, lambda: (torch.zeros(8, 64),)),
    "packed": (PackedWeights, lambda: (torch.zeros(2, 5, 64),)),
    "volume": (VolumeUNet, lambda: (torch.zeros(1, 1, 8, 16, 16),)),
    "fourier": (FourierOperator, lambda: (torch.zeros(2, 24, 24, 3),)),
    "keywords": (KeywordSpotter, lambda: (torch.zeros(2, 4000),)),
    "super-resolution": (SuperResolution, lambda: (torch.zeros(1, 3, 20, 24),)),
    "transformer-network": (SpatialTransformer, lambda: (torch.zeros(3, 1, 28, 28),)),
    "metric": (MetricLearner, lambda: (torch.zeros(6, 40), torch.zeros(20, 40))),
    "radiance": (RadianceField, lambda: (torch.zeros(16, 3), torch.zeros(16, 3))),
    "vocoder": (WaveGenerator, lambda: (torch.zeros(1, 20, 30),)),
    "shuffled": (ShuffledChannels, lambda: (torch.zeros(2, 3, 32, 32),)),
}
