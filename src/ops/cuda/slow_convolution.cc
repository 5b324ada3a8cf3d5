// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/slow_convolution.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/cuda/blas.h"
#include "ops/cuda/copies.h"
#include "ops/cuda/reduce.h"
#include "ops/rules/allocations.h"
#include "ops/rules/convolution.h"
#include "ops/rules/shape.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::cuda {
namespace {

using Copy = std::optional<Allocations::Scratch>;

// Row-major copies of image, weight and bias, where they lie otherwise.
class Operands {
 public:
  Operands(const OpView& op, Allocations& memory) : memory_(memory) {
    for (const int i : {0, 1, 3}) {
      if (op.given(i)) copies_.push_back(Contiguous(op.tensor(i), memory));
    }
  }
  void Free() {
    for (std::size_t i = copies_.size(); i-- > 0;) allocations::Free(copies_[i], memory_);
  }

 private:
  Allocations& memory_;
  std::vector<Copy> copies_;
};

std::int64_t Pixels(const TensorView& image) {
  return work::Elements(window::Spatial(image.sizes())).value();
}

// A window of `channels` channels for each of so many pixels.
std::int64_t ColumnBytes(const TensorView& weight, std::int64_t channels, std::int64_t pixels) {
  const Count window = work::Elements(window::Spatial(weight.sizes())) * channels;
  return allocations::Bytes(window * pixels, weight.dtype());
}

void Multiply(const OpView& op, std::int64_t products, Allocations& memory) {
  for (std::int64_t i = 0; i < products; ++i) UseBlasWorkspace(op, memory);
}

convolution::Geometry GeometryOf(const OpView& op, int stride_at) {
  const int n = convolution::SpatialRank(op.tensor(stride_at - 3));
  return {.stride = window::PerDimension("stride", op.ints(stride_at), n),
          .padding = window::PerDimension("padding", op.ints(stride_at + 1), n),
          .dilation = Dims::Filled(n, 1)};
}

// Columns and, for a bias, ones, which both are multiplied with each image.
void MultiplyTransposed(const OpView& op, Allocations& memory) {
  const TensorView image = op.self(), weight = op.tensor(1);
  const auto columns = memory.Allocate(ColumnBytes(weight, weight.size(1), Pixels(image)));
  const bool adds = op.given(3);
  const Count ones = adds ? Count(Pixels(op.output())) : Count(0);
  const auto buffer = memory.Allocate(allocations::Bytes(ones, image.dtype()));
  Multiply(op, image.size(0) * (adds ? 2 : 1), memory);
  memory.Free(buffer);
  memory.Free(columns);
}

}  // namespace

void SlowConvolution(const OpView& op, Columns columns, Allocations& memory) {
  Operands operands(op, memory);
  memory.Output(0);
  const TensorView image = op.self(), weight = op.tensor(1);
  const bool gathers = columns == Columns::kAlways ||
                       convolution::NeedsColumns(weight, GeometryOf(op, /*stride_at=*/4));
  const std::int64_t bytes = gathers ? ColumnBytes(weight, image.size(1), Pixels(op.output())) : 0;
  const auto buffer = memory.Allocate(bytes);
  Multiply(op, image.size(0), memory);
  memory.Free(buffer);
  operands.Free();
}

void SlowTransposed(const OpView& op, Allocations& memory) {
  const Copy checked = Contiguous(op.self(), memory);
  memory.Output(0);
  allocations::Free(checked, memory);
  Operands operands(op, memory);
  MultiplyTransposed(op, memory);
  operands.Free();
}

void SlowTransposedVolume(const OpView& op, Allocations& memory) {
  const TensorView image = op.self();
  const auto like = memory.Allocate(allocations::Bytes(work::Elements(image), image.dtype()));
  Operands operands(op, memory);
  memory.Output(0);
  memory.Free(like);
  MultiplyTransposed(op, memory);
  operands.Free();
}

void SlowBackward(const OpView& op, Allocations& memory) {
  enum { kImage, kWeight, kBias };
  const TensorView gradient = op.self(), image = op.tensor(1), weight = op.tensor(2);
  const Copy dense = Contiguous(gradient, memory);
  Copy columns;
  const auto multiply = [&] {
    if (!columns) columns = memory.Allocate(ColumnBytes(weight, image.size(1), Pixels(gradient)));
    Multiply(op, image.size(0), memory);
  };
  if (op.output(kImage).defined()) {
    memory.Output(kImage);
    const Copy factor = Contiguous(weight, memory);
    multiply();
    allocations::Free(factor, memory);
  }
  if (op.output(kBias).defined()) {
    memory.Output(kBias);
    const Dims sizes(gradient.sizes()), strides = ContiguousStrides(sizes);
    const shape::DimSet all_but_channels = ~shape::DimSet{2};
    Stage(op, {sizes, strides}, gradient.dtype(), all_but_channels, SumOf(gradient.dtype()),
          memory);
  }
  if (op.output(kWeight).defined()) {
    memory.Output(kWeight);
    const Copy factor = Contiguous(image, memory);
    multiply();
    allocations::Free(factor, memory);
  }
  allocations::Free(columns, memory);
  allocations::Free(dense, memory);
}

}  // namespace steelyard::cuda
