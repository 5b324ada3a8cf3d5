// SPDX-License-Identifier: Apache-2.0
//
// Caching allocators by the text of their settings.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "memory/caching/caching_allocator.h"

namespace steelyard {

// Fails the test if the settings are refused.
inline AllocatorSettings Parsed(std::string_view text) {
  const Result<AllocatorSettings> settings = ParseAllocatorSettings(text);
  EXPECT_TRUE(settings) << Describe(settings.error());
  return settings.value_or(AllocatorSettings{});
}

// Of a device with `total` bytes.
inline CachingAllocator With(std::string_view settings, std::int64_t total = 80 * kGiB) {
  return {ParseAllocatorSettings(settings).value(), DeviceMemory(total)};
}

inline std::int64_t Reserved(const CachingAllocator& allocator) {
  return allocator.statistics().reserved_bytes.all.current;
}

}  // namespace steelyard
