// SPDX-License-Identifier: Apache-2.0
//
// The table is what this list holds: a family that is not here does not exist. The index over it is
// built when it is first asked, by the hashes that the compiler took of the names. The order of the
// list is that of AllOps, and within a family that of docs/ops.md.

#include "ops/registry.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "ops/cudnn_recurrent.h"
#include "ops/fourier.h"
#include "ops/lapack.h"
#include "ops/numerical_gradient.h"
#include "ops/products.h"
#include "ops/transformer.h"
#include "support/assert.h"

namespace steelyard {
namespace {

using Rows = std::span<const OpDef> (*)();
constexpr std::array kFamilies{
    &ops::Blas,
    &ops::Linalg,
    &ops::Products,
    &ops::GroupedMm,
    &ops::Lapack,
    &ops::Factorization,
    &ops::Lu,
    &ops::Spectra,
    &ops::GeneralSpectra,
    &ops::Inverses,
    &ops::MatrixExponentials,
    &ops::PolarFactorizations,
    &ops::Convolution,
    &ops::CudaConvolution,
    &ops::Attention,
    &ops::CudaAttention,
    &ops::Transformer,
    &ops::Recurrent,
    &ops::Normalization,
    &ops::CudnnBatchNorm,
    &ops::WeightNorm,
    &ops::Activation,
    &ops::Arithmetic,
    &ops::Power,
    &ops::Exponential,
    &ops::Trigonometric,
    &ops::Rounding,
    &ops::FloatingPoint,
    &ops::Clamp,
    &ops::PointwiseTernary,
    &ops::SpecialFunctions,
    &ops::Comparison,
    &ops::Logical,
    &ops::Bitwise,
    &ops::Masking,
    &ops::Reduction,
    &ops::Norm,
    &ops::Integration,
    &ops::Pooling,
    &ops::Indexing,
    &ops::Gather,
    &ops::Embedding,
    &ops::Selection,
    &ops::Unique,
    &ops::Sort,
    &ops::SearchSorted,
    &ops::Histogram,
    &ops::Quantile,
    &ops::NumericalGradient,
    &ops::Equality,
    &ops::Bags,
    &ops::Sparse,
    &ops::CtcLoss,
    &ops::Unpooling,
    &ops::Aliases,
    &ops::View,
    &ops::Transpose,
    &ops::Split,
    &ops::Diagonal,
    &ops::Triangular,
    &ops::Cat,
    &ops::Meshgrid,
    &ops::Repeat,
    &ops::Padding,
    &ops::Flip,
    &ops::PixelShuffle,
    &ops::DataMovement,
    &ops::Copies,
    &ops::Factory,
    &ops::Random,
    &ops::Multinomial,
    &ops::Loss,
    &ops::PairLosses,
    &ops::Cond,
    &ops::Control,
    &ops::Bookkeeping,
    &ops::NetworkBackward,
    &ops::ConvolutionBackward,
    &ops::NormalizationBackward,
    &ops::ImageBackward,
    &ops::Statistics,
    &ops::OrderStatistics,
    &ops::Complex,
    &ops::RecurrentCells,
    &ops::FusedCells,
    &ops::CudnnRecurrent,
    &ops::Sampling,
    &ops::Distance,
    &ops::Fourier,
    &ops::ShardedStep,
    &ops::PartSizes,
    &ops::TensorParallel,
    &ops::Stft,
    &ops::WindowFunctions,
    &ops::Collective,
    &ops::DataParallelStep,
    &ops::DeepSpeedStep,
    &ops::PartitionedStep,
    &ops::Scatter,
    &ops::ScatterReduce,
    &ops::SegmentReduce,
    &ops::Quantized,
    &ops::FakeQuantize,
    &ops::AffineBlocks,
    &ops::Detection,
    &ops::Training,
    &ops::Checkpoint,
    &ops::AutocastRegions,
    &ops::GradScaler,
    &ops::Sgd,
    &ops::Adam,
    &ops::Adaptive,
    &ops::Factored,
    &ops::Published,
    &ops::Foreach,
    &ops::Raf,
};

// Open addressing over the hashes that the compiler computed.
class Index {
 public:
  Index() {
    std::size_t count = 0;
    for (Rows rows : kFamilies) {
      for (const OpDef& def : rows()) Insert(def);
      count += rows().size();
      SY_ASSERT(2 * count <= kSlots,
                "names would be looked for long in a table more than half full");
    }
  }
  const OpDef* Find(OpName name) const {
    for (std::size_t i = name.hash() % kSlots;; i = (i + 1) % kSlots) {
      const OpDef* def = slots_[i];
      if (def == nullptr) return nullptr;
      if (def->name->hash() == name.hash() && def->name->text() == name.text()) return def;
    }
  }

 private:
  static constexpr std::size_t kSlots = 4096;
  void Insert(const OpDef& def) {
    std::size_t i = def.name->hash() % kSlots;
    while (slots_[i] != nullptr) i = (i + 1) % kSlots;
    slots_[i] = &def;
  }
  std::array<const OpDef*, kSlots> slots_{};
};

}  // namespace

const OpDef* FindOp(OpName name) {
  static const Index kIndex;
  return kIndex.Find(name);
}

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> out;
  for (Rows rows : kFamilies) {
    for (const OpDef& def : rows()) out.push_back(&def);
  }
  return out;
}

std::vector<KnownOp> KnownOps() {
  std::vector<const OpDef*> ops = AllOps();
  std::ranges::stable_sort(ops, {}, [](const OpDef* op) { return *op->family; });
  std::vector<KnownOp> out;
  out.reserve(ops.size());
  for (const OpDef* op : ops) {
    out.push_back({.name = op->name->text(),
                   .signature = op->signature->text(),
                   .family = NameOf(*op->family),
                   .summary = *op->summary,
                   .example = *op->example,
                   .is_kernel = op->is_kernel()});
  }
  return out;
}

}  // namespace steelyard
