// SPDX-License-Identifier: Apache-2.0
//
// Windows that spectra are taken through (ATen/native/TensorFactories.cpp). A periodic one is cut
// from one that is longer by an element.

#include <array>
#include <cstdint>
#include <numbers>
#include <vector>

#include "ops/dispatch/dispatcher.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

struct Window {
  std::int64_t length = 0;
  bool periodic = true;
  DType dtype = kDefaultFloat;
  std::int64_t whole() const { return periodic ? length + 1 : length; }
};

// window_length, and `periodic` where the overload has it; the dtype stands behind both.
template <bool kAsked>
Window WindowOf(const OpView& op, int dtype_at) {
  Window out{.length = op.integer(0)};
  if (kAsked) out.periodic = op.boolean(1);
  out.dtype = op.dtype(dtype_at).value_or(kDefaultFloat);
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;
  if (out.length < 0 || out.length > kLongest) Refuse("a window of a negative or huge length");
  if (!IsFloating(out.dtype)) Refuse("windows of other than real numbers are not modelled");
  return out;
}

// A window of no element or of one has no shape.
bool IsTrivial(const Window& window) { return window.length <= 1; }
std::vector<Tensor> Trivial(Dispatcher& d, const Window& window) {
  if (window.length == 0) return {d.Call("aten::empty.memory_format", Dims{0}, window.dtype)};
  return {d.Call("aten::ones", Dims{1}, window.dtype)};
}

std::vector<Tensor> Cut(Dispatcher& d, const Window& window, const Tensor& whole) {
  if (!window.periodic) return {whole};
  return {d.Call("aten::narrow", whole, 0, 0, window.length)};
}

// The places in the window, times `factor` over its last place.
Tensor Places(Dispatcher& d, const Window& window, double factor) {
  const Tensor out = d.Call("aten::arange", window.whole(), window.dtype);
  d.Call("aten::mul_.Scalar", out, factor / static_cast<double>(window.whole() - 1));
  return out;
}

// alpha - beta cos(2 pi x)
std::vector<Tensor> RaisedCosine(Dispatcher& d, const Window& window, double alpha, double beta) {
  if (IsTrivial(window)) return Trivial(d, window);
  const Tensor out = Places(d, window, 2 * std::numbers::pi);
  d.Call("aten::cos_", out);
  d.Call("aten::mul_.Scalar", out, -beta);
  d.Call("aten::add_.Scalar", out, alpha);
  return Cut(d, window, out);
}

constexpr double kHamming = 0.54;

template <bool kAsked>
std::vector<Tensor> Hann(Dispatcher& d, const OpView& op) {
  return RaisedCosine(d, WindowOf<kAsked>(op, kAsked ? 2 : 1), 0.5, 0.5);
}
template <int kNumbers>
std::vector<Tensor> Hamming(Dispatcher& d, const OpView& op) {
  constexpr int kFirst = 2;
  const double alpha = kNumbers > 0 ? op.real(kFirst) : kHamming;
  const double beta = kNumbers > 1 ? op.real(kFirst + 1) : 1 - kHamming;
  return RaisedCosine(d, WindowOf<true>(op, kFirst + kNumbers), alpha, beta);
}
std::vector<Tensor> PeriodicHamming(Dispatcher& d, const OpView& op) {
  return RaisedCosine(d, WindowOf<false>(op, 1), kHamming, 1 - kHamming);
}

// 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)
template <bool kAsked>
std::vector<Tensor> Blackman(Dispatcher& d, const OpView& op) {
  const Window window = WindowOf<kAsked>(op, kAsked ? 2 : 1);
  if (IsTrivial(window)) return Trivial(d, window);
  const Tensor places = Places(d, window, std::numbers::pi);
  const auto wave = [&](std::int64_t frequency, double size) {
    Tensor out = d.Call("aten::mul.Scalar", places, frequency);
    d.Call("aten::cos_", out);
    d.Call("aten::mul_.Scalar", out, size);
    return out;
  };
  const Tensor fast = wave(4, 0.08), slow = wave(2, 0.5);
  const Tensor difference = d.Call("aten::sub.Tensor", fast, slow);
  return Cut(d, window, d.Call("aten::add.Scalar", difference, 0.42));
}

