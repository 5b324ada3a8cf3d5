// SPDX-License-Identifier: Apache-2.0
//
// Spans that are alike, summed: what PyTorch's profiler calls key averages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/spans.h"

namespace steelyard {

// The work of a call and all inside it; nothing where that is not known.
using FlopsOfCall = std::function<std::optional<std::int64_t>(const RecordedCall& call)>;

// Of each span, besides what those inside it did: together they are what the outermost calls did.
// Empty for no function.
std::vector<std::int64_t> OwnFlops(const Spans& spans, const FlopsOfCall& flops);

// Allocated less freed in each span and all inside it.
std::vector<std::int64_t> BytesInside(const Spans& spans);

// "Tensor" of "aten::add.Tensor"; of what is no operator, and of what has but one, empty.
std::string_view OverloadOfSpan(const Spans& spans, const Span& span);

struct KeyAverageOptions {
  int stack_depth = 0;  // functions around a span that tell it from others
  bool by_inputs = false;
  bool by_module = false;
  bool by_overload = false;
  bool functions = false;  // those of Python, too
};

struct KeyAverage {
  std::string name;  // "ProfilerStep*" of all steps
  SpanKind kind = SpanKind::kOp;
  std::string inputs;              // "[[2, 3], []]", where they tell spans apart
  std::string overload;            // "Tensor", where they do
  std::vector<std::string> stack;  // the innermost first
  std::optional<std::string> module;
  bool outermost = false;  // the first of them was in no other
  std::int64_t count = 0;
  std::int64_t nanoseconds = 0, own_nanoseconds = 0;
  // Of what it asked devices for; of what devices ran, of which a row has nothing else, its own.
  std::int64_t device_nanoseconds = 0, own_device_nanoseconds = 0;
  bool on_device = false;
  std::int64_t bytes = 0, own_bytes = 0;  // allocated less freed
  std::int64_t flops = 0;
};

// In the order in which the first of each began. `own_flops` is by span, or empty.
std::vector<KeyAverage> KeyAverages(const Spans& spans, const std::vector<std::int64_t>& own_flops,
                                    const KeyAverageOptions& options);

// The functions and modules around a span, the innermost first; of a node those around the operator
// that made it.
class Stacks {
 public:
  explicit Stacks(const Spans& spans);
  std::vector<std::uint32_t> Of(std::uint32_t span, std::size_t most) const;  // names
  // The last operator that said it makes this node; SY_NO_ID where none did.
  std::uint32_t MakerOf(const Span& node) const;

 private:
  const Spans& spans_;
  std::vector<std::vector<std::pair<std::uint64_t, std::uint32_t>>> makers_;  // by thread, sorted
};

}  // namespace steelyard
