// SPDX-License-Identifier: Apache-2.0
//
// Channels dealt out anew: over the pixels of a larger image, gathered from them, and among groups
// (ATen/native/PixelShuffle.cpp, ChanelShuffle.cpp). The operand is first put into the memory
// format that the result has.

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/layout.h"
#include "ops/dispatch/dispatcher.h"
#include "ops/gradients/image.h"
#include "ops/registry.h"
#include "ops/rules/allocations.h"
#include "ops/rules/composite.h"
#include "ops/rules/kernel.h"
#include "ops/rules/shape.h"
#include "ops/rules/traffic.h"
#include "ops/rules/window.h"
#include "ops/rules/work.h"

namespace steelyard::ops {
namespace {

// More than this can only come from a damaged file; its square fits.
constexpr std::int64_t kMaxFactor = 1 << 16;

// The operand in the memory format that the result has.
void AllocateShuffle(const OpView& op, std::string_view label, Allocations& memory) {
  memory.Output(0, "aten::resize_");
  const TensorView self = op.self();
  if (op.output().count() == 0) return;
  const Dims strides = window::StridesLike(self, self.sizes());
  if (IsContiguous(self.sizes(), self.strides()) && IsContiguous(self.sizes(), strides)) return;
  if ((self.rank() == 4 || self.rank() == 5) && !IsContiguous(self.sizes(), strides) &&
      IsContiguousChannelsLast(self.sizes(), self.strides())) {
    return;
  }
  const std::int64_t bytes = allocations::Bytes(self.count(), self.dtype());
  memory.Free(memory.Allocate(bytes, "aten::empty"), label);
}
void ShuffleAllocations(const OpView& op, Allocations& memory) { AllocateShuffle(op, {}, memory); }
void ChannelAllocations(const OpView& op, Allocations& memory) {
  AllocateShuffle(op, Allocations::kCaller, memory);
}

void RequireImage(const TensorView& self) {
  if (self.rank() < 3) Refuse("an image has three dimensions or more, not " + shape::Text(self));
}

// In the order that the operand suggests; on CUDA it is reshaped, and is contiguous.
void AddImage(const OpView& op, const Dims& sizes, Outputs& out) {
  const TensorView self = op.self();
  if (op.target().device == Device::kCuda) return out.Add(self.dtype(), sizes);
  out.Add(self.dtype(), sizes, window::StridesLike(self, sizes));
}

void PixelShuffleShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  RequireImage(self);
  const std::int64_t factor = op.integer(1);
  if (factor <= 0 || factor > kMaxFactor) Refuse(fmt::format("pixels shuffled by {}", factor));
  Dims sizes(self.sizes());
  const int rank = self.rank();
  if (sizes[rank - 3] % (factor * factor) != 0) {
    Refuse(fmt::format("{} channels cannot be shuffled by {}", sizes[rank - 3], factor));
  }
  sizes[rank - 3] /= factor * factor;
  sizes[rank - 2] *= factor;
  sizes[rank - 1] *= factor;
  AddImage(op, sizes, out);
}

void PixelUnshuffleShape(const OpView& op, Outputs& out) {
  const TensorView self = op.self();
  RequireImage(self);
  const std::int64_t factor = op.integer(1);
  if (factor <= 0 || factor > kMaxFactor) Refuse(fmt::format("pixels shuffled by {}", factor));
  Dims sizes(self.sizes());
  const int rank = self.rank();
  if (sizes[rank - 2] % factor != 0 || sizes[rank - 1] % factor != 0) {
    Refuse(fmt::format("{} cannot be shuffled by {}", shape::Text(self), factor));
  }
  sizes[rank - 3] *= factor * factor;
  sizes[rank - 2] /= factor;
  sizes[rank - 1] /= factor;
  AddImage(op, sizes, out);
}

std::int64_t GroupsOf(const OpView& op) {
  RequireImage(op.self());
  const std::int64_t channels = op.self().size(1), groups = op.integer(1);
  if (groups <= 0 || channels % groups != 0) {
    Refuse(fmt::format("{} channels in {} groups", channels, groups));
  }
  return groups;
}

void ChannelShuffleShape(const OpView& op, Outputs& out) {
  GroupsOf(op);
  AddImage(op, Dims(op.self().sizes()), out);
}

// On CUDA there is no kernel.
std::vector<Tensor> NativeChannelShuffle(Dispatcher& d, const OpView& op) {
  if (d.target().device == Device::kCpu) {
    return {d.Call("steelyard::channels_shuffled", d.tensor(op, 0), op.arg(1))};
  }
  const TensorView self = op.self();
  const std::int64_t groups = GroupsOf(op);
  const Tensor grouped =
      d.Call("aten::reshape", op.arg(0), Dims{self.size(0), groups, self.size(1) / groups, -1});
  const Tensor dealt =
      d.Call("aten::contiguous", d.Call("aten::permute", grouped, Dims{0, 2, 1, 3}));
  return {d.Call("aten::reshape", dealt, Dims(self.sizes()))};
}

std::vector<Tensor> ChannelShuffle(Dispatcher& d, const OpView& op) {
  return {d.Call("aten::native_channel_shuffle", d.tensor(op, 0), op.arg(1))};
}

// --- Rows ---------------------------------------------------------------------------------------

constexpr OpDef Shuffled(const Words& words, ShapeFn shape, AllocationsFn allocations,
                         Gradient grad = kGradientUnknown) {
  return Kernel(Family::kDataMovement, words,
                {.shape = shape,
                 .fusion = Fusion::kInjective,
                 .allocations = allocations,
                 .work = work::Move,
                 .grad = grad,
                 .precision = precision::kFollow},
                Alias::kNone, traffic::ReadWhatIsWritten);
}

constexpr std::array kRows{
    CopyingOut(Shuffled(
        {"aten::pixel_shuffle", "Channels spread over a larger image.",
         "(Tensor self, int upscale_factor) -> Tensor", "aten::pixel_shuffle(f32[2,12,3,3], 2)"},
        PixelShuffleShape, ShuffleAllocations, gradients::kPixelShuffle)),
    CopyingOut(Shuffled(
        {"aten::pixel_unshuffle", "Pixels gathered as channels of a smaller image.",
         "(Tensor self, int downscale_factor) -> Tensor", "aten::pixel_unshuffle(f32[2,3,6,6], 2)"},
        PixelUnshuffleShape, ShuffleAllocations, gradients::kPixelUnshuffle)),
    Composite(
        Family::kDataMovement,
        {"aten::native_channel_shuffle", "Channels of groups dealt out in turn.",
         "(Tensor self, SymInt groups) -> Tensor", "aten::native_channel_shuffle(f32[2,6,4,4], 2)"},
        NativeChannelShuffle, kGradientFromParts),
    Shuffled(
        {"steelyard::channels_shuffled", "The kernel of `native_channel_shuffle` on the CPU.",
         "(Tensor self, SymInt groups) -> Tensor", "steelyard::channels_shuffled(f32[2,6,4,4], 2)"},
        ChannelShuffleShape, ChannelAllocations),
    CopyingOut(Composite(
        Family::kView,
        {"aten::channel_shuffle", "Channels of groups dealt out in turn.",
         "(Tensor self, SymInt groups) -> Tensor", "aten::channel_shuffle(f32[2,6,4,4], 2)"},
        ChannelShuffle, gradients::kChannelShuffle)),
};

}  // namespace

std::span<const OpDef> PixelShuffle() { return kRows; }

}  // namespace steelyard::ops
