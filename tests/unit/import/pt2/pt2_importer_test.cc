// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/pt2_importer.h"

#include <gmock/gmock.h>

#include <string>

#include "../files.h"
#include "exports.h"

namespace steelyard::pt2 {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

Program Import(const TemporaryFile& file) {
  Result<Program> program = kPt2Importer.read(file.path(), {});
  EXPECT_TRUE(program) << Describe(program.error());
  return program ? *std::move(program) : Program();
}
std::string ImportRefusal(const std::vector<ZipEntry>& entries) {
  const TemporaryFile file = ZipOf(entries);
  const Result<Program> program = kPt2Importer.read(file.path(), {});
  if (program) return "";
  EXPECT_THAT(program.error().where, StartsWith(file.path()));
  return Describe(program.error());
}

TEST(Pt2Importer, KnowsZipFiles) {
  EXPECT_TRUE(kPt2Importer.sniff("PK\x03\x04..."));
  EXPECT_TRUE(kPt2Importer.sniff("PK\x05\x06..."));
  EXPECT_FALSE(kPt2Importer.sniff("PK"));
  EXPECT_FALSE(kPt2Importer.sniff("{}"));
}

TEST(Pt2Importer, ReadsBothLayoutsUnderAnyRoot) {
  const std::string json = Linear().Text();
  const std::string expected = BodyOf(ReadJson(json));
  for (const char* name :
       {"archive/models/model.json", "models/model.json", "x/models/my-net.json",
        "serialized_exported_program.json", "root/serialized_exported_program.json"}) {
    EXPECT_EQ(BodyOf(Import(ZipOf({{"version", "8"}, {name, json}}))), expected) << name;
  }
}

TEST(Pt2Importer, TakesTheFirstOfSeveralModels) {
  Export other = Linear();
  other.Return("p_w");
  const Program program =
      Import(ZipOf({{"a/models/one.json", Linear().Text()}, {"a/models/two.json", other.Text()}}));
  EXPECT_THAT(program.main().outputs, SizeIs(1));
  ASSERT_THAT(program.notes, SizeIs(1));
  EXPECT_EQ(program.text(program.notes[0]),
            "the archive holds 2 models; this is the first, \"a/models/one.json\"");
}

// A config that stores layer.w and other.w as one.
constexpr char kConfig[] = R"({"config": {"layer.w": {"path_name": "weight_0"}, )"
                           R"("other.w": {"path_name": "weight_0"}}})";

TEST(Pt2Importer, TrustsWeightsThatAreThere) {
  Export e = Linear();
  e.Input("parameter", "p_other", "other.w", Meta({4, 8}));
  const ZipEntry model = {"m/models/model.json", e.Text()};
  const ZipEntry config = {"m/data/weights/model_weights_config.json", kConfig};
  const Program real = Import(ZipOf({model, config, {"m/data/weights/weight_0", "bytes"}}));
  EXPECT_TRUE(real.ties_known);
  EXPECT_EQ(real.parameters[1].tied_to, 0u);
  // Exported from the meta device: all weights are one empty file.
  const Program meta = Import(ZipOf({model, config, {"m/data/weights/weight_0", ""}}));
  EXPECT_FALSE(meta.ties_known);
  EXPECT_EQ(meta.parameters[1].tied_to, kNoId);
  const Program none = Import(ZipOf({model}));
  EXPECT_FALSE(none.ties_known);
}

TEST(Pt2Importer, LooksAtNoWeights) {
  // Weights whose zip entries are broken do no harm: they are not read.
  const TemporaryFile whole = ZipOf({{"m/data/weights/weight_0", std::string(5000, 'w')},
                                     {"m/models/model.json", Linear().Text()}});
  std::string bytes = BytesOf(whole.path());
  const std::size_t data = bytes.find("weight_0") + std::string("weight_0").size();
  bytes.replace(data, 10, "garbage...");
  EXPECT_THAT(Import(TemporaryFile(".pt2", bytes)).parameters, SizeIs(1));
}

TEST(Pt2Importer, TakesParametersOfOldFilesForTrained) {
  Export e = Linear();
  e.schema_version = R"({"major": 5, "minor": 1})";
  const Program program = Import(ZipOf({{"serialized_exported_program.json", e.Text()}}));
  EXPECT_TRUE(program.values[program.parameters[0].value].requires_grad);
  ASSERT_THAT(program.notes, SizeIs(1));
  EXPECT_THAT(std::string(program.text(program.notes[0])), HasSubstr("all are"));
}

TEST(Pt2Importer, SaysWhatTheArchiveIsInstead) {
  EXPECT_THAT(
      ImportRefusal({{"net/data.pkl", "x"}, {"net/constants.pkl", "x"}, {"net/code/a.py", "x"}}),
      AllOf(HasSubstr("TorchScript"), HasSubstr("torch.export.export(")));
  EXPECT_THAT(
      ImportRefusal({{"archive/data.pkl", "x"}, {"archive/data/0", "x"}}),
      AllOf(HasSubstr("checkpoint"), HasSubstr("not executed"), HasSubstr("torch.export.save(")));
  EXPECT_THAT(ImportRefusal({{"m/data/aotinductor/model/a.so", "x"}}), HasSubstr("AOTInductor"));
  EXPECT_THAT(ImportRefusal({{"a.txt", "x"}, {"b.txt", "x"}}),
              HasSubstr("no exported model but \"a.txt\", \"b.txt\""));
  const std::vector<ZipEntry> many = {{"1", ""}, {"2", ""}, {"3", ""}, {"4", ""},
                                      {"5", ""}, {"6", ""}, {"7", ""}};
  EXPECT_THAT(ImportRefusal(many), AllOf(HasSubstr("\"5\" and 2 more"), Not(HasSubstr("\"6\""))));
  // Not at the place where torch puts models.
  EXPECT_THAT(ImportRefusal({{"a/b/models/model.json", "{}"}}), HasSubstr("no exported model"));
  EXPECT_THAT(ImportRefusal({{"m/models/sub/model.json", "{}"}}), HasSubstr("no exported model"));
}

TEST(Pt2Importer, NamesTheEntryOfADamagedModel) {
  const TemporaryFile whole = ZipOf({{"m/models/model.json", Linear().Text()}});
  std::string bytes = BytesOf(whole.path());
  bytes[bytes.find("model.json") + 40] ^= '\x55';
  const TemporaryFile damaged(".pt2", bytes);
  const Result<Program> program = kPt2Importer.read(damaged.path(), {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().where, HasSubstr("m/models/model.json"));
}

TEST(Pt2Importer, RefusesAnEmptyArchive) {
  const TemporaryFile file(".pt2", std::string("PK\x05\x06", 4) + std::string(18, '\0'));
  const Result<Program> program = kPt2Importer.read(file.path(), {});
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, HasSubstr("empty"));
}

}  // namespace
}  // namespace steelyard::pt2
