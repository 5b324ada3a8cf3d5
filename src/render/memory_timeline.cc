// SPDX-License-Identifier: Apache-2.0
//
// The files have PyTorch's layout (torch/profiler/_memory_profiler.py, 2.15). The page is drawn as
// areas of one picture, each above those before it, and scales with the window.
#include "render/memory_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "steelyard/units.h"

namespace steelyard::render {
namespace {

using report::MemoryTimeline;
using report::SizesOverTime;

// One for each category, told apart in grey as well.
constexpr std::array<std::string_view, 8> kColors{"#1b7837", "#d6a83c", "#333333", "#b39ddb",
                                                  "#e15759", "#3b5bdb", "#74a9cf", "#9e9e9e"};
constexpr double kWidth = 1000, kHeight = 420;

// As PyTorch's files number what happens.
constexpr int kThereBefore = 1, kMade = 2, kFreed = 4;

class Picture {
 public:
  explicit Picture(const MemoryTimeline& timeline) : timeline_(timeline) {}

  // The area of a category above those before it.
  std::string Area(std::size_t category) const {
    std::string path;
    const std::size_t count = drawn().times.size();
    for (std::size_t m = 0; m < count; ++m) Point(m, category + 1, m == 0 ? 'M' : 'L', &path);
    for (std::size_t m = count; m-- > 0;) Point(m, category, 'L', &path);
    return path + "Z";
  }

 private:
  const SizesOverTime& drawn() const { return timeline_.drawn; }

  // The top of the first `categories`.
  void Point(std::size_t moment, std::size_t categories, char letter, std::string* path) const {
    const std::size_t columns = timeline_.categories.size();
    std::int64_t below = 0;
    for (std::size_t c = 0; c < categories; ++c) {
      below += std::max<std::int64_t>(drawn().sizes[moment * columns + c], 0);
    }
    const auto& times = drawn().times;
    const auto span = static_cast<double>(std::max<std::int64_t>(times.back() - times.front(), 1));
    const double x = kWidth * static_cast<double>(times[moment] - times.front()) / span;
    const double y = kHeight - kHeight * static_cast<double>(below) /
                                   static_cast<double>(std::max<std::int64_t>(timeline_.peak, 1));
    fmt::format_to(std::back_inserter(*path), "{}{:.1f},{:.1f}", letter, x, y);
  }

  const MemoryTimeline& timeline_;
};

}  // namespace

std::string MemoryTimelineJson(const MemoryTimeline& timeline) {
  const SizesOverTime& all = timeline.all;
  const std::size_t columns = timeline.categories.size();
  std::string out = fmt::format("[[{}], [", fmt::join(all.times, ", "));
  for (std::size_t m = 0; m < all.times.size(); ++m) {
    const auto begin = all.sizes.begin() + static_cast<std::ptrdiff_t>(m * columns);
    const auto end = begin + static_cast<std::ptrdiff_t>(columns);
    fmt::format_to(std::back_inserter(out), "{}[0, {}]", m == 0 ? "" : ", ",
                   fmt::join(begin, end, ", "));
  }
  return out + "]]";
}

std::string MemoryChangesJson(const MemoryTimeline& timeline) {
  std::string out = "[";
  for (const report::BytesChange& change : timeline.changes) {
    const int action = change.at < 0 ? kThereBefore : change.bytes > 0 ? kMade : kFreed;
    fmt::format_to(std::back_inserter(out), "{}[{}, {}, {}, {}]", out.size() > 1 ? ", " : "",
                   change.at, action, change.bytes, change.category);
  }
  return out + "]";
}

std::string MemoryTimelineHtml(const MemoryTimeline& timeline) {
  std::string areas, legend;
  const Picture picture(timeline);
  for (std::size_t c = 0; c < timeline.categories.size(); ++c) {
    const std::string_view color = kColors[c % kColors.size()];
    if (!timeline.drawn.times.empty()) {
      areas += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", color, picture.Area(c));
    }
    legend += fmt::format("<span><i style=\"background:{}\"></i>{}</span>\n", color,
                          timeline.categories[c]);
  }
  double milliseconds = 0;
  if (const auto& times = timeline.drawn.times; !times.empty()) {
    milliseconds = static_cast<double>(times.back() - times.front()) * 1e-3;
  }
  return fmt::format(R"(<!doctype html>
<html><head><meta charset="utf-8"><title>Memory over time</title>
<style>
body {{ font: 14px sans-serif; margin: 2em; color: #222; background: #fff }}
svg {{ width: 100%; height: 60vh; border: 1px solid #ccc }}
span {{ margin-right: 1.5em }}
i {{ display: inline-block; width: 1em; height: 1em; margin-right: .4em; vertical-align: -.1em }}
</style></head><body>
<p>Memory of the CPU over {:.3f} ms; at most {}.</p>
<svg viewBox="0 0 {:.0f} {:.0f}" preserveAspectRatio="none">
{}</svg>
<p>{}</p>
</body></html>
)",
                     milliseconds, Format(timeline.peak, Unit::kBytes), kWidth, kHeight, areas,
                     legend);
}

}  // namespace steelyard::render
