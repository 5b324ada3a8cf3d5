// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/wire.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <string>

namespace steelyard::onnx {
namespace {

std::string Written() {
  std::string out;
  protozero::pbf_writer writer(out);
  writer.add_int64(1, -5);
  writer.add_string(2, "name");
  writer.add_float(3, 0.5F);
  writer.add_double(70000, 2);
  return out;
}

TEST(Fields, GivesEachField) {
  const std::string message = Written();
  Fields fields(message, "M");
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.number(), 1U);
  EXPECT_EQ(fields.integer(), -5);
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.bytes(), "name");
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.real(), 0.5F);
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.number(), 70000U);
  EXPECT_FALSE(fields.Next());
}

TEST(Fields, KeepsNoMoreOfAListThanItIsTold) {
  const std::vector<std::int64_t> list{1, 2, 3, 4};
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_packed_int64(1, list.begin(), list.end());
  writer.add_int64(1, 5);
  std::vector<std::int64_t> all, some;
  for (Fields fields(message, "M"); fields.Next();) {
    fields.AppendTo(all, 10);
    fields.AppendTo(some, 3);
  }
  EXPECT_EQ(all, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(some, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Fields, RefusesEveryCut) {
  const std::string message = Written();
  // Where a field ends, what is before is a message too.
  int refused = 0;
  for (std::size_t size = 0; size < message.size(); ++size) {
    try {
      for (Fields fields(std::string_view(message).substr(0, size), "M"); fields.Next();) {
      }
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.error.message, "the file is cut or damaged");
      ++refused;
    }
  }
  const int ends = 4;  // of three fields, and of none
  EXPECT_EQ(refused, static_cast<int>(message.size()) - ends);
}

TEST(Fields, RefusesAnotherKind) {
  const std::string message = Written();
  Fields fields(message, "M");
  ASSERT_TRUE(fields.Next());
  EXPECT_THROW((void)fields.bytes(), Refusal);
  EXPECT_THROW((void)fields.real(), Refusal);
  ASSERT_TRUE(fields.Next());
  EXPECT_THROW((void)fields.integer(), Refusal);
}

}  // namespace
}  // namespace steelyard::onnx
