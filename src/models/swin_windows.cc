// SPDX-License-Identifier: Apache-2.0
#include "models/swin_windows.h"

namespace steelyard::models {
namespace {

// Which of three stretches each row, or column, of a shifted image is of.
Tensor Stretches(Builder& b, Tensor line, std::int64_t size, std::int64_t window,
                 std::int64_t shift) {
  const auto from = [&](std::int64_t first) {
    const Tensor behind = b.Call("aten::ge.Scalar", line, first);
    return b.Call("aten::to.dtype", behind, DType::kInt64);
  };
  const Tensor second = from(size - window);
  return b.Call("aten::add.Tensor", second, from(size - shift));
}

}  // namespace

Tensor ShiftMask(const Net& net, const Windows& whole, std::int64_t shift) {
  Builder& b = net.b;
  const Tensor row_line = b.Call("aten::arange", whole.grid.height);
  const Tensor column_line = b.Call("aten::arange", whole.grid.width);
  Tensor rows = Stretches(b, row_line, whole.grid.height, whole.side, shift);
  Tensor columns = Stretches(b, column_line, whole.grid.width, whole.side, shift);
  for (const int dim : {0, 2, 3}) rows = b.Call("aten::unsqueeze", rows, dim);
  rows = b.Call("aten::mul.Tensor", rows, 3);
  for (const int dim : {0, 1, 3}) columns = b.Call("aten::unsqueeze", columns, dim);
  const Tensor regions = b.Call("aten::add.Tensor", rows, columns);
  const Tensor image = b.Call("aten::to.dtype", regions, net.dtype());
  const Windows cut{.net = net, .side = whole.side, .grid = whole.grid, .channels = 1};
  const Tensor each = b.Call("aten::view", cut.Of(image, 1), Shape{-1, whole.side * whole.side});
  const Tensor across = b.Call("aten::unsqueeze", each, 1);
  const Tensor apart = b.Call("aten::sub.Tensor", across, b.Call("aten::unsqueeze", each, 2));
  const Tensor other = b.Call("aten::ne.Scalar", apart, 0);
  const Tensor mask = b.Call("aten::masked_fill.Scalar", apart, other, -100.0);
  const Tensor same = b.Call("aten::eq.Scalar", apart, 0);
  return b.Call("aten::masked_fill.Scalar", mask, same, 0.0);
}

}  // namespace steelyard::models
