// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms as MKL computes them (ATen/native/mkl/SpectralOps.cpp, SpectralOps.cpp): the
// dimensions that are not transformed become one, in the order of their strides, for which the
// operand may have to be copied; the result keeps that order.

#include "ops/fourier.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/complex.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/promote.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// --- One transform ------------------------------------------------------------------------------

// An operand, the dimensions transformed in it and the sizes of the result.
struct Transform {
  Dims sizes, strides;
  Dims dims;
  Dims result;
};

DType TransformOf(DType real) {
  if (real == DType::kFloat32 || real == DType::kFloat64) return ComplexOf(real);
  Refuse("MKL transforms float32 and float64");
}
void RequireComplex(DType dtype) {
  if (dtype != DType::kComplex64 && dtype != DType::kComplex128) {
    Refuse("complex numbers of float32 or float64 are needed");
  }
}

Dims WrappedDims(const OpView& op, int i, int rank) {
  Dims out;
  shape::DimSet seen = 0;
  for (std::int64_t dim : op.integers(i)) {
    const std::int64_t wrapped = dim < 0 ? dim + rank : dim;
    if (wrapped < 0 || wrapped >= rank || shape::Has(seen, static_cast<int>(wrapped))) {
      Refuse(fmt::format("dimension {} is transformed twice or is not there", dim));
    }
    seen |= shape::DimSet{1} << wrapped;
    out.push_back(wrapped);
  }
  return out;
}

// Outermost first; the last may have to stay where it is (_sort_dims).
Dims SortedDims(const Dims& dims, const Dims& strides, bool keeps_last) {
  std::vector<std::int64_t> order(dims.begin(), dims.end());
  std::ranges::stable_sort(order.begin(), order.end() - (keeps_last ? 1 : 0), std::greater<>(),
                           [&](std::int64_t d) { return strides[static_cast<int>(d)]; });
  return Dims(std::span<const std::int64_t>(order));
}

// The other dimensions by their strides, then the transformed ones.
Dims Order(const Transform& t) {
  shape::DimSet transformed = 0;
  for (std::int64_t d : std::span<const std::int64_t>(t.dims)) {
    transformed |= shape::DimSet{1} << d;
  }
  // As PyTorch divides them, which keeps no order among the others.
  std::vector<std::int64_t> batch;
  batch.reserve(static_cast<std::size_t>(t.sizes.size()));
  for (int d = 0; d < t.sizes.size(); ++d) batch.push_back(d);
  const auto end = std::ranges::partition(
      batch, [&](std::int64_t d) { return !shape::Has(transformed, static_cast<int>(d)); });
  batch.erase(end.begin(), batch.end());
  std::ranges::stable_sort(batch, std::greater<>(),
                           [&](std::int64_t d) { return t.strides[static_cast<int>(d)]; });
  for (std::int64_t d : std::span<const std::int64_t>(t.dims)) batch.push_back(d);
  return Dims(std::span<const std::int64_t>(batch));
}

Dims ResultStrides(const Transform& t) {
  const Dims order = Order(t);
  Dims strides = Dims::Filled(order.size(), 0);
  std::int64_t running = 1;
  for (int i = order.size(); i-- > 0;) {
    const int d = static_cast<int>(order[i]);
    strides[d] = running;
    running *= std::max<std::int64_t>(t.result[d], 1);
  }
  return strides;
}

bool NeedsCopy(const Transform& t) {
  const Dims order = Order(t);
  Dims sizes, strides;
  for (std::int64_t d : std::span<const std::int64_t>(order)) {
    sizes.push_back(t.sizes[static_cast<int>(d)]);
    strides.push_back(t.strides[static_cast<int>(d)]);
  }
  const int batch = sizes.size() - t.dims.size();
  for (int i = 0; i < sizes.size(); ++i) {  // MKL takes no strides of 0
    if (strides[i] == 0 && (i >= batch || sizes[i] > 1)) return true;
  }
  const std::optional<std::int64_t> count =
      NumElements(std::span<const std::int64_t>(sizes).first(static_cast<std::size_t>(batch)));
  if (!count) Contradict("a batch of more than 2^63 transforms");
  Dims merged{*count};
  for (int i = batch; i < sizes.size(); ++i) merged.push_back(sizes[i]);
  return !ViewStrides(sizes, strides, merged).has_value();
}

