// SPDX-License-Identifier: Apache-2.0
//
// The masks are read before anything makes them: what made the old ones is dropped in between, and
// the places of nodes change with that.

#include "pass/causal_bias.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "ir/variables.h"

namespace steelyard {
namespace {

ValueId AddResult(Program& program, DType dtype, std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  return program.AddTensor(kNoString, dtype, sizes, strides);
}

// Nodes beside one of the main graph, in the same call of the same module.
class Beside {
 public:
  Beside(Program& program, const Node& node, std::vector<Node>* nodes)
      : program_(program), node_(node), nodes_(nodes) {}

  void Add(std::string_view op, std::span<const Argument> args, std::span<const ValueId> results) {
    Node node = node_;
    node.op = program_.AddOpName(op);
    node.arguments = program_.AddArguments(args);
    node.outputs = program_.AddOutputs(results);
    nodes_->push_back(node);
  }
  ValueId Add(std::string_view op, std::span<const Argument> args, DType dtype,
              std::span<const std::int64_t> sizes) {
    const ValueId result = AddResult(program_, dtype, sizes);
    Add(op, args, std::array{result});
    return result;
  }
  // 0, 1, ... along one of two dimensions.
  ValueId Places(std::int64_t count, std::int64_t other) {
    const std::array length{Argument::OfInt(count)};
    const ValueId places = Add("aten::arange", length, DType::kInt64, std::array{count});
    const std::array along{Argument::OfValue(places), Argument::OfInt(other)};
    std::array<std::int64_t, 2> sizes{count, count};
    sizes[static_cast<std::size_t>(other)] = 1;
    return Add("aten::unsqueeze", along, DType::kInt64, sizes);
  }

 private:
  Program& program_;
  const Node node_;
  std::vector<Node>* nodes_;
};

// arange(queries)[:, None] >= arange(keys)[None, :]
void AddMakers(Program& program, const Node& reader, ValueId mask, std::vector<Node>* nodes) {
  const std::int64_t queries = program.sizes(mask)[2], keys = program.sizes(mask)[3];
  Beside beside(program, reader, nodes);
  const ValueId query = beside.Places(queries, 1), key = beside.Places(keys, 0);
  const std::array operands{Argument::OfValue(query), Argument::OfValue(key)};
  const ValueId seen =
      beside.Add("aten::ge.Tensor", operands, DType::kBool, std::array{queries, keys});
  const std::array all{Argument::OfInt(1), Argument::OfInt(1), Argument::OfInt(queries),
                       Argument::OfInt(keys)};
  const std::array shaped{Argument::OfValue(seen), Argument::OfList(program.AddArguments(all))};
  beside.Add("aten::view", shaped, std::array{mask});
}

bool Reads(const Program& program, const Node& node, ValueId value) {
  const std::span<const Argument> args = program.args(node);
  return !args.empty() && args[0].kind == ArgKind::kValue && args[0].value == value;
}

}  // namespace

std::vector<ValueId> ReadCausalMasks(Program& program, std::span<const NodeId> calls) {
  std::vector<ValueId> masks;
  for (const NodeId i : calls) {
    Node& node = program.main().nodes[i];
    const std::span<const std::int64_t> sizes = program.sizes(program.results(node)[0]);
    const std::array shape{std::int64_t{1}, std::int64_t{1}, sizes[sizes.size() - 2],
                           sizes[sizes.size() - 1]};
    masks.push_back(AddResult(program, DType::kBool, shape));
    const std::span<const Argument> before = program.args(node);
    std::vector<Argument> args(before.begin(), before.end());
    args[0].value = masks.back();
    node.arguments = program.AddArguments(args);
  }
  return masks;
}

void MakeCausalMasks(Program& program, std::span<const ValueId> masks) {
  if (masks.empty()) return;
  std::vector<Node> nodes;
  const std::vector<Node> before = std::move(program.main().nodes);
  std::array<Argument, 2> held;  // a mask and what is cut with it, until it is in one piece
  ValueId cut = kNoId;
  for (const Node& node : before) {
    const auto mask =
        std::ranges::find_if(masks, [&](ValueId id) { return Reads(program, node, id); });
    if (mask != masks.end()) AddMakers(program, node, *mask, &nodes);
    nodes.push_back(node);
    if (mask != masks.end()) {
      cut = program.results(node)[0];
      held = {Argument::OfValue(*mask), Argument::OfValue(cut)};
    } else if (cut != kNoId && Reads(program, node, cut)) {
      const std::array list{Argument::OfList(program.AddArguments(held))};
      Beside(program, node, &nodes).Add(kLeaveOp, list, {});
      cut = kNoId;
    }
  }
  program.main().nodes = std::move(nodes);
}

}  // namespace steelyard
