// SPDX-License-Identifier: Apache-2.0
//
// The windows that Swin Transformers attend within, and what a shift of them brings together.
#pragma once

#include <cstdint>

#include "models/vision.h"

namespace steelyard::models {

// Images of [batch, height, width, channels] as windows, and back.
struct Windows {
  const Net& net;
  std::int64_t side;
  Extent grid;  // of whole windows
  std::int64_t channels;

  std::int64_t count() const { return grid.height / side * (grid.width / side); }
  Tensor Of(Tensor image, Builder::Size batch) const {
    const Shape apart{batch, grid.height / side, side, grid.width / side, side, channels};
    const Tensor cut = net.b.Call("aten::view", image, apart);
    return net.b.Call("aten::view", Swapped(cut), Shape{-1, side, side, channels});
  }
  Tensor Joined(Tensor windows) const {
    const Shape apart{-1, grid.height / side, grid.width / side, side, side, channels};
    const Tensor cut = net.b.Call("aten::view", windows, apart);
    return net.b.Call("aten::view", Swapped(cut), Shape{-1, grid.height, grid.width, channels});
  }

 private:
  Tensor Swapped(Tensor x) const {
    return net.b.Call("aten::contiguous", net.b.Call("aten::transpose.int", x, 2, 3));
  }
};

// Keeps apart what a shift has brought into one window: [windows, area, area].
Tensor ShiftMask(const Net& net, const Windows& whole, std::int64_t shift);

}  // namespace steelyard::models