void CopyIfNeeded(const Transform& t, DType dtype, Allocations& memory) {
  if (!NeedsCopy(t)) return;
  memory.Free(memory.Allocate(allocations::Bytes(work::Elements(t.sizes), dtype), "aten::empty"));
}

// n log2 n multiplications and additions for each line of n, in every transformed dimension.
Work TransformWork(const OpView& op) {
  const TensorView self = op.self();
  std::int64_t rounds = 0;
  const Dims dims = WrappedDims(op, 1, self.rank());
  for (std::int64_t dim : std::span<const std::int64_t>(dims)) {
    const auto size = static_cast<std::uint64_t>(self.size(static_cast<int>(dim)));
    rounds += static_cast<std::int64_t>(std::bit_width(size > 0 ? size - 1 : 0));
  }
  constexpr std::int64_t kPerButterfly = 5;  // of complex numbers, as FFTW counts
  return {.alu = work::Elements(self) * rounds * kPerButterfly};
}

void RequireElements(const TensorView& self, const Dims& dims) {
  for (std::int64_t d : std::span<const std::int64_t>(dims)) {
    if (self.size(static_cast<int>(d)) < 1) Refuse("there is nothing to transform");
  }
  if (self.count() == 0) Refuse("transforms of no elements are not modelled");
}

// --- _fft_c2c(self, dim, normalization, forward) -------------------------------------------------

Transform ComplexTransform(const OpView& op) {
  const TensorView self = op.self();
  const Dims dims = WrappedDims(op, 1, self.rank());
  RequireElements(self, dims);
  const Dims strides(self.strides());
  return {Dims(self.sizes()), strides, SortedDims(dims, strides, false), Dims(self.sizes())};
}
void ComplexShape(const OpView& op, Outputs& out) {
  RequireComplex(op.self().dtype());
  if (op.integers(1).empty()) return shape::Like<0>(op, out);
  const Transform t = ComplexTransform(op);
  out.Add(op.self().dtype(), t.result, ResultStrides(t));
}
void ComplexAllocations(const OpView& op, Allocations& memory) {
  if (op.integers(1).empty()) return memory.Output(0, "aten::empty_strided");
  memory.Output(0, "aten::empty");
  CopyIfNeeded(ComplexTransform(op), op.self().dtype(), memory);
}

// --- _fft_r2c(self, dim, normalization, onesided) ------------------------------------------------

Transform RealTransform(const OpView& op) {
  const TensorView self = op.self();
  const Dims dims = WrappedDims(op, 1, self.rank());
  if (dims.empty()) Refuse("there is no dimension to transform");
  RequireElements(self, dims);
  Transform t{Dims(self.sizes()), Dims(self.strides()),
              SortedDims(dims, Dims(self.strides()), true), Dims(self.sizes())};
  const int last = static_cast<int>(dims[dims.size() - 1]);
  if (op.boolean(3)) t.result[last] = t.result[last] / 2 + 1;
  return t;
}
void RealShape(const OpView& op, Outputs& out) {
  const DType dtype = TransformOf(op.self().dtype());
  const Transform t = RealTransform(op);
  out.Add(dtype, t.result, ResultStrides(t));
}
void RealAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::empty");
  CopyIfNeeded(RealTransform(op), op.self().dtype(), memory);
}

// --- _fft_c2r(self, dim, normalization, last_dim_size) -------------------------------------------

// All dimensions but the last are transformed first, into a tensor of their own.

struct TwoTransforms {
  std::optional<Transform> first;
  Transform last;
};

