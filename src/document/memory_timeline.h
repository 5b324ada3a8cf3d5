// SPDX-License-Identifier: Apache-2.0
//
// What memory held over time, by what it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard::report {

struct BytesChange {
  std::int64_t at = 0;     // nanoseconds of Unix time; -1: there before
  std::int64_t bytes = 0;  // negative: freed
  std::size_t category = 0;
};

// Sizes of all categories at a number of moments.
struct SizesOverTime {
  std::vector<std::int64_t> times;  // microseconds of Unix time
  std::vector<std::int64_t> sizes;  // bytes; for each time one of each category
};

struct MemoryTimeline {
  std::vector<std::string> categories;
  std::vector<BytesChange> changes;
  SizesOverTime all;    // each moment at which something changed
  SizesOverTime drawn;  // so many of them as a picture shows, the highest of their neighbours
  std::int64_t peak = 0;
};

}  // namespace steelyard::report
