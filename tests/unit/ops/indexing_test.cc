// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "events.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Indexing, AdjacentIndicesStayInPlace) {
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[4,6,8], [None, i64[3,1], i64[2]])"), "f32[4,3,2]");
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[4,6,8], [i64[3], None, i64[3]])"), "f32[3,6]");
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[4,6], [i64[]])"), "f32[6]");
}

TEST(Indexing, TheResultFollowsTheOperandsStrides) {
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[5,6,4]{1,5,30}, [None, i64[2]])"),
            "f32[5,2,4]{1,5,10}");
}

TEST(Indexing, Int32IndicesAreExpandedAndWidened) {
  EXPECT_THAT(EventsOf("aten::index.Tensor(f32[4,6], [i32[2,1], i64[3]])"),
              ElementsAre(Line(2 * 3 * 8, "empty_strided"), Line(2 * 3 * 4, "index"),
                          Line(-2 * 3 * 8, "index")));
}

TEST(Indexing, RefusesOtherIndices) {
  EXPECT_THAT(RefusalOf("aten::index.Tensor(f32[4], [f32[4]])"), HasSubstr("int64 or int32"));
  EXPECT_THAT(RefusalOf("aten::index.Tensor(f32[4], [i64[1], i64[1]])"), HasSubstr("2 indices"));
  EXPECT_THAT(RefusalOf("aten::index.Tensor(f32[4,4], [i64[2], i64[3]])"),
              HasSubstr("[2] and [3]"));
}

TEST(Indexing, IndexPutOverwrites) {
  EXPECT_THAT(EventsOf("aten::index_put_(f32[4,6], [i64[3]], f32[6], True)"), IsEmpty());
  EXPECT_THAT(EventsOf("aten::index_put(f32[4,6], [i64[3]], f32[6])"),
              ElementsAre(Line(4 * 6 * 4, "empty_strided")));
  EXPECT_THAT(EventsOf("aten::index_put_(f32[4], [bool[4]], f32[])"), IsEmpty());
  EXPECT_THAT(RefusalOf("aten::index_put_(f32[4,6], [i64[3]], f32[5])"), HasSubstr("does not fit"));
  EXPECT_EQ(WorkOf("aten::index_put_(f32[4,6], [i64[3]], f32[6], True)").alu, Count(3 * 6));
}

TEST(Indexing, IndexSelectCopiesForDimensionOne) {
  EXPECT_THAT(EventsOf("aten::index_select(f32[4,6]{1,4}, 1, i64[2])"),
              ElementsAre(Line(4 * 2 * 4, "index_select"), Line(4 * 6 * 4, "empty"),
                          Line(-4 * 6 * 4, "index_select")));
  EXPECT_THAT(EventsOf("aten::index_select(f32[4,6]{1,4}, 0, i64[2])"),
              ElementsAre(Line(2 * 6 * 4, "index_select")));
  EXPECT_THAT(RefusalOf("aten::index_select(f32[4,6], 0, i64[2,2])"),
              HasSubstr("more than one dimension"));
}

TEST(Indexing, TrafficOfAGatherIsWhatItTakes) {
  // Not the table, but the rows and the ids.
  const Traffic traffic = TrafficOf("aten::index_select(f32[1000,16], 0, i64[3])");
  EXPECT_EQ(traffic.read, Count(3 * 16 * 4 + 3 * 8));
  EXPECT_EQ(traffic.written, Count(3 * 16 * 4));
}

TEST(Indexing, AMaskIsListsOfPositions) {
  // All 24 positions, of two numbers each, then 24 rows of 5.
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[4,6,5], [bool[4,6]])"), "f32[24,5]");
  EXPECT_THAT(EventsOf("aten::index.Tensor(f32[4,6,5], [bool[4,6]])"),
              ElementsAre(Line(4 * 6 * 2 * 8, "nonzero"), Line(4 * 6 * 5 * 4, "index"),
                          Line(-4 * 6 * 2 * 8, "index")));
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[4,6,5], [None, bool[6]])"), "f32[4,6,5]");
  // As many as the list beside it has.
  EXPECT_EQ(ResultOf("aten::index.Tensor(f32[4,6,5], [bool[4], i64[3]])"), "f32[3,5]");
  EXPECT_THAT(RefusalOf("aten::index.Tensor(f32[4,6], [bool[5]])"),
              HasSubstr("sizes of mask and operand differ: 5 vs 4"));
}

TEST(Indexing, ValuesSayWhatMasksChose) {
  EXPECT_THAT(EventsOf("aten::index_put_(f32[4,6,5], [bool[4,6]], f32[9,5])"),
              ElementsAre(Line(9 * 2 * 8, "nonzero"), Line(-9 * 2 * 8, "_index_put_impl_")));
  EXPECT_EQ(WorkOf("aten::index_put_(f32[4,6,5], [bool[4,6]], f32[9,5])").move, Count(9 * 5));
  EXPECT_TRUE(KernelsOf("aten::index_put_(f32[4,6,5], [bool[4,6]], f32[9,5])").notes.empty());
  // One row for all: how many there are is not known.
  EXPECT_EQ(KernelsOf("aten::index_put_(f32[4,6,5], [bool[4,6]], f32[5])").notes.size(), 1u);
}

}  // namespace
}  // namespace steelyard