TwoTransforms RealResult(const OpView& op) {
  const TensorView self = op.self();
  const Dims dims = WrappedDims(op, 1, self.rank());
  if (dims.empty()) Refuse("there is no dimension to transform");
  RequireElements(self, dims);
  TwoTransforms out;
  Dims strides(self.strides());
  const Dims sizes(self.sizes());
  if (dims.size() > 1) {
    const Dims others(
        std::span<const std::int64_t>(dims).first(static_cast<std::size_t>(dims.size() - 1)));
    out.first = Transform{sizes, strides, SortedDims(others, strides, false), sizes};
    strides = ResultStrides(*out.first);
  }
  const std::int64_t last = dims[dims.size() - 1];
  if (op.integer(3) < 1) Refuse(fmt::format("a transform of {} elements", op.integer(3)));
  out.last = {sizes, strides, Dims{last}, sizes};
  out.last.result[static_cast<int>(last)] = op.integer(3);
  return out;
}
void RealResultShape(const OpView& op, Outputs& out) {
  RequireComplex(op.self().dtype());
  const Transform t = RealResult(op).last;
  out.Add(RealOf(op.self().dtype()), t.result, ResultStrides(t));
}
void RealResultAllocations(const OpView& op, Allocations& memory) {
  const TwoTransforms t = RealResult(op);
  const DType dtype = op.self().dtype();
  std::optional<Allocations::Scratch> between;
  if (t.first) {
    between =
        memory.Allocate(allocations::Bytes(work::Elements(t.first->result), dtype), "aten::empty");
    CopyIfNeeded(*t.first, dtype, memory);
  }
  memory.Output(0, "aten::empty");
  CopyIfNeeded(t.last, dtype, memory);
  allocations::Free(between, memory);
}

// --- fft_*(self, n, dim, norm) -------------------------------------------------------------------

// promote_tensor_fft: integers become float32, and complex where that is needed.
Tensor Promoted(Dispatcher& d, const OpView& op, bool to_complex) {
  const Tensor self = d.tensor(op, 0);
  DType type = FloatOf(self.dtype());
  if (to_complex && !IsComplex(type)) type = TransformOf(type);
  return type == self.dtype() ? self : d.Call("aten::to.dtype", self, type);
}

// resize_fft_input: longer lines are cut, shorter ones filled up with zeros.
Tensor Resized(Dispatcher& d, Tensor t, const Dims& dims, const Dims& sizes) {
  const int rank = t.rank();
  Dims pad = Dims::Filled(2 * rank, 0);
  bool pads = false;
  for (int i = 0; i < dims.size(); ++i) {
    const int dim = static_cast<int>(dims[i]);
    if (sizes[i] < 1) Refuse(fmt::format("a transform of {} elements", sizes[i]));
    const std::int64_t have = t.size(dim);
    if (have < sizes[i]) {
      pad[2 * (rank - 1 - dim) + 1] = sizes[i] - have;
      pads = true;
    } else if (have > sizes[i]) {
      t = d.Call("aten::slice.Tensor", t, dim, 0, sizes[i]);
    }
  }
  return pads ? d.Call("aten::constant_pad_nd", t, pad) : t;
}

using fourier::kByN;
using fourier::kByRootN;
using fourier::kNone;

// norm_from_string: "backward" is the default.
std::int64_t NormOf(const OpView& op, bool forward) {
  const std::string_view word = op.given(3) ? op.text(3) : "backward";
  if (word == "ortho") return kByRootN;
  if (word != "backward" && word != "forward") Refuse("an unknown normalization");
  return (word == "forward") == forward ? kByN : kNone;
}

int LineDim(const OpView& op) {
  if (op.self().rank() == 0) Refuse("a 0-dim tensor cannot be transformed");
  return op.dim(2, op.self().rank());
}
Tensor WithLength(Dispatcher& d, const OpView& op, const Tensor& t, int dim, std::int64_t length) {
  return op.given(1) ? Resized(d, t, Dims{dim}, Dims{length}) : t;
}

