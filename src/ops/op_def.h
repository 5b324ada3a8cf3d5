// SPDX-License-Identifier: Apache-2.0
//
// The operator table: all that Steelyard knows of an operator is one row, an OpDef, in the file of
// its family under src/ops. Passes, runtimes and analyses read rows; none of them knows a name.
//
//   const OpDef* def = FindOp("aten::addmm");
//   Work work = (*def->work)(OpView(program, *def, program.args(node), program.results(node)));
//
// Each column is `Stated`: a row that leaves one out does not compile. The three at the end may be
// left out. A row is either a kernel,
// with rules of its own, or a composite, whose `decompose` calls other operators as PyTorch does.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/fusion.h"
#include "ops/gradient.h"
#include "ops/precision.h"
#include "ops/signature.h"
#include "steelyard/op.h"
#include "steelyard/program.h"

namespace steelyard {

class Contents;
class KnownContents;
struct OpDef;

// A column of a row. It has no default constructor, so it cannot be forgotten.
template <class T>
class Stated {
 public:
  template <std::convertible_to<T> U>
  constexpr Stated(U value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  // Names and schemas: read by the compiler, hence from a literal only.
  consteval Stated(const char* literal)  // NOLINT(google-explicit-constructor)
    requires std::constructible_from<T, const char*>
      : value_(literal) {}
  constexpr const T& operator*() const { return value_; }
  constexpr const T* operator->() const { return &value_; }

 private:
  T value_;
};

enum class Family : std::uint8_t {
  kContraction,
  kConvolution,
  kAttention,
  kNormalization,
  kElementwise,
  kReduction,
  kPooling,
  kIndexing,
  kView,
  kDataMovement,
  kFactory,
  kRandom,
  kLoss,
  kOptimizer,
  kSelection,    // sorting, ranking, counting and searching
  kTransform,    // Fourier transforms
  kControl,      // higher-order operators: they run graphs
  kBookkeeping,  // asserts and metadata: no arithmetic, no memory
};
std::string_view NameOf(Family family);

std::string_view NameOf(CastRule rule);

// What becomes of the first argument.
enum class Alias : std::uint8_t {
  kNone,     // outputs are fresh
  kView,     // every output is a view of the first argument
  kInPlace,  // the first argument is overwritten and returned
};

// A non-negative count that remembers when it did not fit in an int64.
class Count {
 public:
  constexpr Count(std::int64_t value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor)
  constexpr bool overflowed() const { return value_ < 0; }
  constexpr std::int64_t value() const { return value_; }  // -1 when it overflowed
  friend constexpr Count operator*(Count a, Count b) {
    std::int64_t out = 0;
    if (a.overflowed() || b.overflowed() || __builtin_mul_overflow(a.value_, b.value_, &out))
      return Count(-1);
    return Count(out);
  }
  friend constexpr Count operator+(Count a, Count b) {
    std::int64_t out = 0;
    if (a.overflowed() || b.overflowed() || __builtin_add_overflow(a.value_, b.value_, &out))
      return Count(-1);
    return Count(out);
  }
  Count& operator+=(Count other) { return *this = *this + other; }
  friend constexpr bool operator==(Count, Count) = default;

 private:
  std::int64_t value_;
};

// Arithmetic an operator does, by kind and not by any tool's way of counting it (analyze/counting
// weighs the kinds): multiply-adds of contractions; other additions, multiplications and the like;
// special functions (exp, tanh, rsqrt); comparisons and selections; elements merely moved.
struct Work {
  Count mac{}, alu{}, special{}, compare{}, move{};
  Count masked{};  // of the multiply-adds, those at positions that a mask is known to hide
};

// Bytes that must be read and written once each.
struct Traffic {
  Count read{}, written{};
};

// One tensor as a rule sees it. Sizes and strides in elements.
class TensorView {
 public:
  TensorView(const Program& program, ValueId id) : program_(&program), id_(id) {}
  bool defined() const { return id_ != kNoId; }
  ValueId id() const { return id_; }
  const Value& value() const { return program_->values[id_]; }
  DType dtype() const { return value().dtype; }
  int rank() const { return value().rank; }
  std::span<const std::int64_t> sizes() const { return program_->sizes(id_); }
  std::span<const std::int64_t> strides() const { return program_->strides(id_); }
  // Size or stride of a dimension; negative ones count from the end; refused if there is none.
  std::int64_t size(int dim) const { return sizes()[At(dim)]; }
  std::int64_t stride(int dim) const { return strides()[At(dim)]; }
  std::int64_t count() const;          // elements
  std::int64_t bytes() const;          // of the elements: count x width, rounded up to bytes
  std::int64_t storage_bytes() const;  // of a storage that this layout needs
  bool is_contiguous() const;

