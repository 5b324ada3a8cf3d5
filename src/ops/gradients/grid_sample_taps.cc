// SPDX-License-Identifier: Apache-2.0
//
// Places are observed in PyTorch: first in pixels, then clamped to the outer pixels or mirrored at
// borders, with a slope that is 0 where clamping makes it so. Taps of linear weights are clamped,
// cubic ones mirrored one by one; where zeros surround the image a mask hides what lies outside.

#include "ops/gradients/grid_sample_taps.h"

#include <span>
#include <utility>

#include "ops/op_def.h"

namespace steelyard::gradients::grid_sample {
namespace {

Expression Clamped(const Expression& t, std::int64_t size) {
  return Method("aten::clamp", t, 0, size - 1);
}

Expression And(const Expression& a, const Expression& b) {
  return Function("aten::bitwise_and.Tensor", a, b);
}

Expression Below(const Expression& t, const Number& limit) {
  return Method("aten::lt.Scalar", t, limit);
}

Expression Remainder(const Expression& t, double divisor) {
  return Function("aten::fmod.Scalar", t, Number(divisor));
}

Expression Floor(const Expression& t) { return Function("aten::floor", t); }

Dims Filled(std::int64_t first, std::int64_t second, std::span<const std::int64_t> rest) {
  Dims out{first, second};
  for (const std::int64_t size : rest) out.push_back(size);
  return out;
}

std::int64_t Product(std::span<const std::int64_t> sizes) {
  Count out = 1;
  for (const std::int64_t size : sizes) out = out * size;
  return out.value();
}

// 1 where a place is between the outer pixels, else 0.
Expression Inside(const Tensor& place, const Axis& axis) {
  return InType(And(Method("aten::gt.Scalar", place, Number(0)),
                    Below(place, Number(static_cast<double>(axis.size - 1)))),
                place.dtype());
}

// Whether an even number of borders is on the way.
Expression IsEven(const Tensor& distance, double span) {
  return Below(Remainder(Floor(distance / Number(span)), 2), Number(0.5));
}

constexpr double kBend = -0.75;  // of Keys' cubic

}  // namespace

Expression Unsqueezed(const Expression& t, std::int64_t dim) {
  return Method("aten::unsqueeze", t, dim);
}
Expression Selected(const Expression& t, std::int64_t index) {
  return Method("aten::select.int", t, -1, index);
}
Expression InSizes(const Expression& t, const Dims& sizes) {
  return Method("aten::reshape", t, sizes);
}
Expression InType(const Expression& t, DType dtype) { return Method("aten::to.dtype", t, dtype); }
Expression Returned(const Expression& e) {
  return Expression([e](Dispatcher& d, Expression::Temporaries&) { return e.Value(d); });
}
Tensor Stacked(Dispatcher& d, const std::vector<Expression>& parts) {
  Expression::Temporaries temporaries;
  Tensors list;
  list.reserve(parts.size());
  for (const Expression& part : parts) {
    list.push_back(part.Part(d, temporaries));
    const bool made = !temporaries.empty() && temporaries.back().id() == list.back().id();
    if (made) temporaries.pop_back();
  }
  Tensor out = d.Call("aten::stack", list, -1);
  while (!list.empty()) list.pop_back();
  while (!temporaries.empty()) temporaries.pop_back();
  return out;
}

// --- Sampling ------------------------------------------------------------------------------------

Sampling::Sampling(Dispatcher& d, Tensor input, Form form)
    : d_(d), input_(std::move(input)), form_(form) {}

Axes Sampling::NewAxes() const {
  const int spatial = input_.rank() - 2;
  Axes axes(static_cast<std::size_t>(spatial));
  for (int i = 0; i < spatial; ++i) {
    Axis& axis = axes[static_cast<std::size_t>(i)];
    axis.index = i;
    axis.size = input_.size(spatial + 1 - i);
    axis.scale = Span(axis) / 2;
  }
  return axes;
}

Expression Sampling::Unscaled(const Tensor& grid, const Axis& axis) {
  return (Selected(grid, axis.index) + Number(1)) * Number(axis.scale);
}

Expression Sampling::Shifted(const Expression& pixels) const {
  return form_.aligns ? pixels : pixels - Number(0.5);
}

// Mirrors a place at the borders, and gives its slope.
Tensor Sampling::Reflect(Tensor& place, const Axis& axis) {
  const double low = Least(), span = Span(axis);
  const Tensor from_low = (place - Number(low)).Value(d_);
  const Tensor distance = Method("aten::abs", from_low).Value(d_);
  const auto sign_where = [this](const Expression& mask) {
    return Function("aten::where.Scalar", mask, Number(1.0), Number(-1.0)).Value(d_);
  };
  const Tensor side = sign_where(from_low >= Number(0));
  const Tensor even = IsEven(distance, span).Value(d_);
  const Tensor direction = sign_where(even);
  const Tensor rest = Method("aten::remainder.Scalar", distance, Number(span)).Value(d_);
  const Tensor mirrored = Function("aten::where.self", even, rest + Number(low),
                                   Number(span) - Expression(rest) + Number(low))
                              .Value(d_);
  const Tensor inside = Inside(mirrored, axis).Value(d_);
  Tensor slope = (side * direction * inside).Value(d_);
  place = Clamped(mirrored, axis.size).Value(d_);
  return slope;
}

void Sampling::PlaceOn(Scope& scope, const Tensor& grid, Axis& axis) {
  Tensor place = Shifted(Unscaled(grid, axis)).Value(d_);
  Tensor slope;
  switch (form_.padding) {
    case Padding::kZeros:
      slope = d_.Call("aten::ones_like", place);
      break;
    case Padding::kBorder:
      slope = Inside(place, axis).Value(d_);
      place = Clamped(place, axis.size).Value(d_);
      break;
    case Padding::kReflection:
      if (form_.aligns && axis.size <= 1) {  // nothing to mirror
        axis.place = axis.slope = scope.Let(Method("aten::zeros_like", place));
        return;
      }
      slope = Reflect(place, axis);
      break;
  }
  const Tensor scaled = (slope * Number(axis.scale)).Value(d_);
  axis.place = scope.Let(place);
  axis.slope = scope.Let(scaled);
}

void Sampling::FindBases(Scope& scope, Axes& axes) {
  for (Axis& axis : axes) axis.base = scope.Let(InType(Floor(axis.place), DType::kInt64));
}
void Sampling::FindFractions(Scope& scope, Axes& axes) {
  for (Axis& axis : axes) {
    axis.fraction = scope.Let(axis.place - InType(axis.base, axis.place.dtype()));
  }
}

// A pixel that there is. Cubic taps are mirrored one by one, where linear ones are near enough.
Expression Sampling::Bounded(const Tensor& tap, const Axis& axis) {
  if (!form_.is_cubic || form_.padding != Padding::kReflection) {
    return Clamped(tap, axis.size);
  }
  return Expression(
      [=, this](Dispatcher&, Expression::Temporaries&) { return Mirrored(tap, axis); });
}

Tensor Sampling::Mirrored(const Tensor& tap, const Axis& axis) {
  if (axis.size <= 1) return d_.Call("aten::zeros_like", tap);
  const double low = Least(), span = Span(axis);
  const Tensor place = InType(tap, DType::kFloat64).Value(d_);
  const Tensor from_low = (place - Number(low)).Value(d_);
  const Tensor distance = Method("aten::abs", from_low).Value(d_);
  const Tensor even = IsEven(distance, span).Value(d_);
  const Tensor rest = Remainder(distance, span).Value(d_);
  const Tensor mirrored =
      Function("aten::where.self", even, rest, Number(span) - Expression(rest)).Value(d_);
  return InType(Clamped(Method("aten::round", mirrored + Number(low)), axis.size), DType::kInt64)
      .Value(d_);
}

// Of each tap the pixel's place in a channel, for all channels.
Tensor Sampling::Flat(const Taps& taps, const Axes& axes) {
  std::size_t i = axes.size() - 1;
  Expression flat = Bounded(taps[i], axes[i]);
  while (i-- > 0) flat = flat * Number(axes[i].size) + Bounded(taps[i], axes[i]);
  const std::int64_t batch = input_.size(0);
  const std::int64_t places = Product(taps[0].sizes().subspan(1));
  return Method("aten::expand", InSizes(flat, Dims{batch, 1, places}),
                Dims{batch, input_.size(1), places})
      .Value(d_);
}

// Nothing is outside of an image that zeros surround.
void Sampling::HideOutside(Tensor& values, const Taps& taps, const Axes& axes) {
  if (form_.padding != Padding::kZeros) return;
  const auto above = [&](std::size_t i) { return taps[i] >= Number(0); };
  const auto below = [&](std::size_t i) { return Below(taps[i], Number(axes[i].size)); };
  std::size_t i = axes.size() - 1;
  Expression inside = And(above(i), below(i));
  while (i-- > 0) inside = And(And(inside, above(i)), below(i));
  const Tensor mask = inside.Value(d_);
  values = Function("aten::where.ScalarOther", Unsqueezed(mask, 1), values, Number(0)).Value(d_);
}

Dims Sampling::Channels() const {
  return {input_.size(0), input_.size(1), Product(input_.sizes().subspan(2))};
}

Tensor Sampling::Gathered(const Taps& taps, const Axes& axes) {
  const Tensor flat = Flat(taps, axes);
  const Expression gathered = Method("aten::gather", InSizes(input_, Channels()), 2, flat);
  Tensor values =
      InSizes(gathered, Filled(input_.size(0), input_.size(1), taps[0].sizes().subspan(1)))
          .Value(d_);
  HideOutside(values, taps, axes);
  return values;
}

Tensor Sampling::Scattered(const Tensor& of, const Tensor& weights, const Taps& taps,
                           const Axes& axes) {
  const Tensor flat = Flat(taps, axes);
  Tensor values = (Unsqueezed(of, -1) * Unsqueezed(weights, 1)).Value(d_);
  HideOutside(values, taps, axes);
  return InSizes(Method("aten::scatter_add", Method("aten::zeros", Channels(), of.dtype()), 2, flat,
                        InSizes(values, Dims(flat.sizes()))),
                 Dims(input_.sizes()))
      .Value(d_);
}

// --- Cubic weights -------------------------------------------------------------------------------

Distances DistancesOf(Scope& scope, const Tensor& fraction) {
  Distances out;
  out.left = fraction;
  out.far_left = scope.Let(fraction + 1.0);
  out.right = scope.Let(1.0 - Expression(fraction));
  out.far_right = scope.Let(2.0 - Expression(fraction));
  return out;
}

Tensor CubicWeights(Dispatcher& d, const Distances& t) {
  const auto outer = [](const Expression& x) {
    return ((Number(kBend) * x - Number(5 * kBend)) * x + Number(8 * kBend)) * x -
           Number(4 * kBend);
  };
  const auto inner = [](const Expression& x) {
    return (Number(kBend + 2) * x - Number(kBend + 3)) * Method("aten::square", x) + Number(1);
  };
  return Stacked(d, {outer(t.far_left), inner(t.left), inner(t.right), outer(t.far_right)});
}

Tensor CubicSlopes(Dispatcher& d, const Distances& t) {
  const auto inner = [](const Expression& x) {
    return (Number(3 * (kBend + 2)) * x - Number(2 * (kBend + 3))) * x;
  };
  return Stacked(
      d,
      {(Number(3 * kBend) * t.far_left - Number(10 * kBend)) * t.far_left + Number(8 * kBend),
       inner(t.left), -inner(t.right),
       (Number(-3 * kBend) * t.far_right + Number(10 * kBend)) * t.far_right - Number(8 * kBend)});
}

Tensor CubicCurvatures(Dispatcher& d, const Distances& t) {
  const auto outer = [](const Expression& x) { return Number(6 * kBend) * x - Number(10 * kBend); };
  const auto inner = [](const Expression& x) {
    return Number(6 * (kBend + 2)) * x - Number(2 * (kBend + 3));
  };
  return Stacked(d, {outer(t.far_left), inner(t.left), inner(t.right), outer(t.far_right)});
}

}  // namespace steelyard::gradients::grid_sample
