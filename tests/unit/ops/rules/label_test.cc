// SPDX-License-Identifier: Apache-2.0

#include "ops/rules/label.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

template <Label kLabel>
std::string_view TextOf() {
  return kLabel.view();
}

TEST(Label, IsATemplateArgument) {
  EXPECT_EQ(TextOf<"aten::empty">(), "aten::empty");
  EXPECT_EQ(TextOf<"">(), "");
}

}  // namespace
}  // namespace steelyard
