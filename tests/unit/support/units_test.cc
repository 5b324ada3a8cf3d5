// SPDX-License-Identifier: Apache-2.0
#include "support/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "steelyard/units.h"

namespace steelyard {
namespace {

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;
constexpr std::int64_t kGi = 1024 * kMi;
constexpr FormatOptions kExact{.style = UnitStyle::kExact};
constexpr FormatOptions kSigned{.sign = Sign::kAlways};

TEST(UnitsTest, BytesGoByPowersOf1024) {
  EXPECT_EQ(Format(std::int64_t{0}, Unit::kBytes), "0 B");
  EXPECT_EQ(Format(std::int64_t{512}, Unit::kBytes), "512 B");
  EXPECT_EQ(Format(kKi - 1, Unit::kBytes), "1,023 B");
  EXPECT_EQ(Format(kKi, Unit::kBytes), "1.0 KiB");
  EXPECT_EQ(Format(kMi * 3 / 2, Unit::kBytes), "1.5 MiB");
  EXPECT_EQ(Format(417 * kMi + kMi * 8 / 10, Unit::kBytes), "417.8 MiB");
  EXPECT_EQ(Format(kGi + kGi * 89 / 100, Unit::kBytes), "1.89 GiB");
  EXPECT_EQ(Format(80 * kGi, Unit::kBytes), "80.00 GiB");
  EXPECT_EQ(Format(140 * kGi, Unit::kBytes), "140.0 GiB");
}

TEST(UnitsTest, RoundingNeverFillsAPrefix) {
  EXPECT_EQ(Format(kMi - 1, Unit::kBytes), "1.0 MiB");
  EXPECT_EQ(Format(kGi - 1, Unit::kBytes), "1.00 GiB");
  EXPECT_EQ(Format(std::int64_t{999'949}, Unit::kCount), "999.9 k");
  EXPECT_EQ(Format(std::int64_t{999'950}, Unit::kCount), "1.0 M");
}

TEST(UnitsTest, CountsAndWorkGoByPowersOf1000) {
  EXPECT_EQ(Format(std::int64_t{109'514'298}, Unit::kCount), "109.5 M");
  EXPECT_EQ(Format(std::int64_t{46'702'792'704}, Unit::kCount), "46.70 B");
  EXPECT_EQ(Format(std::int64_t{114'013'765'632}, Unit::kFlops), "114.0 GFLOP");
  EXPECT_EQ(Format(std::int64_t{57'006'882'816}, Unit::kMacs), "57.01 GMAC");
  EXPECT_EQ(Format(std::int64_t{3'210'000'000}, Unit::kTraffic), "3.21 GB");
  EXPECT_EQ(Format(989.5e12, Unit::kFlopsPerSecond), "989.5 TFLOP/s");
  EXPECT_EQ(Format(3.35e12, Unit::kBytesPerSecond), "3.35 TB/s");
}

TEST(UnitsTest, SmallCountsAreWrittenInFull) {
  EXPECT_EQ(Format(std::int64_t{2'431}, Unit::kCount), "2,431");
  EXPECT_EQ(Format(std::int64_t{9'999}, Unit::kCount), "9,999");
  EXPECT_EQ(Format(std::int64_t{10'000}, Unit::kCount), "10.0 k");
  EXPECT_EQ(Format(std::int64_t{30'522}, Unit::kNone), "30,522");
}

TEST(UnitsTest, ExactStyleShowsEveryDigit) {
  EXPECT_EQ(Format(std::int64_t{438'057'192}, Unit::kBytes, kExact), "438,057,192 B");
  EXPECT_EQ(Format(std::int64_t{109'514'298}, Unit::kCount, kExact), "109,514,298");
  EXPECT_EQ(Format(std::int64_t{114'013'765'632}, Unit::kFlops, kExact), "114,013,765,632 FLOP");
  EXPECT_EQ(Format(0.0062, Unit::kSeconds, kExact), "6.2 ms");
}

TEST(UnitsTest, DecimalStyleCountsBytesByThousands) {
  constexpr FormatOptions kDecimal{.style = UnitStyle::kDecimal};
  EXPECT_EQ(Format(std::int64_t{950'200'000}, Unit::kBytes, kDecimal), "950.2 MB");
  EXPECT_EQ(Format(std::int64_t{999}, Unit::kBytes, kDecimal), "999 B");
  EXPECT_EQ(Format(std::int64_t{3'210'000'000}, Unit::kTraffic, kDecimal), "3.21 GB");
}

TEST(UnitsTest, LimitsOfInt64AreExact) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Format(kLeast, Unit::kNone), "-9,223,372,036,854,775,808");
  EXPECT_EQ(Format(std::numeric_limits<std::int64_t>::max(), Unit::kNone),
            "9,223,372,036,854,775,807");
  EXPECT_EQ(Format(kLeast, Unit::kBytes), "-8.00 EiB");  // 2^63 / 2^60
}

TEST(UnitsTest, SignsAreKept) {
  EXPECT_EQ(Format(-kMi, Unit::kBytes), "-1.0 MiB");
  EXPECT_EQ(Format(kMi, Unit::kBytes, kSigned), "+1.0 MiB");
  EXPECT_EQ(Format(0.0, Unit::kPercent, kSigned), "+0.0 %");
  EXPECT_EQ(Format(0.33, Unit::kPercent, kSigned), "+33.0 %");
  EXPECT_EQ(Format(-0.12, Unit::kPercent), "-12.0 %");
  EXPECT_EQ(Format(-0.0, Unit::kPercent), "0.0 %");
}

TEST(UnitsTest, SharesAreNeverRoundedToNothing) {
  EXPECT_EQ(Format(0.994, Unit::kPercent), "99.4 %");
  EXPECT_EQ(Format(1.0, Unit::kPercent), "100.0 %");
  EXPECT_EQ(Format(0.0004, Unit::kPercent), "<0.1 %");
  EXPECT_EQ(Format(0.0, Unit::kPercent), "0.0 %");
}

TEST(UnitsTest, TimesFromNanosecondsToHours) {
  EXPECT_EQ(Format(0.0, Unit::kSeconds), "0 ns");
  EXPECT_EQ(Format(812e-9, Unit::kSeconds), "812 ns");
  EXPECT_EQ(Format(1.5e-6, Unit::kSeconds), "1.5 µs");
  EXPECT_EQ(Format(0.0062, Unit::kSeconds), "6.2 ms");
  EXPECT_EQ(Format(0.99996, Unit::kSeconds), "1.0 s");
  EXPECT_EQ(Format(200.0, Unit::kSeconds), "3 min 20 s");  // 3 * 60 + 20
  EXPECT_EQ(Format(2.0 * 3600 + 5 * 60, Unit::kSeconds), "2 h 5 min");
  EXPECT_EQ(Format(std::int64_t{3}, Unit::kSeconds), "3.0 s");
}

TEST(UnitsTest, RatiosAndIntensities) {
  EXPECT_EQ(Format(1.356, Unit::kRatio), "1.36x");
  EXPECT_EQ(Format(99.994, Unit::kRatio), "99.99x");
  EXPECT_EQ(Format(24621.02, Unit::kRatio), "24,621x");
  EXPECT_EQ(Format(12.34, Unit::kFlopsPerByte), "12.3 FLOP/B");
  EXPECT_EQ(Format(8.0 * 144 / 256, Unit::kBits), "4.50 bit");
  EXPECT_EQ(Format(2.5, Unit::kNone), "2.5");
}

TEST(UnitsTest, AveragesKeepOneDigit) {
  EXPECT_EQ(Format(3.75, Unit::kBytes), "3.8 B");
  EXPECT_EQ(Format(4.0, Unit::kBytes), "4 B");
  EXPECT_EQ(Format(1.5 * 1024 * 1024 + 0.25, Unit::kBytes), "1.5 MiB");
}

TEST(UnitsTest, WhatIsNotFiniteIsNoNumber) {
  EXPECT_EQ(Format(std::nan(""), Unit::kRatio), "n/a");
  EXPECT_EQ(Format(INFINITY, Unit::kSeconds), "n/a");
  EXPECT_EQ(FormatIn(INFINITY, Scale{}), "n/a");
}

TEST(UnitsTest, WhatIsNotZeroIsNotWrittenAsZero) {
  const Scale billions{.prefix = "G", .suffix = "FLOP", .divisor = 1e9, .decimals = 2};
  EXPECT_EQ(FormatIn(std::int64_t{4'000'000}, billions), "<0.01");
  EXPECT_EQ(FormatIn(std::int64_t{-4'000'000}, billions), "-<0.01");
  EXPECT_EQ(FormatIn(std::int64_t{5'000'000}, billions), "0.01");
  EXPECT_EQ(FormatIn(std::int64_t{0}, billions), "0");
}

TEST(UnitsTest, ValuesBeyondInt64KeepTheirMagnitude) {
  EXPECT_EQ(Format(3e19, Unit::kFlops), "30.00 EFLOP");
  EXPECT_EQ(Format(1e20, Unit::kSeconds), "100000000000000000000.0 s");
}

TEST(UnitsTest, SeveralNumbersShareTheScaleOfTheLargest) {
  const Scale scale = CommonScale(342e9, Unit::kFlops);
  EXPECT_EQ(scale.Word(), "GFLOP");
  EXPECT_EQ(FormatIn(342e9, scale), "342.0");
  EXPECT_EQ(FormatIn(0.5e9, scale), "0.5");
  EXPECT_EQ(FormatIn(0.0, scale), "0");
  EXPECT_EQ(FormatIn(-1e9, scale), "-1.0");
  EXPECT_EQ(FormatIn(1e9, scale, Sign::kAlways), "+1.0");
}

TEST(UnitsTest, TheExactScaleGroupsDigits) {
  const Scale scale = CommonScale(2e9, Unit::kBytes, UnitStyle::kExact);
  EXPECT_EQ(scale.Word(), "B");
  EXPECT_EQ(FormatIn(2'147'483'648.0, scale), "2,147,483,648");
  // One more than 2^53, which a double does not hold.
  EXPECT_EQ(FormatIn((std::int64_t{1} << 53) + 1, scale), "9,007,199,254,740,993");
  EXPECT_EQ(FormatIn(std::int64_t{0}, scale, Sign::kAlways), "0");
}

TEST(UnitsTest, SharesAndRatiosHaveOneScale) {
  EXPECT_EQ(FormatIn(0.25, CommonScale(1.0, Unit::kPercent)), "25.0");
  EXPECT_EQ(FormatIn(0.25, CommonScale(1.0, Unit::kRatio)), "0.25");
  EXPECT_EQ(FormatIn(0.25, CommonScale(1.0, Unit::kFlopsPerByte)), "0.2");
  EXPECT_EQ(FormatIn(0.0004, CommonScale(0.001, Unit::kSeconds)), "0.4");
  EXPECT_EQ(CommonScale(0.001, Unit::kSeconds).Word(), "ms");
  EXPECT_EQ(CommonScale(5, Unit::kNone).Word(), "");
}

TEST(ParseBytesTest, PowersOf1000And1024) {
  EXPECT_EQ(ParseBytes("80GB"), 80'000'000'000);
  EXPECT_EQ(ParseBytes("80 GiB"), std::int64_t{80} << 30);
  EXPECT_EQ(ParseBytes("1.5kB"), 1500);
  EXPECT_EQ(ParseBytes("2KB"), 2000);
  EXPECT_EQ(ParseBytes("1.5KiB"), 1536);
  EXPECT_EQ(ParseBytes("24G"), 24'000'000'000);
  EXPECT_EQ(ParseBytes("512"), 512);
  EXPECT_EQ(ParseBytes("512B"), 512);
}

TEST(ParseBytesTest, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "GB", "-1GB", "80 gb", "80GBs", "nan", "inf", "1e30", "8EiB"}) {
    EXPECT_FALSE(ParseBytes(text)) << text;
  }
}

TEST(UnitsTest, ALimitIsToldByThousandsAndBy1024) {
  EXPECT_EQ(FormatLimit(80'000'000'000), "80.00 GB (74.51 GiB)");
  EXPECT_EQ(FormatLimit(std::int64_t{80} << 30), "85.90 GB (80.00 GiB)");
  EXPECT_EQ(FormatLimit(512), "512 B");
}

}  // namespace
}  // namespace steelyard
