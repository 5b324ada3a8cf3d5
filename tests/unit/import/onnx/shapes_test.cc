// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/shapes.h"

#include <gtest/gtest.h>

namespace steelyard::onnx {
namespace {

class ShapesTest : public ::testing::Test {
 protected:
  Builder builder_{"shapes"};
  Sizes sizes_{builder_};
  const Dim batch_ = builder_.Symbol({.name = "batch"});
};

TEST_F(ShapesTest, BroadcastsFromTheEnd) {
  const Shape a{batch_, Dim(1), Dim(4)}, b{Dim(3), Dim(1)};
  EXPECT_EQ(shapes::Broadcast(sizes_, a, b), (Shape{batch_, Dim(3), Dim(4)}));
  EXPECT_EQ(shapes::Broadcast(sizes_, b, a), (Shape{batch_, Dim(3), Dim(4)}));
  EXPECT_THROW(shapes::Broadcast(sizes_, {Dim(2)}, {Dim(3)}), Untranslatable);
}

TEST_F(ShapesTest, Reduces) {
  const Shape from{batch_, Dim(5), Dim(4)};
  EXPECT_EQ(shapes::Reduce(from, {1}, shapes::Reduced::kKept), (Shape{batch_, Dim(1), Dim(4)}));
  EXPECT_EQ(shapes::Reduce(from, {0, 2}, shapes::Reduced::kDropped), (Shape{Dim(5)}));
}

TEST_F(ShapesTest, WindowsSlide) {
  const shapes::Window window{.kernel = 3, .stride = 2, .before = 1, .after = 1};
  EXPECT_EQ(shapes::Slid(sizes_, Dim(8), window), Dim((8 + 2 - 3) / 2 + 1));
  shapes::Window up = window;
  up.ceil = true;
  EXPECT_EQ(shapes::Slid(sizes_, Dim(8), up), Dim((8 + 2 - 3 + 1) / 2 + 1));
  // The sixth window would begin in the padding behind.
  EXPECT_EQ(shapes::Slid(sizes_, Dim(9), {.kernel = 1, .stride = 2, .after = 1, .ceil = true}),
            Dim(5));
}

}  // namespace
}  // namespace steelyard::onnx
