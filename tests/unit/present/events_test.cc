// SPDX-License-Identifier: Apache-2.0
#include "present/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

TEST(EventsTest, DataHasThemInOrder) {
  const WeighedModel model;
  report::Data data;
  AddEvents(model.findings(), &data);
  std::vector<std::int64_t> bytes;
  std::vector<std::string> modules;
  for (const report::DataView event : At(data, "events")) {
    auto part = event.begin();
    ++part;
    bytes.push_back((*part).AsInt());
    ++part;
    modules.emplace_back((*part).AsText());
  }
  EXPECT_THAT(bytes, ::testing::ElementsAre(64, 128, -128, 64, -64, 32, -64, -32));
  EXPECT_EQ(modules.front(), "encoder.layer.0");
  EXPECT_EQ(modules.back(), "") << "the caller lets the output go, in no module";
}

TEST(EventsTest, TheTableKeepsTheTotal) {
  const WeighedModel model;
  report::Document document;
  AppendEvents(model.findings(), &document);
  const std::string text = TextOf(document);
  // Resident: three weights and the input; then `a`, then the scratch beside it.
  static_assert(kFloat * (8 * 8 + 8 * 8 + 4 * 8 + 2 * 8) == 704);
  EXPECT_THAT(text, ::testing::HasSubstr("+64 B  768 B  encoder.layer.0"));
  EXPECT_THAT(text, ::testing::HasSubstr("+128 B  896 B  encoder.layer.0"));
  EXPECT_TRUE(text.ends_with("(the program)    -32 B  704 B\n")) << text;
}

}  // namespace
}  // namespace steelyard::present
