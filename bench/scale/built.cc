// SPDX-License-Identifier: Apache-2.0
//
// usage: built NODES
//
// The residual network of generate.py, made by the builder and weighed to a report in text. Writes
// a line of JSON: the seconds of building it and of weighing it.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "steelyard/builder.h"
#include "steelyard/weigh.h"

namespace steelyard {
namespace {

using Clock = std::chrono::steady_clock;
using Tensor = Builder::Tensor;

constexpr std::int64_t kTokens = 128;
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kInner = 256;
constexpr std::int64_t kHeads = 4;
constexpr int kPerBlock = 12;
constexpr DType kFloat = DType::kFloat32;

double SecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

Tensor Linear(Builder& b, std::string_view name, std::int64_t in, std::int64_t out, Tensor x) {
  const Builder::Scope scope = b.Enter(name, "torch.nn.modules.linear.Linear");
  const Tensor weight = b.Parameter("weight", kFloat, {out, in});
  return b.Call("aten::linear", x, weight, b.Parameter("bias", kFloat, {out}));
}

Tensor Block(Builder& b, Tensor x) {
  const Tensor gain = b.Parameter("gain", kFloat, {kWidth});
  const Tensor shift = b.Parameter("shift", kFloat, {kWidth});
  const Tensor norm = b.Call("aten::layer_norm", x, b.Sizes({kWidth}), gain, shift);
  const Tensor up = Linear(b, "up", kWidth, kInner, norm);
  const Tensor heads = b.Call("aten::view", up, b.Sizes({kTokens, kHeads, kInner / kHeads}));
  const Tensor first = b.Call("aten::transpose.int", heads, 0, 1);
  const Tensor shares = b.Call("aten::softmax.int", first, -1);
  const Tensor back = b.Call("aten::transpose.int", shares, 0, 1);
  const Tensor flat = b.Call("aten::reshape", back, b.Sizes({kTokens, kInner}));
  const Tensor gate = b.Call("aten::mul.Tensor", b.Call("aten::gelu", flat), up);
  const Tensor down = Linear(b, "down", kInner, kWidth, gate);
  return b.Call("aten::add.Tensor", x, b.Call("aten::relu", down));
}

Result<Program> Network(int nodes) {
  Builder b("Network", "bench.Network");
  Tensor x = b.Input("x", kFloat, {kTokens, kWidth});
  for (int i = 0; i < nodes / kPerBlock; ++i) {
    const Builder::Scope scope = b.Enter("layer." + std::to_string(i), "bench.Block");
    x = Block(b, x);
  }
  b.Return(x);
  return std::move(b).Build();
}

Status Measure(int nodes) {
  const Clock::time_point begin = Clock::now();
  SY_ASSIGN_OR_RETURN(Program program, Network(nodes));
  const Clock::time_point built = Clock::now();
  SY_ASSIGN_OR_RETURN(const Weighing weighing, Weigh(std::move(program), {}));
  SY_ASSIGN_OR_RETURN(const std::string text, WriteReport(weighing, "text", {}));
  const Clock::time_point end = Clock::now();
  std::printf("{\"operators\": %lld, \"peak\": %lld, \"build_s\": %.4f, \"weigh_s\": %.4f}\n",
              static_cast<long long>(weighing.totals.operators),
              static_cast<long long>(weighing.totals.peak_bytes), SecondsBetween(begin, built),
              SecondsBetween(built, end));
  return {};
}

}  // namespace
}  // namespace steelyard

int main(int argc, char** argv) {
  int nodes = 0;
  const char* text = argc == 2 ? argv[1] : "";
  const auto read = std::from_chars(text, text + std::strlen(text), nodes);
  if (read.ec != std::errc() || nodes < steelyard::kPerBlock) {
    std::fputs("usage: built NODES\n", stderr);
    return 2;
  }
  const steelyard::Status status = steelyard::Measure(nodes);
  if (status) return 0;
  std::fprintf(stderr, "%s\n", steelyard::Describe(status.error()).c_str());
  return 1;
}
