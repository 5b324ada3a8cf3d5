// SPDX-License-Identifier: Apache-2.0

#include "pass/cast_overrides.h"

#include <gmock/gmock.h>

#include "ir/text_reader.h"

namespace steelyard {
namespace {

using ::testing::ElementsAre;

Program InModule() {
  return ParseText(
             "module \"\": Net\nmodule fc: Linear\ninput %x: f32[4,4]\n"
             "%y = aten::mm(%x, %x) in fc\nreturn %y\n",
             "")
      .value();
}

TEST(FindNamed, OperatorsOrModules) {
  const Result<NamedCast> operators = FindNamed(InModule(), {.of = "aten::pow"});
  ASSERT_TRUE(operators) << Describe(operators.error());
  EXPECT_EQ(operators->operators.size(), 3u) << "Scalar, Tensor_Scalar and Tensor_Tensor";
  const Result<NamedCast> modules = FindNamed(InModule(), {.of = "f*", .dtype = DType::kFloat16});
  ASSERT_TRUE(modules) << Describe(modules.error());
  EXPECT_THAT(modules->modules, ElementsAre(1));
  EXPECT_EQ(modules->dtype, DType::kFloat16);
}

TEST(FindNamed, WhatIsNotThereIsAnError) {
  for (const char* name : {"aten::sofmax", "encoder"}) {
    const Result<NamedCast> named = FindNamed(InModule(), {.of = name});
    ASSERT_FALSE(named) << name;
    EXPECT_EQ(named.error().code, ErrorCode::kNotFound);
  }
}

TEST(CheckAmp, OverridesNeedADType) {
  EXPECT_TRUE(CheckAmp({}));
  EXPECT_TRUE(CheckAmp({.dtype = DType::kFloat16, .casts = {{.of = "aten::mm"}}}));
  EXPECT_FALSE(CheckAmp({.casts = {{.of = "aten::mm"}}}));
  EXPECT_FALSE(CheckAmp({.dtype = DType::kFloat64}));
}

}  // namespace
}  // namespace steelyard
