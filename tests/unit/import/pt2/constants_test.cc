// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/constants.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../files.h"
#include "exports.h"

namespace steelyard::pt2 {
namespace {

constexpr std::array<float, 4> kNumbers{1, 2, 3, 4};

std::string Bytes() { return {reinterpret_cast<const char*>(kNumbers.data()), sizeof(kNumbers)}; }

// An archive of one constant "c", as torch.export.save lists it.
TemporaryFile ArchiveOf(const std::string& meta, const std::string& bytes = Bytes(),
                        std::string_view pickled = "false") {
  const std::string config = R"({"config": {"c": {"path_name": "tensor_0", "is_param": false, )"
                             R"("use_pickle": )" +
                             std::string(pickled) + R"(, "tensor_meta": )" + meta + "}}}";
  return ZipOf({{"m/data/constants/model_constants_config.json", config},
                {"m/data/constants/tensor_0", bytes}});
}

TEST(Constants, AreReadWhereTheyLieRowByRow) {
  const Constants constants = Constants::Of(ArchiveOf(Meta({2, 2})).path());
  const auto found = constants.Find("c");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dtype, DType::kFloat32);
  EXPECT_EQ(std::vector(found->sizes.begin(), found->sizes.end()),
            (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(std::memcmp(found->bytes, kNumbers.data(), sizeof(kNumbers)), 0);
  EXPECT_FALSE(constants.Find("d"));
}

TEST(Constants, LeaveOutWhatIsNotAsItShouldBe) {
  const std::string meta = Meta({2, 2});
  const auto has = [](const TemporaryFile& file) {
    return Constants::Of(file.path()).Find("c").has_value();
  };
  EXPECT_FALSE(has(ArchiveOf(meta, Bytes().substr(1))));                 // cut short
  EXPECT_FALSE(has(ArchiveOf(meta, Bytes(), "true")));                   // a pickle
  EXPECT_FALSE(has(ArchiveOf(MetaOf(Sizes({2, 2}), Sizes({1, 2})))));    // by columns
  EXPECT_FALSE(has(ArchiveOf(Meta({2, -2}))));                           // no size
  EXPECT_FALSE(has(ArchiveOf(Meta({std::int64_t{1} << 62, 1 << 20}))));  // no number
  EXPECT_FALSE(has(ArchiveOf(Meta({2, 2}, 999))));                       // no dtype
  EXPECT_FALSE(has(ArchiveOf("null")));
  EXPECT_FALSE(has(ArchiveOf("[")));
  EXPECT_FALSE(has(ZipOf({{"m/models/model.json", "{}"}})));
  EXPECT_FALSE(has(TemporaryFile(".pt2", "no archive")));
  std::string sizes;
  for (int i = 0; i < 1000; ++i) {
    sizes += (i == 0 ? "" : ", ") + std::string(R"({"as_int": 1})");
  }
  EXPECT_FALSE(has(ArchiveOf(MetaOf("[" + sizes + "]", "[" + sizes + "]"))));  // of any rank
}

}  // namespace
}  // namespace steelyard::pt2
