// SPDX-License-Identifier: Apache-2.0
//
// What fuzz/pt2_json_fuzz.cc looks for at length, for a few seconds and the same each time: a real
// export is damaged in thousands of ways, and every one must give a program that verifies or an
// error, soon. Under the sanitizers of the preset `dev` this also finds undefined behaviour.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <random>
#include <string>
#include <string_view>

#include "exports.h"

namespace steelyard::pt2 {
namespace {

using Clock = std::chrono::steady_clock;

// Reading the whole text takes a millisecond; sanitizers and a busy machine a hundred.
constexpr std::chrono::seconds kSoon{2};

void ExpectHarmless(std::string_view json) {
  const Clock::time_point begin = Clock::now();
  const Result<Model> model = ReadModel(PaddedText(json));
  EXPECT_LT(Clock::now() - begin, kSoon);
  if (model) {
    const Status status = Verify(model->program);
    EXPECT_TRUE(status) << Describe(status.error()) << "\n" << json.substr(0, 2000);
  } else {
    const Error& error = model.error();
    EXPECT_NE(error.code, ErrorCode::kInternal);
    EXPECT_FALSE(error.message.empty());
    EXPECT_FALSE(error.hint.empty() && error.code == ErrorCode::kInvalidInput);
    EXPECT_EQ(Describe(error).find('\n'), std::string::npos) << Describe(error);
  }
}

std::string RealJson() {
  const Result<Archive> archive =
      Archive::Open(std::string(STEELYARD_SOURCE_DIR) +
                    "/tests/data/older_torch/tiny-transformer-torch-2.12.1.pt2");
  EXPECT_TRUE(archive) << Describe(archive.error());
  for (std::size_t i = 0; archive && i < archive->size(); ++i) {
    if (archive->name(i).ends_with("models/model.json")) {
      return std::string(archive->Read(i)->view());
    }
  }
  ADD_FAILURE() << "the archive holds no model";
  return {};
}

// The standard leaves open what its distributions draw; the engine's own sequence is fixed.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::size_t Below(std::size_t limit) { return engine_() % limit; }

 private:
  std::mt19937 engine_;
};

class Damage : public testing::Test {
 protected:
  const std::string json_ = RealJson();
};

TEST_F(Damage, CutAnywhere) {
  for (std::size_t size = 0; size < json_.size(); size += 61) {
    ExpectHarmless(std::string_view(json_).substr(0, size));
  }
}

TEST_F(Damage, BytesChanged) {
  Random random(1);
  constexpr std::string_view kBytes = "{}[]\",:0129-.eE\\ntfu \x80\xff";
  for (int i = 0; i < 1000; ++i) {
    std::string wrong = json_;
    for (std::size_t n = random.Below(4) + 1; n > 0; --n) {
      wrong[random.Below(wrong.size())] = kBytes[random.Below(kBytes.size())];
    }
    ExpectHarmless(wrong);
  }
}

TEST_F(Damage, TokensReplaced) {
  Random random(2);
  constexpr std::array<std::string_view, 18> kTokens = {"0",
                                                        "-1",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "18446744073709551616",
                                                        "1e999",
                                                        "NaN",
                                                        "null",
                                                        "true",
                                                        "\"\"",
                                                        "\"x\"",
                                                        "[]",
                                                        "{}",
                                                        "[[[]]]",
                                                        "{\"as_int\": 1}",
                                                        "{\"as_name\": \"x\"}",
                                                        "\"\\ud800\"",
                                                        "\"s0*(s0\""};
  for (int i = 0; i < 1000; ++i) {
    // From one separator to the next: a number, a name, the beginning of an object.
    const std::size_t at = json_.find_first_of(":,[", random.Below(json_.size() - 100)) + 1;
    const std::size_t end = json_.find_first_of(",]}", at);
    if (at == 0 || end == std::string::npos) continue;
    std::string wrong = json_;
    ExpectHarmless(wrong.replace(at, end - at, kTokens[random.Below(kTokens.size())]));
  }
}

TEST_F(Damage, PiecesMoved) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t size = random.Below(2000) + 1;
    const std::size_t from = random.Below(json_.size() - size);
    const std::size_t to = random.Below(json_.size() - size);
    std::string wrong = json_;
    if (i % 2 == 0) {
      wrong.replace(to, size, json_, from, size);
    } else {
      wrong.erase(from, size);
    }
    ExpectHarmless(wrong);
  }
}

}  // namespace
}  // namespace steelyard::pt2