template <bool kForward>
std::vector<Tensor> Line(Dispatcher& d, const OpView& op) {
  const int dim = LineDim(op);
  const Tensor promoted = Promoted(d, op, false);
  const Tensor input = WithLength(d, op, promoted, dim, op.integer(1));
  const std::int64_t norm = NormOf(op, kForward);
  if (IsComplex(input.dtype())) {
    return {d.Call("aten::_fft_c2c", input, Dims{dim}, norm, kForward)};
  }
  const Tensor out = d.Call("aten::_fft_r2c", input, Dims{dim}, norm, false);
  return {kForward ? out : d.Call("aten::conj", out)};
}
std::vector<Tensor> RealLine(Dispatcher& d, const OpView& op) {
  if (IsComplex(op.self().dtype())) Refuse("real numbers are needed");
  const int dim = LineDim(op);
  const Tensor promoted = Promoted(d, op, false);
  const Tensor input = WithLength(d, op, promoted, dim, op.integer(1));
  return {d.Call("aten::_fft_r2c", input, Dims{dim}, NormOf(op, true), true)};
}
std::vector<Tensor> LineToReal(Dispatcher& d, const OpView& op) {
  const int dim = LineDim(op);
  const Tensor promoted = Promoted(d, op, true);
  const std::int64_t length = op.given(1) ? op.integer(1) : 2 * (promoted.size(dim) - 1);
  if (length < 1) Refuse(fmt::format("a transform of {} elements", length));
  const Tensor input = WithLength(d, op, promoted, dim, length / 2 + 1);
  return {d.Call("aten::_fft_c2r", input, Dims{dim}, NormOf(op, false), length)};
}

// The spectrum of what is symmetric is real (hfft), and the other way round (ihfft): the transforms
// above in the other direction, of conjugates.
std::vector<Tensor> SymmetricLine(Dispatcher& d, const OpView& op) {
  const int dim = LineDim(op);
  const Tensor promoted = Promoted(d, op, true);
  const std::int64_t length = op.given(1) ? op.integer(1) : 2 * (promoted.size(dim) - 1);
  if (length < 1) Refuse(fmt::format("a transform of {} elements", length));
  const Tensor input = WithLength(d, op, promoted, dim, length / 2 + 1);
  const Tensor conjugate = d.Call("aten::conj", input);
  return {d.Call("aten::_fft_c2r", conjugate, Dims{dim}, NormOf(op, true), length)};
}
std::vector<Tensor> LineToSymmetric(Dispatcher& d, const OpView& op) {
  if (IsComplex(op.self().dtype())) Refuse("real numbers are needed");
  const int dim = LineDim(op);
  const Tensor promoted = Promoted(d, op, false);
  const Tensor input = WithLength(d, op, promoted, dim, op.integer(1));
  return {
      d.Call("aten::conj", d.Call("aten::_fft_r2c", input, Dims{dim}, NormOf(op, false), true))};
}

// Several dimensions: s, dim (canonicalize_fft_shape_and_dim_args).
struct Box {
  Dims dims, sizes;
};
Box BoxOf(const OpView& op) {
  const TensorView self = op.self();
  Box box;
  if (op.given(2)) {
    box.dims = WrappedDims(op, 2, self.rank());
  } else {
    const int count = op.given(1) ? op.ints(1).size() : self.rank();
    if (count > self.rank()) Refuse("more sizes than dimensions");
    for (int i = self.rank() - count; i < self.rank(); ++i) box.dims.push_back(i);
  }
  const Dims sizes = op.given(1) ? op.ints(1) : Dims::Filled(box.dims.size(), -1);
  if (sizes.size() != box.dims.size()) Refuse("a size for each dimension is needed");
  for (int i = 0; i < sizes.size(); ++i) {
    box.sizes.push_back(sizes[i] == -1 ? self.size(static_cast<int>(box.dims[i])) : sizes[i]);
  }
  return box;
}

