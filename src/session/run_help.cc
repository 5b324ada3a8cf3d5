// SPDX-License-Identifier: Apache-2.0
#include "session/run_help.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "steelyard/units.h"

namespace steelyard {
namespace {

// Changes that are named where memory ends.
constexpr std::size_t kNamedChanges = 3;
constexpr std::string_view kSmaller =
    "a smaller --batch or --seq, or an export of the model with smaller sizes where it has none "
    "open";

// "--fused-loss 8 (2.1 GiB less)"; nothing where there is no such change, or no step of a file.
std::string ChangesOf(const Weighing& weighing) {
  WeighOptions options = weighing.options;
  if (options.train.optimizer.empty()) return {};
  options.advise = true;
  const Result<Weighing> advised = Weigh(options);
  if (!advised) return {};
  std::string changes;
  const std::size_t count = std::min(advised->advice.size(), kNamedChanges);
  for (std::size_t i = 0; i < count; ++i) {
    const Advice& advice = advised->advice[i];
    changes += fmt::format("{}{} ({} less)", i == 0 ? "" : ", ", advice.change,
                           Format(advice.less, Unit::kBytes));
  }
  return changes;
}

std::string WhenMemoryEnds(const Weighing& weighing) {
  std::string hint = fmt::format(
      "Its peak was predicted to be {}, of which {} are there before it "
      "runs.",
      Format(weighing.totals.peak_bytes, Unit::kBytes),
      Format(weighing.totals.resident_bytes, Unit::kBytes));
  const std::string changes = ChangesOf(weighing);
  if (changes.empty()) return fmt::format("{} What lowers it is {}.", hint, kSmaller);
  return fmt::format("{} What lowers it, by weighing: {}; or {}.", hint, changes, kSmaller);
}

std::string OriginText(const Origin& origin, const Program& kernels) {
  return origin.kernel == kNoId ? fmt::format("\"{}\", before anything runs", origin.tensor)
                                : PlaceOf(origin.kernel, kernels);
}

}  // namespace

Help HelpOf(const Weighing& weighing) {
  constexpr std::string_view kAsCast =
      "--cast 'OPERATOR=float32' keeps an operator in float32 under --amp.";
  constexpr std::string_view kAsStored =
      "Export the model in float32 or bfloat16: PyTorch computes more in these.";
  const bool is_cast = weighing.options.amp.dtype.has_value();
  return {.memory = [&weighing] { return WhenMemoryEnds(weighing); },
          .kernel = std::string(is_cast ? kAsCast : kAsStored)};
}

std::string WhereNotFinite(const NotFinite& found, const Program& kernels) {
  std::string text;
  if (found.nan) {
    text = "the NaN is first in " + OriginText(*found.nan, kernels);
    if (found.infinity) text += ", which makes it of an infinity that is first in ";
  } else if (found.infinity) {
    text = "the infinity is first in ";
  }
  if (found.infinity) text += OriginText(*found.infinity, kernels);
  return text;
}

}  // namespace steelyard
