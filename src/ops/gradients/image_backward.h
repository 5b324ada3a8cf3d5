// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the backward kernels of what networks do with images and with rows of tables. All of
// these are linear in the gradient they are given: its own gradient is the forward operator again,
// and of what else they read there is none.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"
#include "ops/rules/label.h"

namespace steelyard::gradients {

// Elements of the gradient from where the maxima stood.
Tensor AtMaxima(Dispatcher& d, const Backward& b, int indices, int spatial);
template <int kIndices, int kSpatial>
Tensor AtMaxima(Dispatcher& d, const Backward& b) {
  return AtMaxima(d, b, kIndices, kSpatial);
}
// The forward operator with the backward one's arguments from `first`.
Tensor Forward(Dispatcher& d, const Backward& b, OpName op, int first);
template <Label kOp, int kFirst>
Tensor Forward(Dispatcher& d, const Backward& b) {
  return Forward(d, b, kOpNamed<kOp>, kFirst);
}
// upsample(grad, output_size, ...) of upsample_backward(grad, output_size, input_size, ...).
Tensor UpsampleAgain(Dispatcher& d, const Backward& b, OpName op);
template <Label kOp>
Tensor UpsampleAgain(Dispatcher& d, const Backward& b) {
  return UpsampleAgain(d, b, kOpNamed<kOp>);
}
Tensor AdaptivePoolAgain(Dispatcher& d, const Backward& b, OpName op, int spatial);
template <Label kOp, int kSpatial>
Tensor AdaptivePoolAgain(Dispatcher& d, const Backward& b) {
  return AdaptivePoolAgain(d, b, kOpNamed<kOp>, kSpatial);
}
Tensor EmbeddingAgain(Dispatcher& d, const Backward& b);
Tensor MaskedScatterAgain(Dispatcher& d, const Backward& b);

inline constexpr Derivative kNoneOfSelf = GradientOf(1, {}, ZerosOfArgument<1>);

// Of a pool of maxima whose places are argument `kIndices`.
template <int kIndices, int kSpatial>
constexpr Gradient OfMaxima(std::string_view node) {
  return {node,
          {GradientOf(0, {kIndices}, AtMaxima<kIndices, kSpatial>),
           GradientOf(1, {kIndices}, ZerosOfArgument<1>)}};
}
// Of an operator (grad_output, self, ...) whose forward operator takes what follows.
template <Label kOp>
constexpr Gradient OfForward(std::string_view node) {
  return {node, {GradientOf(0, {}, Forward<kOp, 2>), kNoneOfSelf}};
}
template <Label kOp, int kSpatial>
constexpr Gradient OfAdaptivePool(std::string_view node) {
  return {node, {GradientOf(0, {}, AdaptivePoolAgain<kOp, kSpatial>), kNoneOfSelf}};
}
template <Label kOp>
constexpr Gradient OfUpsample(std::string_view node) {
  return {node, {GradientOf(0, {}, UpsampleAgain<kOp>)}};
}
// Of (grad_output, input_sizes, ...), the gradient of a view.
template <Label kView>
constexpr Gradient OfViewBackward(std::string_view node) {
  return {node, {GradientOf(0, {}, Forward<kView, 2>)}};
}

inline constexpr Gradient kEmbeddingBackward{"EmbeddingDenseBackwardBackward0",
                                             {GradientOf(0, {1}, EmbeddingAgain)}};
inline constexpr Gradient kMaskedScatterBackward{"MaskedScatterBackwardBackward0",
                                                 {GradientOf(0, {1}, MaskedScatterAgain)}};

}  // namespace steelyard::gradients
