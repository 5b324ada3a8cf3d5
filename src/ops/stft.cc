// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of overlapping frames of a signal, and the signal that they make again
// (ATen/native/SpectralOps.cpp). The frames of the inverse are added up, and so are their windows'
// squares, by which the sum is divided.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/fourier.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"

namespace steelyard::ops {
namespace {

using fourier::kByN;
using fourier::kByRootN;
using fourier::kNone;

// --- stft(self, n_fft, hop_length, win_length, window, ...) --------------------------------------

struct Frames {
  std::int64_t size, step, window;
};
Frames FramesOf(const OpView& op) {
  const std::int64_t size = op.integer(1);
  const Frames out{size, op.integer(2, size / 4), op.integer(3, size)};
  if (size <= 0 || out.step <= 0 || out.window <= 0 || out.window > size) {
    Refuse(fmt::format("frames of {} by {} under a window of {}", out.size, out.step, out.window));
  }
  if (op.given(4)) {
    shape::RequireRank("the window", op.tensor(4), 1);
    shape::RequireEqual("lengths of the window", op.tensor(4).size(0), out.window);
  }
  return out;
}

// The window in the middle of a frame.
Tensor FrameWindow(Dispatcher& d, const OpView& op, const Frames& frames) {
  Tensor window = d.tensor(op, 4);
  if (frames.window == frames.size) return window;
  const DType dtype = window.defined() ? window.dtype() : op.self().dtype();
  const Tensor padded = d.Call("aten::zeros", Dims{frames.size}, dtype);
  const Tensor middle =
      d.Call("aten::narrow", padded, 0, (frames.size - frames.window) / 2, frames.window);
  if (window.defined()) {
    d.Call("aten::copy_", middle, window);
  } else {
    d.Call("aten::fill_.Scalar", middle, 1);
  }
  return padded;
}

// What follows the padding: return_complex and onesided stand elsewhere in each overload.
std::vector<Tensor> Spectrum(Dispatcher& d, const OpView& op, Tensor input, int onesided_at,
                             int complex_at) {
  const Frames frames = FramesOf(op);
  if (op.boolean(complex_at + 1)) Refuse("stft aligned to its window is not modelled");
  if (!op.boolean(complex_at) && !IsComplex(op.self().dtype()) && !op.given(complex_at)) {
    Refuse("stft of real numbers must say whether it returns complex ones");
  }
  if (input.rank() == 1) input = d.Call("aten::unsqueeze", input, 0);
  if (input.rank() != 2) Refuse("signals have one or two dimensions");
  if (frames.size > input.size(1)) Refuse("a frame is longer than the signal");
  const Tensor window = FrameWindow(d, op, frames);
  const std::int64_t count = 1 + (input.size(1) - frames.size) / frames.step;
  const std::int64_t stride = input.strides()[1];
  input = d.Call("aten::as_strided", input, Dims{input.size(0), count, frames.size},
                 Dims{input.strides()[0], frames.step * stride, stride});
  if (window.defined()) input = d.Call("aten::mul.Tensor", input, window);
  const bool is_complex = IsComplex(input.dtype());
  const std::int64_t norm = op.boolean(onesided_at - 1) ? kByRootN : kNone;
  Tensor out = is_complex
                   ? d.Call("aten::_fft_c2c", input, Dims{2}, norm, true)
                   : d.Call("aten::_fft_r2c", input, Dims{2}, norm, op.boolean(onesided_at, true));
  out = d.Call("aten::transpose_", out, 1, 2);
  if (op.self().rank() == 1) out = d.Call("aten::squeeze_.dim", out, 0);
  if (op.boolean(complex_at, is_complex)) return {out};
  return {d.Call("aten::view_as_real", out)};
}

std::vector<Tensor> Spectra(Dispatcher& d, const OpView& op) {
  return Spectrum(d, op, d.tensor(op, 0), 6, 7);
}

std::vector<Tensor> CenteredSpectra(Dispatcher& d, const OpView& op) {
  Tensor input = d.tensor(op, 0);
  if (op.boolean(5)) {
    const Dims sizes(op.self().sizes());
    Dims extended = Dims::Filled(std::max(0, 3 - sizes.size()), 1);
    const int lead = extended.size();
    for (std::int64_t size : std::span<const std::int64_t>(sizes)) extended.push_back(size);
    const std::int64_t pad = op.integer(1) / 2;
    input = d.Call("aten::pad", d.Call("aten::view", input, extended), Dims{pad, pad}, op.arg(6));
    Dims back;
    for (int i = lead; i < extended.size(); ++i) back.push_back(input.size(i));
    input = d.Call("aten::view", input, back);
  }
  return Spectrum(d, op, std::move(input), 8, 9);
}

// --- istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
// return_complex)

void RequireSpectra(const OpView& op, const Frames& frames, std::int64_t size, bool onesided) {
  if (op.self().count() == 0) Refuse("spectra of no elements");
  shape::RequireEqual("frequencies", size, onesided ? frames.size / 2 + 1 : frames.size);
  if (frames.step > frames.window) Refuse("frames that leave a gap");
}

// Where the signal begins and ends in what the frames cover.
struct Stretch {
  std::int64_t start = 0, end = 0;
};
Stretch StretchOf(const OpView& op, const Frames& frames, std::int64_t length) {
  const bool centered = op.boolean(5, true);
  const std::int64_t margin = frames.size / 2;
  Stretch out{centered ? margin : 0, centered ? length - margin : length};
  if (op.given(8)) out.end = out.start + op.integer(8);
  return out;
}

// The frames transformed back.
Tensor FramesOfSpectra(Dispatcher& d, const OpView& op, const Frames& frames) {
  Tensor input = d.Call("aten::view_as_real", op.arg(0));
  const bool is_complex = op.boolean(9);
  const std::int64_t size = input.size(-3);
  const bool onesided = op.boolean(7, size != frames.size);
  RequireSpectra(op, frames, size, onesided);
  if (input.rank() == 3) input = d.Call("aten::unsqueeze", input, 0);
  input = d.Call("aten::view_as_complex", d.Call("aten::transpose.int", input, 1, 2));
  const std::int64_t norm = op.boolean(6) ? kByRootN : kByN;
  if (is_complex) {
    if (onesided) Refuse("complex signals have whole spectra");
    input = d.Call("aten::_fft_c2c", input, Dims{2}, norm, false);
  } else {
    if (!onesided) input = d.Call("aten::slice.Tensor", input, -1, 0, frames.size / 2 + 1);
    input = d.Call("aten::_fft_c2r", input, Dims{2}, norm, frames.size);
  }
  return input;
}

// The window in the middle of a frame, ones if none is given.
Tensor InverseWindow(Dispatcher& d, const OpView& op, const Frames& frames) {
  Tensor window = op.given(4)
                      ? d.tensor(op, 4)
                      : d.Call("aten::ones", Dims{frames.window}, RealOf(op.self().dtype()));
  if (frames.window == frames.size) return window;
  const std::int64_t left = (frames.size - frames.window) / 2;
  return d.Call("aten::constant_pad_nd", window, Dims{left, frames.size - frames.window - left}, 0);
}

// Asks whether the frames' windows leave no gap.
Tensor AskForGaps(Dispatcher& d, const Tensor& envelope) {
  constexpr double kGap = 1e-11;
  Tensor out;
  {
    const Tensor sizes = d.Call("aten::abs", envelope);
    const Tensor least = d.Call("aten::min", sizes);
    out = d.Call("aten::lt.Scalar", least, kGap);
  }
  d.Call("aten::new_ones", out, Dims{});
  return out;
}

std::vector<Tensor> SignalOfSpectra(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  if (!IsComplex(self.dtype())) Refuse("spectra are complex numbers");
  if (self.rank() != 2 && self.rank() != 3) Refuse("spectra have two or three dimensions");
  const Frames frames = FramesOf(op);
  if (!op.boolean(9) && op.given(4) && IsComplex(op.tensor(4).dtype())) {
    Refuse("real signals have real windows");
  }
  const std::int64_t count = self.size(-1);
  const Count covered = Count(count - 1) * frames.step + frames.size;
  if (covered.overflowed()) Contradict("a signal of more than 2^63 samples");
  const std::int64_t length = covered.value();
  Tensor input;
  Tensor window = InverseWindow(d, op, frames);
  input = FramesOfSpectra(d, op, frames);
  const Tensor parts =
      d.Call("aten::mul.Tensor", input, d.Call("aten::view", window, Dims{1, 1, frames.size}));
  Tensor signal = d.Call("aten::unfold_backward", parts, Dims{parts.size(0), length}, 1,
                         frames.size, frames.step);
  window = d.Call("aten::expand", d.Call("aten::pow.Tensor_Scalar", window, std::int64_t{2}),
                  Dims{1, count, frames.size});
  Tensor envelope =
      d.Call("aten::unfold_backward", window, Dims{1, length}, 1, frames.size, frames.step);
  const auto [start, end] = StretchOf(op, frames, length);
  signal = d.Call("aten::slice.Tensor", signal, 1, start, end);
  envelope = d.Call("aten::slice.Tensor", envelope, 1, start, end);
  const Tensor gaps = AskForGaps(d, envelope);
  signal = d.Call("aten::div.Tensor", signal, envelope);
  if (self.rank() == 2) signal = d.Call("aten::squeeze.dim", signal, 0);
  if (end > length) signal = d.Call("aten::constant_pad_nd", signal, Dims{0, end - length}, 0);
  return {signal};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Call(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kTransform, words, decompose);
}

constexpr std::array kRows{
    Casting(
        precision::kFullOnCpu,
        Call({"aten::stft", "Fourier transforms of overlapping frames.",
              "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
              "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, "
              "bool? align_to_window=None) -> Tensor",
              "aten::stft(f32[2,400], 64, 16, 64, f32[64], False, True, True)"},
             Spectra)),
    Casting(precision::kFullOnCpu,
            Call({"aten::stft.center", "Fourier transforms of overlapping frames around each time.",
                  "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
                  "window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, "
                  "bool? "
                  "onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
                  "aten::stft.center(f32[2,400], 64, 16, 60, f32[60], True, 'reflect', False, "
                  "True, True)"},
                 CenteredSpectra)),
    Casting(precision::kFollow,
            Call({"aten::istft", "The signal of Fourier transforms of overlapping frames.",
                  "(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
                  "window=None, bool center=True, bool normalized=False, bool? onesided=None, int? "
                  "length=None, bool return_complex=False) -> Tensor",
                  "aten::istft(c64[2,33,22], 64, 16, 64, f32[64])"},
                 SignalOfSpectra)),
};

}  // namespace

std::span<const OpDef> Stft() { return kRows; }

}  // namespace steelyard::ops
