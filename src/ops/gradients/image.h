// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what networks do with images besides convolving them: pools, other sizes, borders,
// windows as columns, and the same elements in another order.
#pragma once

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"
#include "ops/gradients/words.h"
#include "ops/rules/label.h"

namespace steelyard::gradients {

// A backward kernel of the incoming gradient, the saved operand and the call's other arguments.
Tensor AveragePoolSelf(Dispatcher& d, const Backward& b, OpName kernel);
Tensor MaxPoolSelf(Dispatcher& d, const Backward& b, OpName kernel);
Tensor AdaptiveMaxSelf(Dispatcher& d, const Backward& b);
Tensor AdaptiveMaxVolume(Dispatcher& d, const Backward& b);
Tensor FractionalSelf(Dispatcher& d, const Backward& b, OpName kernel);
Tensor TakeBack(Dispatcher& d, const Backward& b, int spatial);
template <int kSpatial>
Tensor UnpoolSelf(Dispatcher& d, const Backward& b) {
  return TakeBack(d, b, kSpatial);
}
Tensor UpsampleSelf(Dispatcher& d, const Backward& b, OpName kernel);
Tensor BorderSelf(Dispatcher& d, const Backward& b, OpName kernel);
Tensor ConstantPadSelf(Dispatcher& d, const Backward& b);
Tensor Im2ColSelf(Dispatcher& d, const Backward& b);
Tensor Col2ImSelf(Dispatcher& d, const Backward& b);
Tensor RepeatSelf(Dispatcher& d, const Backward& b);
Tensor ShuffleSelf(Dispatcher& d, const Backward& b, OpName kernel);
Tensor ChannelShuffleSelf(Dispatcher& d, const Backward& b);
Tensor AffineGridMaps(Dispatcher& d, const Backward& b);
std::vector<Tensor> GridSample(Dispatcher& d, const Backward& b, OpName kernel);
std::vector<Tensor> RoiAlign(Dispatcher& d, const Backward& b);
std::vector<Tensor> RoiPlaces(Dispatcher& d, const Backward& b, OpName kernel);
std::vector<Tensor> DeformableConvolution(Dispatcher& d, const Backward& b);
Tensor RollSelf(Dispatcher& d, const Backward& b);
Tensor RotateSelf(Dispatcher& d, const Backward& b);
Tensor FlipSelf(Dispatcher& d, const Backward& b);

using KernelFormula = Tensor (*)(Dispatcher& d, const Backward& b, OpName kernel);
template <KernelFormula kFormula, Label kKernel>
Tensor By(Dispatcher& d, const Backward& b) {
  return kFormula(d, b, kOpNamed<kKernel>);
}

template <Label kKernel>
std::vector<Tensor> GridSampleBy(Dispatcher& d, const Backward& b) {
  return GridSample(d, b, kOpNamed<kKernel>);
}

template <Label kKernel>
std::vector<Tensor> RoiPlacesBy(Dispatcher& d, const Backward& b) {
  return RoiPlaces(d, b, kOpNamed<kKernel>);
}

inline constexpr Gradient kChannelShuffle{"ChannelShuffleBackward0",
                                          {GradientOf(0, {}, ChannelShuffleSelf)}};
inline constexpr Gradient kAffineGrid{"AffineGridGeneratorBackward0",
                                      {GradientOf(0, {}, AffineGridMaps)}};
inline constexpr Gradient kGridSampler2d{
    "GridSampler2DBackward0",
    {GradientsOf({0, 1}, {0, 1}, GridSampleBy<"aten::grid_sampler_2d_backward">)}};
inline constexpr Gradient kGridSampler3d{
    "GridSampler3DBackward0",
    {GradientsOf({0, 1}, {0, 1}, GridSampleBy<"aten::grid_sampler_3d_backward">)}};
// torchvision registers these in Python.
inline constexpr Gradient kRoiAlign{"GeneratedBackwardFor_torchvision_roi_align_defaultBackward",
                                    {GradientsOf({0, 1}, {1}, RoiAlign)},
                                    InPython{.context = {}}};
inline constexpr Gradient kRoiPool{
    "GeneratedBackwardFor_torchvision_roi_pool_defaultBackward",
    {GradientsOf({0, 1}, {1, ResultAt(1)}, RoiPlacesBy<"torchvision::_roi_pool_backward">)},
    InPython{.context = {}}};
inline constexpr Gradient kPsRoiAlign{
    "GeneratedBackwardFor_torchvision_ps_roi_align_defaultBackward",
    {GradientsOf({0, 1}, {1, ResultAt(1)}, RoiPlacesBy<"torchvision::_ps_roi_align_backward">)},
    InPython{.context = {}}};
inline constexpr Gradient kPsRoiPool{
    "GeneratedBackwardFor_torchvision_ps_roi_pool_defaultBackward",
    {GradientsOf({0, 1}, {1, ResultAt(1)}, RoiPlacesBy<"torchvision::_ps_roi_pool_backward">)},
    InPython{.context = {}}};
inline constexpr Gradient kDeformableConvolution{
    "GeneratedBackwardFor_torchvision_deform_conv2d_defaultBackward",
    {GradientsOf({0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, DeformableConvolution)},
    InPython{.context = {}}};
inline constexpr Gradient kMaxPool2d{
    "MaxPool2DWithIndicesBackward0",
    {GradientOf(0, {0, ResultAt(1)}, By<MaxPoolSelf, "aten::max_pool2d_with_indices_backward">)}};
inline constexpr Gradient kMaxPool3d{
    "MaxPool3DWithIndicesBackward0",
    {GradientOf(0, {0, ResultAt(1)}, By<MaxPoolSelf, "aten::max_pool3d_with_indices_backward">)}};
inline constexpr Gradient kAveragePool2d{
    "AvgPool2DBackward0", {GradientOf(0, {0}, By<AveragePoolSelf, "aten::avg_pool2d_backward">)}};
inline constexpr Gradient kAveragePool3d{
    "AvgPool3DBackward0", {GradientOf(0, {0}, By<AveragePoolSelf, "aten::avg_pool3d_backward">)}};
inline constexpr Gradient kAdaptiveAverage2d{
    "AdaptiveAvgPool2DBackward0",
    {GradientOf(0, {0}, OfSelf<"aten::_adaptive_avg_pool2d_backward">)}};
inline constexpr Gradient kAdaptiveAverage3d{
    "AdaptiveAvgPool3DBackward0",
    {GradientOf(0, {0}, OfSelf<"aten::_adaptive_avg_pool3d_backward">)}};
inline constexpr Gradient kAdaptiveMax2d{"AdaptiveMaxPool2DBackward0",
                                         {GradientOf(0, {0, ResultAt(1)}, AdaptiveMaxSelf)}};
inline constexpr Gradient kAdaptiveMax3d{"AdaptiveMaxPool3DBackward0",
                                         {GradientOf(0, {0, ResultAt(1)}, AdaptiveMaxVolume)}};
inline constexpr Gradient kMaxUnpool2d{"MaxUnpool2DBackward0", {GradientOf(0, {1}, UnpoolSelf<2>)}};
inline constexpr Gradient kMaxUnpool3d{"MaxUnpool3DBackward0", {GradientOf(0, {1}, UnpoolSelf<3>)}};
inline constexpr Gradient kFractionalMaxPool2d{
    "FractionalMaxPool2DBackward0",
    {GradientOf(0, {0, ResultAt(1)}, By<FractionalSelf, "aten::fractional_max_pool2d_backward">)}};
inline constexpr Gradient kFractionalMaxPool3d{
    "FractionalMaxPool3DBackward0",
    {GradientOf(0, {0, ResultAt(1)}, By<FractionalSelf, "aten::fractional_max_pool3d_backward">)}};
inline constexpr Gradient kUpsampleNearest2d{
    "UpsampleNearest2DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_nearest2d_backward">)}};
