// SPDX-License-Identifier: Apache-2.0
#include "hardware/process.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string_view>

#include "hardware/devices.h"
#include "steelyard/units.h"

namespace steelyard {
namespace {

// Of a figure in hundredths of a GiB: its bytes.
constexpr std::int64_t Hundredths(std::int64_t count) { return count * 1024 * kMiB / 100; }

const DeviceSpec& Device(std::string_view name) { return *FindDevice(name); }

constexpr TorchRelease kTorch1Of2021 = {.major = 1, .minor = 9};

// What a program does that only fills and adds tensors.
constexpr ProcessUse kElementwise = {.products = false};

struct Measured {
  std::string_view device;
  ProcessUse use;
  std::int64_t bytes;  // of the process, without what PyTorch reserved
  std::string_view source;
};

// None of these made the rows that they are held against. Differences are of an out-of-memory
// message's figures in GiB: in use, less allocated, less reserved but unallocated.
constexpr std::array kMeasured = {
    Measured{
        "h200", kElementwise, Hundredths(80) - 289 * kMiB,
        "ml-engineering, debug/pytorch.md: of 139.80 GiB torch.ones gets 139, leaving 289 MiB"},
    Measured{"a100-80gb", kElementwise, 424 * kMiB, "81221.8 - 80797.8 MB, an MPI rank's log"},
    Measured{"h100", kElementwise, Hundredths(65), "72.18 - 36.69 - 34.84, slices of a tensor"},
    Measured{"gh200", {.attention = true}, Hundredths(74), "94.69 - 91.40 - 2.55: litgpt 1892"},
    Measured{"rtx5090", {}, Hundredths(49), "31.28 - 30.76 - 0.03: quantization of a model"},
    Measured{"rtx5090",
             {.convolutions = true, .attention = true},
             Hundredths(58),
             "31.34 - 30.74 - 0.02: Wan2.1 issue 465"},
    Measured{"rtx4090", {.convolutions = true}, Hundredths(46), "23.45 - 22.96 - 0.03, conv2d"},
    Measured{"t4", {}, Hundredths(13), "12.28 - 12.06 - 0.09, training"},
    Measured{"l4", {.attention = true}, Hundredths(25), "21.92 - 21.56 - 0.11: vLLM's tests"},
    Measured{"v100-32gb", {.convolutions = true}, Hundredths(37), "31.54 - 28.49 - 2.68 GiB"},
    Measured{"v100-16gb",
             {.products = false, .torch = kTorch1Of2021},
             1343 * kMiB,
             "Hugging Face, model training anatomy: torch.ones((1, 1)) on a V100, 2021"},
    Measured{"t4", {.products = false, .torch = {1, 5}}, 1000 * kMiB, "transformers issue 6222"},
    Measured{"rtx3090",
             {.products = false, .groups = 1},
             484 * kMiB,
             "nccl issue 2366: one rank that has initialised NCCL"},
    Measured{"a100-80gb",
             {.torch = {2, 1}, .ranks = 2},
             2048 * kMiB,
             "ml-engineering: 2.00 GiB after the first barrier of two ranks"},
    Measured{"h100", {.torch = {2, 6}, .ranks = 8}, 1'060'000'000, "nccl issue 1685, before"},
    Measured{"h100",
             {.attention = true, .ranks = 8, .groups = 6, .connects_all_pairs = true},
             8'500'000'000,
             "verl issue 6266: Megatron in three dimensions with experts, 7 to 10 GB"},
};

TEST(ProcessTest, BracketsWhatWasMeasured) {
  for (const Measured& measured : kMeasured) {
    const Interval interval = ProcessBytes(Device(measured.device), measured.use);
    EXPECT_TRUE(interval.contains(measured.bytes))
        << measured.device << ": " << measured.bytes / kMiB << " MiB, not within "
        << interval.low / kMiB << " to " << interval.high / kMiB << " (" << measured.source << ")";
  }
}

// A bare context has no kernels: the table's first line alone.
TEST(ProcessTest, BracketsBareContexts) {
  const ProcessConstant& context = ProcessConstants().front();
  const auto bracket = [&](std::string_view device) {
    const std::int64_t threads = Device(device).resident_threads();
    return Interval{threads * context.bytes.low, threads * context.bytes.high};
  };
  // Processes that only hold a context, in other processes' out-of-memory messages.
  EXPECT_TRUE(bracket("a100-40gb").contains(418 * kMiB));
  EXPECT_TRUE(bracket("b300").contains(618 * kMiB));
}

// An interval that says nothing brackets everything: one rank's is within a GiB, and its ends
// within a factor of six, on every device.
TEST(ProcessTest, IntervalsSaySomething) {
  for (const DeviceSpec& device : Devices()) {
    const Interval training =
        ProcessBytes(device, {.products = true, .convolutions = true, .attention = true});
    EXPECT_GT(training.low, 0) << device.name;
    EXPECT_LT(training.high - training.low, 1024 * kMiB) << device.name;
    EXPECT_LT(training.high, training.low * 6) << device.name;
    EXPECT_LT(training.high, device.memory_bytes / 16) << device.name;
  }
}

TEST(ProcessTest, ConstantsAreOrderedNamedAndSourced) {
  std::set<std::string_view> names;
  for (const ProcessConstant& constant : ProcessConstants()) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    EXPECT_LE(constant.bytes.low, constant.bytes.high) << constant.name;
    EXPECT_GE(constant.bytes.low, 0) << constant.name;
    EXPECT_GT(constant.source.size(), 40U) << constant.name;
    EXPECT_FALSE(constant.each.empty()) << constant.name;
  }
}

TEST(ProcessTest, PartsSumToTheWhole) {
  const ProcessUse use = {.convolutions = true, .ranks = 4, .connects_all_pairs = true};
  Interval sum;
  for (const ProcessPart& part : ProcessParts(Device("h100"), use)) {
    ASSERT_NE(part.constant, nullptr);
    EXPECT_GT(part.count, 0) << part.constant->name;
    EXPECT_EQ(part.bytes.low, part.count * part.constant->bytes.low) << part.constant->name;
    sum.low += part.bytes.low;
    sum.high += part.bytes.high;
  }
  EXPECT_EQ(sum, ProcessBytes(Device("h100"), use));
}

// Whatever a program does besides makes neither end smaller.
TEST(ProcessTest, MoreUseIsMoreMemory) {
  const DeviceSpec& device = Device("a100-80gb");
  const Interval least = ProcessBytes(device, kElementwise);
  constexpr std::array kUses = {
      ProcessUse{},
      ProcessUse{.products = false, .convolutions = true},
      ProcessUse{.products = false, .attention = true},
      ProcessUse{.products = false, .torch = kTorch1Of2021},
      ProcessUse{.products = false, .loading = KernelLoading::kAtOnce},
      ProcessUse{.products = false, .ranks = 2},
      ProcessUse{.products = false, .ranks = 2, .connects_all_pairs = true},
  };
  for (const ProcessUse& use : kUses) {
    const Interval more = ProcessBytes(device, use);
    EXPECT_GE(more.low, least.low);
    EXPECT_GT(more.high, least.high);
  }
  const Interval one_group = ProcessBytes(device, {.ranks = 8});
  EXPECT_EQ(ProcessBytes(device, {.ranks = 8, .groups = 1}), one_group);
  EXPECT_GT(ProcessBytes(device, {.ranks = 8, .groups = 2}).high, one_group.high);
}

TEST(ProcessTest, KernelsLoadAsTheReleaseDoesUnlessToldOtherwise) {
  const DeviceSpec& device = Device("v100-32gb");
  const auto bytes = [&](TorchRelease torch, KernelLoading loading) {
    return ProcessBytes(device, {.torch = torch, .loading = loading});
  };
  const Interval first_use = bytes({2, 15}, KernelLoading::kAtFirstUse);
  EXPECT_EQ(bytes({2, 15}, KernelLoading::kAsReleased), first_use);
  EXPECT_EQ(bytes({1, 13}, KernelLoading::kAsReleased), first_use);
  EXPECT_EQ(bytes({1, 9}, KernelLoading::kAtFirstUse), first_use);
  EXPECT_GT(bytes({1, 12}, KernelLoading::kAsReleased).low, first_use.low);
  EXPECT_GT(bytes({2, 15}, KernelLoading::kAtOnce).low, first_use.low);
}

}  // namespace
}  // namespace steelyard
