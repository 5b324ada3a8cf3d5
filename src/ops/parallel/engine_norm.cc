// SPDX-License-Identifier: Apache-2.0

#include "ops/parallel/engine_norm.h"

namespace steelyard::ops {
namespace {

// `~torch.isfinite(norm) | (norm < 0)`
Tensor IsInvalid(Dispatcher& d, const Tensor& norm) {
  Tensor infinite;
  {
    const Tensor finite = d.Call("aten::isfinite", norm);
    infinite = d.Call("aten::bitwise_not", finite);
  }
  const Tensor negative = d.Call("aten::lt.Scalar", norm, 0);
  return d.Call("aten::bitwise_or.Tensor", infinite, negative);
}

}  // namespace

void AskWhetherInvalid(Dispatcher& d, const Tensor& norm) {
  const Tensor invalid = IsInvalid(d, norm);
  d.Call("aten::any", invalid);
}

Tensor CombineNorms(Dispatcher& d, const Tensors& norms) {
  Tensor stacked = d.Call("aten::stack", norms);
  Tensor invalid;
  {
    const Tensor each = IsInvalid(d, stacked);
    invalid = d.Call("aten::any", each);
  }
  Tensor combined = d.Call("aten::linalg_vector_norm", stacked, 2.0);
  Tensor result;
  {
    const Tensor infinite = d.Call("aten::full_like", combined, kAnyNumber);
    result = d.Call("aten::where.self", invalid, infinite, combined);
  }
  Return(stacked, invalid, combined);
  return result;
}

void ScaleByNorm(Dispatcher& d, const Tensor& gradient, const Tensor& norm) {
  Tensor clip = d.Call("aten::div.Tensor", norm, 1.0);
  clip = d.Call("aten::add.Tensor", clip, kAnyNumber);
  clip = d.Call("aten::div.Tensor", clip, kAnyNumber);
  clip = d.Call("aten::clamp", clip, kAnyNumber);
  Tensor scale = d.Call("aten::mul.Tensor", clip, 1.0);
  Tensor inverse;
  {
    const Tensor reciprocal = d.Call("aten::reciprocal", scale);
    inverse = d.Call("aten::mul.Tensor", reciprocal, 1.0);
  }
  d.Call("aten::mul_.Tensor", gradient, inverse);
  Return(inverse, scale, clip);
}

}  // namespace steelyard::ops
