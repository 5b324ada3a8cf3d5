// SPDX-License-Identifier: Apache-2.0
#include "present/weigh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

TEST(WeighTest, TheLastLineSaysHowMuchIsModelled) {
  const WeighedModel model;
  report::Document document;
  PresentBody(model.findings(), {}, &document);
  EXPECT_TRUE(TextOf(document).ends_with("\nModelled: 3 of 3 operators in 6.2 ms.\n"));
}

TEST(WeighTest, DataHasTheKeysOfTheContract) {
  const WeighedModel model;
  report::Document document;
  PresentData(model.findings(), {}, &document);
  EXPECT_TRUE(document.body.empty());
  std::vector<std::string> keys;
  for (const report::DataView member : document.data.root()) keys.emplace_back(member.key());
  for (const char* key :
       {"schema", "model", "inputs", "convention", "parameters", "buffers", "flops", "flops_all",
        "macs", "memory", "modules", "unmodelled", "notes", "elapsed_seconds"}) {
    EXPECT_THAT(keys, ::testing::Contains(key));
  }
  EXPECT_EQ(At(document.data, "schema").AsText(), "steelyard.report/1");
}

}  // namespace
}  // namespace steelyard::present
