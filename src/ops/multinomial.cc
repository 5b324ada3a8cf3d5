// SPDX-License-Identifier: Apache-2.0
//
// Places drawn with given probabilities (ATen/native/Distributions.cpp, cuda/MultinomialKernel.cu):
// different ones where the probabilities, divided by exponentially distributed numbers, are
// largest; with replacement several are looked up in a running sum.

#include <fmt/core.h>

#include <array>
#include <optional>
#include <string_view>

#include "ir/layout.h"
#include "ops/cuda/cub.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/sort.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// self, num_samples, replacement
void DrawnShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  const std::int64_t count = op.integer(1);
  if (self.rank() != 1 && self.rank() != 2) {
    Refuse("a row or a matrix of probabilities is needed, not " + shape::Text(self));
  }
  if (!IsFloating(self.dtype())) Refuse("probabilities are floating-point numbers");
  if (count < 1) Refuse("at least one place is drawn");
  if (!op.boolean(2) && count > self.size(-1)) {
    Refuse(fmt::format("{} different places of {}", count, self.size(-1)));
  }
  out.Add(DType::kInt64, self.rank() == 1 ? Dims{count} : Dims{self.size(0), count});
}

bool LooksUp(const OpView& op) { return op.boolean(2) && op.integer(1) > 1; }

// --- On the CPU ---------------------------------------------------------------------------------

// Booleans of numbers compared with a number, which is boxed and cast to their dtype.
Allocations::Scratch Compared(std::int64_t count, DType dtype, DType number, std::string_view label,
                              Allocations& memory) {
  const auto box = memory.Allocate(BitsOf(number) / 8, label);
  std::optional<Allocations::Scratch> cast;
  if (number != dtype) cast = memory.Allocate(BitsOf(dtype) / 8, "aten::empty_strided");
  const auto truth = memory.Allocate(count, label);
  memory.Free(box, label);
  if (cast) memory.Free(*cast, label);
  return truth;
}

void DrawnAllocations(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const TensorView self = op.self();
  const DType dtype = self.dtype();
  const std::int64_t rows = self.rank() == 1 ? 1 : self.size(0), width = BitsOf(dtype) / 8;
  if (LooksUp(op)) {
    memory.Free(memory.Allocate(allocations::Bytes(self.size(-1), dtype), "aten::empty"));
    return;
  }
  const auto least = memory.Allocate(width, "aten::aminmax");
  const auto largest = memory.Allocate(width, "aten::aminmax");
  if (const auto copy = allocations::Contiguous(self, memory)) memory.Free(*copy, "aten::aminmax");
  const auto not_negative = Compared(1, dtype, DType::kInt64, "aten::ge", memory);
  const auto finite = Compared(1, dtype, DType::kFloat64, "aten::lt", memory);
  const auto valid = memory.Allocate(1, "aten::bitwise_and");
  memory.Free(finite);
  memory.Free(not_negative);
  const auto sums = memory.Allocate(rows * width, "aten::sum");
  auto any_zero = Compared(rows, dtype, DType::kInt64, "aten::eq", memory);
  if (self.rank() > 1) {
    const auto zero = any_zero;
    any_zero = memory.Allocate(1, "aten::any");
    memory.Free(zero);
  }
  memory.Free(sums);
  memory.Free(memory.Allocate(1, "aten::bitwise_not"));
  const auto keys = memory.Allocate(allocations::Bytes(self.count(), dtype), "aten::empty_strided");
  if (op.integer(1) > 1) {
    memory.Free(memory.Allocate(allocations::Bytes(op.output().count(), dtype), "aten::empty"));
  }
  memory.Free(keys);
  memory.Free(any_zero);
  memory.Free(valid);
  memory.Free(largest);
  memory.Free(least);
}
// --- On CUDA ------------------------------------------------------------------------------------

