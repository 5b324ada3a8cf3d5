// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms, the windows that are laid over signals before them, and the filters that are
// laid over their frequencies.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "import/onnx/op_map.h"

namespace steelyard::onnx {
namespace {

// --- Windows ------------------------------------------------------------------------------------

// A cosine of so many periods, times a number.
Tensor Cosine(Call& call, Tensor steps, double periods, double factor) {
  const Tensor angle = call.Emit("aten::mul.Tensor", steps, 2 * std::numbers::pi * periods);
  return call.Emit("aten::mul.Tensor", call.Emit("aten::cos", angle), factor);
}

// Sums of cosines, by their factors (torch.signal.windows.general_cosine).
struct Cosines {
  std::string_view name;
  std::array<double, 3> factors;
};
constexpr std::array kWindows{Cosines{"hann", {0.5, -0.5, 0}},
                              Cosines{"hamming", {25.0 / 46, -21.0 / 46, 0}},
                              Cosines{"blackman", {0.42, -0.5, 0.08}}};

void Window(Call& call) {
  const std::vector<std::int64_t> size = call.known_integers(0);
  const auto dtype = DTypeOf(call.integer("output_datatype", 1));
  if (size.size() != 1 || size[0] < 1 || !dtype) Call::GiveUp("a window of no known size");
  const bool periodic = call.integer("periodic", 1) != 0;
  const auto period = static_cast<double>(periodic || size[0] == 1 ? size[0] : size[0] - 1);
  const Tensor steps = call.Emit("aten::arange", size[0], Builder::Named("dtype", DType::kFloat32));
  const auto* of = std::ranges::find(kWindows, call.row().target, &Cosines::name);
  Tensor out = Cosine(call, steps, 1 / period, of->factors[1]);
  if (of->factors[2] != 0) {
    out = call.Emit("aten::add.Tensor", out, Cosine(call, steps, 2 / period, of->factors[2]));
  }
  out = call.Emit("aten::add.Tensor", out, of->factors[0]);
  if (*dtype != DType::kFloat32) out = call.Emit("aten::to.dtype", out, *dtype);
  call.Give(out, {*dtype, {Dim(size[0])}});
}

// --- Transforms ---------------------------------------------------------------------------------

// Numbers of the last dimension: a real one, or the two parts of a complex one.
bool IsComplexPair(Call& call) {
  const Shape& shape = call.shape(0);
  if (shape.size() < 2 || (shape.back() != Dim(1) && shape.back() != Dim(2))) {
    Call::GiveUp("numbers that are neither real nor complex");
  }
  return shape.back() == Dim(2);
}

Tensor AsNumbers(Call& call, bool is_complex) {
  const Tensor x = call.tensor(0);
  return is_complex ? call.Emit("aten::view_as_complex", x) : call.Emit("aten::squeeze.dim", x, -1);
}

// Of so many frequencies those that are no mirror of others.
Dim HalfOf(Sizes& sizes, Dim count) { return sizes.Sum(sizes.Quotient(count, Dim(2)), Dim(1)); }

// Of the transform, where operand 1 says it.
std::optional<Dim> LengthOf(Call& call) {
  if (!call.has(1)) return std::nullopt;
  const std::vector<Dim> written = call.known_numbers(1);
  if (written.size() != 1) Call::GiveUp("no length");
  return written[0];
}

// Of half of the frequencies, whose mirror makes the result real.
void RealInverse(Call& call, int axis, bool is_complex) {
  if (!is_complex) Call::GiveUp("half of a transform that is real");
  Shape to = call.shape(0);
  Dim& size = to[static_cast<std::size_t>(axis)];
  Sizes& sizes = call.sizes();
  size = LengthOf(call).value_or(sizes.Product(sizes.Difference(size, Dim(1)), Dim(2)));
  to.back() = Dim(1);
  const Tensor out = call.Emit("aten::fft_irfft", AsNumbers(call, true), size, axis);
  call.Give(call.Emit("aten::unsqueeze", out, -1), {call.dtype(0), to});
}

// x, length, and from version 20 on the axis
void Fourier(Call& call) {
  const int rank = call.rank(0);
  std::int64_t along = call.opset() < 20 ? call.integer("axis", 1) : -2;
  if (call.opset() >= 20 && call.has(2)) {
    const std::vector<std::int64_t> axis = call.known_integers(2);
    if (axis.size() != 1) Call::GiveUp("no axis");
    along = axis[0];
  }
  const int axis = call.axis(along, rank);
  if (axis == rank - 1) Call::GiveUp("an axis of parts");
  const bool is_complex = IsComplexPair(call), half = call.integer("onesided", 0) != 0,
             inverse = call.integer("inverse", 0) != 0;
  Shape to = call.shape(0);
  Dim& size = to[static_cast<std::size_t>(axis)];
  if (const auto written = LengthOf(call)) size = *written;
  const Dim length = size;
  if (half && inverse) return RealInverse(call, axis, is_complex);
  if (half && is_complex) Call::GiveUp("half of a complex transform");
  if (half) size = HalfOf(call.sizes(), size);
  to.back() = Dim(2);
  const Tensor x = AsNumbers(call, is_complex);
  const std::string_view op = half      ? "aten::fft_rfft"
                              : inverse ? "aten::fft_ifft"
                                        : "aten::fft_fft";
  const Tensor out = call.Emit(op, x, length, axis);
  call.Give(call.Emit("aten::view_as_real", out), {call.dtype(0), to});
}

// signal, step, window, length of a frame
void ShortFourier(Call& call) {
  const bool is_complex = call.rank(0) == 3 && IsComplexPair(call);
  const bool half = call.integer("onesided", 1) != 0 && !is_complex;
  const std::vector<std::int64_t> step = call.known_integers(1);
  Dim length(0);
  if (call.has(3)) {
    const std::vector<Dim> written = call.known_numbers(3);
    if (written.size() != 1) Call::GiveUp("no length");
    length = written[0];
  } else if (call.has(2)) {
    length = call.shape(2).at(0);
  }
  if (step.size() != 1 || step[0] < 1 || length == Dim(0)) Call::GiveUp("frames of no known size");
  const Tensor x = call.rank(0) == 3 ? AsNumbers(call, is_complex) : call.tensor(0);
  const Tensor out =
      call.Emit("aten::stft", x, length, step[0], length, call.optional(2), false, half, true);
  Sizes& sizes = call.sizes();
  const Dim room = sizes.Difference(call.shape(0).at(1), length);
  const Dim frames = sizes.Sum(sizes.Quotient(room, Dim(step[0])), Dim(1));
  const Tensor turned = call.Emit("aten::transpose.int", out, 1, 2);
  call.Give(call.Emit("aten::view_as_real", turned),
            {call.dtype(0),
             {call.shape(0).at(0), frames, half ? HalfOf(sizes, length) : length, Dim(2)}});
}

// --- Filters ------------------------------------------------------------------------------------

// torchaudio.functional.melscale_fbanks: triangles that are as wide on the mel scale.
// bins, length of the transform, samples a second, least and highest frequency
void MelWeights(Call& call) {
  const std::vector<std::int64_t> bins = call.known_integers(0), length = call.known_integers(1);
  const auto rate = call.reals(2), least = call.reals(3), most = call.reals(4);
  const auto dtype = DTypeOf(call.integer("output_datatype", 1));
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (bins.size() != 1 || length.size() != 1 || bins[0] < 1 || length[0] < 1 || bins[0] > kMost ||
      !dtype) {
    Call::GiveUp("filters of no known number");
  }
  if (!rate || !least || !most || rate->size() != 1 || least->size() != 1 || most->size() != 1) {
    Call::GiveUp("frequencies that depend on data");
  }
  const auto mel = [](double hertz) { return 2595.0 * std::log10(1.0 + hertz / 700.0); };
  const std::int64_t frequencies = length[0] / 2 + 1;
  const Tensor at = call.Emit("aten::linspace", 0.0, rate->front() / 2, frequencies);
  Tensor edges = call.Emit("aten::linspace", mel(least->front()), mel(most->front()), bins[0] + 2);
  edges = call.Emit("aten::div.Tensor", edges, 2595.0);
  edges = call.Emit("aten::sub.Tensor", call.Emit("aten::pow.Scalar", 10.0, edges), 1.0);
  edges = call.Emit("aten::mul.Tensor", edges, 700.0);
  const auto part = [&](Tensor of, std::int64_t dim, std::int64_t from, std::int64_t count) {
    return call.Emit("aten::slice.Tensor", of, dim, from, from + count);
  };
  const Tensor widths =
      call.Emit("aten::sub.Tensor", part(edges, 0, 1, bins[0] + 1), part(edges, 0, 0, bins[0] + 1));
  const Tensor slopes = call.Emit("aten::sub.Tensor", call.Emit("aten::unsqueeze", edges, 0),
                                  call.Emit("aten::unsqueeze", at, 1));
  const Tensor falling =
      call.Emit("aten::div.Tensor", call.Emit("aten::neg", part(slopes, 1, 0, bins[0])),
                part(widths, 0, 0, bins[0]));
  const Tensor rising =
      call.Emit("aten::div.Tensor", part(slopes, 1, 2, bins[0]), part(widths, 0, 1, bins[0]));
  Tensor out = call.Emit("aten::minimum", falling, rising);
  out = call.Emit("aten::clamp_min", out, 0);
  if (*dtype != DType::kFloat32) out = call.Emit("aten::to.dtype", out, *dtype);
  call.Give(out, {*dtype, {Dim(frequencies), Dim(bins[0])}});
}

constexpr std::array kRows{
    OpRow{.name = "BlackmanWindow", .since = 17, .translate = Window, .target = "blackman"},
    OpRow{.name = "DFT", .since = 17, .translate = Fourier, .settings = 0b110},
    OpRow{.name = "HammingWindow", .since = 17, .translate = Window, .target = "hamming"},
    OpRow{.name = "HannWindow", .since = 17, .translate = Window, .target = "hann"},
    OpRow{.name = "MelWeightMatrix", .since = 17, .translate = MelWeights, .settings = 0b11111},
    OpRow{.name = "STFT", .since = 17, .translate = ShortFourier, .settings = 0b1010},
};

}  // namespace

std::span<const OpRow> SignalRows() { return kRows; }

}  // namespace steelyard::onnx
