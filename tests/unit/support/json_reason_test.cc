// SPDX-License-Identifier: Apache-2.0

#include "support/json_reason.h"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(JsonReason, IsOneWhateverTheVersionOfTheParser) {
  EXPECT_EQ(JsonReason("TAPE_ERROR: The JSON document has an improper structure."),
            "The JSON document has an improper structure");
  EXPECT_EQ(JsonReason("The JSON document has an improper structure."),
            "The JSON document has an improper structure");
  EXPECT_EQ(JsonReason("EMPTY: no JSON found"), "no JSON found");
  EXPECT_EQ(JsonReason("Empty: no JSON found"), "no JSON found");
}

TEST(JsonReason, AColonInASentenceStays) {
  EXPECT_EQ(JsonReason("found one: a string"), "found one: a string");
  EXPECT_EQ(JsonReason(""), "");
}

}  // namespace
}  // namespace steelyard
