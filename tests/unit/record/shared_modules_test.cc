// SPDX-License-Identifier: Apache-2.0
#include "record/shared_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "../record_writer.h"

namespace steelyard {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> Told(const RecordWriter& record) {
  Result<Recording> recording = ReadRecording(record.Bytes(), "test");
  EXPECT_TRUE(recording);
  std::vector<std::uint32_t> ids;
  for (const SyEvent& event : recording->threads[0].events) ids.push_back(event.id);
  return ids;
}

// An embedding that an encoder and a decoder have, as T5's; the decoder's is below a list.
RecordWriter WithShared() {
  RecordWriter record;
  record.Module(0, SY_NO_ID, "", "Model").Module(1, 0, "encoder", "Encoder");
  record.Module(2, 1, "encoder.embed", "Embedding").Module(3, 0, "decoder", "Decoder");
  record.Module(4, 3, "decoder.parts", "ModuleList");
  return record.Place(5, 4, 2, "decoder.parts.0", "Embedding");
}

TEST(SharedModules, CallsAreOfThePlaceThatTheyAreIn) {
  RecordWriter record = WithShared();
  const auto call = [&](std::uint32_t module) {
    record.Add(SY_MODULE_ENTER, module).Add(SY_MODULE_ENTER, 2);
    record.Add(SY_MODULE_LEAVE, 2).Add(SY_MODULE_LEAVE, module);
  };
  call(1);
  call(3);
  call(0);  // both are in it: the first
  EXPECT_THAT(Told(record), ElementsAre(1, 2, 2, 1, 3, 5, 5, 3, 0, 2, 2, 0));
}

TEST(SharedModules, CallsThatNobodyLeftEndWithWhatTheyAreIn) {
  RecordWriter record = WithShared();
  record.Add(SY_MODULE_ENTER, 3).Add(SY_MODULE_ENTER, 2).Add(SY_MODULE_LEAVE, 3);
  record.Add(SY_MODULE_ENTER, 2).Add(SY_MODULE_LEAVE, 2).Add(SY_MODULE_LEAVE, 2);
  EXPECT_THAT(Told(record), ElementsAre(3, 5, 3, 2, 2, 2));
}

TEST(SharedModules, APlaceOfWhatComesLaterIsItsOwn) {
  RecordWriter record;
  record.Place(0, SY_NO_ID, 7, "", "Model");
  record.Add(SY_MODULE_ENTER, 0).Add(SY_MODULE_LEAVE, 0);
  EXPECT_THAT(Told(record), ElementsAre(0, 0));
}

}  // namespace
}  // namespace steelyard
