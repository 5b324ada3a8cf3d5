// SPDX-License-Identifier: Apache-2.0
//
// Most have a backward kernel, which is given the gradient, what was saved and the call's other
// arguments, in the order of its own schema. What only moves elements is undone by an operator of
// its kind with the opposite numbers: less padding, shifts and turns the other way
// (derivatives.yaml).

#include "ops/gradients/image.h"

#include <algorithm>
#include <vector>

namespace steelyard::gradients {
namespace {

Dims Negative(const Dims& list) {
  Dims out;
  for (std::int64_t v : list) out.push_back(-v);
  return out;
}

Dims Reversed(const Dims& list) {
  Dims out;
  for (int i = list.size(); i-- > 0;) out.push_back(list[i]);
  return out;
}

}  // namespace

// self, kernel_size, stride, padding, dilation, ceil_mode
Tensor MaxPoolSelf(Dispatcher& d, const Backward& b, OpName kernel) {
  const OpView& op = b.op();
  return d.Call(kernel, b.grad(), b.saved(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4), op.arg(5),
                b.result(1));
}

// self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
Tensor AveragePoolSelf(Dispatcher& d, const Backward& b, OpName kernel) {
  const OpView& op = b.op();
  return d.Call(kernel, b.grad(), b.saved(0), op.arg(1), op.arg(2), op.arg(3), op.arg(4), op.arg(5),
                op.arg(6));
}

Tensor AdaptiveMaxSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::adaptive_max_pool2d_backward", b.grad(), b.saved(0), b.result(1));
}

Tensor AdaptiveMaxVolume(Dispatcher& d, const Backward& b) {
  return d.Call("aten::adaptive_max_pool3d_backward", b.grad(), b.saved(0), b.result(1));
}

// self, kernel_size, output_size, random_samples
Tensor FractionalSelf(Dispatcher& d, const Backward& b, OpName kernel) {
  return d.Call(kernel, b.grad(), b.saved(0), b.op().arg(1), b.op().arg(2), b.result(1));
}

// self, indices, output_size: from the places where the maxima were put
Tensor TakeBack(Dispatcher& d, const Backward& b, int spatial) {
  const Tensor indices = b.saved(1);
  const Dims sizes(indices.sizes());
  Dims flat(indices.sizes().first(static_cast<std::size_t>(indices.rank() - spatial)));
  flat.push_back(-1);
  const Tensor places = d.Call("aten::view", indices, flat);
  const Tensor grad = d.Call("aten::reshape", b.grad(), flat);
  const Tensor taken = d.Call("aten::gather", grad, -1, places);
  return d.Call("aten::view", taken, sizes);
}

// self, output_size, perhaps align_corners, a factor for each dimension
Tensor UpsampleSelf(Dispatcher& d, const Backward& b, OpName kernel) {
  const OpView& op = b.op();
  const Dims sizes(op.self().sizes());
  switch (op.arg_count()) {
    case 3:
      return d.Call(kernel, b.grad(), op.arg(1), sizes, op.arg(2));
    case 4:
      return d.Call(kernel, b.grad(), op.arg(1), sizes, op.arg(2), op.arg(3));
    case 5:
      return d.Call(kernel, b.grad(), op.arg(1), sizes, op.arg(2), op.arg(3), op.arg(4));
    default:
      return d.Call(kernel, b.grad(), op.arg(1), sizes, op.arg(2), op.arg(3), op.arg(4), op.arg(5));
  }
}

// The other way, by the same factor.
Tensor ShuffleSelf(Dispatcher& d, const Backward& b, OpName kernel) {
  return d.Call(kernel, b.grad(), b.op().arg(1));
}

// self, groups: those of the one are the channels of a group of the other.
Tensor ChannelShuffleSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::channel_shuffle", b.grad(), b.grad().size(1) / b.op().integer(1));
}

// theta, size, align_corners
Tensor AffineGridMaps(Dispatcher& d, const Backward& b) {
  return d.Call("aten::affine_grid_generator_backward", b.grad(), b.op().arg(1), b.op().arg(2));
}

// input, grid, interpolation, padding, align_corners
std::vector<Tensor> GridSample(Dispatcher& d, const Backward& b, OpName kernel) {
  const OpView& op = b.op();
  return d.CallMany(kernel, b.grad(), b.saved(0), b.saved(1), op.arg(2), op.arg(3), op.arg(4),
                    d.Mask({b.needs(0), b.needs(1)}));
}