inline constexpr Gradient kUpsampleNearestExact2d{
    "UpsampleNearestExact2DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::_upsample_nearest_exact2d_backward">)}};
inline constexpr Gradient kUpsampleBilinear2d{
    "UpsampleBilinear2DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_bilinear2d_backward">)}};
inline constexpr Gradient kUpsampleNearest1d{
    "UpsampleNearest1DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_nearest1d_backward">)}};
inline constexpr Gradient kUpsampleNearestExact1d{
    "UpsampleNearestExact1DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::_upsample_nearest_exact1d_backward">)}};
inline constexpr Gradient kUpsampleNearest3d{
    "UpsampleNearest3DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_nearest3d_backward">)}};
inline constexpr Gradient kUpsampleNearestExact3d{
    "UpsampleNearestExact3DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::_upsample_nearest_exact3d_backward">)}};
inline constexpr Gradient kUpsampleLinear1d{
    "UpsampleLinear1DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_linear1d_backward">)}};
inline constexpr Gradient kUpsampleTrilinear3d{
    "UpsampleTrilinear3DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_trilinear3d_backward">)}};
inline constexpr Gradient kUpsampleBicubic2d{
    "UpsampleBicubic2DBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::upsample_bicubic2d_backward">)}};
inline constexpr Gradient kUpsampleBilinear2dAa{
    "UpsampleBilinear2DAaBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::_upsample_bilinear2d_aa_backward">)}};
