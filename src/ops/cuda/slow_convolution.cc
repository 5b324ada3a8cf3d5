// SPDX-License-Identifier: Apache-2.0
//
// Columns are one buffer, for one image after the other. A transposed convolution adds a bias as a
// product with ones, which are a buffer, too. What is not row-major is copied first.
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

convolution::Geometry GeometryOf(const OpView& op, const TensorView& weight) {
  constexpr int kStride = 4;  // forth and back
  const int n = convolution::SpatialRank(weight);
  return {.stride = window::PerDimension("stride", op.ints(kStride), n),
          .padding = window::PerDimension("padding", op.ints(kStride + 1), n),
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

enum Gradient : std::uint8_t { kImage, kWeight, kBias };

// Sums over all but the channels, the second dimension.
void StageBias(const OpView& op, const Dims& sizes, Allocations& memory) {
  const DType dtype = op.self().dtype();
  const shape::DimSet all_but_channels = ~shape::DimSet{2};
  Stage(op, {sizes, ContiguousStrides(sizes)}, dtype, all_but_channels, SumOf(dtype), memory);
}

// The gradient's columns where there are any, a product for each image, and the sums of a bias.
struct Parts {
  bool products = false, sums = false;
};
void MultiplyGradient(const OpView& op, const Copy& dense, const Parts& parts,
                      Allocations& memory) {
  const TensorView image = op.tensor(1), weight = op.tensor(2);
  const bool gathers = convolution::NeedsColumns(weight, GeometryOf(op, weight));
  const auto columns =
      memory.Allocate(gathers ? ColumnBytes(weight, weight.size(1), Pixels(image)) : 0);
  if (parts.products) Multiply(op, image.size(0), memory);
  if (parts.sums) StageBias(op, Dims(op.self().sizes()), memory);
  memory.Free(columns);
  allocations::Free(dense, memory);
}

}  // namespace

void SlowConvolution(const OpView& op, Columns columns, Allocations& memory) {
  Operands operands(op, memory);
  memory.Output(0);
  const TensorView image = op.self(), weight = op.tensor(1);
  const bool gathers =
      columns == Columns::kAlways || convolution::NeedsColumns(weight, GeometryOf(op, weight));
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
    StageBias(op, Dims(gradient.sizes()), memory);
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

void SlowDilatedBackward(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self(), image = op.tensor(1), weight = op.tensor(2);
  const bool of_image = op.output(kImage).defined(), of_weight = op.output(kWeight).defined(),
             of_bias = op.output(kBias).defined();
  const Copy dense = Contiguous(gradient, memory);
  for (const Gradient i : {kImage, kWeight, kBias}) {
    if (op.output(i).defined()) memory.Output(i);
  }
  const bool gathers = of_image || of_weight;
  const auto columns =
      memory.Allocate(gathers ? ColumnBytes(weight, image.size(1), Pixels(gradient)) : 0);
  Dims one(gradient.sizes());
  one[0] = 1;
  for (std::int64_t i = 0; i < image.size(0); ++i) {
    Multiply(op, (of_image ? 1 : 0) + (of_weight ? 1 : 0), memory);
    if (!of_bias) continue;
    const auto sum = memory.Allocate(op.output(kBias).bytes());
    StageBias(op, one, memory);
    memory.Free(sum);
  }
  memory.Free(columns);
  allocations::Free(dense, memory);
}

void SlowTransposedBackward(const OpView& op, Allocations& memory) {
  const TensorView gradient = op.self();
  if (op.output(kImage).defined()) {
    const Copy dense = Contiguous(gradient, memory);
    memory.Output(kImage);
    MultiplyGradient(op, dense, {.products = true}, memory);
  }
  const bool of_weight = op.output(kWeight).defined(), of_bias = op.output(kBias).defined();
  if (of_weight) memory.Output(kWeight);
  if (of_bias) memory.Output(kBias);
  if (!of_weight && !of_bias) return;
  const Copy dense = Contiguous(gradient, memory);
  MultiplyGradient(op, dense, {.products = of_weight, .sums = of_bias}, memory);
}

}  // namespace steelyard::cuda
