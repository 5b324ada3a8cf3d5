// SPDX-License-Identifier: Apache-2.0
#include "present/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weighed_model.h"

namespace steelyard::present {
namespace {

using ::testing::HasSubstr;

TEST(NotesTest, OfTheProgramAreTold) {
  const WeighedModel model;
  report::Document document;
  AppendNotes(model.findings(), &document);
  AddNoteData(model.findings(), &document.data);
  EXPECT_THAT(TextOf(document), HasSubstr("Note: batch is 2, as in the file\n"));
  const report::DataView note = *At(document.data, "notes").begin();
  EXPECT_EQ(note.Find("severity")->AsText(), "note");
  EXPECT_EQ(note.Find("message")->AsText(), "batch is 2, as in the file");
}

}  // namespace
}  // namespace steelyard::present
