// SPDX-License-Identifier: Apache-2.0
//
// Long formulas, written as they are in C++ and evaluated as gcc evaluates them: of an operator and
// of a function the right operand first, of a method the object first; what is computed on the way
// lives until the whole is known, and then goes, last first.
//
//   const Tensor slope = (grad * (1 - sigmoid) * sigmoid).Value(d);
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/dispatch/dispatcher.h"

namespace steelyard::gradients {

// A number of C++, which an operator boxes as wide as it is.
class Number {
 public:
  template <std::integral T>
  Number(T value) : argument_(Argument::OfInt(static_cast<std::int64_t>(value))) {}
  Number(double value) : argument_(Argument::OfFloat(value)) {}
  Number(const Argument& argument) : argument_(argument) {}  // of the operator, passed on
  const Argument& argument() const { return argument_; }

 private:
  Argument argument_;
};

class Expression {
 public:
  using Temporaries = std::vector<Tensor>;
  using Run = std::function<Tensor(Dispatcher& d, Temporaries& temporaries)>;

  // A tensor that is there already.
  Expression(const Tensor& tensor)
      : run_([tensor](Dispatcher&, Temporaries&) { return tensor; }), is_named_(true) {}
  explicit Expression(Run run) : run_(std::move(run)) {}

  Tensor Value(Dispatcher& d) const;
  // The value as an operand of another expression.
  Tensor Part(Dispatcher& d, Temporaries& temporaries) const;

 private:
  Run run_;
  bool is_named_ = false;
};

namespace expression {

enum class Order : std::uint8_t { kLeftFirst, kRightFirst };

template <class T>
concept Operand = std::convertible_to<T, Expression>;
template <class T>
using Kept = std::conditional_t<Operand<T>, Expression, T>;

inline Tensor PartOf(const Expression& operand, Dispatcher& d,
                     Expression::Temporaries& temporaries) {
  return operand.Part(d, temporaries);
}
template <class T>
Tensor PartOf(const T&, Dispatcher&, Expression::Temporaries&) {
  return {};
}
inline Tensor Given(const Expression&, const Tensor& part) { return part; }
inline Argument Given(const Number& number, const Tensor&) { return number.argument(); }
template <class T>
T Given(const T& argument, const Tensor&) {
  return argument;
}

template <Order kOrder, class... Args>
Expression Call(OpName op, const Args&... args) {
  return Expression([op, given = std::tuple(args...)](Dispatcher& d,
                                                      Expression::Temporaries& temporaries) {
    constexpr std::size_t kCount = sizeof...(Args);
    std::array<Tensor, kCount> parts;
    return [&]<std::size_t... kI>(std::index_sequence<kI...>) {
      if constexpr (kOrder == Order::kLeftFirst) {
        ((parts[kI] = PartOf(std::get<kI>(given), d, temporaries)), ...);
      } else {
        ((parts[kCount - 1 - kI] = PartOf(std::get<kCount - 1 - kI>(given), d, temporaries)), ...);
      }
      return d.Call(op, Given(std::get<kI>(given), parts[kI])...);
    }(std::make_index_sequence<kCount>());
  });
}

}  // namespace expression

// object.op(args): the object first.
template <class... Args>
Expression Method(OpName op, const Args&... args) {
  return expression::Call<expression::Order::kLeftFirst, expression::Kept<Args>...>(op, args...);
}
// op(args), the last one first.
template <class... Args>
Expression Function(OpName op, const Args&... args) {
  return expression::Call<expression::Order::kRightFirst, expression::Kept<Args>...>(op, args...);
}

Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Number& b);
Expression operator*(const Number& a, const Expression& b);
Expression operator/(const Expression& a, const Number& b);
Expression operator/(const Number& a, const Expression& b);
Expression operator+(const Expression& a, const Number& b);
Expression operator+(const Number& a, const Expression& b);
Expression operator-(const Expression& a, const Number& b);
Expression operator-(const Number& a, const Expression& b);
Expression operator-(const Expression& a);
Expression operator<(const Expression& a, const Number& b);
Expression operator>=(const Expression& a, const Number& b);

// Sums over a dimension that stays, as one of size 1, or goes.
Expression SumOver(const Expression& a, std::int64_t dim, bool keep = true);
Expression Power(const Expression& a, const Number& exponent);
Expression Sigmoid(const Expression& a);
// In the dtype of a tensor.
Expression TypedAs(const Expression& a, const Expression& like);
// Of what `a` is already the only owner.
Expression AddInto(const Expression& a, const Expression& b);
Expression SubtractFrom(const Expression& a, const Expression& b);
Expression DivideInto(const Expression& a, const Number& b);
Expression MultiplyInto(const Expression& a, const Number& b);

}  // namespace steelyard::gradients
