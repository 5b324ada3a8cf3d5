// SPDX-License-Identifier: Apache-2.0
//
// Operators that are other names of operators: NumPy's words for comparisons and inverse functions,
// and what torch.special and torch.linalg call what torch has too. PyTorch calls the other one.

#include <array>

#include "ops/registry.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"

namespace steelyard::ops {
namespace {

template <Label kTarget>
constexpr OpDef Name(Family family, const Words& words) {
  return Composite(family, words, decompose::SameAs<kTarget>);
}

template <Label kTarget>
constexpr OpDef InPlace(const Words& words) {
  return Name<kTarget>(Family::kElementwise, words);
}

constexpr std::array kRows{
    Name<"aten::acos">(Family::kElementwise, {"aten::arccos", "The inverse cosine.",
                                              "(Tensor self) -> Tensor", "aten::arccos(f32[2,8])"}),
    Name<"aten::acosh">(Family::kElementwise,
                        {"aten::arccosh", "The inverse hyperbolic cosine.",
                         "(Tensor self) -> Tensor", "aten::arccosh(f32[2,8])"}),
    Name<"aten::asin">(Family::kElementwise, {"aten::arcsin", "The inverse sine.",
                                              "(Tensor self) -> Tensor", "aten::arcsin(f32[2,8])"}),
    Name<"aten::asinh">(Family::kElementwise,
                        {"aten::arcsinh", "The inverse hyperbolic sine.", "(Tensor self) -> Tensor",
                         "aten::arcsinh(f32[2,8])"}),
    Name<"aten::atan">(Family::kElementwise, {"aten::arctan", "The inverse tangent.",
                                              "(Tensor self) -> Tensor", "aten::arctan(f32[2,8])"}),
    Name<"aten::atanh">(Family::kElementwise,
                        {"aten::arctanh", "The inverse hyperbolic tangent.",
                         "(Tensor self) -> Tensor", "aten::arctanh(f32[2,8])"}),
    Name<"aten::atan2">(Family::kElementwise, {"aten::arctan2", "The angle of a point.",
                                               "(Tensor self, Tensor other) -> Tensor",
                                               "aten::arctan2(f32[2,8], f32[8])"}),
    Name<"aten::trunc">(Family::kElementwise, {"aten::fix", "Rounds to zero.",
                                               "(Tensor self) -> Tensor", "aten::fix(f32[2,8])"}),
    Name<"aten::clamp.Tensor">(Family::kElementwise,
                               {"aten::clip.Tensor", "Limits to what two tensors say.",
                                "(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                                "aten::clip.Tensor(f32[2,8], f32[8], f32[8])"}),
    Name<"aten::gt.Tensor">(
        Family::kElementwise,
        {"aten::greater.Tensor", "Whether the first is larger.",
         "(Tensor self, Tensor other) -> Tensor", "aten::greater.Tensor(f32[2,8], f32[8])"}),
    Name<"aten::gt.Scalar">(
        Family::kElementwise,
        {"aten::greater.Scalar", "Whether an element is larger than a number.",
         "(Tensor self, Scalar other) -> Tensor", "aten::greater.Scalar(bool[2,8], 1)"}),
    Name<"aten::ge.Tensor">(
        Family::kElementwise,
        {"aten::greater_equal.Tensor", "Whether the first is not smaller.",
         "(Tensor self, Tensor other) -> Tensor", "aten::greater_equal.Tensor(f32[2,8], f32[8])"}),
    Name<"aten::ge.Scalar">(
        Family::kElementwise,
        {"aten::greater_equal.Scalar", "Whether an element is not smaller than a number.",
         "(Tensor self, Scalar other) -> Tensor", "aten::greater_equal.Scalar(f32[8,2]{1,8}, 0)"}),
    Name<"aten::lt.Tensor">(
        Family::kElementwise,
        {"aten::less.Tensor", "Whether the first is smaller.",
         "(Tensor self, Tensor other) -> Tensor", "aten::less.Tensor(f32[2,8], f32[8])"}),
    Name<"aten::lt.Scalar">(
        Family::kElementwise,
        {"aten::less.Scalar", "Whether an element is smaller than a number.",
         "(Tensor self, Scalar other) -> Tensor", "aten::less.Scalar(f32[2,8], 0)"}),
    Name<"aten::le.Tensor">(
        Family::kElementwise,
        {"aten::less_equal.Tensor", "Whether the first is not larger.",
         "(Tensor self, Tensor other) -> Tensor", "aten::less_equal.Tensor(i64[8], i64[8,1])"}),
    Name<"aten::le.Scalar">(
        Family::kElementwise,
        {"aten::less_equal.Scalar", "Whether an element is not larger than a number.",
         "(Tensor self, Scalar other) -> Tensor", "aten::less_equal.Scalar(f16[2,8], 0)"}),
    Name<"aten::ne.Tensor">(Family::kElementwise, {"aten::not_equal.Tensor", "Whether two differ.",
                                                   "(Tensor self, Tensor other) -> Tensor",
                                                   "aten::not_equal.Tensor(f32[2,8], f32[8])"}),
    Name<"aten::ne.Scalar">(
        Family::kElementwise,
        {"aten::not_equal.Scalar", "Whether an element differs from a number.",
         "(Tensor self, Scalar other) -> Tensor", "aten::not_equal.Scalar(f32[2,8], 0)"}),
    Name<"aten::div.Tensor_mode">(
        Family::kElementwise,
        {"aten::divide.Tensor_mode", "Divides and rounds as `rounding_mode` says.",
         "(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
         "aten::divide.Tensor_mode(i64[2,8], i64[8], rounding_mode='floor')"}),
    Name<"aten::div.Scalar_mode">(
        Family::kElementwise,
        {"aten::divide.Scalar_mode", "Divides by a number and rounds as `rounding_mode` says.",
         "(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
         "aten::divide.Scalar_mode(f32[2,8], 3, rounding_mode='trunc')"}),
    Name<"aten::sub.Scalar">(Family::kElementwise,
                             {"aten::subtract.Scalar", "Subtracts a number.",
                              "(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                              "aten::subtract.Scalar(i64[2,8], 1.5)"}),
    Name<"aten::digamma">(Family::kElementwise,
                          {"aten::special_digamma", "The derivative of lgamma.",
                           "(Tensor self) -> Tensor", "aten::special_digamma(f32[2,8])"}),
    Name<"aten::digamma">(Family::kElementwise,
                          {"aten::special_psi", "The derivative of lgamma.",
                           "(Tensor self) -> Tensor", "aten::special_psi(f32[2,8])"}),
    Name<"aten::erf">(Family::kElementwise,
                      {"aten::special_erf", "The error function.", "(Tensor self) -> Tensor",
                       "aten::special_erf(f32[2,8])"}),
    Name<"aten::erfc">(Family::kElementwise,
                       {"aten::special_erfc", "One minus the error function.",
                        "(Tensor self) -> Tensor", "aten::special_erfc(f32[2,8])"}),
    Name<"aten::erfinv">(Family::kElementwise,
                         {"aten::special_erfinv", "The inverse error function.",
                          "(Tensor self) -> Tensor", "aten::special_erfinv(f32[2,8])"}),
    Name<"aten::exp2">(Family::kElementwise,
                       {"aten::special_exp2", "Two to the element.", "(Tensor self) -> Tensor",
                        "aten::special_exp2(f32[2,8])"}),
    Name<"aten::sigmoid">(Family::kElementwise,
                          {"aten::special_expit", "One over one plus the exponential of -x.",
                           "(Tensor self) -> Tensor", "aten::special_expit(i64[2,8])"}),
    Name<"aten::expm1">(Family::kElementwise,
                        {"aten::special_expm1", "The exponential minus one.",
                         "(Tensor self) -> Tensor", "aten::special_expm1(f32[2,8])"}),
    Name<"aten::lgamma">(Family::kElementwise,
                         {"aten::special_gammaln", "The logarithm of the gamma function.",
                          "(Tensor self) -> Tensor", "aten::special_gammaln(i64[2,8])"}),
    Name<"aten::i0">(Family::kElementwise,
                     {"aten::special_i0", "The modified Bessel function of order 0.",
                      "(Tensor self) -> Tensor", "aten::special_i0(f32[2,8])"}),
    Name<"aten::log1p">(Family::kElementwise,
                        {"aten::special_log1p", "The logarithm of one plus the element.",
                         "(Tensor self) -> Tensor", "aten::special_log1p(f32[2,8])"}),
    Name<"aten::logit">(Family::kElementwise, {"aten::special_logit", "The logarithm of the odds.",
                                               "(Tensor self, float? eps=None) -> Tensor",
                                               "aten::special_logit(f32[2,8], 1e-6)"}),
    Name<"aten::logsumexp">(
        Family::kReduction,
        {"aten::special_logsumexp", "The logarithm of the sum of exponentials over dimensions.",
         "(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
         "aten::special_logsumexp(f32[2,3,8], [-1])"}),
    Name<"aten::sinc">(Family::kElementwise,
                       {"aten::special_sinc", "The sine of pi x over pi x.",
                        "(Tensor self) -> Tensor", "aten::special_sinc(f32[2,8])"}),
    Name<"aten::softmax.int">(
        Family::kReduction,
        {"aten::special_softmax", "Exponentials along `dim`, scaled to sum to one.",
         "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
         "aten::special_softmax(bf16[2,8], -1, dtype=f32)"}),
    Name<"aten::log_softmax.int">(
        Family::kReduction, {"aten::special_log_softmax", "The logarithm of softmax along `dim`.",
                             "(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                             "aten::special_log_softmax(f32[2,8], 1)"}),
    Name<"aten::xlogy.Tensor">(
        Family::kElementwise,
        {"aten::special_xlogy", "Products with a logarithm.",
         "(Tensor self, Tensor other) -> Tensor", "aten::special_xlogy(f32[2,8], f32[8])"}),
    Name<"aten::bitwise_or.Scalar">(
        Family::kElementwise,
        {"aten::__or__.Scalar", "Or of the bits with a number's.",
         "(Tensor self, Scalar other) -> Tensor", "aten::__or__.Scalar(i64[2,8], 3)"}),
    Name<"aten::bitwise_xor.Scalar">(
        Family::kElementwise,
        {"aten::__xor__.Scalar", "Exclusive or of the bits with a number's.",
         "(Tensor self, Scalar other) -> Tensor", "aten::__xor__.Scalar(i64[2,8], 3)"}),
    Name<"aten::round.decimals">(Family::kElementwise,
                                 {"aten::special_round", "Rounds behind the point.",
                                  "(Tensor self, *, int decimals=0) -> Tensor",
                                  "aten::special_round(f32[2,8], decimals=2)"}),
    Name<"aten::xlogy.Scalar_Other">(
        Family::kElementwise,
        {"aten::special_xlogy.other_scalar", "Products with a number's logarithm.",
         "(Tensor self, Scalar other) -> Tensor", "aten::special_xlogy.other_scalar(f32[2,8], 2)"}),
    Name<"aten::xlogy.Scalar_Self">(
        Family::kElementwise,
        {"aten::special_xlogy.self_scalar", "A number times logarithms.",
         "(Scalar self, Tensor other) -> Tensor", "aten::special_xlogy.self_scalar(2, f32[2,8])"}),
    Name<"aten::matmul">(
        Family::kContraction,
        {"aten::linalg_matmul",
         "Product of vectors, matrices or batches of them, as their ranks say.",
         "(Tensor self, Tensor other) -> Tensor", "aten::linalg_matmul(f32[2,3], f32[3,5])"}),
    Name<"aten::vstack">(Family::kView,
                         {"aten::row_stack", "Tensors one below the other.",
                          "(Tensor[] tensors) -> Tensor", "aten::row_stack([f32[3], f32[2,3]])"}),
    InPlace<"aten::abs_">({"aten::absolute_", "The absolute value, in place.",
                           "(Tensor(a!) self) -> Tensor(a!)", "aten::absolute_(f32[2,8])"}),
    InPlace<"aten::neg_">({"aten::negative_", "Changes the sign, in place.",
                           "(Tensor(a!) self) -> Tensor(a!)", "aten::negative_(f32[2,8])"}),
    InPlace<"aten::trunc_">({"aten::fix_", "Rounds to zero, in place.",
                             "(Tensor(a!) self) -> Tensor(a!)", "aten::fix_(f32[2,8])"}),
    InPlace<"aten::acos_">({"aten::arccos_", "The inverse cosine, in place.",
                            "(Tensor(a!) self) -> Tensor(a!)", "aten::arccos_(f32[2,8])"}),
    InPlace<"aten::acosh_">({"aten::arccosh_", "The inverse hyperbolic cosine, in place.",
                             "(Tensor(a!) self) -> Tensor(a!)", "aten::arccosh_(f32[2,8])"}),
    InPlace<"aten::asin_">({"aten::arcsin_", "The inverse sine, in place.",
                            "(Tensor(a!) self) -> Tensor(a!)", "aten::arcsin_(f32[2,8])"}),
    InPlace<"aten::asinh_">({"aten::arcsinh_", "The inverse hyperbolic sine, in place.",
                             "(Tensor(a!) self) -> Tensor(a!)", "aten::arcsinh_(f32[2,8])"}),
    InPlace<"aten::atan_">({"aten::arctan_", "The inverse tangent, in place.",
                            "(Tensor(a!) self) -> Tensor(a!)", "aten::arctan_(f32[2,8])"}),
    InPlace<"aten::atanh_">({"aten::arctanh_", "The inverse hyperbolic tangent, in place.",
                             "(Tensor(a!) self) -> Tensor(a!)", "aten::arctanh_(f32[2,8])"}),
    InPlace<"aten::atan2_">({"aten::arctan2_", "The angle of a point, in place.",
                             "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                             "aten::arctan2_(f32[2,8], f32[8])"}),
    InPlace<"aten::mul_.Tensor">({"aten::multiply_.Tensor", "Multiplies, in place.",
                                  "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                  "aten::multiply_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::mul_.Scalar">({"aten::multiply_.Scalar", "Multiplies by a number, in place.",
                                  "(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                                  "aten::multiply_.Scalar(f32[2,8], 3)"}),
    InPlace<"aten::div_.Tensor">({"aten::divide_.Tensor", "Divides, in place.",
                                  "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                  "aten::divide_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::div_.Scalar">({"aten::divide_.Scalar", "Divides by a number, in place.",
                                  "(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                                  "aten::divide_.Scalar(f32[2,8], 3)"}),
    InPlace<"aten::div_.Tensor_mode">(
        {"aten::divide_.Tensor_mode", "Divides and rounds as `rounding_mode` says, in place.",
         "(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)",
         "aten::divide_.Tensor_mode(f32[2,8], f32[8], rounding_mode='trunc')"}),
    InPlace<"aten::div_.Scalar_mode">(
        {"aten::divide_.Scalar_mode",
         "Divides by a number and rounds as `rounding_mode` says, in place.",
         "(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)",
         "aten::divide_.Scalar_mode(f32[2,8], 3, rounding_mode='floor')"}),
    InPlace<"aten::div_.Tensor">({"aten::true_divide_.Tensor", "Divides, in place.",
                                  "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                  "aten::true_divide_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::div_.Scalar">({"aten::true_divide_.Scalar", "Divides by a number, in place.",
                                  "(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                                  "aten::true_divide_.Scalar(f32[2,8], 3)"}),
    InPlace<"aten::sub_.Tensor">(
        {"aten::subtract_.Tensor", "Subtracts, in place.",
         "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
         "aten::subtract_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::sub_.Scalar">({"aten::subtract_.Scalar", "Subtracts a number, in place.",
                                  "(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)",
                                  "aten::subtract_.Scalar(f32[2,8], 3)"}),
    InPlace<"aten::gt_.Tensor">({"aten::greater_.Tensor", "Whether the first is larger, in place.",
                                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                 "aten::greater_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::gt_.Scalar">(
        {"aten::greater_.Scalar", "Whether an element is larger than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::greater_.Scalar(f32[2,8], 2)"}),
    InPlace<"aten::ge_.Tensor">({"aten::greater_equal_.Tensor",
                                 "Whether the first is not smaller, in place.",
                                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                 "aten::greater_equal_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::ge_.Scalar">({"aten::greater_equal_.Scalar",
                                 "Whether an element is not smaller than a number, in place.",
                                 "(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                                 "aten::greater_equal_.Scalar(f32[2,8], 2)"}),
    InPlace<"aten::lt_.Tensor">({"aten::less_.Tensor", "Whether the first is smaller, in place.",
                                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                 "aten::less_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::lt_.Scalar">(
        {"aten::less_.Scalar", "Whether an element is smaller than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::less_.Scalar(f32[2,8], 2)"}),
    InPlace<"aten::le_.Tensor">({"aten::less_equal_.Tensor",
                                 "Whether the first is not larger, in place.",
                                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                 "aten::less_equal_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::le_.Scalar">(
        {"aten::less_equal_.Scalar", "Whether an element is not larger than a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::less_equal_.Scalar(f32[2,8], 2)"}),
    InPlace<"aten::ne_.Tensor">({"aten::not_equal_.Tensor", "Whether two differ, in place.",
                                 "(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                 "aten::not_equal_.Tensor(f32[2,8], f32[8])"}),
    InPlace<"aten::ne_.Scalar">(
        {"aten::not_equal_.Scalar", "Whether an element differs from a number, in place.",
         "(Tensor(a!) self, Scalar other) -> Tensor(a!)", "aten::not_equal_.Scalar(f32[2,8], 2)"}),
    InPlace<"aten::clamp_">({"aten::clip_", "Limits to two numbers, in place.",
                             "(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)",
                             "aten::clip_(f32[2,8], 0, 1)"}),
    InPlace<"aten::clamp_.Tensor">(
        {"aten::clip_.Tensor", "Limits to what two tensors say, in place.",
         "(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)",
         "aten::clip_.Tensor(f32[2,8], f32[8], f32[8])"}),
};

}  // namespace

std::span<const OpDef> Aliases() { return kRows; }

}  // namespace steelyard::ops
