// SPDX-License-Identifier: Apache-2.0
//
// What the ids in a program stand for: names, element types, sizes, and symbolic sizes. Each occurs
// thousands of times in a model and is stored once, in a table that only grows.
//
//   StringTable strings;
//   StringId name = strings.Intern("encoder.layer.0");  // strings.view(name) == "encoder.layer.0"
//   DimPool dims;
//   std::uint32_t at = dims.Allocate(2);                // dims.span(at, 2)[0] = 128;
//   ExpressionTable sizes;
//   Dim twice = sizes.Make(ExprOp::kMul, Dim(2), sizes.MakeSymbol(0));
//
// Ids of one table mean nothing to another. Sizes and strides count elements, not bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace steelyard {

using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0;  // the empty string

// A copy shares what is there and costs nothing; what either adds later is its own.
class StringTable {
 public:
  StringTable();

  // The id of `text`, the same for equal texts. The bytes are copied.
  StringId Intern(std::string_view text);
  // The id of `text` if it was interned, kNoString otherwise.
  StringId Find(std::string_view text) const;
  std::string_view view(StringId id) const {
    const Layer* layer = top_.get();
    while (id < layer->first) layer = layer->below.get();
    const Span& s = layer->spans[id - layer->first];
    return {layer->bytes.data() + s.begin, s.size};
  }
  std::size_t size() const { return top_->first + top_->spans.size(); }

 private:
  struct Span {
    std::uint32_t begin;
    std::uint32_t size;
  };
  // Of the hash table, so that a look at another text's slot stays there.
  struct Slot {
    std::uint32_t hash = 0;
    StringId id = kNoString;  // free
  };
  // The strings from `first` on; those before it are in the layers below, which nobody changes.
  struct Layer {
    std::shared_ptr<const Layer> below;
    StringId first = 0;
    std::uint32_t depth = 0;
    std::vector<char> bytes;
    std::vector<Span> spans;
    std::vector<Slot> slots;  // open addressing, a power of two

    const Slot& SlotOf(std::string_view text, std::uint32_t hash) const;
    void Grow();
    StringId Add(std::string_view text, std::uint32_t hash);
  };
  StringId Find(std::string_view text, std::uint32_t hash) const;
  void Own();

  std::shared_ptr<Layer> top_;
};

struct SourceLine {
  StringId file = kNoString;
  std::uint32_t line = 0;
  StringId function = kNoString;
  StringId code = kNoString;
};

// The type of a tensor's elements: all of PyTorch's, and those that files of weights pack. The rows
// of src/support/dtype.cc give what follows of each.
enum class DType : std::uint8_t {
  kBool,
  kInt4,
  kUInt4,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kFloat4E2M1,
  kFloat6E2M3,
  kFloat6E3M2,
  kFloat8E4M3,
  kFloat8E5M2,
  kFloat8E4M3FNUZ,
  kFloat8E5M2FNUZ,
  kFloat8E8M0,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex32,
  kComplex64,
  kComplex128,
};

// Width of one element in bits: 4 for the packed integers, 8 for bool. What is below 8 is packed.
int BitsOf(DType dtype);
// PyTorch's name: "float32", "bfloat16", "int64", "float8_e4m3fn".
std::string_view NameOf(DType dtype);
std::optional<DType> DTypeNamed(std::string_view name);
// Short name of the text form: "f32", "bf16", "i64", "f8e4m3".
std::string_view ShortNameOf(DType dtype);
std::optional<DType> DTypeShortNamed(std::string_view name);
bool IsFloating(DType dtype);  // float4 to float64
bool IsComplex(DType dtype);
bool IsIntegral(DType dtype);  // without bool

// How a tensor is stored where that is no array of its dtype: quantised numbers with their scales.
struct Packing {
  StringId name = kNoString;  // "q4_k", "gptq_int4_g128"
  std::int64_t bytes = 0;     // all that the tensor takes, scales and zero points included
};

// A number, or the index of an expression. Numbers below -2^62 are taken by expressions.
class Dim {
 public:
  constexpr explicit Dim(std::int64_t value) : raw_(value) {}
  static constexpr Dim Expression(std::uint32_t index) { return Dim(kFirst + index); }
  static constexpr Dim Unknown() { return Dim(kUnknown); }
  static constexpr Dim FromRaw(std::int64_t raw) { return Dim(raw); }

  constexpr bool is_number() const { return raw_ >= kLeast; }
  constexpr bool is_unknown() const { return raw_ == kUnknown; }
  constexpr bool is_expression() const { return raw_ < kLeast && raw_ != kUnknown; }
  constexpr std::int64_t number() const { return raw_; }
  constexpr std::uint32_t expression() const { return static_cast<std::uint32_t>(raw_ - kFirst); }
  constexpr std::int64_t raw() const { return raw_; }
  friend constexpr bool operator==(Dim, Dim) = default;

 private:
  static constexpr std::int64_t kUnknown = INT64_MIN;
  static constexpr std::int64_t kFirst = INT64_MIN + 1;
  static constexpr std::int64_t kLeast = -(std::int64_t{1} << 62);
  std::int64_t raw_;
};