 private:
  std::size_t At(int dim) const;
  const Program* program_;
  ValueId id_;
};

// A call: arguments in the order of the signature, defaults filled in, and, once the shape rule
// has run, its outputs. Cheap to copy; valid while its program is.
class OpView {
 public:
  OpView(const Program& program, const OpDef& def, std::span<const Argument> args,
         std::span<const ValueId> outputs, const Target& target = kDefaultTarget,
         const KnownContents* known = nullptr)
      : program_(&program),
        def_(&def),
        args_(args),
        outputs_(outputs),
        target_(&target),
        known_(known) {}

  const OpDef& def() const { return *def_; }
  const Program& program() const { return *program_; }
  const Target& target() const { return *target_; }
  // What is known of elements when it runs; nullptr where nobody has looked.
  const KnownContents* known() const { return known_; }
  int arg_count() const { return static_cast<int>(args_.size()); }
  const Argument& arg(int i) const { return args_[static_cast<std::size_t>(i)]; }
  // False where the argument is None or left out.
  bool given(int i) const { return i < arg_count() && arg(i).kind != ArgKind::kNone; }

  // The i-th argument as a tensor (undefined where it is None), or tensors of a list.
  TensorView tensor(int i) const;
  TensorView self() const { return tensor(0); }
  std::vector<TensorView> tensors(int i) const;
  // As a number; `missing` where it is None. A bool reads as 0 or 1, a float rounds down; a complex
  // number that is not real reads as NaN, which equals no other.
  std::int64_t integer(int i, std::int64_t missing = 0) const;
  double real(int i, double missing = 0.0) const;
  bool boolean(int i, bool missing = false) const;
  // As a list of integers (a single number is a list of one); empty where it is None.
  Dims ints(int i) const;  // at most Dims::kMaxRank: sizes, strides, dimensions
  std::vector<std::int64_t> integers(int i) const;
  std::vector<double> reals(int i) const;  // of a list
  // A dimension, wrapped into [0, rank).
  int dim(int i, int rank) const;
  std::optional<DType> dtype(int i) const;
  std::string_view text(int i) const;
  GraphId graph(int i) const;

  int output_count() const { return static_cast<int>(outputs_.size()); }
  TensorView output(int i = 0) const { return {*program_, outputs_[static_cast<std::size_t>(i)]}; }

  static const Target kDefaultTarget;

 private:
  template <class Add>
  void EachInteger(int i, const Add& add) const;
  const Program* program_;
  const OpDef* def_;
  std::span<const Argument> args_;
  std::span<const ValueId> outputs_;
  const Target* target_;
  const KnownContents* known_;
};

// A rule refuses its operands by throwing this; it never leaves the library. The dispatcher then
// takes the result's sizes from the file, as it does without a row. Where the file has none, or the
// operands contradict each other or any machine's limits, which no program that ran can have done,
// it makes an Error that names the node and the operands' shapes.
struct RuleError {
  std::string message;
  std::string hint;
  bool contradiction = false;
};
[[noreturn]] void Refuse(std::string message, std::string hint = {});
[[noreturn]] void Contradict(std::string message, std::string hint = {});

// A size of the i-th of a node's results, as far as its program says it.
std::optional<std::int64_t> RecordedSize(const Program* file, std::span<const ValueId> results,
                                         int i, int dim);

// Where a shape rule puts the outputs, in order.
class Outputs {
 public:
  struct Meta {
    DType dtype = DType::kFloat32;
    Dims sizes, strides;
    bool wrapped_number = false;
    bool none = false;
    bool conjugates = false;  // what the first argument stands for, lazily
    bool negates = false;
    std::int64_t from = 0;      // of a view: its first element, counted from the first argument's
    bool from_storage = false;  // counted from the beginning of the storage instead
  };
  void Add(DType dtype, std::span<const std::int64_t> sizes);  // contiguous
  void Add(DType dtype, std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);
  void AddLike(const TensorView& other);                 // dtype, sizes and strides of `other`
  void AddWrappedNumber(DType dtype);                    // a Python number as a 0-dim tensor
  void AddNone();                                        // a result that is not computed
  void Conjugate() { metas_.back().conjugates = true; }  // the last one, as a view does
  void Negate() { metas_.back().negates = true; }
  // Where the last one begins: `steps` strides behind the first element of what it is a view of.
  void BeginAfter(std::int64_t steps, std::int64_t stride);
  void BeginInStorage(std::int64_t element);
  std::span<const Meta> metas() const { return metas_; }
  void Clear();

