// SPDX-License-Identifier: Apache-2.0
//
// transformers 5, cache_utils.py.
#include "models/cache.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>

#include "ir/cache_layer.h"
#include "ir/variables.h"

namespace steelyard::models {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr int kTokens = 2;  // the dimension of [batch, heads, tokens, width]

// What the last call left, as the layer has it.
struct Past {
  Tensor all, kept;
};

Past PastOf(Net& net, const CacheLayer& layer, std::int64_t width, const std::string& name) {
  const CacheStep& step = *net.options.cache;
  const std::int64_t last = step.after_prompt ? step.past : 1;
  // Beams that were chosen hold copies of what a window keeps, and of no more.
  const std::int64_t stored =
      step.reorders ? TokensHeld(layer, step.past) : TokensStored(layer, step.past - last, last);
  const Tensor all =
      net.b.Input(name, net.dtype(), {net.batch, layer.heads, stored, width}, Role::kCache);
  const std::int64_t held = TokensHeld(layer, step.past);
  if (held == stored) return {.all = all, .kept = all};
  return {.all = all, .kept = net.b.Call("aten::slice.Tensor", all, kTokens, stored - held, kEnd)};
}

Tensor Kept(const Net& net, Tensor all, const CacheLayer& layer) {
  if (layer.window == 0) return all;
  // Of a window of one token nothing is left away: -0 is 0.
  const std::int64_t begin = layer.window == 1 ? 0 : 1 - layer.window;
  return net.b.Call("aten::slice.Tensor", all, kTokens, begin, kEnd);
}

}  // namespace

std::int64_t SeenBefore(const Net& net) { return Generates(net) ? net.options.cache->past : 0; }

void Leave(const Net& net, const std::vector<Tensor>& variables) {
  if (!Generates(net) && !net.options.holds_variables) return;
  std::vector<Tensor> defined;
  std::ranges::copy_if(variables, std::back_inserter(defined), &Tensor::defined);
  if (!defined.empty()) net.b.CallMany(kLeaveOp, 0, defined);
}

std::int64_t KeysGiven(const Net& net, const CacheLayer& layer) {
  if (!Generates(net)) return 0;
  return TokensHeld(layer, net.options.cache->past) + net.options.cache->tokens;
}

States Updated(Net& net, const States& now, const CacheLayer& layer) {
  if (!Generates(net)) return now;
  net.b.DescribeCache(layer);
  const std::string name = "past_key_values." + std::to_string(net.kept.size() / 2);
  Past keys, values;
  const bool goes_on = net.options.cache->past > 0;
  if (goes_on) {
    keys = PastOf(net, layer, layer.key_width, name + ".key");
    values = PastOf(net, layer, layer.value_width, name + ".value");
  }
  const auto joined = [&](Tensor past, Tensor fresh) {
    const std::vector<Tensor> both =
        goes_on ? std::vector<Tensor>{past, fresh} : std::vector<Tensor>{fresh};
    return net.b.Call("aten::cat", both, -2);
  };
  States all;
  all.key = joined(keys.kept, now.key);
  // Without a window the old keys go before there are new values.
  if (layer.window == 0) Leave(net, {keys.all});
  all.value = joined(values.kept, now.value);
  const Tensor kept_keys = Kept(net, all.key, layer);
  if (layer.window > 0) Leave(net, {keys.kept, keys.all});
  const Tensor kept_values = Kept(net, all.value, layer);
  Leave(net, {values.kept, values.all});
  net.kept.push_back(kept_keys);
  net.kept.push_back(kept_values);
  Leave(net, {now.key, now.value});
  return all;
}

void KeepCaches(Net& net) {
  if (!Generates(net)) return;
  if (net.options.cache->reorders) {
    const Tensor beams = net.b.Input("beam_idx", DType::kInt64, {net.batch});
    for (Tensor& kept : net.kept) kept = net.b.Call("aten::index_select", kept, 0, beams);
  }
  for (const Tensor& kept : net.kept) net.b.Keep(kept);
}

}  // namespace steelyard::models