// input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned: nothing comes
// back to the boxes, but their nodes run.
std::vector<Tensor> RoiAlign(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const TensorView image = op.self();
  Tensor of_image = d.Call("torchvision::_roi_align_backward", b.grad(), b.saved(1), op.arg(2),
                           op.arg(3), op.arg(4), image.size(0), image.size(1), image.size(2),
                           image.size(3), op.arg(5), op.arg(6));
  return {std::move(of_image), Tensor()};
}

// input, rois, then other numbers, of which backward kernels want the sizes of the image too. The
// second result is a list of places: Python is given zeros for its gradient.
std::vector<Tensor> RoiPlaces(Dispatcher& d, const Backward& b, OpName kernel) {
  const OpView& op = b.op();
  const TensorView image = op.self(), places = op.output(1);
  const Tensor no_gradient = d.Call("aten::zeros", Dims(places.sizes()), places.dtype());
  if (op.arg_count() == 6) {  // with a number of samples
    Tensor of_image =
        d.Call(kernel, b.grad(), b.saved(1), b.result(1), op.arg(2), op.arg(3), op.arg(4),
               op.arg(5), image.size(0), image.size(1), image.size(2), image.size(3));
    return {std::move(of_image), Tensor()};
  }
  Tensor of_image = d.Call(kernel, b.grad(), b.saved(1), b.result(1), op.arg(2), op.arg(3),
                           op.arg(4), image.size(0), image.size(1), image.size(2), image.size(3));
  return {std::move(of_image), Tensor()};
}

// input, weight, offset, mask, bias, and nine numbers, which the backward operator takes too
std::vector<Tensor> DeformableConvolution(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.CallMany("torchvision::_deform_conv2d_backward", b.grad(), b.saved(0), b.saved(1),
                    b.saved(2), b.saved(3), b.saved(4), op.arg(5), op.arg(6), op.arg(7), op.arg(8),
                    op.arg(9), op.arg(10), op.arg(11), op.arg(12), op.arg(13));
}

Tensor BorderSelf(Dispatcher& d, const Backward& b, OpName kernel) {
  return d.Call(kernel, b.grad(), b.saved(0), b.op().arg(1));
}

Tensor ConstantPadSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::constant_pad_nd", b.grad(), Negative(b.op().ints(1)), std::int64_t{0});
}

// self, kernel_size, dilation, padding, stride
Tensor Im2ColSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  const Dims sizes{op.self().size(-2), op.self().size(-1)};
  return d.Call("aten::col2im", b.grad(), sizes, op.arg(1), op.arg(2), op.arg(3), op.arg(4));
}

// self, output_size, kernel_size, dilation, padding, stride
Tensor Col2ImSelf(Dispatcher& d, const Backward& b) {
  const OpView& op = b.op();
  return d.Call("aten::im2col", b.grad(), op.arg(2), op.arg(3), op.arg(4), op.arg(5));
}

// What was added in front is summed one by one; then all the copies at once, each in a dimension of
// its own (repeat_backward).
Tensor RepeatSelf(Dispatcher& d, const Backward& b) {
  const Dims repeats = b.op().ints(1), sizes(b.op().self().sizes());
  if (std::ranges::find(repeats, 0) != repeats.end()) {
    return d.Call("aten::zeros", sizes, b.grad().dtype());
  }
  Tensor grad = b.grad();
  const int lead = grad.rank() - sizes.size();
  for (int i = 0; i < lead; ++i) grad = d.Call("aten::sum.dim_IntList", grad, Dims{0}, false);
  Dims apart, copies;
  for (int dim = 0; dim < sizes.size(); ++dim) {
    if (repeats[dim + lead] != 1) {
      copies.push_back(apart.size());
      apart.push_back(repeats[dim + lead]);
    }
    apart.push_back(sizes[dim]);
  }
  if (copies.empty()) return grad;
  return d.Call("aten::sum.dim_IntList", d.Call("aten::reshape", grad, apart), copies, false);
}

// self, shifts, dims
Tensor RollSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::roll", b.grad(), Negative(Reversed(b.op().ints(1))),
                Reversed(b.op().ints(2)));
}

// self, k, dims: as many quarter turns back
Tensor RotateSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::rot90", b.grad(), -b.op().integer(1), b.op().arg(2));
}

Tensor FlipSelf(Dispatcher& d, const Backward& b) {
  return d.Call("aten::flip", b.grad(), b.op().arg(1));
}

}  // namespace steelyard::gradients
