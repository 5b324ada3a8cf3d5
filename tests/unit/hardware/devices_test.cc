// SPDX-License-Identifier: Apache-2.0
#include "hardware/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <set>
#include <string_view>

#include "steelyard/units.h"

namespace steelyard {
namespace {

// Whether `name` can be typed without a shift key, and quoted nowhere.
bool IsFlagWord(std::string_view name) {
  for (const char c : name) {
    if (c != '-' && std::isdigit(c) == 0 && std::islower(c) == 0) return false;
  }
  return !name.empty();
}

TEST(DevicesTest, FindsEachByItsNameAndNoOther) {
  for (const DeviceSpec& device : Devices()) EXPECT_EQ(FindDevice(device.name), &device);
  EXPECT_EQ(FindDevice("h1000"), nullptr);
  EXPECT_EQ(FindDevice(""), nullptr);
  EXPECT_EQ(FindDevice("cpu"), nullptr);
}

TEST(DevicesTest, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> torch_names;
  for (const DeviceSpec& device : Devices()) {
    EXPECT_TRUE(IsFlagWord(device.name)) << device.name;
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_TRUE(torch_names.insert(device.torch_name).second) << device.torch_name;
  }
}

// A source says who printed or published the number: a sentence, not a word.
TEST(DevicesTest, EachNumberHasItsSource) {
  for (const DeviceSpec& device : Devices()) {
    EXPECT_GT(device.memory_source.size(), 40U) << device.name;
    EXPECT_GT(device.peak_source.size(), 30U) << device.name;
    EXPECT_THAT(device.peak_source, testing::HasSubstr("NVIDIA")) << device.name;
  }
}

TEST(DevicesTest, MemoryIsLessThanTheDeviceIsSoldWith) {
  struct Sold {
    std::string_view name;
    std::int64_t gigabytes;
  };
  // NVIDIA's data sheets. They count in powers of two for the older devices and of ten for the
  // latest, so what programs see may be above the one and is always below the other.
  constexpr std::array kSold = {
      Sold{"t4", 16},        Sold{"v100-16gb", 16},    Sold{"v100-32gb", 32}, Sold{"l4", 24},
      Sold{"a10g", 24},      Sold{"rtx3090", 24},      Sold{"rtx4090", 24},   Sold{"rtx5090", 32},
      Sold{"a100-40gb", 40}, Sold{"a100-80gb", 80},    Sold{"h100", 80},      Sold{"l40s", 48},
      Sold{"h200", 141},     Sold{"rtx-pro-6000", 96}, Sold{"b200", 180},     Sold{"b300", 288},
  };
  for (const Sold& sold : kSold) {
    const DeviceSpec* device = FindDevice(sold.name);
    ASSERT_NE(device, nullptr) << sold.name;
    EXPECT_LT(device->memory_bytes, sold.gigabytes * kGiB) << sold.name;
    EXPECT_GT(device->memory_bytes, sold.gigabytes * kGiB * 9 / 10) << sold.name;
  }
}

// The truth files' device, whose total_bytes are the oracle's 81079 MiB.
TEST(DevicesTest, H100IsTheDeviceOfTheMeasuredTruth) {
  const DeviceSpec* device = FindDevice("h100");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->memory_bytes, 81079 * kMiB);
  EXPECT_EQ(device->capability, 90);
  EXPECT_EQ(device->multiprocessors, 132);
  EXPECT_EQ(device->multiprocessor_threads(), 2048);
}

TEST(DevicesTest, ResidentThreadsFollowTheCapability) {
  struct Limit {
    std::string_view name;
    int threads;
  };
  // CUDA C++ Programming Guide, technical specifications per compute capability.
  constexpr std::array kLimits = {
      Limit{"v100-16gb", 2048}, Limit{"t4", 1024},   Limit{"a100-40gb", 2048},
      Limit{"a10", 1536},       Limit{"l4", 1536},   Limit{"h200", 2048},
      Limit{"b200", 2048},      Limit{"b300", 2048}, Limit{"rtx5090", 1536},
  };
  for (const Limit& limit : kLimits) {
    const DeviceSpec* device = FindDevice(limit.name);
    ASSERT_NE(device, nullptr) << limit.name;
    EXPECT_EQ(device->multiprocessor_threads(), limit.threads) << limit.name;
    EXPECT_EQ(device->resident_threads(), limit.threads * device->multiprocessors) << limit.name;
  }
}

TEST(DevicesTest, RatesRiseAsTypesNarrow) {
  for (const DeviceSpec& device : Devices()) {
    const PeakRates& peak = device.peak;
    EXPECT_GT(device.bandwidth, 0) << device.name;
    EXPECT_GT(peak.float64, 0) << device.name;
    EXPECT_GE(peak.float32, peak.float64) << device.name;
    EXPECT_GT(peak.float16, peak.float32) << device.name;
    // bfloat16 and tf32 came with 8.0, float8 with 8.9.
    EXPECT_EQ(peak.bfloat16, device.capability >= 80 ? peak.float16 : 0) << device.name;
    EXPECT_EQ(peak.tf32 >= peak.float32, device.capability >= 80) << device.name;
    EXPECT_LE(peak.tf32, peak.float16) << device.name;
    EXPECT_EQ(peak.float8 > peak.float16, device.capability >= 89) << device.name;
  }
}

// A row that was copied and not changed, or a digit too many, stands out from its clock: a
// multiprocessor of every generation adds and multiplies 64 or 128 float32 numbers in a cycle.
TEST(DevicesTest, RatesAreWithinReachOfTheirClocks) {
  for (const DeviceSpec& device : Devices()) {
    const bool is_wide = device.capability >= 86;  // 128 lanes, before it 64
    const double per_cycle = device.multiprocessors * (is_wide ? 128 : 64) * 2;
    const double gigahertz = device.peak.float32 * 1000 / per_cycle;
    EXPECT_GT(gigahertz, 1.3) << device.name;
    EXPECT_LT(gigahertz, 2.65) << device.name;
  }
}

}  // namespace
}  // namespace steelyard
