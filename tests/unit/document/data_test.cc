// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::report {
namespace {

using ::testing::ElementsAre;

// {"flops": {"forward": 7}, "shares": [0.5, true, "x", [], {"a": 1}], "last": false}
Data Sample() {
  Data data;
  data.OpenObject("flops");
  data.SetInt("forward", 7, Unit::kFlops);
  data.Close();
  data.OpenArray("shares");
  data.AddDouble(0.5, Unit::kPercent);
  data.AddBool(true);
  data.AddText("x");
  data.OpenArray();
  data.Close();
  data.OpenObject();
  data.SetInt("a", 1, Unit::kNone);
  data.Close();
  data.Close();
  data.SetBool("last", false);
  return data;
}

std::vector<DataKind> KindsIn(DataView view) {
  std::vector<DataKind> kinds;
  for (const DataView child : view) kinds.push_back(child.kind());
  return kinds;
}

// The value at `path`, which must be there.
DataView At(const Data& data, std::string_view path) {
  const std::optional<DataView> found = data.root().Find(path);
  EXPECT_TRUE(found) << path;
  return found.value_or(data.root());
}

TEST(DataTest, StartsAsAnEmptyObject) {
  const Data data;
  EXPECT_EQ(data.root().kind(), DataKind::kObject);
  EXPECT_EQ(data.root().key(), "");
  EXPECT_THAT(KindsIn(data.root()), ElementsAre());
  EXPECT_EQ(data.size(), 1U);
}

TEST(DataTest, KeepsMembersInOrder) {
  const Data data = Sample();
  std::vector<std::string> keys;
  for (const DataView child : data.root()) keys.emplace_back(child.key());
  EXPECT_THAT(keys, ElementsAre("flops", "shares", "last"));
}

TEST(DataTest, SkipsWhatIsInsideAChild) {
  const Data data = Sample();
  EXPECT_THAT(KindsIn(At(data, "shares")),
              ElementsAre(DataKind::kDouble, DataKind::kBool, DataKind::kText, DataKind::kArray,
                          DataKind::kObject));
}

TEST(DataTest, ScalarsHaveNoChildren) {
  const Data data = Sample();
  EXPECT_THAT(KindsIn(At(data, "last")), ElementsAre());
}

TEST(DataTest, ValuesComeBackWithTheirUnits) {
  Data data;
  data.SetInt("int", std::numeric_limits<std::int64_t>::min(), Unit::kBytes);
  data.SetDouble("double", 0.1, Unit::kSeconds);
  data.SetText("text", "bert.encoder");
  data.SetBool("bool", true);
  EXPECT_EQ(At(data, "int").AsInt(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(At(data, "int").unit(), Unit::kBytes);
  EXPECT_EQ(At(data, "double").AsDouble(), 0.1);
  EXPECT_EQ(At(data, "double").unit(), Unit::kSeconds);
  EXPECT_EQ(At(data, "text").AsText(), "bert.encoder");
  EXPECT_EQ(At(data, "text").unit(), Unit::kNone);
  EXPECT_TRUE(At(data, "bool").AsBool());
}

TEST(DataTest, FindsByPath) {
  const Data data = Sample();
  EXPECT_EQ(At(data, "flops.forward").AsInt(), 7);
  EXPECT_FALSE(data.root().Find("flops.backward"));
  EXPECT_FALSE(data.root().Find("flops.forward.deeper"));
  EXPECT_FALSE(data.root().Find("forward"));
  EXPECT_FALSE(data.root().Find(""));
}

TEST(DataTest, EqualTextsShareANumber) {
  Data data;
  data.SetText("op", "aten::add");
  data.SetText("other", "aten::add");
  data.SetText("aten::add", "op");
  const DataView op = At(data, "op");
  EXPECT_EQ(op.text_id(), At(data, "other").text_id());
  EXPECT_EQ(op.text_id(), At(data, "aten::add").key_id());
  EXPECT_EQ(data.text(op.text_id()), "aten::add");
  EXPECT_EQ(data.text_count(), 4U);  // The empty key of the root, op, aten::add, other.
}

TEST(DataTest, CanBeMoved) {
  Data data = Sample();
  const Data moved = std::move(data);
  EXPECT_EQ(At(moved, "flops.forward").AsInt(), 7);
}

TEST(DataDeathTest, RefusesAMisshapenTree) {
  Data data;
  EXPECT_DEATH(data.Close(), "closed only after it was opened");
  EXPECT_DEATH(data.AddInt(1, Unit::kNone), "every member of an object has a key");
  data.OpenArray("list");
  EXPECT_DEATH(data.SetInt("key", 1, Unit::kNone), "only a member of an object has a key");
  EXPECT_DEATH(static_cast<void>(data.root()), "after all its containers are closed");
}

TEST(DataDeathTest, RefusesTheWrongKind) {
  const Data data = Sample();
  EXPECT_DEATH(static_cast<void>(data.root().AsInt()), "the value is an integer");
  EXPECT_DEATH(static_cast<void>(data.root().AsDouble()), "the value is a double");
  EXPECT_DEATH(static_cast<void>(data.root().AsText()), "the value is a text");
  EXPECT_DEATH(static_cast<void>(data.root().AsBool()), "the value is a truth value");
}

}  // namespace
}  // namespace steelyard::report
