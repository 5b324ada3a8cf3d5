// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/archive.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>

#include "../files.h"

namespace steelyard::pt2 {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string ArchiveRefusal(const std::string& path, std::size_t index = 0) {
  const Result<Archive> archive = Archive::Open(path);
  if (!archive) return Describe(archive.error());
  if (index >= archive->size()) return "no such entry";
  const Result<PaddedText> text = archive->Read(index);
  return text ? "" : Describe(text.error());
}

// Writes a number over the field at `offset` of the central directory's first entry and of the
// local header, where the same fields stand 2 bytes earlier (APPNOTE.TXT 4.3.7, 4.3.12).
template <class T>
std::string Forged(std::string bytes, std::size_t offset, T value) {
  const std::size_t directory = bytes.find("PK\x01\x02");
  EXPECT_NE(directory, std::string::npos);
  std::memcpy(bytes.data() + directory + offset, &value, sizeof(value));
  std::memcpy(bytes.data() + offset - 2, &value, sizeof(value));
  return bytes;
}
constexpr std::size_t kMethod = 10;
constexpr std::size_t kCrc = 16;
constexpr std::size_t kStoredSize = 20;
constexpr std::size_t kSize = 24;

TEST(Archive, ReadsEntriesStoredAndDeflated) {
  const std::string text(100'000, 'x');
  const TemporaryFile file = ZipOf({{"a/first", text}, {"a/second", "hello", 0}, {"a/empty", ""}});
  const Result<Archive> archive = Archive::Open(file.path());
  ASSERT_TRUE(archive) << Describe(archive.error());
  ASSERT_EQ(archive->size(), 3u);
  EXPECT_EQ(archive->name(1), "a/second");
  EXPECT_EQ(archive->bytes(0), text.size());
  EXPECT_EQ(archive->Read(0)->view(), text);
  EXPECT_EQ(archive->Read(1)->view(), "hello");
  EXPECT_EQ(archive->Read(2)->view(), "");
  EXPECT_EQ(archive->ReadBeginning(0, 10), std::string(10, 'x'));
  EXPECT_EQ(archive->ReadBeginning(1, 100), "hello");
}

TEST(Archive, PadsTexts) {
  const PaddedText text("abc");
  EXPECT_EQ(text.capacity(), 3 + PaddedText::kPadding);
  for (std::size_t i = 0; i < PaddedText::kPadding; ++i) EXPECT_EQ(text.view().data()[3 + i], '\0');
}

TEST(Archive, RefusesAnArchiveThatIsCutAnywhere) {
  const std::string bytes = BytesOf(ZipOf({{"a", "some text"}}).path());
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const TemporaryFile file(".pt2", bytes.substr(0, size));
    EXPECT_NE(ArchiveRefusal(file.path()), "") << size;
  }
  const TemporaryFile half(".pt2", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(ArchiveRefusal(half.path()), AllOf(HasSubstr("cut short"), HasSubstr("complete?")));
}

TEST(Archive, TellsOtherFilesFromDamagedArchives) {
  const TemporaryFile text(".pt2", "hello, this is no archive at all");
  EXPECT_THAT(ArchiveRefusal(text.path()), HasSubstr("it is no zip archive"));
}

TEST(Archive, RefusesSizesThatLie) {
  const std::string bytes = BytesOf(ZipOf({{"a", std::string(5000, 'x')}}).path());
  const auto refusal = [&](std::size_t field, std::uint32_t value) {
    return ArchiveRefusal(TemporaryFile(".pt2", Forged(bytes, field, value)).path());
  };
  EXPECT_THAT(refusal(kSize, 4999), HasSubstr("does not inflate to the size it claims"));
  EXPECT_THAT(refusal(kSize, 5001), HasSubstr("does not inflate to the size it claims"));
  EXPECT_THAT(refusal(kCrc, 17), HasSubstr("checksum"));
  EXPECT_THAT(refusal(kStoredSize, 1'000'000), HasSubstr("more bytes than the archive has"));
  EXPECT_THAT(refusal(kSize, 0xfffffff0U), HasSubstr("4 GiB"));
  EXPECT_THAT(refusal(kSize, 4'000'000'000U), HasSubstr("claim to inflate"));
}

TEST(Archive, RefusesWhatWouldFillTheMemory) {
  // 32 MiB of zeros deflate a thousand times.
  const TemporaryFile file = ZipOf({{"bomb", std::string(32U << 20U, '\0')}});
  EXPECT_THAT(ArchiveRefusal(file.path()), AllOf(HasSubstr("bomb"), HasSubstr("claim to inflate")));
}

TEST(Archive, RefusesMethodsThatItDoesNotKnow) {
  const std::string bytes = BytesOf(ZipOf({{"a", "text"}}).path());
  const TemporaryFile file(".pt2", Forged(bytes, kMethod, std::uint16_t{12}));
  EXPECT_THAT(ArchiveRefusal(file.path()), HasSubstr("zip method 12"));
}

TEST(Archive, RefusesWhatIsNotThere) { EXPECT_NE(ArchiveRefusal("/nonexistent"), ""); }

TEST(Archive, SurvivesAnyByteBeingWrong) {
  const std::string bytes = BytesOf(ZipOf({{"a", "some text"}, {"b", "more text"}}).path());
  int refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string wrong = bytes;
    wrong[i] = static_cast<char>(wrong[i] ^ 0xff);
    const std::string refusal = ArchiveRefusal(TemporaryFile(".pt2", wrong).path());
    refused += refusal.empty() ? 0 : 1;
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
  // At least where the directory says that it is one, and where each entry's data begin.
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace steelyard::pt2