  // Dimension `dim` of result `i` where only the data tells its size: what the file or the user
  // says, else the most that it may be, which the report then says. Refused without either.
  std::int64_t FromData(int i, int dim, std::optional<std::int64_t> most);
  // What `FromData` reads: results as `file` has them, or the one size that is known.
  void Expect(const Program& file, std::span<const ValueId> results,
              std::optional<std::int64_t> size);
  void Assume() { assumed_ = true; }  // some size inside is the most that it may be
  bool assumed() const { return assumed_; }

 private:
  std::vector<Meta> metas_;
  const Program* file_ = nullptr;
  std::span<const ValueId> recorded_;
  std::optional<std::int64_t> size_;
  bool assumed_ = false;
};

// What a kernel allocates and frees while it runs, in order. Labels are the names PyTorch's
// profiler gives the event (the innermost operator, "aten::empty"); none: the kernel's own.
class Allocations {
 public:
  using Scratch = std::uint32_t;
  // The label of the operator (or of the program, "") that calls this one.
  static constexpr std::string_view kCaller = "^";
  virtual ~Allocations() = default;
  // The storage of output i. Each fresh output exactly once; a view needs none.
  virtual void Output(int i, std::string_view label = {}) = 0;
  // A buffer of the kernel's own; no event when it is empty. Free it in the order PyTorch does.
  virtual Scratch Allocate(std::int64_t bytes, std::string_view label = {}) = 0;
  virtual void Free(Scratch scratch, std::string_view label = {}) = 0;
  // What a library keeps for all its calls in one thread: taken at the first of them, and never
  // given back.
  enum class Kept : std::uint8_t { kBlas, kBlasLt };
  static constexpr std::size_t kKeptCount = 2;
  virtual void Keep(Kept /*what*/, std::int64_t /*bytes*/) {}
  // What is allocated from here on, by this kernel and those after it, is of that stream of the
  // device: 0 is the one that computes.
  virtual void UseStream(std::uint8_t /*stream*/) {}
  // The allocator gives back what it keeps free.
  virtual void EmptyCache() {}
  // The storage of the tensor that is argument i loses its memory, and gets it back: resize_ of an
  // UntypedStorage. Tensors on it stay.
  virtual void ReleaseStorage(int /*i*/, std::string_view /*label*/) {}
  virtual void RenewStorage(int /*i*/, std::string_view /*label*/) {}
  // Or the storage, which has none, gets so much: set_data of a tensor.
  virtual void GiveMemory(int /*i*/, std::int64_t /*bytes*/, std::string_view /*label*/) {}
};

using ShapeFn = void (*)(const OpView& op, Outputs& out);
using DecomposeFn = std::vector<Tensor> (*)(Dispatcher& d, const OpView& op);
using AllocationsFn = void (*)(const OpView& op, Allocations& memory);
using WorkFn = Work (*)(const OpView& op);
using TrafficFn = Traffic (*)(const OpView& op);
// Of the elements of the first result. Requires: `op.known()`.
using ContentsFn = Contents (*)(const OpView& op);

// Composites take these columns from the operators they call.
inline constexpr DecomposeFn kIsKernel = nullptr;
inline constexpr ShapeFn kShapeFromParts = nullptr;

// What PyTorch's overload does that is given a tensor for the result ("aten::add.out").
enum class OutOverload : std::uint8_t {
  kWrites,  // the kernel writes into that tensor
  kCopies,  // torchgen writes it (native_functions.yaml, `autogen`): it computes apart, and copies
};

// The bits of a view that stand for a function not yet computed, as far as an operator computes
// with them; before all others they are resolved.
enum class MathBits : std::uint8_t { kNone, kConjugate, kNegative, kBoth };

// What a kernel allocates on each device. A row that says nothing of CUDA has no scratch there: its
// outputs in order, and nothing else.
struct DeviceAllocations {
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr DeviceAllocations(AllocationsFn on_cpu, AllocationsFn on_cuda = nullptr)
      : cpu(on_cpu), cuda(on_cuda) {}
  AllocationsFn cpu;
  AllocationsFn cuda;
};
inline constexpr DeviceAllocations kAllocationsFromParts{nullptr};
inline constexpr WorkFn kWorkFromParts = nullptr;
inline constexpr TrafficFn kTrafficFromParts = nullptr;

struct OpDef {
  Stated<OpName> name;  // "aten::softmax.int": namespace, name, overload if not default
  Stated<std::string_view> summary;  // one sentence
  Stated<Signature> signature;       // PyTorch's schema, checked against the installed PyTorch
  Stated<std::string_view> example;  // a call for tests and docs: "aten::t(f32[2,8])"
  Stated<Family> family;
  Stated<ShapeFn> shape;  // sizes, strides and dtypes of the outputs
  Stated<Alias> alias;
  Stated<Fusion> fusion;
  Stated<DecomposeFn> decompose;          // kIsKernel, or what a composite dispatches to
  Stated<DeviceAllocations> allocations;  // of a kernel, in order
  Stated<WorkFn> work;
  Stated<TrafficFn> traffic;
  Stated<Gradient> grad;        // how autograd differentiates it, and what it saves
  Stated<Precision> precision;  // what autocast does with its operands
  // The columns that may be left out. What is known of its result before it runs, where that tells
  // what masks hide: nothing known is never wrong. The others are as with nearly all operators, and
  // every row's are compared with PyTorch's.
  ContentsFn contents = nullptr;
  OutOverload out_overload = OutOverload::kWrites;
  MathBits math_bits = MathBits::kNone;
  bool only_within = false;  // a step that computes nothing apart from the operator around it

