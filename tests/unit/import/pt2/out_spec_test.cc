// SPDX-License-Identifier: Apache-2.0
//
// The expected orders are those in which PyTorch 2.15 was seen to free such results.
#include "import/pt2/out_spec.h"

#include <gmock/gmock.h>

#include <string>

namespace steelyard::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kLeaf = R"({"type": null, "context": null, "children_spec": []})";

std::string NodeOf(const std::string& type, const std::vector<std::string>& children) {
  std::string list;
  for (const std::string& child : children) list += (list.empty() ? "" : ", ") + child;
  return R"({"type": ")" + type + R"(", "context": "null", "children_spec": [)" + list + "]}";
}
std::vector<std::uint32_t> Released(const std::string& root) {
  return ReadOutSpec("[1, " + root + "]").released;
}

TEST(OutSpec, TuplesAndListsGoFromTheEnd) {
  EXPECT_THAT(Released(NodeOf("builtins.tuple", {kLeaf, kLeaf, kLeaf})), ElementsAre(2, 1, 0));
  EXPECT_THAT(Released(NodeOf("builtins.list", {kLeaf, kLeaf})), ElementsAre(1, 0));
  EXPECT_THAT(Released(kLeaf), ElementsAre(0));
}

TEST(OutSpec, DictionariesAndClassesGoFromTheBeginning) {
  EXPECT_THAT(Released(NodeOf("builtins.dict", {kLeaf, kLeaf, kLeaf})), ElementsAre(0, 1, 2));
  EXPECT_THAT(Released(NodeOf("transformers.modeling_outputs.BaseModelOutput", {kLeaf, kLeaf})),
              ElementsAre(0, 1));
}

TEST(OutSpec, EachLevelHasItsOwnOrder) {
  // {"a": (0, 1), "b": 2, "c": [3, 4], "d": 5}
  EXPECT_THAT(Released(NodeOf("builtins.dict", {NodeOf("builtins.tuple", {kLeaf, kLeaf}), kLeaf,
                                                NodeOf("builtins.list", {kLeaf, kLeaf}), kLeaf})),
              ElementsAre(1, 0, 2, 4, 3, 5));
  // (0, [1, 2], {"z": 3, "y": 4}, 5)
  EXPECT_THAT(Released(NodeOf("builtins.tuple", {kLeaf, NodeOf("builtins.list", {kLeaf, kLeaf}),
                                                 NodeOf("builtins.dict", {kLeaf, kLeaf}), kLeaf})),
              ElementsAre(5, 3, 4, 2, 1, 0));
}

TEST(OutSpec, OtherTextsSayNothing) {
  EXPECT_THAT(ReadOutSpec("").released, IsEmpty());
  EXPECT_THAT(ReadOutSpec("[1]").released, IsEmpty());
  EXPECT_THAT(ReadOutSpec("{}").released, IsEmpty());
  EXPECT_THAT(ReadOutSpec("[1, {\"type\": 3}]").released, IsEmpty());
  std::string deep = kLeaf;
  for (int i = 0; i < 100; ++i) deep = NodeOf("builtins.tuple", {deep});
  EXPECT_THAT(Released(deep), IsEmpty());
}

}  // namespace
}  // namespace steelyard::pt2
