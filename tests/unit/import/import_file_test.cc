// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "files.h"
#include "pt2/exports.h"
#include "steelyard/import.h"

namespace steelyard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kText[] = "input %x: f32[2]\nreturn %x\n";

Error RefusalOf(const std::string& path, const std::string& from = {}) {
  const Result<Program> program = ImportFile(path, {.from = from});
  EXPECT_FALSE(program) << path;
  return program ? Error() : program.error();
}

TEST(ImportFile, FindsTheImporterByContent) {
  const TemporaryFile file = ZipOf({{"m/models/model.json", pt2::Linear().Text()}}, ".misnamed");
  const Result<Program> program = ImportFile(file.path(), {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->parameters.size(), 1u);
}

TEST(ImportFile, FindsTheImporterByExtension) {
  for (const char* extension : {".syt", ".SYT"}) {
    const Result<Program> program = ImportFile(TemporaryFile(extension, kText).path(), {});
    ASSERT_TRUE(program) << Describe(program.error());
    EXPECT_EQ(program->inputs.size(), 1u);
  }
}

TEST(ImportFile, TakesTheImporterItIsTold) {
  const TemporaryFile file(".unknown", kText);
  EXPECT_TRUE(ImportFile(file.path(), {.from = "text"}));
  const Error error = RefusalOf(file.path(), "pt2");
  EXPECT_THAT(error.message, HasSubstr("zip archive"));
  const Error unknown = RefusalOf(file.path(), "nonsense");
  EXPECT_EQ(unknown.code, ErrorCode::kUsage);
  for (const Importer& one : Importers()) EXPECT_THAT(unknown.hint, HasSubstr(one.name));
}

TEST(ImportFile, NamesTheModelAfterTheFileIfNothingElseDoes) {
  const TemporaryFile file(".syt", kText);
  const Result<Program> program = ImportFile(file.path(), {});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->text(program->name), std::filesystem::path(file.path()).stem().string());
}

TEST(ImportFile, RefusesWhatIsNoFileWithContent) {
  const Error missing = RefusalOf("/no/such/model.pt2");
  EXPECT_EQ(missing.code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.where, "/no/such/model.pt2");
  EXPECT_THAT(missing.message, HasSubstr("no such file"));
  EXPECT_THAT(RefusalOf("/proc/self").message, HasSubstr("it is a directory"));
  EXPECT_THAT(RefusalOf("/proc/self", "pt2").message, HasSubstr("which pt2 does not read"));
  EXPECT_THAT(RefusalOf(TemporaryFile(".pt2", "").path()).message, HasSubstr("empty"));
  const TemporaryFile pipe(".pt2");
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  EXPECT_THAT(RefusalOf(pipe.path()).message, HasSubstr("no regular file"));
}

TEST(ImportFile, SaysWhatForeignFilesAre) {
  const TemporaryFile elf(".pt2",
                          "\x7f"
                          "ELF\x02");
  const Error error = RefusalOf(elf.path());
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(error.where, elf.path());
  EXPECT_THAT(error.message, HasSubstr("shared library"));
}

TEST(ImportFile, SaysWhichFormatsThereAre) {
  const TemporaryFile file(".xyz", "what is this");
  EXPECT_THAT(Describe(RefusalOf(file.path())),
              AllOf(StartsWith(file.path()), HasSubstr("not known"), HasSubstr("pt2, ")));
  // A name alone does not make a model, but says what was meant.
  EXPECT_THAT(RefusalOf(TemporaryFile(".pt2", "what is this").path()).message,
              HasSubstr("zip archive"));
}

TEST(ImportFile, ReadsFolders) {
  std::filesystem::create_directories(TemporaryPath("bert"));
  const std::string model = WriteTemporary("bert/pytorch_model.bin", "pickle");
  EXPECT_THAT(RefusalOf(TemporaryPath("bert")).message, HasSubstr("pickles"));
  std::filesystem::remove(model);
  constexpr char kEmpty[] = "\2\0\0\0\0\0\0\0{}";
  WriteTemporary("bert/model.safetensors", {kEmpty, sizeof(kEmpty) - 1});
  const Result<Program> program = ImportFile(TemporaryPath("bert"), {});
  ASSERT_TRUE(program) << Describe(program.error());
  EXPECT_EQ(program->text(program->name), "bert");
}

TEST(Importers, DoNotOverlap) {
  for (const std::string_view head : {"PK\x03\x04", "GGUF", "program x", "{", ""}) {
    int claims = 0;
    for (const Importer& importer : Importers()) claims += importer.sniff(head) ? 1 : 0;
    EXPECT_LE(claims, 1) << head;
  }
}

TEST(Importers, SayWhatTheyAre) {
  for (const Importer& importer : Importers()) {
    EXPECT_FALSE(importer.name.empty());
    EXPECT_FALSE(importer.summary.empty());
    for (const std::string_view extension : importer.extensions) {
      EXPECT_THAT(std::string(extension), StartsWith("."));
    }
  }
}

}  // namespace
}  // namespace steelyard
