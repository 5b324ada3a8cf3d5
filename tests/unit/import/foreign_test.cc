// SPDX-License-Identifier: Apache-2.0
#include "import/foreign.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace steelyard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string About(std::string_view head) {
  const std::optional<Error> error = ForeignFormat(head);
  return error ? Describe(*error) : "";
}

TEST(ForeignFormats, AreKnownByTheirFirstBytes) {
  using std::string_literals::operator""s;
  EXPECT_THAT(About("\x80\x02}q\x01."s), AllOf(HasSubstr("pickle"), HasSubstr("never opened")));
  EXPECT_THAT(About("\x89HDF\r\n\x1a\n..."), HasSubstr("HDF5"));
  EXPECT_THAT(About("\x1c\0\0\0TFL3\x14\0"s), HasSubstr("TensorFlow Lite"));
  EXPECT_THAT(About("\x1c\0\0\0ET12\x14\0"s), HasSubstr("ExecuTorch"));
  EXPECT_THAT(About("\x7f"
                    "ELF\x02"),
              HasSubstr("shared library"));
  EXPECT_THAT(About("\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_THAT(About("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(About("{\n  \"schema\": \"steelyard.report/1\","),
              AllOf(HasSubstr("a report"), HasSubstr("steelyard compare")));
  EXPECT_THAT(About(" \n{\"architectures\": []}"), HasSubstr("JSON"));
}

TEST(ForeignFormats, AreCalledKnownButNotSupported) {
  EXPECT_THAT(About("TFL3TFL3"), HasSubstr("known but not read"));
  EXPECT_THAT(About("\x89HDF\r\n\x1a\n"), HasSubstr("torch.export.save("));
}

TEST(ForeignFormats, AreNotSeenWhereThereAreNone) {
  for (const std::string_view head : {"", "P", "PK\x03\x04", "hello", "\x80", "\x08", "\x7f"}) {
    EXPECT_EQ(About(head), "") << head;
  }
}

TEST(ForeignFolders, AreThoseOfPickles) {
  const std::vector<std::string> bert = {"config.json", "pytorch_model.bin"};
  const std::optional<Error> error = ForeignFolder(bert);
  ASSERT_TRUE(error);
  EXPECT_THAT(Describe(*error), AllOf(HasSubstr("pytorch_model.bin"), HasSubstr("never opened"),
                                      HasSubstr("save_pretrained")));
  const std::vector<std::string> none = {"config.json"};
  EXPECT_FALSE(ForeignFolder(none));
}

}  // namespace
}  // namespace steelyard
