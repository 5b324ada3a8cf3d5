// SPDX-License-Identifier: Apache-2.0
#include "present/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "present/weigh.h"
#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// The parameters of the model of three linears, as if its file had no more.
class WeightsTest : public ::testing::Test {
 protected:
  WeightsTest() {
    Program& program = model_.kernels;
    program.has_graph = false;
    program.facts.push_back({.name = program.strings.Intern("context_length"), .number = 4096});
    PresentBody(model_.findings(), {.top = 1}, &document_);
    PresentData(model_.findings(), {}, &document_);
    text_ = TextOf(document_);
  }

  WeighedModel model_;
  report::Document document_;
  std::string text_;
};

TEST_F(WeightsTest, TellOfParametersAlone) {
  EXPECT_THAT(text_, HasSubstr("context length 4,096"));
  EXPECT_THAT(text_, HasSubstr("32.00 bit"));
  EXPECT_THAT(text_, HasSubstr("Largest tensors"));
  EXPECT_THAT(text_, HasSubstr("need the model's graph"));
  for (const char* word : {"MAC", "FLOP/", "peak", "Modelled", "intensity"}) {
    EXPECT_THAT(text_, Not(HasSubstr(word)));
  }
}

TEST_F(WeightsTest, HaveNoKeysForWhatIsNotKnown) {
  std::vector<std::string> keys;
  for (const report::DataView member : document_.data.root()) keys.emplace_back(member.key());
  for (const char* key :
       {"schema", "model", "parameters", "buffers", "modules", "notes", "facts"}) {
    EXPECT_THAT(keys, Contains(key));
  }
  for (const char* key : {"inputs", "run", "flops", "flops_all", "macs", "memory", "claims"}) {
    EXPECT_THAT(keys, Not(Contains(key)));
  }
  EXPECT_EQ(At(document_.data, "model.holds").AsText(), "weights");
  EXPECT_EQ(At(document_.data, "parameters.bits_each").AsDouble(), 8.0 * kFloat);
  const report::DataView module = *At(document_.data, "modules").begin();
  EXPECT_TRUE(module.Find("parameter_bytes"));
  EXPECT_FALSE(module.Find("flops"));
}

}  // namespace
}  // namespace steelyard::present
