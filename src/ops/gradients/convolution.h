// SPDX-License-Identifier: Apache-2.0
//
// Gradients of convolutions. Autograd sees `aten::convolution`, and the kernels below it only where
// a program calls them itself.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

std::vector<Tensor> ConvolutionOperands(Dispatcher& d, const Backward& b);
std::vector<Tensor> OneDnnOperands(Dispatcher& d, const Backward& b);
std::vector<Tensor> SlowOperands(Dispatcher& d, const Backward& b);
std::vector<Tensor> Slow3dOperands(Dispatcher& d, const Backward& b);
std::vector<Tensor> DilatedOperands(Dispatcher& d, const Backward& b);
std::vector<Tensor> TransposedOperands(Dispatcher& d, const Backward& b);
std::vector<Tensor> OverTimeOperands(Dispatcher& d, const Backward& b);

inline constexpr Gradient kConvolution{"ConvolutionBackward0",
                                       {GradientsOf({0, 1, 2}, {0, 1}, ConvolutionOperands)}};
inline constexpr Gradient kConvolutionBelow{"ConvolutionBackward1",
                                            {GradientsOf({0, 1, 2}, {0, 1}, ConvolutionOperands)}};
inline constexpr Gradient kOneDnnConvolution{"MkldnnConvolutionBackward0",
                                             {GradientsOf({0, 1, 2}, {0, 1}, OneDnnOperands)}};
// The bias comes after the kernel's size.
inline constexpr Gradient kSlow{"SlowConv2DBackward0",
                                {GradientsOf({0, 1, 3}, {0, 1}, SlowOperands)}};
inline constexpr Gradient kSlow3d{"SlowConv3DBackward0",
                                  {GradientsOf({0, 1, 3}, {0, 1}, Slow3dOperands)}};
inline constexpr Gradient kDilated2d{"SlowConvDilated2DBackward0",
                                     {GradientsOf({0, 1, 3}, {0, 1}, DilatedOperands)}};
inline constexpr Gradient kDilated3d{"SlowConvDilated3DBackward0",
                                     {GradientsOf({0, 1, 3}, {0, 1}, DilatedOperands)}};
inline constexpr Gradient kSlowTransposed2d{"SlowConvTranspose2DBackward0",
                                            {GradientsOf({0, 1, 3}, {0, 1}, TransposedOperands)}};
inline constexpr Gradient kSlowTransposed3d{"SlowConvTranspose3DBackward0",
                                            {GradientsOf({0, 1, 3}, {0, 1}, TransposedOperands)}};
inline constexpr Gradient kOverTime{"ConvTbcBackward0",
                                    {GradientsOf({0, 1, 2}, {0, 1, 2}, OverTimeOperands)}};

}  // namespace steelyard::gradients