inline constexpr Gradient kUpsampleBicubic2dAa{
    "UpsampleBicubic2DAaBackward0",
    {GradientOf(0, {}, By<UpsampleSelf, "aten::_upsample_bicubic2d_aa_backward">)}};
inline constexpr Gradient kPixelShuffle{
    "PixelShuffleBackward0", {GradientOf(0, {}, By<ShuffleSelf, "aten::pixel_unshuffle">)}};
inline constexpr Gradient kPixelUnshuffle{
    "PixelUnshuffleBackward0", {GradientOf(0, {}, By<ShuffleSelf, "aten::pixel_shuffle">)}};
inline constexpr Gradient kReflectionPad1d{
    "ReflectionPad1DBackward0",
    {GradientOf(0, {0}, By<BorderSelf, "aten::reflection_pad1d_backward">)}};
inline constexpr Gradient kReflectionPad2d{
    "ReflectionPad2DBackward0",
    {GradientOf(0, {0}, By<BorderSelf, "aten::reflection_pad2d_backward">)}};
inline constexpr Gradient kReflectionPad3d{
    "ReflectionPad3DBackward0",
    {GradientOf(0, {0}, By<BorderSelf, "aten::reflection_pad3d_backward">)}};
inline constexpr Gradient kReplicationPad1d{
    "ReplicationPad1DBackward0",
    {GradientOf(0, {0}, By<BorderSelf, "aten::replication_pad1d_backward">)}};
inline constexpr Gradient kReplicationPad2d{
    "ReplicationPad2DBackward0",
    {GradientOf(0, {0}, By<BorderSelf, "aten::replication_pad2d_backward">)}};
inline constexpr Gradient kReplicationPad3d{
    "ReplicationPad3DBackward0",
    {GradientOf(0, {0}, By<BorderSelf, "aten::replication_pad3d_backward">)}};
inline constexpr Gradient kConstantPad{"ConstantPadNdBackward0",
                                       {GradientOf(0, {}, ConstantPadSelf)}};
inline constexpr Gradient kIm2Col{"Im2ColBackward0", {GradientOf(0, {}, Im2ColSelf)}};
inline constexpr Gradient kCol2Im{"Col2ImBackward0", {GradientOf(0, {}, Col2ImSelf)}};
inline constexpr Gradient kRepeat{"RepeatBackward0", {GradientOf(0, {}, RepeatSelf)}};
inline constexpr Gradient kRoll{"RollBackward0", {GradientOf(0, {}, RollSelf)}};
inline constexpr Gradient kRotate{"Rot90Backward0", {GradientOf(0, {}, RotateSelf)}};
inline constexpr Gradient kFlip{"FlipBackward0", {GradientOf(0, {}, FlipSelf)}};

}  // namespace steelyard::gradients
