// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::report {
namespace {

TEST(BodyTest, SentencesAreWrittenAsLists) {
  const std::string name = "logits";
  const Sentence sentence = {"peak ",
                             Quantity{.value = std::int64_t{512}, .unit = Unit::kBytes},
                             name,
                             std::string_view(" now"),
                             {"!", Style::kWarning}};
  ASSERT_EQ(sentence.size(), 5U);
  EXPECT_EQ(std::get<std::string>(sentence[0].content), "peak ");
  EXPECT_EQ(std::get<std::int64_t>(std::get<Quantity>(sentence[1].content).value), 512);
  EXPECT_EQ(std::get<std::string>(sentence[2].content), "logits");
  EXPECT_EQ(std::get<std::string>(sentence[3].content), " now");
  EXPECT_EQ(sentence[3].style, Style::kPlain);
  EXPECT_EQ(sentence[4].style, Style::kWarning);
}

TEST(BodyTest, TwoTextsAreTwoSpans) {
  const Headline headline{"Memory", {"a", "b"}};
  EXPECT_EQ(headline.text.size(), 2U);
}

TEST(BodyTest, NumbersKeepTheirKind) {
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(Quantity{.value = 4}.value));
  EXPECT_TRUE(std::holds_alternative<double>(Quantity{.value = 0.5}.value));
}

}  // namespace
}  // namespace steelyard::report
