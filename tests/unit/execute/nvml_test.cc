// SPDX-License-Identifier: Apache-2.0
#include "execute/nvml.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(Nvml, TellsTheDeviceAndWhatThisProcessTakes) {
  const std::optional<NvmlDevice> device = AskNvml("0000:19:00.0", OTHER_NVML);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device->driver, "570.86.15");
  EXPECT_EQ(device->process, 2000);
}

TEST(Nvml, SaysNothingOfADeviceThatIsNotThere) {
  EXPECT_FALSE(AskNvml("0000:20:00.0", OTHER_NVML));
}

TEST(Nvml, SaysNothingWhereItIsNotInstalled) {
  EXPECT_FALSE(AskNvml("0000:19:00.0", "libnvidia-ml-that-is-not-there.so.1"));
}

TEST(Nvml, ALibraryWithoutItsFunctionsSaysNothing) {
  EXPECT_FALSE(AskNvml("0000:19:00.0", "libc.so.6"));
}

}  // namespace
}  // namespace steelyard
