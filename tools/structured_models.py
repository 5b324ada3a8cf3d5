# SPDX-License-Identifier: Apache-2.0
"""Small models that are no stacks of layers: what their losses and loops do to gradients is theirs.

train_models.py says how they are trained.
"""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils.parametrizations import spectral_norm


class Critic(nn.Module):
    """Judges images; its weights are divided by their largest singular values, which it follows."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            spectral_norm(nn.Conv2d(3, 16, 4, 2, 1)),
            nn.LeakyReLU(0.2),
            spectral_norm(nn.Conv2d(16, 32, 4, 2, 1)),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            spectral_norm(nn.Linear(32 * 16, 1)),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.layers(images)


class GaussianProcess(nn.Module):
    """The negative log likelihood of values at points, up to a constant, of a learned kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Linear(5, 3)
        self.lengths, self.noise = nn.Parameter(torch.ones(3)), nn.Parameter(torch.tensor(0.1))

    def forward(self, points: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        scaled = self.features(points) / self.lengths
        apart = (scaled[:, None] - scaled[None]).square().sum(-1)
        noise = F.softplus(self.noise) + 0.1
        covariance = torch.exp(-0.5 * apart) + noise * torch.eye(points.shape[0])
        root = torch.linalg.cholesky(covariance)
        solved = torch.cholesky_solve(values[:, None], root)
        return 0.5 * (values @ solved[:, 0]) + root.diagonal().log().sum()


class FourierOperator(nn.Module):
    """A layer that mixes the lowest frequencies of a field by complex weights."""

    MODES = 4

    def __init__(self) -> None:
        super().__init__()
        self.lift, self.project = nn.Conv2d(1, 8, 1), nn.Conv2d(8, 1, 1)
        self.weight = nn.Parameter(torch.rand(8, 8, self.MODES, self.MODES, dtype=torch.cfloat))

    def forward(self, field: torch.Tensor) -> torch.Tensor:
        lifted, low = self.lift(field), slice(self.MODES)
        spectrum = torch.fft.rfft2(lifted)
        mixed = torch.zeros_like(spectrum)
        mixed[:, :, low, low] = torch.einsum(
            "bixy,ioxy->boxy", spectrum[:, :, low, low], self.weight
        )
        return self.project(F.gelu(torch.fft.irfft2(mixed, s=field.shape[-2:]) + lifted))


class Capsules(nn.Module):
    """Vectors that vote for vectors: how much a vote counts is found by agreement, in turns."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(12, 5, 8, 6) * 0.1)

    def forward(self, capsules: torch.Tensor) -> torch.Tensor:
        votes = torch.einsum("ijkl,bil->bijk", self.weight, capsules)
        agreement = capsules.new_zeros(votes.shape[:3])
        for _ in range(3):
            found = (agreement.softmax(-1)[..., None] * votes).sum(1)
            square = found.square().sum(-1, keepdim=True)
            found = square / (1 + square) * found / (square.sqrt() + 1e-8)
            agreement = agreement + (votes * found[:, None]).sum(-1)
        return found.norm(dim=-1)


class MemoryNetwork(nn.Module):
    """A cell that writes to and reads from a memory where the cosine is largest."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, 16)
        self.key, self.erase = nn.Linear(16, 6), nn.Linear(16, 6)

    def forward(self, steps: torch.Tensor) -> torch.Tensor:
        memory = steps.new_zeros(steps.shape[0], 10, 6) + 0.01
        state = [steps.new_zeros(steps.shape[0], 16)] * 2
        read = []
        for step in steps.unbind(1):
            state = self.cell(step, state)
            key = self.key(state[0])[:, None]
            where = F.cosine_similarity(memory, key, dim=-1).softmax(-1)[..., None]
            erased = torch.sigmoid(self.erase(state[0]))[:, None]
            memory = memory * (1 - where * erased) + where * key
            read.append((where * memory).sum(1))
        return torch.stack(read, 1)


class ConditionalField(nn.Module):
    """The negative log likelihood of tags among all sequences of them, that weights tie."""

    def __init__(self) -> None:
        super().__init__()
        self.scores, self.ties = nn.Linear(8, 5), nn.Parameter(torch.rand(5, 5))

    def forward(self, words: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        scores = self.scores(words)
        every = scores[:, 0]
        for step in range(1, words.shape[1]):
            reached = every[:, :, None] + self.ties[None] + scores[:, step, None, :]
            every = reached.logsumexp(1)
        own = scores.gather(2, tags[..., None]).sum((1, 2))
        own = own + self.ties[tags[:, :-1], tags[:, 1:]].sum(1)
        return (every.logsumexp(1) - own).mean()


class SkippingClassifier(nn.Module):
    """Residual blocks of which each runs only where the data ask for it; here all of them do."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.scores = nn.Linear(24, 32), nn.Linear(32, 10)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 96), nn.GELU(), nn.Linear(96, 32))
            for _ in range(2)
        )

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        hidden = self.first(seen).relu()
        for block in self.blocks:
            wanted = hidden.mean() > -1.0
            hidden = torch.cond(
                wanted, lambda h, block=block: h + block(h), lambda h: h.clone(), (hidden,)
            )
        return self.scores(hidden)


class SpectralFilter(nn.Module):
    """What complex vectors say without their phases: of Hermitian, general and wide matrices."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hermitian = nn.Parameter(torch.randn(width, width, dtype=torch.complex64))
        self.general = nn.Parameter(torch.randn(width, width))
        self.wide = nn.Parameter(torch.randn(width, width + 2, dtype=torch.complex64))
        self.tall = nn.Parameter(torch.randn(width + 3, width, dtype=torch.complex64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values, vectors = torch.linalg.eigh(self.hermitian + self.hermitian.mH)
        filtered = x @ (vectors.abs().square() * values)
        values, vectors = torch.linalg.eig(self.general)
        filtered = filtered + x @ vectors.abs().square() * values.abs()
        left, scales, right = torch.linalg.svd(self.wide, full_matrices=False)
        filtered = filtered * scales + x @ (left @ right).abs()[:, : x.size(1)]
        basis, _ = torch.linalg.qr(self.tall)
        return filtered @ basis.abs().mT


class TruncatedRecurrence(nn.Module):
    """A recurrence whose gradients go three steps back; its last state is given as a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.GRUCell(12, 24), nn.Linear(24, 8)
        self.mix = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24), nn.Tanh())

    def forward(self, series: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        state, seen = series.new_zeros(series.shape[0], 24), []
        for i, step in enumerate(series.unbind(1)):
            state = self.mix(self.cell(step, state))
            seen.append(self.head(state))
            if i % 3 == 2:
                state = F.gelu(state).detach()
        return torch.stack(seen, 1), state


class SelfTaught(nn.Module):
    """Words with images and prompts in their places; a teacher, which learns nothing, is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.prompts = nn.Embedding(50, 32), nn.Parameter(torch.zeros(4, 32))
        self.vision = nn.Sequential(nn.Linear(20, 48), nn.SiLU(), nn.Linear(48, 32))
        self.student = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 16))
        self.teacher = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 16))

    def forward(self, words: torch.Tensor, patches: torch.Tensor) -> torch.Tensor:
        hidden, place = self.embed(words), torch.arange(12)
        pictured, prompted = (place >= 2) & (place < 6), (place >= 7) & (place < 9)
        seen = self.vision(patches).to(hidden.dtype)
        hidden = hidden.masked_scatter(pictured[None, :, None].expand_as(hidden), seen)
        hidden[prompted.expand(2, 12)] = self.prompts
        wanted = F.softmax(self.teacher(hidden), -1).detach()
        return F.mse_loss(F.softmax(self.student(hidden), -1), wanted)


