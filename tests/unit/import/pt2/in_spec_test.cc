// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/in_spec.h"

#include <gmock/gmock.h>

#include <string>

namespace steelyard::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kArgumentLeaf = R"({"type": null, "context": null, "children_spec": []})";

std::string Spec(const std::string& type, const std::string& context,
                 const std::vector<std::string>& children) {
  std::string list;
  for (const std::string& child : children) list += (list.empty() ? "" : ", ") + child;
  return R"({"type": ")" + type + R"(", "context": ")" + context + R"(", "children_spec": [)" +
         list + "]}";
}
std::vector<std::string> PathsOf(const std::vector<std::string>& args,
                                 const std::vector<std::string>& kwargs, const std::string& keys) {
  return ReadInSpec(
      "[1, " +
      Spec("builtins.tuple", "null",
           {Spec("builtins.tuple", "null", args), Spec("builtins.dict", keys, kwargs)}) +
      "]");
}

TEST(InSpec, ArgumentsAreFoundByPlaceAndKeywordsByName) {
  EXPECT_THAT(PathsOf({kArgumentLeaf, kArgumentLeaf}, {kArgumentLeaf}, R"([\"y\"])"),
              ElementsAre("args[0]", "args[1]", R"(kwargs["y"])"));
}

TEST(InSpec, ContainersMayBeNested) {
  const std::string list = Spec("builtins.list", "null", {kArgumentLeaf, kArgumentLeaf});
  EXPECT_THAT(PathsOf({Spec("builtins.dict", R"([\"a\", 2])", {list, kArgumentLeaf})}, {}, "[]"),
              ElementsAre(R"(args[0]["a"][0])", R"(args[0]["a"][1])", "args[0][2]"));
}

TEST(InSpec, OfOtherClassesPytreeKnowsTheLeaves) {
  const std::string cache = Spec("transformers.DynamicCache", "null", {kArgumentLeaf});
  EXPECT_THAT(PathsOf({kArgumentLeaf, cache}, {}, "[]"),
              ElementsAre("args[0]", "torch.utils._pytree.tree_leaves((args, kwargs))[1]"));
}

TEST(InSpec, OfTextThatIsNoTreeThereIsNothing) {
  EXPECT_THAT(ReadInSpec(""), IsEmpty());
  EXPECT_THAT(ReadInSpec("{"), IsEmpty());
  EXPECT_THAT(ReadInSpec("[1]"), IsEmpty());
}

}  // namespace
}  // namespace steelyard::pt2
