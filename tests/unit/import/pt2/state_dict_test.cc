// SPDX-License-Identifier: Apache-2.0
#include "import/pt2/state_dict.h"

#include <gmock/gmock.h>

#include <string>

namespace steelyard::pt2 {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Pieces of a pickle as torch.save writes them (pickletools.dis shows these opcodes).
std::string Text(std::string_view text) {
  const std::string size = {static_cast<char>(text.size()), '\0', '\0', '\0'};
  return "X" + size + std::string(text);
}
std::string Global(std::string_view space, std::string_view name) {
  return "c" + std::string(space) + "\n" + std::string(name) + "\n";
}
std::string Tensor(std::string_view storage, char offset, std::string_view requires_grad) {
  const std::string id = "(" + Text("storage") + Global("torch", "FloatStorage") + Text(storage) +
                         Text("cpu") + "K\x08" + "tQ";
  return Global("torch._utils", "_rebuild_tensor_v2") + "(" + id + "K" + offset + "K\x04K\x02\x86" +
         "K\x02K\x01\x86" + std::string(requires_grad) + "N" + "tR";
}
std::string Parameter(std::string_view storage, std::string_view requires_grad) {
  return Global("torch._utils", "_rebuild_parameter") + Tensor(storage, '\0', "\x89") +
         std::string(requires_grad) + "N\x87R";
}
// In an archive, of which it is the first entry.
std::string Saved(const std::string& pickle) {
  std::string header("PK\x03\x04\x00\x00\x08\x08\x00\x00", 10);
  header.append(16, '\0');
  header.append("\x10", 1).append("\0\x02\0", 3);
  return header + "archive/data.pkl" + "ZZ" + pickle;
}
const std::string kStart =
    "\x80\x02" + Global("collections", "OrderedDict") + "q" + std::string(1, '\0') + ")R";

TEST(StateDict, ReadsNamesAndStorages) {
  const std::string pickle = kStart + "(" + Text("a.w") + Parameter("0", "\x88") + Text("a.b") +
                             Tensor("1", '\x05', "\x89") + Text("tied") + Parameter("0", "\x88") +
                             "u.";
  const auto tensors = ReadStateDict(Saved(pickle));
  ASSERT_TRUE(tensors);
  ASSERT_THAT(*tensors, SizeIs(3));
  EXPECT_EQ((*tensors)[0].name, "a.w");
  EXPECT_EQ((*tensors)[0].storage, "0");
  EXPECT_EQ((*tensors)[0].requires_grad, true);
  EXPECT_EQ((*tensors)[1].storage, "1");
  EXPECT_EQ((*tensors)[1].offset, 5);
  EXPECT_EQ((*tensors)[1].requires_grad, false);
  EXPECT_EQ((*tensors)[2].storage, "0");
}

TEST(StateDict, ReadsOneItemAtATime) {
  const auto tensors = ReadStateDict(Saved(kStart + Text("w") + Tensor("3", '\0', "\x88") + "s."));
  ASSERT_TRUE(tensors);
  EXPECT_THAT(*tensors, SizeIs(1));
}

TEST(StateDict, CallsNothing) {
  // os.system("true") makes a value without properties, and the tensors after it are still found.
  const std::string call = Global("os", "system") + Text("true") + "\x85R";
  const auto tensors = ReadStateDict(
      Saved(kStart + "(" + Text("evil") + call + Text("w") + Tensor("3", '\0', "\x88") + "u."));
  ASSERT_TRUE(tensors);
  ASSERT_THAT(*tensors, SizeIs(1));
  EXPECT_EQ((*tensors)[0].name, "w");
}

TEST(StateDict, GivesNothingWhenCutAnywhere) {
  const std::string whole = Saved(kStart + "(" + Text("a.w") + Parameter("0", "\x88") + "u.");
  ASSERT_TRUE(ReadStateDict(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadStateDict(std::string_view(whole).substr(0, size))) << size;
  }
}

TEST(StateDict, GivesNothingForWhatIsNoPickleOfThisForm) {
  EXPECT_FALSE(ReadStateDict("not a zip archive, though long enough for a header of one"));
  EXPECT_FALSE(ReadStateDict(Saved("I17\n.")));               // an opcode of protocol 0
  EXPECT_FALSE(ReadStateDict(Saved("t.")));                   // no mark
  EXPECT_FALSE(ReadStateDict(Saved("\x87.")));                // nothing on the stack
  EXPECT_FALSE(ReadStateDict(Saved("hq.")));                  // nothing remembered
  EXPECT_FALSE(ReadStateDict(Saved("Nr\xff\xff\xff\x7f.")));  // an absurd place to remember at
  EXPECT_FALSE(ReadStateDict(Saved("a.")));
  EXPECT_TRUE(ReadStateDict(Saved(".")));
  EXPECT_THAT(*ReadStateDict(Saved(".")), IsEmpty());
}

TEST(StateDict, SurvivesAnyByteBeingWrong) {
  const std::string whole = Saved(kStart + "(" + Text("a.w") + Parameter("0", "\x88") + "u.");
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x20, 0x80, 0xff}) {
      std::string wrong = whole;
      wrong[i] = static_cast<char>(wrong[i] ^ flip);
      const auto read = ReadStateDict(wrong);
      refused += read ? 0 : 1;
      if (read) {
        EXPECT_LE(read->size(), 1);
      }
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace steelyard::pt2
