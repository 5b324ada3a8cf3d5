// SPDX-License-Identifier: Apache-2.0
//
// Builds a small transformer in PyTorch's operators and prints the peak of a step of training it.
#include <steelyard/steelyard.h>

#include <cstdio>
#include <string>
#include <utility>

using steelyard::Builder;
using steelyard::DType;

int main() {
  Builder b("Transformer");
  const auto linear = [&](const char* name, Builder::Tensor x, int from, int to) {
    return b.Call("aten::linear", x, b.Parameter(name, DType::kFloat32, {to, from}));
  };
  Builder::Tensor x = b.Input("x", DType::kFloat32, {8, 128, 512});
  for (int i = 0; i < 6; ++i) {
    const Builder::Scope layer = b.Enter("layer." + std::to_string(i), "Layer");
    Builder::Tensor y = b.Call("aten::layer_norm", x, Builder::Sizes({512}));
    y = b.Call("aten::view", linear("qkv", y, 512, 3 * 512), Builder::Sizes({8, 128, 3, 8, 64}));
    y = b.Call("aten::permute", y, Builder::Sizes({2, 0, 3, 1, 4}));
    const auto qkv = b.CallMany("aten::unbind.int", 3, y);
    y = b.Call("aten::scaled_dot_product_attention", qkv[0], qkv[1], qkv[2]);
    y = b.Call("aten::reshape", b.Call("aten::transpose.int", y, 1, 2),
               Builder::Sizes({8, 128, 512}));
    x = b.Call("aten::add.Tensor", x, linear("out", y, 512, 512));
    y = linear("up", b.Call("aten::layer_norm", x, Builder::Sizes({512})), 512, 2048);
    x = b.Call("aten::add.Tensor", x, linear("down", b.Call("aten::gelu", y), 2048, 512));
  }
  b.Return(x);
  const auto step =
      steelyard::Weigh(*std::move(b).Build(), {.train = {.optimizer = "sgd", .loss = "sum"}});
  if (step) std::printf("peak %lld B\n", static_cast<long long>(step->totals.peak_bytes));
  return step ? 0 : 1;
}