// Up to the middle and down again.
template <bool kAsked>
std::vector<Tensor> Bartlett(Dispatcher& d, const OpView& op) {
  const Window window = WindowOf<kAsked>(op, kAsked ? 2 : 1);
  if (IsTrivial(window)) return Trivial(d, window);
  const Tensor out = Places(d, window, 2);
  const std::int64_t rising = (window.whole() - 1) / 2 + 1;
  const Tensor falling = d.Call("aten::narrow", out, 0, rising, window.whole() - rising);
  d.Call("aten::mul_.Scalar", falling, std::int64_t{-1});
  d.Call("aten::add_.Scalar", falling, std::int64_t{2});
  return Cut(d, window, out);
}

// A Bessel function of the distance from the middle, over that of the middle.
constexpr double kKaiser = 12;
template <bool kAsked, bool kShaped>
std::vector<Tensor> Kaiser(Dispatcher& d, const OpView& op) {
  const Window window = WindowOf<kAsked>(op, kShaped ? 3 : kAsked ? 2 : 1);
  if (IsTrivial(window)) return Trivial(d, window);
  const Tensor places = d.Call("aten::arange", window.whole(), window.dtype);
  const double beta = kShaped ? op.real(2) : kKaiser;
  return Cut(d, window, d.Call("steelyard::kaiser", places, beta));
}

constexpr OpDef Call(const Words& words, DecomposeFn decompose) {
  return CopyingOut(Composite(Family::kFactory, words, decompose, kNoGradient));
}

constexpr std::array kRows{
    Call({"aten::hann_window", "A raised cosine.",
          "(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::hann_window(16)"},
         Hann<false>),
    Call({"aten::hann_window.periodic", "A raised cosine, of a whole period or not.",
          "(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::hann_window.periodic(16, False)"},
         Hann<true>),
    Call({"aten::hamming_window", "A raised cosine that ends above zero.",
          "(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::hamming_window(16)"},
         PeriodicHamming),
    Call({"aten::hamming_window.periodic", "A raised cosine that ends above zero.",
          "(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::hamming_window.periodic(16, False)"},
         Hamming<0>),
    Call({"aten::hamming_window.periodic_alpha", "A raised cosine around a number.",
          "(int window_length, bool periodic, float alpha, *, ScalarType? dtype=None, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::hamming_window.periodic_alpha(16, False, 0.5)"},
         Hamming<1>),
    Call({"aten::hamming_window.periodic_alpha_beta", "A raised cosine of a size around a number.",
          "(int window_length, bool periodic, float alpha, float beta, *, ScalarType? dtype=None, "
          "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::hamming_window.periodic_alpha_beta(16, False, 0.5, 0.5)"},
         Hamming<2>),
    Call({"aten::blackman_window", "Two raised cosines.",
          "(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::blackman_window(16)"},
         Blackman<false>),
    Call({"aten::blackman_window.periodic", "Two raised cosines, of a whole period or not.",
          "(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::blackman_window.periodic(16, False)"},
         Blackman<true>),
    Call({"aten::bartlett_window", "A triangle.",
          "(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::bartlett_window(16)"},
         Bartlett<false>),
    Call({"aten::bartlett_window.periodic", "A triangle, of a whole period or not.",
          "(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::bartlett_window.periodic(16, False)"},
         Bartlett<true>),
    Call({"aten::kaiser_window", "A Bessel function.",
          "(int window_length, *, ScalarType? dtype=None, Layout? layout=None, Device? "
          "device=None, bool? pin_memory=None) -> Tensor",
          "aten::kaiser_window(16)"},
         Kaiser<false, false>),
    Call({"aten::kaiser_window.periodic", "A Bessel function, of a whole period or not.",
          "(int window_length, bool periodic, *, ScalarType? dtype=None, Layout? layout=None, "
          "Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::kaiser_window.periodic(16, False)"},
         Kaiser<true, false>),
    Call({"aten::kaiser_window.beta", "A Bessel function of a shape.",
          "(int window_length, bool periodic, float beta, *, ScalarType? dtype=None, Layout? "
          "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
          "aten::kaiser_window.beta(16, False, 8.0)"},
         Kaiser<true, true>),
    OnlyWithin(
        OpaqueKernel(Family::kFactory,
                     {"steelyard::kaiser", "A Bessel function at places.",
                      "(Tensor self, float beta) -> Tensor", "steelyard::kaiser(f32[16], 12.0)"},
                     shape::SameAs<0>, allocations::Via<"aten::empty">,
                     work::PerOutput<work::PerElement{.alu = 4, .special = 2}>, kNoGradient)),
};

}  // namespace

std::span<const OpDef> WindowFunctions() { return kRows; }

}  // namespace steelyard::ops