  bool is_kernel() const { return *decompose == nullptr; }
  // What it allocates where `op` runs: nothing for results in the host's memory. Requires: it is a
  // kernel.
  void Allocate(const OpView& op, Allocations& memory) const;
  // Whether it overwrites its first argument, itself or in its parts: "(Tensor(a!) self, ...".
  bool overwrites() const { return !signature->params().empty() && signature->params()[0].written; }
  // The name without overload, as PyTorch's profiler prints it: "aten::softmax".
  std::string_view label() const;
};

// A row with which autocast does something else than with most of its family.
constexpr OpDef Casting(Precision precision, OpDef row) {
  row.precision = precision;
  return row;
}

// A row of which something is known before it runs.
constexpr OpDef Knowing(ContentsFn contents, OpDef row) {
  row.contents = contents;
  return row;
}

// A row whose overload for a given tensor copies its result there.
constexpr OpDef CopyingOut(OpDef row) {
  row.out_overload = OutOverload::kCopies;
  return row;
}

// A row that computes with bits of views.
constexpr OpDef TakingBits(MathBits bits, OpDef row) {
  row.math_bits = bits;
  return row;
}

// A row of a step whose operands do not say all that it computes: the operator around it does.
constexpr OpDef OnlyWithin(OpDef row) {
  row.only_within = true;
  return row;
}

// The row of an operator, or nullptr. Constant time; thread-safe.
const OpDef* FindOp(OpName name);
// All rows, in the order of the families.
std::vector<const OpDef*> AllOps();

}  // namespace steelyard
