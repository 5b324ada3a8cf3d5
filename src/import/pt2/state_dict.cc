// SPDX-License-Identifier: Apache-2.0
//
// A reader for the pickles that torch.save writes of state dicts. A pickle is a program for a stack
// machine (pickletools.py of CPython documents it); this is that machine with values that know only
// what they are called. Calling `torch._utils._rebuild_tensor_v2` makes a tensor with the storage
// that stands first among its arguments; calling anything else makes a value without properties.
#include "import/pt2/state_dict.h"

#include <bit>
#include <cstring>
#include <span>

namespace steelyard::pt2 {
namespace {

static_assert(std::endian::native == std::endian::little, "pickles and zip are little-endian");

// More than the pickle of any state dict needs, and little enough to hold.
constexpr std::size_t kMaxItems = std::size_t{1} << 22U;

struct Item {
  enum class Kind : std::uint8_t { kOther, kMark, kText, kInt, kBool, kTuple, kStorage, kTensor };
  Kind kind = Kind::kOther;
  std::string_view text;    // of a text and a global's name; the key of a storage, also a tensor's
  std::int64_t number = 0;  // of an int and a bool; a tensor's offset
  std::size_t first = 0;    // of a tuple: its run of the pool
  std::size_t count = 0;
  bool requires_grad = false;
};

class PickleReader {
 public:
  explicit PickleReader(std::string_view pickle) : rest_(pickle) {}

  std::optional<std::vector<StoredTensor>> Read() {
    while (!rest_.empty() && !stopped_) {
      const auto op = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (!Step(op) || stack_.size() + pool_.size() > kMaxItems) return std::nullopt;
    }
    if (!stopped_) return std::nullopt;
    return std::move(tensors_);
  }

 private:
  using Kind = Item::Kind;