class Rewritten(nn.Module):
    """Views that are read after their elements were changed through others; the loss is named."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.out = nn.Linear(24, 48), nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        joined = self.project(x)
        query, key, value = joined[..., :16], joined[..., 16:32], joined[..., 32:]
        query *= 0.25
        mixed = self.out((query @ key.mT).softmax(-1) @ value)
        rows = mixed.view(mixed.shape[0], -1)
        mixed[:, 0].mul_(2)
        canvas = x.new_zeros(mixed.shape)
        seen = canvas[:, :5]
        canvas += mixed
        loss = seen.cos().mean() + rows.sin().mean()
        return {"size": joined.square().mean(), "loss": loss, "mixed": mixed}


class Reshaped(nn.Module):
    """Views whose shape is changed in place, and rows that are overwritten in part."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.mix = nn.Linear(24, 32), nn.Linear(32, 160, bias=False)
        self.bias = nn.Parameter(torch.zeros(32))
        self.norm = nn.BatchNorm1d(160, affine=False)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.project(x)
        front, square = hidden[:, :16], hidden.view(32, -1)
        front.unsqueeze_(0)
        square.t_()
        row = self.mix(self.bias)
        row[:128].fill_(0.5)
        row.relu_()
        wide = self.mix(hidden.relu())
        wide.narrow(-1, 0, 140).sin_()
        wide[:, 3:].square_()
        pooled = F.adaptive_avg_pool2d(wide.view(-1, 160, 1, 1), 1)
        spread = pooled.to(memory_format=torch.channels_last).flatten(1)
        loss = (self.norm(spread) * row).mean() + front.mean() + square.cos().mean()
        return {"loss": loss}


class Phases(nn.Module):
    """Real views of complex numbers, and conjugates, that are read after what they show changed."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(24, 40)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.project(x).float()  # complex numbers have no bfloat16
        pairs = torch.view_as_real(torch.complex(hidden, hidden.sin()))
        pairs.mul_(2)
        waves = torch.fft.fft(hidden)
        real = waves.real
        real += 1.0
        turned = waves[:, :30].conj()
        waves.mul_(0.5)
        loss = pairs.square().mean() + real.square().mean() + (turned * turned).abs().mean()
        return {"loss": loss}
