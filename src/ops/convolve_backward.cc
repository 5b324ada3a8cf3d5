// SPDX-License-Identifier: Apache-2.0
//
// Plain kernels take one group at a time, as forward (ATen/native/Convolution.cpp,
// convolution_backward).

#include "ops/convolve_backward.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ops/convolve.h"
#include "ops/rules/convolution.h"
#include "ops/rules/onednn.h"
#include "ops/rules/onednn_backward.h"
#include "ops/rules/window.h"

namespace steelyard::ops::convolve {
namespace {

using convolution::Geometry;
using convolution::SpatialRank;
using Mask = std::array<bool, 3>;

// What the kernels are given.
struct Problem {
  Tensor input, weight, gradient;
  Geometry geometry;
  Mask mask{};
  bool transposed = false;
};

std::vector<Tensor> CallSlow(Dispatcher& d, Backend backend, const Problem& p) {
  const Geometry& g = p.geometry;
  const Dims kernel(window::Spatial(p.weight.sizes()));
  const Argument mask = d.Mask({p.mask[0], p.mask[1], p.mask[2]});
  if (p.transposed) {
    return p.weight.rank() == 5
               ? d.CallMany("steelyard::slow_conv_transpose3d_backward", p.gradient, p.input,
                            p.weight, kernel, g.stride, g.padding, mask)
               : d.CallMany("steelyard::slow_conv_transpose2d_backward", p.gradient, p.input,
                            p.weight, kernel, g.stride, g.padding, mask);
  }
  switch (backend) {
    case Backend::kSlow3d:
      return d.CallMany("steelyard::slow_conv3d_backward", p.gradient, p.input, p.weight, kernel,
                        g.stride, g.padding, mask);
    case Backend::kSlowDilated:
      return p.weight.rank() == 5
                 ? d.CallMany("steelyard::slow_conv_dilated3d_backward", p.gradient, p.input,
                              p.weight, kernel, g.stride, g.padding, mask)
                 : d.CallMany("steelyard::slow_conv_dilated2d_backward", p.gradient, p.input,
                              p.weight, kernel, g.stride, g.padding, mask);
    case Backend::kSlow2d:
    case Backend::kOneDnn:
      return d.CallMany("aten::_slow_conv2d_backward.output_mask", p.gradient, p.input, p.weight,
                        kernel, g.stride, g.padding, mask);
  }
  __builtin_unreachable();
}

std::vector<Tensor> CallSlowInGroups(Dispatcher& d, Backend backend, const Problem& p) {
  const std::int64_t groups = p.geometry.groups;
  const bool knows_groups = backend == Backend::kSlow3d && !p.transposed;
  if (groups == 1 || knows_groups) return CallSlow(d, backend, p);
  RequireFewGroups(groups);
  std::vector<Tensor> inputs, weights, biases;
  const std::array lists{&inputs, &weights, &biases};
  for (std::int64_t i = 0; i < groups; ++i) {
    const Tensor gradient = Part(d, p.gradient, 1, i, groups);
    const Tensor input = Part(d, p.input, 1, i, groups);
    const Tensor weight = Part(d, p.weight, 0, i, groups);
    const Problem part{.input = input,
                       .weight = weight,
                       .gradient = gradient,
                       .geometry = p.geometry,
                       .mask = p.mask,
                       .transposed = p.transposed};
    std::vector<Tensor> gradients = CallSlow(d, backend, part);
    for (std::size_t k = 0; k < gradients.size(); ++k) lists[k]->push_back(std::move(gradients[k]));
  }
  std::vector<Tensor> out(p.mask.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (p.mask[k]) out[k] = d.Call("aten::cat", *lists[k], k == 0 ? 1 : 0);
  }
  biases.clear();
  weights.clear();
  inputs.clear();
  return out;
}

// Images with a single row stand for one dimension.
void AddRow(Dispatcher& d, Problem& p) {
  p.input = d.Call("aten::contiguous", p.input);
  convolve::AddRow(p.geometry);
  for (Tensor* t : {&p.gradient, &p.input, &p.weight}) *t = d.Call("aten::unsqueeze", *t, 2);
}

// The plain kernels copy the gradient themselves, for each of their results; the one for volumes
// everything.
void MakeDense(Dispatcher& d, Backend backend, Problem& p) {
  if (backend == Backend::kSlow3d && !p.transposed) return;
  const std::int64_t format = FormatFor(backend, p.input, p.weight);
  p.input = d.Call("aten::contiguous", p.input, format);
  p.weight = d.Call("aten::contiguous", p.weight, format);
  if (backend == Backend::kOneDnn) p.gradient = d.Call("aten::contiguous", p.gradient, format);
}

// Whether oneDNN's kernels take buffers that are not known to the byte. A transposed convolution is
// the way back of one from the gradient to the image.
bool IsEstimated(const Dispatcher& d, const Problem& p) {
  const Geometry& g = p.geometry;
  onednn::Convolution c{
      .source = p.input.sizes(),
      .weight = p.weight.sizes(),
      .result = p.gradient.sizes(),
      .stride = g.stride,
      .padding = g.padding,
      .dilation = g.dilation,
      .groups = g.groups,
      .dtype = p.input.dtype(),
      .has_bias = p.mask[2],
      .channels_last = convolution::UsesChannelsLast(p.input.view(), p.weight.view())};
  if (p.transposed) std::swap(c.source, c.result);
  const auto of_image = [&] {
    return p.transposed ? onednn::ForwardBuffers(c, d.target()).estimated
                        : onednn::BuffersOfImageGradient(c, d.target()).estimated;
  };
  return (p.mask[0] && of_image()) ||
         ((p.mask[1] || p.mask[2]) && onednn::BuffersOfWeightGradient(c, d.target()).estimated);
}

// The bias's gradient is a sum over all but the channels.
Tensor OfBias(Dispatcher& d, const Tensor& gradient) {
  Dims dims{0};
  for (int i = 2; i < gradient.rank(); ++i) dims.push_back(i);
  return d.Call("aten::sum.dim_IntList", gradient, dims);
}

// conv_depthwise3d_backward, which gives all three.
std::vector<Tensor> VolumeByChannel(Dispatcher& d, const Problem& p) {
  const Geometry& g = p.geometry;
  const Argument mask = d.Mask({p.mask[0], p.mask[1]});
  std::vector<Tensor> out =
      d.CallMany("steelyard::depthwise_volume_backward", p.gradient, p.input, p.weight, g.stride,
                 g.padding, g.dilation, false, g.groups, mask);
  out.resize(p.mask.size());
  const Tensor gradient = d.Call("aten::contiguous", p.gradient);
  const Tensor input = d.Call("aten::contiguous", p.input);
  const Tensor weight = d.Call("aten::contiguous", p.weight);
  if (p.mask[2]) out[2] = OfBias(d, p.gradient);
  return out;
}

std::vector<Tensor> BackwardOnCuda(Dispatcher& d, const Problem& p) {
  const bool cudnn = HasCudnn(d.target(), p.input, p.weight);
  const bool by_channel = !p.transposed && IsDepthwiseOnCuda(p.input, p.weight, p.geometry, cudnn);
  if (by_channel && p.input.rank() == 5) return VolumeByChannel(d, p);
  if (!by_channel && !cudnn) {
    const Tensor input = d.Call("aten::contiguous", p.input);
    const Tensor weight = d.Call("aten::contiguous", p.weight);
    const Problem dense{.input = input,
                        .weight = weight,
                        .gradient = p.gradient,
                        .geometry = p.geometry,
                        .mask = p.mask,
                        .transposed = p.transposed};
    return CallSlowInGroups(d, BackendWithoutCudnn(p.weight, p.geometry), dense);
  }
  const Argument mask = d.Mask({p.mask[0], p.mask[1]});
  std::vector<Tensor> out(p.mask.size());
  {  // for the bias alone it only copies the gradient
    const std::int64_t format = CudaFormatFor(p.input, p.weight);
    const Tensor input = p.mask[1] ? d.Call("aten::contiguous", p.input, format) : p.input;
    // Of a transposed one the gradient is made dense for both.
    const Tensor gradient =
        p.transposed ? d.Call("aten::contiguous", p.gradient, format) : p.gradient;
    const Geometry& g = p.geometry;
    std::vector<Tensor> gradients =
        by_channel ? d.CallMany("steelyard::depthwise_convolution_backward", p.gradient, input,
                                p.weight, g.stride, g.padding, g.dilation, false, g.groups, mask)
                   : d.CallMany("steelyard::cudnn_convolution_backward", gradient, input, p.weight,
                                g.stride, g.padding, g.dilation, p.transposed, g.groups, mask);
    for (std::size_t i = 0; i < gradients.size(); ++i) out[i] = std::move(gradients[i]);
  }
  if (p.mask[2]) out[2] = OfBias(d, p.gradient);
  return out;
}

// Of no images nothing is computed.
std::vector<Tensor> BackwardOfNone(Dispatcher& d, const Problem& p) {
  std::vector<Tensor> out(p.mask.size());
  if (p.mask[0]) out[0] = d.Call("aten::zeros_like", p.input);
  if (p.mask[1]) out[1] = d.Call("aten::zeros_like", p.weight);
  if (p.mask[2]) out[2] = d.Call("aten::zeros", Dims{p.gradient.size(1)}, p.weight.dtype());
  return out;
}

}  // namespace

// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation,
// transposed, output_padding, groups, output_mask).
std::vector<Tensor> Backward(Dispatcher& d, const OpView& op) {
  const int n = SpatialRank(op.tensor(2));
  const std::vector<std::int64_t> wanted = op.integers(10);
  Problem p{.input = d.tensor(op, 1),
            .weight = d.tensor(op, 2),
            .gradient = d.tensor(op, 0),
            .geometry = {.stride = window::PerDimension("stride", op.ints(4), n),
                         .padding = window::PerDimension("padding", op.ints(5), n),
                         .dilation = window::PerDimension("dilation", op.ints(6), n),
                         .groups = op.integer(9)}};
  for (std::size_t i = 0; i < p.mask.size() && i < wanted.size(); ++i) p.mask[i] = wanted[i] != 0;
  p.transposed = op.boolean(7);
  // A transposed convolution goes from the result of one to its image.
  const Tensor& image = p.transposed ? p.gradient : p.input;
  const Tensor& result = p.transposed ? p.input : p.gradient;
  convolution::RequireGradient(result.view(), image.view(), p.weight.view(), p.geometry);
  const bool one_dimensional = n == 1;
  if (one_dimensional) AddRow(d, p);
  const auto finish = [&](std::vector<Tensor> gradients) {
    gradients.resize(p.mask.size());
    for (std::size_t i = 0; one_dimensional && i < 2; ++i) {
      if (p.mask[i]) gradients[i] = d.Call("aten::squeeze.dim", gradients[i], 2);
    }
    return gradients;
  };
  if (p.input.size(0) == 0) return finish(BackwardOfNone(d, p));
  if (d.target().device == Device::kCuda) return finish(BackwardOnCuda(d, p));
  const Backend backend = ChooseBackend(p.input, p.weight, p.geometry, d.target().threads);
  MakeDense(d, backend, p);
  std::vector<Tensor> out;
  if (backend == Backend::kOneDnn) {
    const Geometry& g = p.geometry;
    const Argument mask = d.Mask({p.mask[0], p.mask[1], p.mask[2]});
    if (IsEstimated(d, p)) d.NoteEstimate(kEstimated);
    out = p.transposed ? d.CallMany("steelyard::onednn_transposed_backward", p.gradient, p.input,
                                    p.weight, g.stride, g.padding, g.dilation, g.groups, mask)
                       : d.CallMany("steelyard::onednn_convolution_backward", p.gradient, p.input,
                                    p.weight, g.stride, g.padding, g.dilation, g.groups, mask);
  } else {
    out = CallSlowInGroups(d, backend, p);
  }
  return finish(std::move(out));
}

}  // namespace steelyard::ops::convolve