  // --- Reading: an unsigned number of `size` bytes, a counted text, a line.
  bool Number(std::size_t size, std::uint64_t& out) {
    if (rest_.size() < size) return false;
    out = 0;
    std::memcpy(&out, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  bool Bytes(std::uint64_t size, std::string_view& out) {
    if (rest_.size() < size) return false;
    out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool Line(std::string_view& out) {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  // --- The stack.
  bool Push(Item item) {
    stack_.push_back(item);
    return true;
  }
  bool Push(Kind kind, std::string_view text, std::int64_t number = 0) {
    Item item;
    item.kind = kind;
    item.text = text;
    item.number = number;
    return Push(item);
  }
  bool PushOther() { return Push(Item{}); }
  bool Pop(Item& out) {
    if (stack_.empty()) return false;
    out = stack_.back();
    stack_.pop_back();
    return true;
  }
  bool Pop(std::size_t count) {
    if (stack_.size() < count) return false;
    stack_.resize(stack_.size() - count);
    return true;
  }
  // How many items lie above the last mark.
  std::optional<std::size_t> AboveMark() const {
    for (std::size_t i = stack_.size(); i-- > 0;) {
      if (stack_[i].kind == Kind::kMark) return stack_.size() - i - 1;
    }
    return std::nullopt;
  }
  bool MakeTuple(std::size_t count, std::size_t marks) {
    if (stack_.size() < count + marks) return false;
    Item tuple;
    tuple.kind = Kind::kTuple;
    tuple.first = pool_.size();
    tuple.count = count;
    pool_.insert(pool_.end(), stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    return Pop(count + marks) && Push(tuple);
  }
  std::span<const Item> Elements(const Item& tuple) const {
    if (tuple.kind != Kind::kTuple) return {};
    return std::span(pool_).subspan(tuple.first, tuple.count);
  }
  bool Put(std::uint64_t index) {
    // Pickles count their memo up; an index out of order would only ask for memory.
    if (stack_.empty() || index > memo_.size()) return false;
    if (index == memo_.size()) memo_.emplace_back();
    memo_[index] = stack_.back();
    return true;
  }
  bool Get(std::uint64_t index) { return index < memo_.size() && Push(memo_[index]); }

  // --- What the values mean.
  // ('storage', type, key, device, count)
  bool LoadPersistent() {
    Item id;
    if (!Pop(id)) return false;
    const auto parts = Elements(id);
    if (parts.size() < 3 || parts[0].text != "storage") return PushOther();
    return Push(Kind::kStorage, parts[2].text);
  }
  bool Call() {
    Item arguments;
    Item function;
    if (!Pop(arguments) || !Pop(function)) return false;
    const auto args = Elements(arguments);
    // (storage, offset, size, stride, requires_grad, hooks)
    if (function.text == "_rebuild_tensor_v2" && args.size() >= 5 &&
        args[0].kind == Kind::kStorage) {
      Item tensor = args[0];
      tensor.kind = Kind::kTensor;
      tensor.number = args[1].number;
      tensor.requires_grad = args[4].number != 0;
      return Push(tensor);
    }
    // (tensor, requires_grad, hooks)
    if (function.text.starts_with("_rebuild_parameter") && args.size() >= 2) {
      Item tensor = args[0];
      tensor.requires_grad = args[1].number != 0;
      return Push(tensor);
    }
    return PushOther();
  }
  void SetItem(const Item& key, const Item& value) {
    if (key.kind != Kind::kText || value.kind != Kind::kTensor) return;
    tensors_.push_back(
        {std::string(key.text), std::string(value.text), value.number, value.requires_grad});
  }
  bool SetItems() {
    const auto count = AboveMark();
    if (!count || *count % 2 != 0) return false;
    const auto items = std::span(stack_).last(*count);
    for (std::size_t i = 0; i < items.size(); i += 2) SetItem(items[i], items[i + 1]);
    return Pop(*count + 1);
  }

  // --- Opcodes: a stack machine's, each a function without operands.
  struct Opcode {
    unsigned char code;
    bool (PickleReader::*run)();
  };
  static const Opcode kOpcodes[];

  template <std::size_t kBytes>
  bool Skip() {
    std::string_view skipped;
    return Bytes(kBytes, skipped);
  }
  bool Stop() {
    stopped_ = true;
    return true;
  }
  bool PushMark() { return Push(Kind::kMark, {}); }
  bool PopOne() { return Pop(1); }
  bool PopToMark() {
    const auto count = AboveMark();
    return count && Pop(*count + 1);
  }
  template <std::size_t kBytes>
  bool PutAt() {
    std::uint64_t index = 0;
    return Number(kBytes, index) && Put(index);
  }
  bool PutNext() { return Put(memo_.size()); }
  template <std::size_t kBytes>
  bool GetFrom() {
    std::uint64_t index = 0;
    return Number(kBytes, index) && Get(index);
  }
  template <std::size_t kCount>
  bool PushTuple() {
    return MakeTuple(kCount, 0);
  }
  bool TupleFromMark() {
    const auto count = AboveMark();
    return count && MakeTuple(*count, 1);
  }
  bool SetOne() {
    Item key;
    Item value;
    if (!Pop(value) || !Pop(key)) return false;
    SetItem(key, value);
    return true;
  }
  template <std::size_t kBytes>
  bool PushText() {
    std::uint64_t size = 0;
    std::string_view text;
    return Number(kBytes, size) && Bytes(size, text) && Push(Kind::kText, text);
  }
  bool PushGlobal() {
    std::string_view space;
    std::string_view name;
    return Line(space) && Line(name) && Push(Kind::kOther, name);
  }
  bool GlobalFromStack() {
    Item name;
    return Pop(name) && Pop(1) && Push(Kind::kOther, name.text);
  }
  template <std::size_t kBytes>
  bool PushNumber() {
    std::uint64_t number = 0;
    return Number(kBytes, number) && Push(Kind::kInt, {}, static_cast<std::int64_t>(number));
  }
  bool PushSigned() {
    std::uint64_t number = 0;
    return Number(4, number) && Push(Kind::kInt, {}, static_cast<std::int32_t>(number));
  }
  // A number of any length; what is longer than 64 bits is no offset.
  bool PushLong() {
    std::uint64_t size = 0;
    std::uint64_t number = 0;
    std::string_view bytes;
    if (!Number(1, size)) return false;
    if (size > sizeof(number)) return Bytes(size, bytes) && PushOther();
    return Number(size, number) && Push(Kind::kInt, {}, static_cast<std::int64_t>(number));
  }
  template <int kValue>
  bool PushBool() {
    return Push(Kind::kBool, {}, kValue);
  }
  bool PushFloat() { return Skip<8>() && PushOther(); }

  bool Step(unsigned char code);

  std::string_view rest_;
  std::vector<Item> stack_;
  std::vector<Item> pool_;
  std::vector<Item> memo_;
  std::vector<StoredTensor> tensors_;
  bool stopped_ = false;
};

// What torch.save writes in protocols 2 to 5, the names those of pickletools.
constinit const PickleReader::Opcode PickleReader::kOpcodes[] = {
    {'q', &PickleReader::PutAt<1>},          // BINPUT
    {'h', &PickleReader::GetFrom<1>},        // BINGET
    {'r', &PickleReader::PutAt<4>},          // LONG_BINPUT
    {'j', &PickleReader::GetFrom<4>},        // LONG_BINGET
    {'K', &PickleReader::PushNumber<1>},     // BININT1
    {'X', &PickleReader::PushText<4>},       // BINUNICODE
    {'R', &PickleReader::Call},              // REDUCE
    {'(', &PickleReader::PushMark},          // MARK
    {'t', &PickleReader::TupleFromMark},     // TUPLE
    {'Q', &PickleReader::LoadPersistent},    // BINPERSID
    {')', &PickleReader::PushTuple<0>},      // EMPTY_TUPLE
    {0x85, &PickleReader::PushTuple<1>},     // TUPLE1
    {0x86, &PickleReader::PushTuple<2>},     // TUPLE2
    {0x87, &PickleReader::PushTuple<3>},     // TUPLE3
    {'M', &PickleReader::PushNumber<2>},     // BININT2
    {'J', &PickleReader::PushSigned},        // BININT
    {0x8a, &PickleReader::PushLong},         // LONG1
    {0x88, &PickleReader::PushBool<1>},      // NEWTRUE
    {0x89, &PickleReader::PushBool<0>},      // NEWFALSE
    {'N', &PickleReader::PushOther},         // NONE
    {'G', &PickleReader::PushFloat},         // BINFLOAT
    {'c', &PickleReader::PushGlobal},        // GLOBAL
    {0x93, &PickleReader::GlobalFromStack},  // STACK_GLOBAL
    {0x8c, &PickleReader::PushText<1>},      // SHORT_BINUNICODE
    {0x8d, &PickleReader::PushText<8>},      // BINUNICODE8
    {0x94, &PickleReader::PutNext},          // MEMOIZE
    {0x80, &PickleReader::Skip<1>},          // PROTO
    {0x95, &PickleReader::Skip<8>},          // FRAME
    {'}', &PickleReader::PushOther},         // EMPTY_DICT
    {']', &PickleReader::PushOther},         // EMPTY_LIST
    {'s', &PickleReader::SetOne},            // SETITEM
    {'u', &PickleReader::SetItems},          // SETITEMS
    {'a', &PickleReader::PopOne},            // APPEND
    {'e', &PickleReader::PopToMark},         // APPENDS
    {'b', &PickleReader::PopOne},            // BUILD
    {'0', &PickleReader::PopOne},            // POP
    {0x81, &PickleReader::Call},             // NEWOBJ
    {'.', &PickleReader::Stop},              // STOP
};

bool PickleReader::Step(unsigned char code) {
  for (const Opcode& opcode : kOpcodes) {
    if (opcode.code == code) return (this->*opcode.run)();
  }
  return false;
}

template <class T>
T LoadAt(std::string_view bytes, std::size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace

std::optional<std::vector<StoredTensor>> ReadStateDict(std::string_view beginning) {
  // The header of a zip's first entry (APPNOTE.TXT 4.3.7): method at 8, lengths at 26 and 28.
  constexpr std::size_t kHeader = 30;
  if (beginning.size() < kHeader || !beginning.starts_with("PK\x03\x04")) return std::nullopt;
  const auto method = LoadAt<std::uint16_t>(beginning, 8);
  const std::size_t name_size = LoadAt<std::uint16_t>(beginning, 26);
  const std::size_t extra_size = LoadAt<std::uint16_t>(beginning, 28);
  if (method != 0 || beginning.size() < kHeader + name_size + extra_size) return std::nullopt;
  if (!beginning.substr(kHeader, name_size).ends_with("data.pkl")) return std::nullopt;
  return PickleReader(beginning.substr(kHeader + name_size + extra_size)).Read();
}

}  // namespace steelyard::pt2
