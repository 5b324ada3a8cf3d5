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

TEST(Constants, ArePutIntoRowsWhereTheyLieInAnotherWay) {
  const auto numbers = [](const std::string& meta) {
    const Constants constants = Constants::Of(ArchiveOf(meta).path());
    const auto found = constants.Find("c");
    if (!found) return std::vector<float>();
    std::size_t count = 1;
    for (const std::int64_t size : found->sizes) count *= static_cast<std::size_t>(size);
    std::vector<float> out(count);
    std::memcpy(out.data(), found->bytes, count * sizeof(float));
    return out;
  };
  using Numbers = std::vector<float>;
  EXPECT_EQ(numbers(MetaOf(Sizes({2, 2}), Sizes({1, 2}))), (Numbers{1, 3, 2, 4}));
  EXPECT_EQ(numbers(MetaOf(Sizes({2}), Sizes({2}))), (Numbers{1, 3}));
  EXPECT_EQ(numbers(MetaOf(Sizes({2, 2}), Sizes({0, 1}))), (Numbers{1, 2, 1, 2}));
  std::string moved = MetaOf(Sizes({2}), Sizes({2}));
  const std::string_view offset = R"("storage_offset": {"as_int": 0})";
  moved.replace(moved.find(offset), offset.size(), R"("storage_offset": {"as_int": 1})");
  EXPECT_EQ(numbers(moved), (Numbers{2, 4}));
  moved.replace(moved.find(R"({"as_int": 1})"), 13, R"({"as_int": 2})");
  EXPECT_EQ(numbers(moved), Numbers());  // beyond its end
}

TEST(Constants, LeaveOutWhatIsNotAsItShouldBe) {
  const std::string meta = Meta({2, 2});
  const auto has = [](const TemporaryFile& file) {
    return Constants::Of(file.path()).Find("c").has_value();
  };
  EXPECT_FALSE(has(ArchiveOf(meta, Bytes().substr(1))));  // cut short
  EXPECT_FALSE(has(ArchiveOf(meta, Bytes(), "true")));    // a pickle
  EXPECT_FALSE(has(ArchiveOf(MetaOf(Sizes({2, 2}), Sizes({1, -2})))));
  EXPECT_FALSE(has(ArchiveOf(MetaOf(Sizes({1 << 20, 1 << 20}), Sizes({0, 0})))));
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