template <bool kForward>
std::vector<Tensor> ComplexBox(Dispatcher& d, const OpView& op) {
  const Box box = BoxOf(op);
  const Tensor promoted = Promoted(d, op, true);
  const Tensor input = Resized(d, promoted, box.dims, box.sizes);
  return {d.Call("aten::_fft_c2c", input, box.dims, NormOf(op, kForward), kForward)};
}
std::vector<Tensor> RealBox(Dispatcher& d, const OpView& op) {
  if (IsComplex(op.self().dtype())) Refuse("real numbers are needed");
  const Box box = BoxOf(op);
  if (box.dims.empty()) Refuse("there is no dimension to transform");
  const Tensor promoted = Promoted(d, op, false);
  const Tensor input = Resized(d, promoted, box.dims, box.sizes);
  return {d.Call("aten::_fft_r2c", input, box.dims, NormOf(op, true), true)};
}
// A box that is half of what is transformed: the other half mirrors it, along its last dimension.
struct HalfBox {
  Box box;
  std::int64_t length = 0;  // of that dimension, whole
};
HalfBox HalfBoxOf(const OpView& op) {
  Box box = BoxOf(op);
  if (box.dims.empty()) Refuse("there is no dimension to transform");
  const int last = box.dims.size() - 1;
  const bool given = op.given(1) && op.ints(1)[last] != -1;
  const std::int64_t length = given ? box.sizes[last] : 2 * (box.sizes[last] - 1);
  if (length < 1) Refuse(fmt::format("a transform of {} elements", length));
  box.sizes[last] = length / 2 + 1;
  return {box, length};
}
std::vector<Tensor> BoxToReal(Dispatcher& d, const OpView& op) {
  const auto [box, length] = HalfBoxOf(op);
  const Tensor promoted = Promoted(d, op, true);
  const Tensor input = Resized(d, promoted, box.dims, box.sizes);
  return {d.Call("aten::_fft_c2r", input, box.dims, NormOf(op, false), length)};
}

Dims AllButLast(const Dims& dims) {
  return Dims(std::span<const std::int64_t>(dims).first(static_cast<std::size_t>(dims.size() - 1)));
}
std::vector<Tensor> SymmetricBox(Dispatcher& d, const OpView& op) {
  const auto [box, length] = HalfBoxOf(op);
  const int last = box.dims.size() - 1;
  const std::int64_t norm = NormOf(op, true);
  const Tensor promoted = Promoted(d, op, true);
  const Tensor input = Resized(d, promoted, box.dims, box.sizes);
  Tensor spectrum =
      last > 0 ? d.Call("aten::_fft_c2c", input, AllButLast(box.dims), norm, true) : input;
  spectrum = d.Call("aten::conj", spectrum);
  return {d.Call("aten::_fft_c2r", spectrum, Dims{box.dims[last]}, norm, length)};
}
std::vector<Tensor> BoxToSymmetric(Dispatcher& d, const OpView& op) {
  if (IsComplex(op.self().dtype())) Refuse("real numbers are needed");
  const Box box = BoxOf(op);
  if (box.dims.empty()) Refuse("there is no dimension to transform");
  const int last = box.dims.size() - 1;
  const std::int64_t norm = NormOf(op, false);
  const Tensor promoted = Promoted(d, op, false);
  const Tensor input = Resized(d, promoted, box.dims, box.sizes);
  Tensor half = d.Call("aten::_fft_r2c", input, Dims{box.dims[last]}, norm, true);
  if (last == 0) return {d.Call("aten::conj", half)};
  half = d.Call("aten::conj_physical", half);
  return {d.Call("aten::_fft_c2c", half, AllButLast(box.dims), norm, false)};
}

