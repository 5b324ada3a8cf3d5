// SPDX-License-Identifier: Apache-2.0
//
// The families of the operator table. Each function gives the rows of a file of about its
// name; Checkpoint and AutocastRegions stand in ops/dispatch.
#pragma once

#include <span>

#include "ops/op_def.h"

namespace steelyard::ops {

std::span<const OpDef> Blas();
std::span<const OpDef> Linalg();
std::span<const OpDef> GroupedMm();
std::span<const OpDef> Lapack();
std::span<const OpDef> Factorization();
std::span<const OpDef> Spectra();
std::span<const OpDef> Convolution();
std::span<const OpDef> ConvolutionBackward();
std::span<const OpDef> CudaConvolution();
std::span<const OpDef> CudnnBatchNorm();
std::span<const OpDef> Attention();
std::span<const OpDef> CudaAttention();
std::span<const OpDef> Recurrent();
std::span<const OpDef> Normalization();
std::span<const OpDef> WeightNorm();
std::span<const OpDef> NormalizationBackward();
std::span<const OpDef> Activation();
std::span<const OpDef> Arithmetic();
std::span<const OpDef> Power();
std::span<const OpDef> Exponential();
std::span<const OpDef> Trigonometric();
std::span<const OpDef> Rounding();
std::span<const OpDef> FloatingPoint();
std::span<const OpDef> Clamp();
std::span<const OpDef> PointwiseTernary();
std::span<const OpDef> Comparison();
std::span<const OpDef> Logical();
std::span<const OpDef> Bitwise();
std::span<const OpDef> Masking();
std::span<const OpDef> Reduction();
std::span<const OpDef> Norm();
std::span<const OpDef> Integration();
std::span<const OpDef> Pooling();
std::span<const OpDef> ImageBackward();
std::span<const OpDef> Indexing();
std::span<const OpDef> Gather();
std::span<const OpDef> Embedding();
std::span<const OpDef> View();
std::span<const OpDef> Transpose();
std::span<const OpDef> Split();
std::span<const OpDef> Diagonal();
std::span<const OpDef> Triangular();
std::span<const OpDef> Cat();
std::span<const OpDef> Meshgrid();
std::span<const OpDef> Repeat();
std::span<const OpDef> Padding();
std::span<const OpDef> Flip();
std::span<const OpDef> PixelShuffle();
std::span<const OpDef> DataMovement();
std::span<const OpDef> Copies();
std::span<const OpDef> Factory();
std::span<const OpDef> Random();
std::span<const OpDef> Multinomial();
std::span<const OpDef> Loss();
std::span<const OpDef> PairLosses();
std::span<const OpDef> Selection();
std::span<const OpDef> Unique();
std::span<const OpDef> Sort();
std::span<const OpDef> SearchSorted();
std::span<const OpDef> Histogram();
std::span<const OpDef> Quantile();
std::span<const OpDef> Equality();
std::span<const OpDef> Bags();
std::span<const OpDef> Sparse();
std::span<const OpDef> CtcLoss();
std::span<const OpDef> Unpooling();
std::span<const OpDef> Aliases();
std::span<const OpDef> Cond();
std::span<const OpDef> Control();
std::span<const OpDef> Bookkeeping();
std::span<const OpDef> NetworkBackward();
std::span<const OpDef> Statistics();
std::span<const OpDef> OrderStatistics();
std::span<const OpDef> SpecialFunctions();
std::span<const OpDef> Complex();
std::span<const OpDef> Raf();
std::span<const OpDef> RecurrentCells();
std::span<const OpDef> FusedCells();
std::span<const OpDef> Sampling();
std::span<const OpDef> Distance();
std::span<const OpDef> Scatter();
std::span<const OpDef> ScatterReduce();
std::span<const OpDef> SegmentReduce();
std::span<const OpDef> Fourier();
std::span<const OpDef> ShardedStep();
std::span<const OpDef> PartSizes();
std::span<const OpDef> TensorParallel();
std::span<const OpDef> WindowFunctions();
std::span<const OpDef> Quantized();
std::span<const OpDef> FakeQuantize();
std::span<const OpDef> Collective();
std::span<const OpDef> DataParallelStep();
std::span<const OpDef> DeepSpeedStep();
std::span<const OpDef> PartitionedStep();
std::span<const OpDef> AffineBlocks();
std::span<const OpDef> Detection();
std::span<const OpDef> Training();
std::span<const OpDef> Checkpoint();
std::span<const OpDef> AutocastRegions();
std::span<const OpDef> GradScaler();
std::span<const OpDef> Sgd();
std::span<const OpDef> Adam();
std::span<const OpDef> Adaptive();
std::span<const OpDef> Factored();
std::span<const OpDef> Published();
std::span<const OpDef> Foreach();

}  // namespace steelyard::ops
