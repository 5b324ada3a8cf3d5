// SPDX-License-Identifier: Apache-2.0
//
// Gradients of factors of matrices, and of what is made of them.
#pragma once

#include <vector>

#include "ops/backward.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradient.h"

namespace steelyard::gradients {

Tensor InverseOf(Dispatcher& d, const Backward& b);
std::vector<Tensor> SolveBoth(Dispatcher& d, const Backward& b);
Tensor DeterminantOf(Dispatcher& d, const Backward& b);
Tensor LogDeterminantOf(Dispatcher& d, const Backward& b);
Tensor CholeskyOf(Dispatcher& d, const Backward& b);
Tensor CholeskyInverseOf(Dispatcher& d, const Backward& b);
std::vector<Tensor> CholeskySolveBoth(Dispatcher& d, const Backward& b);
std::vector<Tensor> TriangularBoth(Dispatcher& d, const Backward& b);
std::vector<Tensor> TriangularSolveBoth(Dispatcher& d, const Backward& b);
Tensor OrthogonalOf(Dispatcher& d, const Backward& b);
Tensor EigenOf(Dispatcher& d, const Backward& b);
Tensor SingularOf(Dispatcher& d, const Backward& b);
Tensor GeneralEigenOf(Dispatcher& d, const Backward& b);
std::vector<Tensor> LeastSquaresBoth(Dispatcher& d, const Backward& b);
Tensor PseudoInverseOf(Dispatcher& d, const Backward& b);
Tensor ExponentialOf(Dispatcher& d, const Backward& b);
Tensor CrossSelf(Dispatcher& d, const Backward& b);
Tensor CrossOther(Dispatcher& d, const Backward& b);

inline constexpr Gradient kInverse{"LinalgInvExBackward0", {GradientOf(0, {kResult}, InverseOf)}};
inline constexpr Gradient kSolve =
    Gradient("LinalgSolveExBackward0",
             {GradientsOf({0, 1}, {0, kResult, ResultAt(1), ResultAt(2)}, SolveBoth)})
        .OnlyOf({0});
inline constexpr Gradient kDeterminant =
    Gradient("LinalgDetBackward0",
             {GradientOf(0, {0, kResult, ResultAt(1), ResultAt(2)}, DeterminantOf)})
        .OnlyOf({0});
inline constexpr Gradient kLogDeterminant =
    Gradient("LinalgSlogdetBackward0",
             {GradientOf(0, {0, kResult, ResultAt(2), ResultAt(3)}, LogDeterminantOf)})
        .OnlyOf({0, 1});
inline constexpr Gradient kCholesky{"LinalgCholeskyExBackward0",
                                    {GradientOf(0, {kResult}, CholeskyOf)}};
inline constexpr Gradient kCholeskyInverse{"CholeskyInverseBackward0",
                                           {GradientOf(0, {0, kResult}, CholeskyInverseOf)}};
inline constexpr Gradient kCholeskySolve{"CholeskySolveBackward0",
                                         {GradientsOf({0, 1}, {0, 1, kResult}, CholeskySolveBoth)}};
inline constexpr Gradient kTriangular{"LinalgSolveTriangularBackward0",
                                      {GradientsOf({0, 1}, {0, kResult}, TriangularBoth)}};
inline constexpr Gradient kTriangularSolve{
    "TriangularSolveBackward0", {GradientsOf({0, 1}, {0, 1, kResult}, TriangularSolveBoth)}};
inline constexpr Gradient kOrthogonal{"LinalgQrBackward0",
                                      {GradientOf(0, {kResult, ResultAt(1)}, OrthogonalOf)}};
inline constexpr Gradient kEigen{"LinalgEighBackward0",
                                 {GradientOf(0, {kResult, ResultAt(1)}, EigenOf)}};
inline constexpr Gradient kSingular{
    "LinalgSvdBackward0", {GradientOf(0, {kResult, ResultAt(1), ResultAt(2)}, SingularOf)}};
inline constexpr Gradient kGeneralEigen{"LinalgEigBackward0",
                                        {GradientOf(0, {kResult, ResultAt(1)}, GeneralEigenOf)}};
inline constexpr Gradient kLeastSquares =
    Gradient("LinalgLstsqBackward0", {GradientsOf({0, 1}, {0, 1, kResult}, LeastSquaresBoth)})
        .OnlyOf({0, 1});
inline constexpr Gradient kPseudoInverse{"LinalgPinvBackward0",
                                         {GradientOf(0, {0, kResult}, PseudoInverseOf)}};
inline constexpr Gradient kMatrixExponential{"LinalgMatrixExpBackward0",
                                             {GradientOf(0, {0}, ExponentialOf)}};
inline constexpr Gradient kCross{"LinalgCrossBackward0",
                                 {GradientOf(1, {0}, CrossOther), GradientOf(0, {1}, CrossSelf)}};

}  // namespace steelyard::gradients