template <bool kInverse>
std::vector<Tensor> Shift(Dispatcher& d, const OpView& op) {
  const TensorView self = op.self();
  Dims dims, shifts;
  if (op.given(1)) {
    for (std::int64_t dim : op.integers(1)) {
      if (dim < -self.rank() || dim >= self.rank()) Refuse("a dimension that is not there");
      dims.push_back(dim < 0 ? dim + self.rank() : dim);
    }
  } else {
    for (int i = 0; i < self.rank(); ++i) dims.push_back(i);
  }
  for (std::int64_t dim : std::span<const std::int64_t>(dims)) {
    const std::int64_t size = self.size(static_cast<int>(dim));
    shifts.push_back(kInverse ? (size + 1) / 2 : size / 2);
  }
  return {d.Call("aten::roll", d.tensor(op, 0), shifts, dims)};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef TransformKernel(const Words& words, ShapeFn shape, AllocationsFn allocations,
                                Gradient grad) {
  return CopyingOut(
      OpaqueKernel(Family::kTransform, words, shape, allocations, TransformWork, grad));
}
constexpr OpDef Call(const Words& words, DecomposeFn decompose) {
  return Composite(Family::kTransform, words, decompose);
}

constexpr std::array kRows{
    TransformKernel({"aten::_fft_c2c", "Fourier transform of complex numbers.",
                     "(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
                     "aten::_fft_c2c(c64[4,8,6], [1], 0, True)"},
                    ComplexShape, ComplexAllocations, gradients::kTransformComplex),
    TransformKernel({"aten::_fft_r2c", "Fourier transform of real numbers.",
                     "(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
                     "aten::_fft_r2c(f32[4,8,6], [1], 0, True)"},
                    RealShape, RealAllocations, gradients::kTransformReal),
    TransformKernel({"aten::_fft_c2r", "Fourier transform back to real numbers.",
                     "(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
                     "aten::_fft_c2r(c64[4,8,5], [1,2], 2, 8)"},
                    RealResultShape, RealResultAllocations, gradients::kTransformToReal),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_fft", "Fourier transform along a dimension.",
                  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                  "aten::fft_fft(f32[4,8])"},
                 Line<true>)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_ifft", "Its inverse.",
                  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                  "aten::fft_ifft(c64[4,8])"},
                 Line<false>)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_rfft", "The half that real numbers need.",
                  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                  "aten::fft_rfft(f32[4,8])"},
                 RealLine)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_irfft", "Its inverse.",
                  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                  "aten::fft_irfft(c64[4,5])"},
                 LineToReal)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_fft2", "Fourier transform along two dimensions.",
                  "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                  "aten::fft_fft2(f32[4,8])"},
                 ComplexBox<true>)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_ifft2", "Its inverse.",
                  "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                  "aten::fft_ifft2(c64[4,8])"},
                 ComplexBox<false>)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_rfft2", "The half that real numbers need.",
                  "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                  "aten::fft_rfft2(f32[2,4,8])"},
                 RealBox)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_irfft2", "Its inverse.",
                  "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                  "aten::fft_irfft2(c64[2,4,5])"},
                 BoxToReal)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_fftn", "Fourier transform along dimensions.",
                  "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                  "aten::fft_fftn(c64[4,8,6])"},
                 ComplexBox<true>)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_ifftn", "Its inverse.",
                  "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                  "aten::fft_ifftn(c64[4,8,6])"},
                 ComplexBox<false>)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_rfftn", "The half that real numbers need.",
                  "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                  "aten::fft_rfftn(f32[4,8,6])"},
                 RealBox)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_irfftn", "Its inverse.",
                  "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                  "aten::fft_irfftn(c64[4,8,5])"},
                 BoxToReal)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_hfft", "The real spectrum of a symmetric signal.",
                  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                  "aten::fft_hfft(c64[4,5])"},
                 SymmetricLine)),
    Casting(precision::kFullOnCpu,
            Call({"aten::fft_ihfft", "Its inverse.",
                  "(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                  "aten::fft_ihfft(f32[4,8])"},
                 LineToSymmetric)),
    Casting(precision::kFollow,
            Call({"aten::fft_hfft2", "The real spectrum of a symmetric signal of two dimensions.",
                  "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                  "aten::fft_hfft2(c64[2,4,5])"},
                 SymmetricBox)),
    Casting(precision::kFollow,
            Call({"aten::fft_ihfft2", "Its inverse.",
                  "(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
                  "aten::fft_ihfft2(f32[2,4,8])"},
                 BoxToSymmetric)),
    Casting(precision::kFollow,
            Call({"aten::fft_hfftn", "The real spectrum of a symmetric signal of some dimensions.",
                  "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                  "aten::fft_hfftn(c64[4,8,5])"},
                 SymmetricBox)),
    Casting(precision::kFollow,
            Call({"aten::fft_ihfftn", "Its inverse.",
                  "(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                  "aten::fft_ihfftn(f32[4,8,6])"},
                 BoxToSymmetric)),
    Call({"aten::fft_fftshift", "The zero frequency moved to the middle.",
          "(Tensor self, int[1]? dim=None) -> Tensor", "aten::fft_fftshift(f32[4,8])"},
         Shift<false>),
    Call({"aten::fft_ifftshift", "The zero frequency moved to the front.",
          "(Tensor self, int[1]? dim=None) -> Tensor", "aten::fft_ifftshift(f32[4,8], [1])"},
         Shift<true>),
};

}  // namespace

std::span<const OpDef> Fourier() { return kRows; }

}  // namespace steelyard::ops
