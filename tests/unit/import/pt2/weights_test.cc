// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/weights.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string Payload(std::string_view name, std::string_view path, int offset) {
  return "\"" + std::string(name) + R"(": {"path_name": ")" + std::string(path) +
         R"(", "is_param": true, "tensor_meta": {"dtype": 7, "storage_offset": {"as_int": )" +
         std::to_string(offset) + "}}}";
}

TEST(WeightsConfig, ReadsWhereTensorsAreStored) {
  const std::string json = R"({"config": {)" + Payload("a.w", "weight_0", 0) + ", " +
                           Payload("b.w", "weight_0", 4) + R"(, "c": {"path_name": "weight_1", )" +
                           R"("tensor_meta": null}}})";
  const auto tensors = ReadWeightsConfig(PaddedText(json));
  ASSERT_THAT(tensors, SizeIs(3));
  EXPECT_EQ(tensors[0].name, "a.w");
  EXPECT_EQ(tensors[1].storage, "weight_0");
  EXPECT_EQ(tensors[1].offset, 4);
  EXPECT_EQ(tensors[2].offset, 0);
}

TEST(WeightsConfig, GivesNothingForWhatIsNone) {
  for (const char* json : {"", "[]", "{}", R"({"config": 3})", R"({"config": {"a": []}})",
                           R"({"config": {"a": {"path_name": 7}}})", R"({"config": {"a")"}) {
    EXPECT_THAT(ReadWeightsConfig(PaddedText(std::string_view(json))), IsEmpty()) << json;
  }
}

// Two parameters of one layout, of which the second is used.
Export Pair() {
  Export e;
  e.Input("parameter", "p_embed", "embed.w", Meta({4, 8}));
  e.Input("parameter", "p_head", "head.w", Meta({4, 8})).Input("x", Meta({2, 8}));
  e.Node("torch.ops.aten.linear.default",
         Arg("input", TensorNamed("x")) + ", " + Arg("weight", TensorNamed("p_head")), "y",
         Meta({2, 4}));
  e.Return("y");
  return e;
}

TEST(TieNames, TiesWhatIsStoredOnce) {
  Program program = ReadExport(Pair());
  const std::vector<StoredTensor> stored = {{"embed.w", "weight_0"}, {"head.w", "weight_0"}};
  TieNames(program, stored);
  EXPECT_TRUE(program.ties_known);
  // The used value stands for both names; the other shares its storage.
  EXPECT_EQ(program.parameters[0].value, program.parameters[1].value);
  EXPECT_EQ(program.text(program.values[program.parameters[0].value].name), "p_head");
  EXPECT_EQ(program.parameters[0].tied_to, kNoId);
  EXPECT_EQ(program.parameters[1].tied_to, 0u);
  EXPECT_EQ(program.values[program.main().inputs[0]].storage,
            program.values[program.main().inputs[1]].storage);
  EXPECT_TRUE(Verify(program)) << Describe(Verify(program).error());
}

TEST(TieNames, LeavesWhatIsStoredApart) {
  Program program = ReadExport(Pair());
  TieNames(program, std::vector<StoredTensor>{{"embed.w", "weight_0"}, {"head.w", "weight_1"}});
  EXPECT_TRUE(program.ties_known);
  EXPECT_NE(program.parameters[0].value, program.parameters[1].value);
  EXPECT_EQ(program.parameters[1].tied_to, kNoId);
  program = ReadExport(Pair());
  // One file, but different parts of it.
  TieNames(program,
           std::vector<StoredTensor>{{"embed.w", "weight_0", 0}, {"head.w", "weight_0", 8}});
  EXPECT_EQ(program.parameters[1].tied_to, kNoId);
}

TEST(TieNames, DoesNothingWithoutKnowledge) {
  Program program = ReadExport(Pair());
  const std::string before = Print(program);
  TieNames(program, {});
  EXPECT_FALSE(program.ties_known);
  EXPECT_EQ(Print(program), before);
}

TEST(TieNames, TiesANameThatIsGivenTwiceAndAllItsUses) {
  // As torch 2.5 writes a tied weight: two inputs of one name, both used.
  Export e;
  e.Input("parameter", "p_embed", "head.w", Meta({4, 8}));
  e.Input("parameter", "p_head", "head.w", Meta({4, 8})).Input("x", Meta({2, 8}));
  e.Node("torch.ops.aten.add.Tensor",
         Arg("self", TensorNamed("p_embed")) + ", " + Arg("other", TensorNamed("p_head")), "y",
         Meta({4, 8}));
  e.Return("y").Return("p_head");
  Program program = ReadExport(e);
  TieNames(program, {});
  EXPECT_FALSE(program.ties_known);
  EXPECT_EQ(program.parameters[1].tied_to, 0u);
  EXPECT_EQ(program.args(program.main().nodes[0])[1].value, program.parameters[0].value);
  EXPECT_EQ(program.main().outputs[1].value, program.parameters[0].value);
  EXPECT_TRUE(Verify(program)) << Describe(Verify(program).error());
}

TEST(TieNames, NeedsEqualLayouts) {
  Export e = Pair();
  e.tensor_values = With(e.tensor_values, Meta({4, 8}), Meta({8, 8}));
  Program program = ReadExport(e);
  TieNames(program, std::vector<StoredTensor>{{"embed.w", "w"}, {"head.w", "w"}});
  EXPECT_EQ(program.parameters[1].tied_to, kNoId);
}

}  // namespace
}  // namespace steelyard::pt2
