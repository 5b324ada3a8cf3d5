// SPDX-License-Identifier: Apache-2.0
//
// Decides which words of a plan there are, what they stand for unless options say otherwise
// (torch/distributed/tensor/parallel/style.py), and which options are read.

#include "pass/shared_style.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/choices.h"

namespace steelyard {
namespace {

using ops::kReplicate;
using ops::Placement;
using ops::ShardOf;

constexpr std::string_view kFlag = "--tp-plan";

struct StyleWord {
  std::string_view name, style;
  Placement input, output;
  bool local_output = true;
};
constexpr std::array kWords{
    StyleWord{"colwise", "colwise", kReplicate, ShardOf(-1)},
    StyleWord{"rowwise", "rowwise", ShardOf(-1), kReplicate},
    StyleWord{"colwise_gather", "colwise", kReplicate, kReplicate},
    StyleWord{"ColwiseParallel", "colwise", kReplicate, ShardOf(-1)},
    StyleWord{"RowwiseParallel", "rowwise", ShardOf(-1), kReplicate},
    StyleWord{"SequenceParallel", "SequenceParallel", ShardOf(1), ShardOf(1), false},
    StyleWord{"PrepareModuleInput", "PrepareModuleInput", kReplicate, kReplicate, false},
    // Those of transformers (distributed/tensor_parallel.py).
    StyleWord{"colwise_gather_output", "colwise", kReplicate, kReplicate},
    StyleWord{"rowwise_split_input", "rowwise", kReplicate, kReplicate},
    StyleWord{"embedding_rowwise", "rowwise", kReplicate, kReplicate},
    StyleWord{"embedding_colwise", "colwise", kReplicate, kReplicate},
    // Sums gradients in their place.
    StyleWord{"replicated_with_grad_allreduce", "replicated", kReplicate, kReplicate},
    StyleWord{"replicate", "replicated", kReplicate, kReplicate},
};

struct Option {
  std::string name = {}, value = {};
};

// Cuts at commas outside of brackets, without blanks around; a last empty part is none.
std::vector<std::string> PartsOf(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      parts.back() += c;
    }
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

// "Replicate()", "Shard(1)" and "Shard(dim=1)"
std::optional<Placement> PlacementOf(std::string_view text) {
  if (text == "Replicate()") return kReplicate;
  for (const std::string_view begin : {"Shard(dim=", "Shard("}) {
    if (!text.starts_with(begin) || !text.ends_with(')')) continue;
    const std::string_view dim = text.substr(begin.size(), text.size() - begin.size() - 1);
    const std::optional<Placement> placement = ops::PlacementNamed(fmt::format("S({})", dim));
    // Which of the others a negative one is, the tensor would say.
    return placement && placement->dim >= -1 ? placement : std::nullopt;
  }
  return std::nullopt;
}

// One placement, or a tuple of them of which one is not None.
std::optional<Placement> LayoutOf(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return PlacementOf(text);
  std::optional<Placement> found;
  for (const std::string& part : PartsOf(text.substr(1, text.size() - 2))) {
    if (part == "None") continue;
    const std::optional<Placement> placement = PlacementOf(part);
    if (!placement || found) return std::nullopt;
    found = placement;
  }
  return found;
}

Error NoOption(const Option& option, std::string_view of) {
  return Unsupported(
      fmt::format("{}={} of {} is not modelled", option.name, option.value, of), std::string(kFlag),
      "Layouts are Replicate() and Shard(1), or a tuple with one of them and None for the rest; "
      "use_local_output is True or False.");
}

Status SetOption(SharedStyle& style, const Option& option) {
  const auto layout = LayoutOf(option.value);
  Placement* asked = nullptr;
  if (option.name == "input_layouts" && !style.is_sequence()) {
    asked = &style.input;
  } else if (option.name == (style.prepares() ? "desired_input_layouts" : "output_layouts") &&
             !style.is_sequence()) {
    asked = &style.output;
  } else if (option.name == "sequence_dim" && style.is_sequence()) {
    const auto dim = ops::PlacementNamed(fmt::format("S({})", option.value));
    if (!dim) return Unexpected(NoOption(option, style.text));
    style.input = style.output = *dim;
    return {};
  } else if (option.name == "use_local_output" &&
             (option.value == "True" || option.value == "False")) {
    style.local_output = option.value == "True";
    return {};
  }
  if (asked == nullptr || !layout) return Unexpected(NoOption(option, style.text));
  *asked = *layout;
  return {};
}

}  // namespace

Result<SharedStyle> ReadSharedStyle(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const auto word = std::ranges::find(kWords, name, &StyleWord::name);
  const bool closes = open == std::string_view::npos || text.ends_with(')');
  if (word == kWords.end() || !closes) {
    return Unexpected(NoSuch("style", name, NamesOf(kWords), std::string(kFlag)));
  }
  SharedStyle style{.text = std::string(text),
                    .name = word->style,
                    .input = word->input,
                    .output = word->output,
                    .local_output = word->local_output};
  if (open == std::string_view::npos) return style;
  const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  for (const std::string& part : PartsOf(inner)) {
    const std::size_t equals = part.find('=');
    Option option{.name = part.substr(0, equals)};
    if (equals != std::string::npos) option.value = part.substr(equals + 1);
    // What a tuple of None would be given to.
    if (option.name.ends_with("input_kwarg_layouts") && option.value == "{}") continue;
    SY_RETURN_IF_ERROR(SetOption(style, option));
  }
  return style;
}

}  // namespace steelyard
