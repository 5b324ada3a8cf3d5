// SPDX-License-Identifier: Apache-2.0
#include "session/device_memory.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text_reader.h"
#include "session/analyses.h"
#include "written_model.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

WeighOptions OnH100(const std::string& model) {
  return {.path = WrittenModel(model), .target = *TargetNamed("h100")};
}

TEST(DeviceMemory, BlocksSegmentsAndTheProcessAreToldApart) {
  const Result<Weighing> w = Weigh(OnH100(kLinear));
  ASSERT_TRUE(w) << Describe(w.error());
  ASSERT_TRUE(w->analyses->device);
  const DeviceMemoryReport& device = *w->analyses->device;
  EXPECT_EQ(device.use.allocated, w->totals.peak_bytes);
  EXPECT_LT(device.use.requested, device.use.allocated);
  // A workspace of cuBLAS, and a segment of small blocks.
  EXPECT_EQ(device.use.reserved, (32 + 2) * kMiB);
  EXPECT_GT(device.process().low, device.use.reserved);
  EXPECT_GE(NeededBytes(*w), device.process().high);
  EXPECT_TRUE(device.fits());
}

TEST(DeviceMemory, ModulesAreMovedFromTheirLeavesOn) {
  Program program;
  const auto add = [&](std::string_view name, std::int64_t elements) {
    const ValueId id = program.AddTensor(program.strings.Intern(name), DType::kFloat32,
                                         Dims{elements}, Dims{1}, Role::kParameter);
    program.values[id].storage = program.storage_count++;
    return NamedTensor{.value = id, .name = program.strings.Intern(name)};
  };
  program.parameters = {add("scale", 1), add("a.weight", 2), add("b.c.weight", 3)};
  program.buffers = {add("a.mean", 4), add("own", 5)};
  std::vector<std::int64_t> bytes;
  for (const ResidentBlock& block : ResidentBlocks(program, {})) bytes.push_back(block.bytes);
  EXPECT_THAT(bytes, ElementsAre(8, 16, 12, 4, 20));
}

TEST(DeviceMemory, DevicesAreTakenInTheOrderOfTheirRows) {
  const std::vector<std::string> names{"a100-80gb", "h100"};
  const auto targets = DevicesNamed(names);
  ASSERT_TRUE(targets);
  ASSERT_THAT(*targets, SizeIs(2));
  EXPECT_EQ((*targets)[0].name, "h100");
  const std::vector<std::string> wrong{"h1000"};
  const auto refused = DevicesNamed(wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(Describe(refused.error()), HasSubstr("h100"));
}

TEST(DeviceMemory, SettingsOfTheAllocatorAreComparedTheLeastReservedFirst) {
  WeighOptions options = OnH100(kLinear);
  options.alloc_conf = {"expandable_segments:True", "", "roundup_power2_divisions:1", ""};
  const Result<Weighing> w = Weigh(options);
  ASSERT_TRUE(w) << Describe(w.error());
  ASSERT_THAT(w->allocators, SizeIs(3)) << "each once";
  // A segment that grows takes 20 MiB at a time: too much for the workspace of cuBLAS.
  EXPECT_EQ(w->allocators[2].settings, "expandable_segments:True");
  EXPECT_EQ(w->allocators[2].reserved, w->analyses->device->use.reserved) << "the first holds";
  EXPECT_EQ(w->allocators[2].reserved, (2 + 2 * 20) * kMiB);
  EXPECT_EQ(w->allocators[0].settings, "") << "equal ones as they were given";
  EXPECT_EQ(w->allocators[0].reserved, (32 + 2) * kMiB);
}

TEST(DeviceMemory, OneSettingHoldsAndIsComparedWithNothing) {
  WeighOptions options = OnH100(kLinear);
  options.alloc_conf = {"expandable_segments:True"};
  const Result<Weighing> w = Weigh(options);
  ASSERT_TRUE(w) << Describe(w.error());
  EXPECT_THAT(w->allocators, SizeIs(0));
  EXPECT_EQ(w->analyses->device->use.reserved, (2 + 2 * 20) * kMiB);
}

TEST(DeviceMemory, SettingsThatPyTorchWouldNotKnowAreRefused) {
  WeighOptions options = OnH100(kLinear);
  options.alloc_conf = {"", "garbage:1"};
  const Result<Weighing> w = Weigh(options);
  ASSERT_FALSE(w);
  EXPECT_THAT(Describe(w.error()), HasSubstr("allocator setting \"garbage\""));
}

// Square layers, each of so many rows, one after the other.
std::string Layers(int count, int rows) {
  std::string text = "module \"\": Net\n", body;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("module l{}: Linear\n", i);
    body +=
        fmt::format("%x{}: f32[1,{}] = aten::linear(%x{}, %w{}) in l{}\n", i + 1, rows, i, i, i);
  }
  for (int i = 0; i < count; ++i) {
    text += fmt::format("parameter %w{}: f32[{},{}] \"l{}.weight\"\n", i, rows, rows, i);
  }
  return fmt::format("{}input %x0: f32[1,{}]\n{}return %x{}\n", text, rows, body, count);
}

WeighOptions InEngine(const std::string& model, int ranks) {
  WeighOptions options = OnH100(model);
  options.train.optimizer = "adamw";
  options.train.loss = "sum";
  options.train.ranks = ranks;
  options.train.parallel.wrapper = "deepspeed3";
  return options;
}

TEST(DeviceMemory, AnEngineIsMadeOfAWholeModel) {
  // 100 MiB, of which the making leaves nothing but what was put in one piece since.
  const std::string model = Layers(4, 2560);
  const Result<Program> program = ParseText(model, "model.syt");
  ASSERT_TRUE(program) << Describe(program.error());
  const Result<EarlierRuns> earlier = RunEarlier(*program, InEngine(model, 64));
  ASSERT_TRUE(earlier) << Describe(earlier.error());
  ASSERT_TRUE(earlier->making && earlier->first_step);
  std::int64_t whole = 0;
  for (const ResidentBlock& block : earlier->making->residents) whole += block.bytes;
  EXPECT_EQ(whole, 4 * (4 * 2560 * 2560) + 4 * 2560);
  std::int64_t left = whole;
  for (const Event& event : earlier->making->timeline.events) left += event.bytes;
  EXPECT_EQ(left, earlier->first_step->timeline.resident_bytes());
}

TEST(DeviceMemory, AModelThatHasNoRoomWasMadeInParts) {
  // 14 layers of 6.25 GiB: more than the one device has, and no more than the other.
  std::vector<std::int64_t> reserved;
  for (const char* name : {"h100", "b300"}) {
    WeighOptions options = InEngine(Layers(14, 40960), 64);
    options.target = *TargetNamed(name);
    const Result<Weighing> w = Weigh(options);
    ASSERT_TRUE(w) << Describe(w.error());
    EXPECT_FALSE(w->analyses->device->use.out_of_memory);
    reserved.push_back(w->analyses->device->use.reserved);
  }
  EXPECT_LT(reserved[0], 79 * kGiB);
  EXPECT_LT(79 * kGiB, 14 * std::int64_t{40960} * 40960 * 4);
  EXPECT_EQ(reserved[0], reserved[1]);
}

TEST(DeviceMemory, ACpuHasNone) {
  const Result<Weighing> w = Weigh({.path = WrittenModel(kLinear)});
  ASSERT_TRUE(w);
  EXPECT_FALSE(w->analyses->device);
  EXPECT_EQ(NeededBytes(*w), w->totals.peak_bytes);
}

}  // namespace
}  // namespace steelyard