// Probabilities that add up to 1, and their running sums.
void LookUpOnCuda(const TensorView& self, Allocations& memory) {
  const std::int64_t bytes = allocations::Bytes(self.count(), self.dtype());
  const auto shares = memory.Allocate(bytes, "aten::empty");
  const auto sums = memory.Allocate(bytes, "aten::empty");
  if (self.count() == self.size(-1)) {
    memory.Free(memory.Allocate(cuda::ScanBytes(self.count(), BitsOf(self.dtype()) / 8)));
  }
  memory.Free(sums);
  memory.Free(shares);
}

// Whether there is a row of nothing but zeros.
Allocations::Scratch AnyZeroOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const std::int64_t rows = self.rank() == 1 ? 1 : self.size(0);
  const auto sums = memory.Allocate(allocations::Bytes(rows, self.dtype()), "aten::sum");
  cuda::Stage(op, self, shape::DimSet{1} << (self.rank() - 1), cuda::SumOf(self.dtype()), memory);
  const auto zeros = memory.Allocate(rows, "aten::eq");
  if (self.rank() == 1) {
    memory.Free(sums);
    return zeros;
  }
  const auto any = memory.Allocate(1, "aten::any");
  const Dims sizes{rows}, strides{1};
  cuda::Stage(op, {sizes, strides}, DType::kBool, shape::DimSet{1}, {.bytes = 1}, memory);
  memory.Free(zeros);
  memory.Free(sums);
  return any;
}

// Where one key is largest, or several, whose values are there meanwhile.
void DrawLargestOnCuda(const OpView& op, Allocations& memory) {
  const TensorView self = op.self();
  const Dims strides = EmptyLikeStrides(self.sizes(), self.strides());
  const Layout keys{self.sizes(), strides};
  const int row = self.rank() - 1;
  const auto made =
      memory.Allocate(StorageBytes(self.dtype(), keys.sizes, keys.strides), "aten::empty_strided");
  if (op.integer(1) == 1) {
    constexpr std::int64_t kValueAndPlace = 16;
    cuda::Stage(op, keys, self.dtype(), shape::DimSet{1} << row,
                {.bytes = kValueAndPlace, .fits_result = false}, memory);
  } else {
    const auto values =
        memory.Allocate(allocations::Bytes(op.output().count(), self.dtype()), "aten::empty");
    cuda::FindLargest(op, keys, self.dtype(), row, memory);
    memory.Free(values);
  }
  memory.Free(made);
}

void DrawnOnCuda(const OpView& op, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const TensorView self = op.self();
  if (LooksUp(op)) return LookUpOnCuda(self, memory);
  const std::int64_t width = BitsOf(self.dtype()) / 8;
  const auto least = memory.Allocate(width, "aten::aminmax");
  const auto largest = memory.Allocate(width, "aten::aminmax");
  cuda::StageLimits(op, self, memory);
  const auto not_negative = memory.Allocate(1, "aten::ge");
  const auto finite = memory.Allocate(1, "aten::lt");
  const auto valid = memory.Allocate(1, "aten::bitwise_and");
  memory.Free(finite);
  memory.Free(not_negative);
  const auto any_zero = AnyZeroOnCuda(op, memory);
  memory.Free(memory.Allocate(1, "aten::bitwise_not"));
  DrawLargestOnCuda(op, memory);
  for (const auto scratch : {any_zero, valid, largest, least}) memory.Free(scratch);
}

// An exponentially distributed number for each probability, a quotient, and which is largest.
constexpr WorkFn kDrawnWork =
    work::PerInput<work::PerElement{.alu = 1, .special = 1, .compare = 1}>;

// --- Rows ---------------------------------------------------------------------------------------

constexpr std::array kRows{
    OpaqueKernel(Family::kRandom,
                 {"aten::multinomial", "Places drawn with the probabilities that rows say.",
                  "(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? "
                  "generator=None) -> Tensor",
                  "aten::multinomial(f32[2,8], 3)"},
                 DrawnShape, {DrawnAllocations, DrawnOnCuda}, kDrawnWork, kNoGradient),
};

}  // namespace

std::span<const OpDef> Multinomial() { return kRows; }

}  // namespace steelyard::ops