// Sizes or strides under construction, of one tensor: at most kMaxRank, no heap. A list or a span
// makes one; it converts to the span that every function of layouts takes.
class Dims {
 public:
  static constexpr int kMaxRank = 64;  // PyTorch's own limit
  using value_type = std::int64_t;
  using const_iterator = const std::int64_t*;

  Dims() : count_(0) {}
  Dims(std::initializer_list<std::int64_t> list) : Dims(std::span(list.begin(), list.size())) {}
  explicit Dims(std::span<const std::int64_t> list) : count_(0) {
    for (std::int64_t v : list) push_back(v);
  }
  Dims(const Dims& other) : Dims(std::span<const std::int64_t>(other)) {}
  Dims& operator=(const Dims& other) {
    count_ = 0;
    for (std::int64_t v : std::span<const std::int64_t>(other)) push_back(v);
    return *this;
  }
  static Dims Filled(int count, std::int64_t value);

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  // Ignored beyond kMaxRank: callers check ranks before they build.
  void push_back(std::int64_t value) {
    if (count_ < kMaxRank) values_[static_cast<std::size_t>(count_++)] = value;
  }
  // Requires: 0 <= at <= size(), and at < size() for what is erased.
  void insert(int at, std::int64_t value);
  void erase(int at);
  // A contiguous range, and so converts to std::span<const std::int64_t>.
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + count_; }

 private:
  std::array<std::int64_t, kMaxRank> values_;
  int count_;
};

// Storage of all sizes and strides of a program. A tensor's stand in one piece, at an offset that
// `Value::dims` keeps. Spans stay valid while the pool grows; a copy of the pool has its own.
class DimPool {
 public:
  DimPool() = default;
  DimPool(const DimPool& other);
  DimPool& operator=(const DimPool& other);
  DimPool(DimPool&&) = default;
  DimPool& operator=(DimPool&&) = default;

  // Room for `count` numbers (at most 2 * Dims::kMaxRank): its offset.
  // They hold nothing sensible until they are written.
  std::uint32_t Allocate(std::uint32_t count);
  // Whether `count` numbers from `offset` on are within what was allocated, in one piece.
  bool Contains(std::uint32_t offset, std::uint32_t count) const {
    return count == 0 ||
           (offset < used_ && count <= used_ - offset && offset % kChunk + count <= kChunk);
  }
  std::span<std::int64_t> span(std::uint32_t offset, std::uint32_t count) {
    return {chunks_.empty() ? nullptr : &chunks_[offset / kChunk][offset % kChunk], count};
  }
  std::span<const std::int64_t> span(std::uint32_t offset, std::uint32_t count) const {
    return {chunks_.empty() ? nullptr : &chunks_[offset / kChunk][offset % kChunk], count};
  }

 private:
  static constexpr std::uint32_t kChunk = 8192;
  std::vector<std::unique_ptr<std::int64_t[]>> chunks_;
  std::uint32_t used_ = 0;
};

// A symbolic size of the file: its admissible range and the value it had when it was exported.
struct Symbol {
  StringId name = kNoString;
  std::int64_t min = 0;
  std::int64_t max = std::int64_t{1} << 62;
  std::int64_t example = -1;  // -1: the file gives none
};

// An operation on sizes. Relations give 0 or 1. Division and modulo round down, as Python's do.
enum class ExprOp : std::uint8_t {
  kConstant,  // value
  kSymbol,    // value: index into Program::symbols
  kAdd,
  kMul,
  kFloorDiv,
  kTrueDiv,  // exact where the file says so; rounds down otherwise
  kCeilDiv,
  kMod,
  kMin,
  kMax,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kNot,
  kSelect,  // a ? b : c
};

struct Expression {
  ExprOp op = ExprOp::kConstant;
  Dim a = Dim(0);  // operands: numbers or earlier expressions
  Dim b = Dim(0);
  Dim c = Dim(0);
  std::int64_t value = 0;
};

// Expressions in order of construction: operands come before their users.
class ExpressionTable {
 public:
  // The expression, folded to a number where its operands are numbers.
  Dim Make(ExprOp op, Dim a, Dim b = Dim(0), Dim c = Dim(0));
  Dim MakeSymbol(std::uint32_t symbol);
  const Expression& at(Dim d) const { return table_[d.expression()]; }
  std::size_t size() const { return table_.size(); }

  // Values of all expressions under `symbols` (by symbol index; nullopt: unbound). An entry is
  // nullopt where a symbol is unbound, a division is by zero or the result does not fit.
  std::vector<std::optional<std::int64_t>> Evaluate(
      std::span<const std::optional<std::int64_t>> symbols) const;

 private:
  std::vector<Expression> table_;
};

// One operation on numbers; nullopt on overflow or division by zero.
std::optional<std::int64_t> Apply(ExprOp op, std::int64_t a, std::int64_t b, std::int64_t c);

// Bytes of the storage that a fresh tensor of this layout needs: up to its last element, nothing
// when it is empty. Sub-byte dtypes round up. Requires: no overflow (see `CheckLayout`).
std::int64_t StorageBytes(DType dtype, std::span<const std::int64_t> sizes,
                          std::span<const std::int64_t> strides);

// False when a size or stride is negative or the byte count does not fit in an int64.
bool CheckLayout(DType dtype, std::span<const std::int64_t> sizes,
                 std::span<const std::int64_t> strides);

}  // namespace steelyard
