// SPDX-License-Identifier: Apache-2.0
//
// Element by element: arithmetic, comparisons, activations, casts. Constants are computed with
// where they can be, because sizes are often made of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "import/onnx/op_map.h"
#include "import/onnx/shapes.h"

namespace steelyard::onnx {
namespace {

Tensor Chained(Call& call, std::string_view op, Tensor first, std::size_t operand) {
  return call.Emit(op, first, call.argument(operand));
}

// --- One operand --------------------------------------------------------------------------------

void Unary(Call& call) { call.Give(call.Emit(call.row().target, call.tensor(0)), call.like(0)); }

template <double (*kFold)(double)>
void FoldedUnary(Call& call) {
  const auto constants = call.reals(0);
  if (!constants) return Unary(call);
  std::vector<double> folded;
  for (const double number : *constants) folded.push_back(kFold(number));
  call.GiveReals(std::move(folded), call.like(0));
}

double SquareRoot(double x) { return std::sqrt(x); }
double Exponential(double x) { return std::exp(x); }
double Logarithm(double x) { return std::log(x); }
double Inverse(double x) { return 1 / x; }
double Negated(double x) { return -x; }

// Of sizes, which have no fraction.
void Rounded(Call& call) {
  if (call.item(0).numbers) return call.GiveItem(call.item(0));
  const bool down = call.row().target == "aten::floor", up = call.row().target == "aten::ceil";
  if (call.item(0).ratios && (down || up)) {
    std::vector<Dim> out;
    for (const Ratio& ratio : *call.item(0).ratios) {
      out.push_back(up ? call.sizes().CeilQuotient(ratio.above, ratio.below)
                       : call.sizes().Quotient(ratio.above, ratio.below));
    }
    return call.GiveNumbers(std::move(out), call.like(0));
  }
  if (call.row().target == "aten::floor") return FoldedUnary<std::floor>(call);
  if (call.row().target == "aten::ceil") return FoldedUnary<std::ceil>(call);
  Unary(call);
}

void Negative(Call& call) {
  const auto numbers = call.item(0).numbers;
  if (!numbers) return FoldedUnary<Negated>(call);
  std::vector<Dim> out;
  for (const Dim number : *numbers) out.push_back(call.sizes().Product(number, Dim(-1)));
  call.GiveNumbers(std::move(out), call.like(0));
}

void Identity(Call& call) { call.GiveItem(call.item(0)); }

void ToBool(Call& call) {
  call.Give(call.Emit(call.row().target, call.tensor(0)), {DType::kBool, call.shape(0)});
}

void Not(Call& call) {
  const auto numbers = call.item(0).numbers;
  if (!numbers) return ToBool(call);
  std::vector<Dim> out;
  for (const Dim number : *numbers) out.push_back(call.sizes().Apply(ExprOp::kNot, number));
  call.GiveNumbers(std::move(out), {DType::kBool, call.shape(0)});
}

void IsInfinite(Call& call) {
  const bool negative = call.integer("detect_negative", 1) != 0;
  const bool positive = call.integer("detect_positive", 1) != 0;
  const Tensor x = call.tensor(0);
  const Like like{DType::kBool, call.shape(0)};
  if (negative == positive) return call.Give(call.Emit("aten::isinf", x), like);
  call.Give(call.Emit(negative ? "aten::isneginf" : "aten::isposinf", x), like);
}

// --- Casts --------------------------------------------------------------------------------------

// As integers, or as whether they are other than zero; nothing where one is too large.
std::optional<std::vector<Dim>> Whole(const std::vector<double>& reals, bool truth) {
  std::vector<Dim> out;
  out.reserve(reals.size());
  for (const double real : reals) {
    const bool fits = std::abs(real) < 0x1p60;
    if (!fits) return std::nullopt;
    out.emplace_back(truth ? std::int64_t{real != 0} : static_cast<std::int64_t>(real));
  }
  return out;
}

// Whether the operand's contents are known, also of the other dtype.
bool GiveCastContents(Call& call, const Like& like) {
  const Item& from = call.item(0);
  const bool truth = like.dtype == DType::kBool;
  auto numbers = call.numbers(0);
  if (from.ratios && IsFloating(like.dtype)) {
    call.GiveRatios(*from.ratios, like);
    return true;
  }
  if (from.ratios && !truth) {
    numbers.emplace();
    for (const Ratio& ratio : *from.ratios) {
      numbers->push_back(call.sizes().TruncatedQuotient(ratio.above, ratio.below));
    }
  }
  if (from.reals && (truth || !numbers)) {
    if (IsFloating(like.dtype)) {
      call.GiveReals(*from.reals, like);
      return true;
    }
    numbers = Whole(*from.reals, truth);
  } else if (numbers && truth) {
    for (Dim& n : *numbers) n = call.sizes().Apply(ExprOp::kNe, n, Dim(0));
  }
  if (!numbers) return false;
  call.GiveNumbers(*std::move(numbers), like);
  return true;
}

void CastTo(Call& call, DType to) {
  Item& from = call.item(0);
  if (from.dtype == to) return call.GiveItem(from);
  const Like like{to, call.shape(0)};
  if (GiveCastContents(call, like)) return;
  call.Give(call.Emit("aten::to.dtype", call.tensor(0), to), like);
}

void Cast(Call& call) {
  const std::int64_t element = call.integer("to", 0);
  const std::optional<DType> to = DTypeOf(element);
  if (!to) Call::GiveUp("a cast to element type " + std::to_string(element));
  CastTo(call, *to);
}

void CastLike(Call& call) { CastTo(call, call.dtype(1)); }

// The same bits as another dtype, of as many.
void BitCast(Call& call) {
  const std::int64_t element = call.integer("to", 0);
  const std::optional<DType> to = DTypeOf(element);
  if (!to) Call::GiveUp("bits of element type " + std::to_string(element));
  if (BitsOf(*to) != BitsOf(call.dtype(0))) Call::GiveUp("bits of another number");
  if (*to == call.dtype(0)) return call.GiveItem(call.item(0));
  call.Give(call.Emit("aten::view.dtype", call.tensor(0), *to), {*to, call.shape(0)});
}

// --- Two operands -------------------------------------------------------------------------------

// Contents of two constants, each repeated where it is the only one; nothing where they are not
// known, or would have to be arranged.
template <class T>
std::optional<std::pair<std::vector<T>, std::vector<T>>> Paired(std::optional<std::vector<T>> a,
                                                                std::optional<std::vector<T>> b) {
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  if (a->size() == 1) a->resize(b->size(), a->front());
  if (b->size() == 1) b->resize(a->size(), b->front());
  if (a->size() != b->size()) return std::nullopt;
  return std::pair(*std::move(a), *std::move(b));
}

bool AreConstant(Call& call) { return call.item(0).is_constant() && call.item(1).is_constant(); }

struct Folding {
  Dim (*sizes)(Sizes& sizes, Dim a, Dim b);
  double (*reals)(double a, double b);
  Ratio (*ratios)(Sizes& sizes, Ratio a, Ratio b) = nullptr;
};

template <Dim (Sizes::*kJoin)(Dim, Dim)>
Ratio OverOne(Sizes& s, Ratio a, Ratio b) {
  return {(s.*kJoin)(s.Product(a.above, b.below), s.Product(b.above, a.below)),
          s.Product(a.below, b.below)};
}
Ratio Times(Sizes& s, Ratio a, Ratio b) {
  return {s.Product(a.above, b.above), s.Product(a.below, b.below)};
}
Ratio By(Sizes& s, Ratio a, Ratio b) { return Times(s, a, {b.below, b.above}); }

// What `join` makes of each element and its partner.
template <class T, class Join>
auto Joined(const std::pair<std::vector<T>, std::vector<T>>& pair, const Join& join) {
  std::vector<decltype(join(pair.first[0], pair.second[0]))> out;
  out.reserve(pair.first.size());
  for (std::size_t i = 0; i < pair.first.size(); ++i) {
    out.push_back(join(pair.first[i], pair.second[i]));
  }
  return out;
}

// Whether both were constants.
bool Fold(Call& call, const Folding& folding, bool exact) {
  if (!AreConstant(call)) return false;
  const Like like{call.dtype(0), shapes::Broadcast(call.sizes(), call.shape(0), call.shape(1))};
  // Quotients of floats have a rest.
  if (const auto pair = Paired(call.numbers(0), call.numbers(1)); pair && exact) {
    const auto join = [&](Dim a, Dim b) { return folding.sizes(call.sizes(), a, b); };
    call.GiveNumbers(Joined(*pair, join), like);
    return true;
  }
  if (const auto pair = Paired(call.reals(0), call.reals(1))) {
    call.GiveReals(Joined(*pair, folding.reals), like);
    return true;
  }
  const auto pair = Paired(call.ratios(0), call.ratios(1));
  if (!pair || folding.ratios == nullptr || !IsFloating(like.dtype)) return false;
  const auto join = [&](Ratio a, Ratio b) { return folding.ratios(call.sizes(), a, b); };
  call.GiveRatios(Joined(*pair, join), like);
  return true;
}

Like Broadcasted(Call& call, DType dtype) {
  return {dtype, shapes::Broadcast(call.sizes(), call.shape(0), call.shape(1))};
}

// `target` on both; a 0-dim constant is a Python number, as in the model it was exported from.
void EmitBinary(Call& call, DType dtype) {
  const bool first_is_number = call.number(0).has_value();
  const Builder::Arg a = first_is_number && call.number(1) ? call.tensor(0) : call.argument(0);
  call.Give(call.Emit(call.row().target, a, call.argument(1)), Broadcasted(call, dtype));
}

// Python writes `x + 1` and `1 + x` as one call.
void Commutative(Call& call, const Folding& folding) {
  if (Fold(call, folding, true)) return;
  const Like like = Broadcasted(call, call.dtype(0));
  const bool swap = call.number(0).has_value() && !call.number(1);
  const std::size_t first = swap ? 1 : 0;
  call.Give(call.Emit(call.row().target, call.tensor(first), call.argument(1 - first)), like);
}

void Add(Call& call) {
  Commutative(call, {[](Sizes& s, Dim a, Dim b) { return s.Sum(a, b); },
                     [](double a, double b) { return a + b; }, OverOne<&Sizes::Sum>});
}

void Multiply(Call& call) {
  Commutative(call, {[](Sizes& s, Dim a, Dim b) { return s.Product(a, b); },
                     [](double a, double b) { return a * b; }, Times});
}

void Subtract(Call& call) {
  constexpr Folding kDifference{[](Sizes& s, Dim a, Dim b) { return s.Difference(a, b); },
                                [](double a, double b) { return a - b; },
                                OverOne<&Sizes::Difference>};
  if (Fold(call, kDifference, true)) return;
  const Like like = Broadcasted(call, call.dtype(0));
  if (const auto number = call.number(0); number && !call.number(1)) {
    return call.Give(call.Emit("aten::rsub.Scalar", call.tensor(1), *number), like);
  }
  call.Give(call.Emit("aten::sub.Tensor", call.tensor(0), call.argument(1)), like);
}

void Divide(Call& call) {
  const bool integral = !IsFloating(call.dtype(0)) && !IsComplex(call.dtype(0));
  // Towards zero; what symbols are divided is as good as never negative, and simpler rounded down.
  constexpr Folding kQuotient{[](Sizes& s, Dim a, Dim b) {
                                const bool fixed = a.is_number() && b.is_number();
                                return fixed ? s.TruncatedQuotient(a, b) : s.Quotient(a, b);
                              },
                              [](double a, double b) { return a / b; }, By};
  if (Fold(call, kQuotient, integral)) return;
  const Like like = Broadcasted(call, call.dtype(0));
  if (integral) {
    const Tensor quotient = call.Emit("aten::div.Tensor_mode", call.tensor(0), call.argument(1),
                                      Builder::Named("rounding_mode", "trunc"));
    return call.Give(quotient, like);
  }
  if (const auto number = call.number(0); number && !call.number(1)) {
    const Tensor inverse = call.Emit("aten::reciprocal", call.tensor(1));
    const auto value = call.reals(0);
    const bool one = value && value->front() == 1;
    return call.Give(one ? inverse : call.Emit("aten::mul.Tensor", inverse, *number), like);
  }
  call.Give(call.Emit("aten::div.Tensor", call.tensor(0), call.argument(1)), like);
}

void Modulo(Call& call) {
  constexpr Folding kRest{[](Sizes& s, Dim a, Dim b) { return s.Apply(ExprOp::kMod, a, b); },
                          [](double a, double b) { return std::fmod(a, b); }};
  const bool as_c = call.integer("fmod", 0) != 0;
  if (!as_c && Fold(call, kRest, true)) return;
  const std::string_view op = as_c ? "aten::fmod.Tensor" : "aten::remainder.Tensor";
  call.Give(call.Emit(op, call.tensor(0), call.argument(1)), Broadcasted(call, call.dtype(0)));
}

void Power(Call& call) {
  if (AreConstant(call)) {
    const auto pair = Paired(call.reals(0), call.reals(1));
    if (pair) {
      const auto power = [](double a, double b) { return std::pow(a, b); };
      return call.GiveReals(Joined(*pair, power), Broadcasted(call, call.dtype(0)));
    }
  }
  const Like like = Broadcasted(call, call.dtype(0));
  const DType base = call.dtype(0), exponent = call.dtype(1);
  Tensor out;
  if (const auto number = call.number(1)) {
    out = call.Emit("aten::pow.Tensor_Scalar", call.tensor(0), *number);
  } else if (const auto first = call.number(0)) {
    out = call.Emit("aten::pow.Scalar", *first, call.tensor(1));
  } else {
    out = call.Emit("aten::pow.Tensor_Tensor", call.tensor(0), call.tensor(1));
  }
  // ONNX keeps the base's dtype, PyTorch promotes.
  const bool promoted = IsFloating(exponent)
                            ? base != exponent && !(call.number(1) && IsFloating(base))
                            : call.number(0) || BitsOf(exponent) > BitsOf(base);
  if (promoted) out = call.Emit("aten::to.dtype", out, base);
  call.Give(out, like);
}

template <ExprOp kOp>
Dim Compared(Sizes& sizes, Dim a, Dim b) {
  // A size is never negative: exporters compare it with -1.
  const bool size_against_negative = (a.is_number() && a.number() < 0 && !b.is_number()) ||
                                     (b.is_number() && b.number() < 0 && !a.is_number());
  if (kOp == ExprOp::kEq && size_against_negative) return Dim(0);
  if (a == b) return Dim(kOp == ExprOp::kEq || kOp == ExprOp::kLe ? 1 : 0);
  return sizes.Apply(kOp, a, b);
}

template <ExprOp kOp, bool kSwapped, bool kNegated>
void Compare(Call& call) {
  const Like like = Broadcasted(call, DType::kBool);
  const auto pair = Paired(call.numbers(0), call.numbers(1));
  if (AreConstant(call) && pair) {
    const auto answer = [&](Dim a, Dim b) {
      const Dim of_both =
          kSwapped ? Compared<kOp>(call.sizes(), b, a) : Compared<kOp>(call.sizes(), a, b);
      return kNegated ? call.sizes().Apply(ExprOp::kNot, of_both) : of_both;
    };
    return call.GiveNumbers(Joined(*pair, answer), like);
  }
  EmitBinary(call, DType::kBool);
}

template <ExprOp kOp>
void Logical(Call& call) {
  const auto pair = Paired(call.numbers(0), call.numbers(1));
  if (!AreConstant(call) || !pair) return EmitBinary(call, DType::kBool);
  const auto join = [&](Dim a, Dim b) { return call.sizes().Apply(kOp, a, b); };
  call.GiveNumbers(Joined(*pair, join), Broadcasted(call, DType::kBool));
}

void ToBoolBinary(Call& call) { EmitBinary(call, DType::kBool); }
void Binary(Call& call) { EmitBinary(call, call.dtype(0)); }

void BitShift(Call& call) {
  const bool left = call.text("direction", "LEFT") == "LEFT";
  const Tensor out =
      call.Emit(left ? "aten::bitwise_left_shift.Tensor" : "aten::bitwise_right_shift.Tensor",
                call.tensor(0), call.tensor(1));
  call.Give(out, Broadcasted(call, call.dtype(0)));
}

void Where(Call& call) {
  Sizes& sizes = call.sizes();
  const Like like{call.dtype(1),
                  shapes::Broadcast(sizes, shapes::Broadcast(sizes, call.shape(0), call.shape(1)),
                                    call.shape(2))};
  const auto condition = call.numbers(0), a = call.numbers(1), b = call.numbers(2);
  if (condition && a && b) {
    const std::size_t count = std::max({condition->size(), a->size(), b->size()});
    const auto at = [count](const std::vector<Dim>& list, std::size_t i) {
      if (list.size() != count && list.size() != 1) Call::GiveUp("constants that broadcast");
      return list[list.size() == 1 ? 0 : i];
    };
    std::vector<Dim> out;
    for (std::size_t i = 0; i < count; ++i) {
      const Dim chosen = at(*condition, i);
      out.push_back(chosen.is_number()
                        ? (chosen != Dim(0) ? at(*a, i) : at(*b, i))
                        : sizes.Apply(ExprOp::kSelect, chosen, at(*a, i), at(*b, i)));
    }
    return call.GiveNumbers(std::move(out), like);
  }
  const auto x = call.number(1), y = call.number(2);
  const Tensor where = call.tensor(0);
  if (x && !y)
    return call.Give(call.Emit("aten::where.ScalarSelf", where, *x, call.tensor(2)), like);
  if (y && !x)
    return call.Give(call.Emit("aten::where.ScalarOther", where, call.tensor(1), *y), like);
  call.Give(call.Emit("aten::where.self", where, call.tensor(1), call.tensor(2)), like);
}

// --- Any number of operands ---------------------------------------------------------------------

void Variadic(Call& call) {
  const bool largest = call.row().target == "aten::maximum";
  const bool extreme = largest || call.row().target == "aten::minimum";
  if (extreme && call.count() == 2) {
    constexpr Folding kMost{[](Sizes& s, Dim a, Dim b) { return s.Maximum(a, b); },
                            [](double a, double b) { return std::max(a, b); }};
    constexpr Folding kLeast{[](Sizes& s, Dim a, Dim b) { return s.Minimum(a, b); },
                             [](double a, double b) { return std::min(a, b); }};
    if (Fold(call, largest ? kMost : kLeast, true)) return;
  }
  if (call.count() == 1) return call.GiveItem(call.item(0));
  Shape shape = call.shape(0);
  Tensor out = call.tensor(0);
  for (std::size_t i = 1; i < call.count(); ++i) {
    shape = shapes::Broadcast(call.sizes(), shape, call.shape(i));
    out = Chained(call, call.row().target, out, i);
  }
  call.Give(out, {call.dtype(0), std::move(shape)});
}

void MeanOfAll(Call& call) {
  if (call.count() == 1) return call.GiveItem(call.item(0));
  Shape shape = call.shape(0);
  Tensor out = call.tensor(0);
  for (std::size_t i = 1; i < call.count(); ++i) {
    shape = shapes::Broadcast(call.sizes(), shape, call.shape(i));
    out = Chained(call, "aten::add.Tensor", out, i);
  }
  out = call.Emit("aten::div.Tensor", out, static_cast<std::int64_t>(call.count()));
  call.Give(out, {call.dtype(0), std::move(shape)});
}

// --- Activations --------------------------------------------------------------------------------

void Clip(Call& call) {
  using Arg = Builder::Arg;
  const Tensor x = call.tensor(0);
  const auto by_attribute = [&](std::string_view name) {
    const auto bound = call.attribute(name);
    return bound ? Arg(static_cast<double>(bound->real)) : Arg(std::nullopt);
  };
  if (call.opset() < 11) {
    const Tensor out = call.Emit("aten::clamp", x, by_attribute("min"), by_attribute("max"));
    return call.Give(out, call.like(0));
  }
  const bool tensors = (call.has(1) && !call.number(1)) || (call.has(2) && !call.number(2));
  if (tensors) {
    const Tensor out = call.Emit("aten::clamp.Tensor", x, call.optional(1), call.optional(2));
    return call.Give(out, call.like(0));
  }
  if (!call.has(1) && !call.has(2)) return call.GiveItem(call.item(0));
  const auto bound = [&](std::size_t i) {
    return call.has(i) ? *call.number(i) : Arg(std::nullopt);
  };
  call.Give(call.Emit("aten::clamp", x, bound(1), bound(2)), call.like(0));
}

void LeakyRelu(Call& call) {
  const double slope = call.real("alpha", 0.01F);
  call.Give(call.Emit("aten::leaky_relu", call.tensor(0), slope), call.like(0));
}
void Elu(Call& call) {
  call.Give(call.Emit("aten::elu", call.tensor(0), call.real("alpha", 1)), call.like(0));
}
void Selu(Call& call) {
  const double alpha = call.real("alpha", 1.67326319217681884765625);
  const double gamma = call.real("gamma", 1.05070102214813232421875);
  call.Give(call.Emit("aten::elu", call.tensor(0), alpha, gamma), call.like(0));
}
void Celu(Call& call) {
  call.Give(call.Emit("aten::celu", call.tensor(0), call.real("alpha", 1)), call.like(0));
}
void Gelu(Call& call) {
  const std::string approximate = call.text("approximate", "none");
  const Tensor out = call.Emit("aten::gelu", call.tensor(0),
                               Builder::Named("approximate", std::string_view(approximate)));
  call.Give(out, call.like(0));
}
void Swish(Call& call) {
  const double alpha = call.real("alpha", 1);
  const Tensor x = call.tensor(0);
  if (alpha == 1) return call.Give(call.Emit("aten::silu", x), call.like(0));
  const Tensor gate = call.Emit("aten::sigmoid", call.Emit("aten::mul.Tensor", x, alpha));
  call.Give(call.Emit("aten::mul.Tensor", x, gate), call.like(0));
}
void HardSigmoid(Call& call) {
  constexpr double kSixth = 1.0 / 6;
  const double alpha = call.real("alpha", 0.2), beta = call.real("beta", 0.5);
  const Tensor x = call.tensor(0);
  if (std::abs(alpha - kSixth) < 1e-6 && beta == 0.5) {
    return call.Give(call.Emit("aten::hardsigmoid", x), call.like(0));
  }
  const Tensor scaled = call.Emit("aten::mul.Tensor", x, alpha);
  const Tensor shifted = call.Emit("aten::add.Tensor", scaled, beta);
  call.Give(call.Emit("aten::clamp", shifted, 0.0, 1.0), call.like(0));
}
void ThresholdedRelu(Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor above = call.Emit("aten::gt.Scalar", x, call.real("alpha", 1));
  call.Give(call.Emit("aten::where.ScalarOther", above, x, 0.0), call.like(0));
}
void Softsign(Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor below = call.Emit("aten::add.Tensor", call.Emit("aten::abs", x), 1.0);
  call.Give(call.Emit("aten::div.Tensor", x, below), call.like(0));
}
void Shrink(Call& call) {
  const double bias = call.real("bias", 0), lambda = call.real("lambd", 0.5);
  const Tensor x = call.tensor(0);
  const Like like = call.like(0);
  const bool floating = IsFloating(like.dtype);
  if (floating && bias == 0) return call.Give(call.Emit("aten::hardshrink", x, lambda), like);
  if (floating && bias == lambda) {
    return call.Give(call.Emit("aten::softshrink", x, lambda), like);
  }
  Call::GiveUp("a bias that is not lambd");
}

// One slope for all, for each channel, or for each element.
void PRelu(Call& call) {
  const Tensor x = call.tensor(0), slope = call.tensor(1);
  const Shape &input = call.shape(0), &slopes = call.shape(1);
  const Like like = call.like(0);
  const bool one = std::ranges::all_of(slopes, [](Dim d) { return d == Dim(1); });
  bool channels = input.size() > 1 && slopes.size() + 1 == input.size() && slopes[0] == input[1];
  for (std::size_t i = 1; channels && i < slopes.size(); ++i) channels = slopes[i] == Dim(1);
  if (one || channels) {
    const Dim count = one ? Dim(1) : slopes[0];
    const Tensor weight =
        slopes.size() == 1 ? slope : call.Emit("aten::reshape", slope, Builder::Shape{count});
    return call.Give(call.Emit("aten::prelu", x, weight), like);
  }
  const Tensor positive = call.Emit("aten::gt.Scalar", x, 0);
  const Tensor sloped = call.Emit("aten::mul.Tensor", x, slope);
  call.Give(call.Emit("aten::where.self", positive, x, sloped), like);
}

// Weighed as in inference, unless the file says otherwise.
void Dropout(Call& call) {
  const bool training =
      call.opset() >= 12 && call.has(2) && call.numbers(2) && call.numbers(2)->front() == Dim(1);
  if (training && !call.wants(1)) {
    const auto ratio = call.reals(1);
    const Tensor out = call.Emit("aten::dropout", call.tensor(0),
                                 ratio && !ratio->empty() ? ratio->front() : 0.5, true);
    return call.Give(out, call.like(0));
  }
  call.GiveItem(call.item(0));
  if (!call.wants(1)) return;
  const DType mask = call.opset() >= 10 ? DType::kBool : call.dtype(0);
  const Tensor kept = call.Emit("aten::ones_like", call.tensor(0), Builder::Named("dtype", mask));
  call.Give(kept, {mask, call.shape(0)});
}

constexpr std::array kRows{
    OpRow{"Abs", 1, FoldedUnary<std::fabs>, "aten::abs"},
    OpRow{"Acos", 7, Unary, "aten::acos"},
    OpRow{"Acosh", 9, Unary, "aten::acosh"},
    OpRow{"Add", 1, Add, "aten::add.Tensor"},
    OpRow{"And", 1, Logical<ExprOp::kAnd>, "aten::logical_and"},
    OpRow{"Asin", 7, Unary, "aten::asin"},
    OpRow{"Asinh", 9, Unary, "aten::asinh"},
    OpRow{"Atan", 7, Unary, "aten::atan"},
    OpRow{"Atanh", 9, Unary, "aten::atanh"},
    OpRow{"BitShift", 11, BitShift},
    OpRow{"BitwiseAnd", 18, Binary, "aten::bitwise_and.Tensor"},
    OpRow{"BitCast", 26, BitCast},
    OpRow{"BitwiseNot", 18, Unary, "aten::bitwise_not"},
    OpRow{"BitwiseOr", 18, Binary, "aten::bitwise_or.Tensor"},
    OpRow{"BitwiseXor", 18, Binary, "aten::bitwise_xor.Tensor"},
    OpRow{"Cast", 1, Cast},
    OpRow{"CastLike", 15, CastLike},
    OpRow{"Ceil", 1, Rounded, "aten::ceil"},
    OpRow{"Celu", 12, Celu},
    OpRow{"Clip", 1, Clip},
    OpRow{"Cos", 7, Unary, "aten::cos"},
    OpRow{"Cosh", 9, Unary, "aten::cosh"},
    OpRow{"Div", 1, Divide},
    OpRow{"Dropout", 1, Dropout},
    OpRow{"Elu", 1, Elu},
    OpRow{"Equal", 1, Compare<ExprOp::kEq, false, false>, "aten::eq.Tensor"},
    OpRow{"Erf", 9, Unary, "aten::erf"},
    OpRow{"Exp", 1, FoldedUnary<Exponential>, "aten::exp"},
    OpRow{"Floor", 1, Rounded, "aten::floor"},
    OpRow{"Gelu", 20, Gelu},
    OpRow{"Greater", 1, Compare<ExprOp::kLt, true, false>, "aten::gt.Tensor"},
    OpRow{"GreaterOrEqual", 12, Compare<ExprOp::kLe, true, false>, "aten::ge.Tensor"},
    OpRow{"HardSigmoid", 1, HardSigmoid},
    OpRow{"HardSwish", 14, Unary, "aten::hardswish"},
    OpRow{"Identity", 1, Identity},
    OpRow{"IsInf", 10, IsInfinite},
    OpRow{"IsNaN", 9, ToBool, "aten::isnan"},
    OpRow{"LeakyRelu", 1, LeakyRelu},
    OpRow{"Less", 1, Compare<ExprOp::kLt, false, false>, "aten::lt.Tensor"},
    OpRow{"LessOrEqual", 12, Compare<ExprOp::kLe, false, false>, "aten::le.Tensor"},
    OpRow{"Log", 1, FoldedUnary<Logarithm>, "aten::log"},
    OpRow{"Max", 1, Variadic, "aten::maximum"},
    OpRow{"Mean", 1, MeanOfAll},
    OpRow{"Min", 1, Variadic, "aten::minimum"},
    OpRow{"Mish", 18, Unary, "aten::mish"},
    OpRow{"Mod", 10, Modulo},
    OpRow{"Mul", 1, Multiply, "aten::mul.Tensor"},
    OpRow{"Neg", 1, Negative, "aten::neg"},
    OpRow{"Not", 1, Not, "aten::logical_not"},
    OpRow{"Or", 1, Logical<ExprOp::kOr>, "aten::logical_or"},
    OpRow{"PRelu", 1, PRelu},
    OpRow{"Pow", 1, Power},
    OpRow{"Reciprocal", 1, FoldedUnary<Inverse>, "aten::reciprocal"},
    OpRow{"Relu", 1, Unary, "aten::relu"},
    OpRow{"Round", 11, Rounded, "aten::round"},
    OpRow{"Selu", 1, Selu},
    OpRow{"Shrink", 9, Shrink},
    OpRow{"Sigmoid", 1, Unary, "aten::sigmoid"},
    OpRow{"Sign", 9, Unary, "aten::sign"},
    OpRow{"Sin", 7, Unary, "aten::sin"},
    OpRow{"Sinh", 9, Unary, "aten::sinh"},
    OpRow{"Softplus", 1, Unary, "aten::softplus"},
    OpRow{"Softsign", 1, Softsign},
    OpRow{"Sqrt", 1, FoldedUnary<SquareRoot>, "aten::sqrt"},
    OpRow{"Sub", 1, Subtract},
    OpRow{"Sum", 1, Variadic, "aten::add.Tensor"},
    OpRow{"Swish", 24, Swish},
    OpRow{"Tan", 7, Unary, "aten::tan"},
    OpRow{"Tanh", 1, Unary, "aten::tanh"},
    OpRow{"ThresholdedRelu", 10, ThresholdedRelu},
    OpRow{"Where", 9, Where},
    OpRow{"Xor", 1, ToBoolBinary, "aten::logical_xor"},
};

}  // namespace

std::span<const OpRow> ElementwiseRows() { return kRows; }

}  // namespace steelyard::onnx
