// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "calls.h"
#include "ir/text_reader.h"

namespace steelyard {
namespace {

TEST(Control, BookkeepingRunsNothing) {
  const Program kernels = KernelsOf("aten::_assert_tensor_metadata(f32[2])");
  ASSERT_EQ(kernels.main().nodes.size(), 1u);
  EXPECT_TRUE(kernels.results(kernels.main().nodes[0]).empty());
}

}  // namespace
}  // namespace steelyard
