// SPDX-License-Identifier: Apache-2.0
//
// Gradients of views, copies and joins.
#pragma once

#include "ops/gradient.h"
#include "ops/gradients/words.h"

namespace steelyard::gradients {

// A view's gradient in a tensor of its base's layout, zero elsewhere (as_strided_backward).
Tensor StridedBackward(Dispatcher& d, Tensor gradient, const TensorView& base, const Dims& sizes,
                       const Dims& strides, std::int64_t offset);

Tensor TransposeSelf(Dispatcher& d, const Backward& b);
Tensor TSelf(Dispatcher& d, const Backward& b);
Tensor NumpyTSelf(Dispatcher& d, const Backward& b);
Tensor PermuteSelf(Dispatcher& d, const Backward& b);
Tensor ExpandSelf(Dispatcher& d, const Backward& b);
Tensor SliceSelf(Dispatcher& d, const Backward& b);
Tensor NarrowSelf(Dispatcher& d, const Backward& b);
Tensor DiagonalSelf(Dispatcher& d, const Backward& b);
Tensor AsStridedSelf(Dispatcher& d, const Backward& b);
Tensor CopySelf(Dispatcher& d, const Backward& b);
Tensor CopySource(Dispatcher& d, const Backward& b);
Tensor SelectSelf(Dispatcher& d, const Backward& b);
Tensor UnsqueezeSelf(Dispatcher& d, const Backward& b);
Tensor SqueezeSelf(Dispatcher& d, const Backward& b);
Tensor UnfoldSelf(Dispatcher& d, const Backward& b);
Tensor SelectScatterSelf(Dispatcher& d, const Backward& b);
Tensor SelectScatterSource(Dispatcher& d, const Backward& b);
Tensor SliceScatterSelf(Dispatcher& d, const Backward& b);
Tensor SliceScatterSource(Dispatcher& d, const Backward& b);
Tensor DiagonalScatterSelf(Dispatcher& d, const Backward& b);
Tensor DiagonalScatterSource(Dispatcher& d, const Backward& b);
Tensor StridedScatterSelf(Dispatcher& d, const Backward& b);
Tensor StridedScatterSource(Dispatcher& d, const Backward& b);
Tensor SplitSelf(Dispatcher& d, const Backward& b);
Tensor UnbindSelf(Dispatcher& d, const Backward& b);
Tensor ToCopySelf(Dispatcher& d, const Backward& b);
std::vector<Tensor> Blocks(Dispatcher& d, const Backward& b);
std::vector<Tensor> CatParts(Dispatcher& d, const Backward& b);
std::vector<Tensor> StackParts(Dispatcher& d, const Backward& b);

inline constexpr Gradient kView{"ViewBackward0", {GradientOf(0, {}, Reshaped)}};
inline constexpr Gradient kUnsafeView{"UnsafeViewBackward0", {GradientOf(0, {}, Reshaped)}};
inline constexpr Gradient kReshapeAlias{"ReshapeAliasBackward0", {GradientOf(0, {}, Reshaped)}};
inline constexpr Gradient kAlias{"AliasBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kTranspose{"TransposeBackward0", {GradientOf(0, {}, TransposeSelf)}};
inline constexpr Gradient kTransposeInPlace{"TransposeBackward1",
                                            {GradientOf(0, {}, TransposeSelf)}};
inline constexpr Gradient kUnsqueezeInPlace{"UnsqueezeBackward1",
                                            {GradientOf(0, {}, UnsqueezeSelf)}};
inline constexpr Gradient kSqueezeInPlace{"SqueezeBackward4", {GradientOf(0, {}, SqueezeSelf)}};
inline constexpr Gradient kT{"TBackward0", {GradientOf(0, {}, TSelf)}};
inline constexpr Gradient kNumpyT{"PermuteBackward0", {GradientOf(0, {}, NumpyTSelf)}};
inline constexpr Gradient kPermute{"PermuteBackward0", {GradientOf(0, {}, PermuteSelf)}};
inline constexpr Gradient kExpand{"ExpandBackward0", {GradientOf(0, {}, ExpandSelf)}};
inline constexpr Gradient kSlice{"SliceBackward0", {GradientOf(0, {}, SliceSelf)}};
inline constexpr Gradient kNarrow{"SliceBackward0", {GradientOf(0, {}, NarrowSelf)}};
inline constexpr Gradient kDiagonal{"DiagonalBackward0", {GradientOf(0, {}, DiagonalSelf)}};
inline constexpr Gradient kDiagonalCopy{"DiagonalBackward0_copy",
                                        {GradientOf(0, {}, DiagonalSelf)}};
inline constexpr Gradient kAsStrided{"AsStridedBackward0", {GradientOf(0, {}, AsStridedSelf)}};
inline constexpr Gradient kAsStridedInPlace{"AsStridedBackward1",
                                            {GradientOf(0, {}, AsStridedSelf)}};
inline constexpr Gradient kSelect{"SelectBackward0", {GradientOf(0, {}, SelectSelf)}};
inline constexpr Gradient kUnsqueeze{"UnsqueezeBackward0", {GradientOf(0, {}, UnsqueezeSelf)}};
inline constexpr Gradient kSqueeze{"SqueezeBackward0", {GradientOf(0, {}, SqueezeSelf)}};
inline constexpr Gradient kSqueezeDim{"SqueezeBackward1", {GradientOf(0, {}, SqueezeSelf)}};
inline constexpr Gradient kSqueezeDims{"SqueezeBackward2", {GradientOf(0, {}, SqueezeSelf)}};
inline constexpr Gradient kUnfold{"UnfoldBackward0", {GradientOf(0, {}, UnfoldSelf)}};
inline constexpr Gradient kSelectScatter{
    "SelectScatterBackward0",
    {GradientOf(0, {}, SelectScatterSelf), GradientOf(1, {}, SelectScatterSource)}};
inline constexpr Gradient kSliceScatter{
    "SliceScatterBackward0",
    {GradientOf(0, {}, SliceScatterSelf), GradientOf(1, {}, SliceScatterSource)}};
inline constexpr Gradient kDiagonalScatter{
    "DiagonalScatterBackward0",
    {GradientOf(0, {}, DiagonalScatterSelf), GradientOf(1, {}, DiagonalScatterSource)}};
inline constexpr Gradient kStridedScatter{
    "AsStridedScatterBackward0",
    {GradientOf(0, {}, StridedScatterSelf), GradientOf(1, {}, StridedScatterSource)}};
inline constexpr Gradient kSplit{"SplitBackward0", {GradientOf(0, {}, SplitSelf)}};
inline constexpr Gradient kSplitSizes{"SplitWithSizesBackward0", {GradientOf(0, {}, SplitSelf)}};
inline constexpr Gradient kUnbind{"UnbindBackward0", {GradientOf(0, {}, UnbindSelf)}};
inline constexpr Gradient kClone{"CloneBackward0", {GradientOf(0, {}, Same)}};
inline constexpr Gradient kToCopy{"ToCopyBackward0", {GradientOf(0, {}, ToCopySelf)}};
inline constexpr Gradient kCopy{"torch::autograd::CopyBackwards",
                                {GradientOf(0, {}, CopySelf), GradientOf(1, {}, CopySource)}};
inline constexpr Gradient kCat{"CatBackward0", {GradientsOf({0}, {}, CatParts)}};
inline constexpr Gradient kBlockDiagonal{"BlockDiagBackward0", {GradientsOf({0}, {}, Blocks)}};
inline constexpr Gradient kStack{"StackBackward0", {GradientsOf({0}, {}, StackParts)}};

}  // namespace steelyard::gradients
