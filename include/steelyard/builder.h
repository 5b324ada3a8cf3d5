// SPDX-License-Identifier: Apache-2.0
//
// Writing a program by hand, in PyTorch's vocabulary: for a model that is an idea, and for formats
// that hold no graph of PyTorch's operators.
//
//   Builder b("Classifier");
//   const Dim batch = b.Symbol({.name = "batch", .example = 8});
//   const Builder::Tensor weight = b.Parameter("fc.weight", DType::kFloat32, {10, 784});
//   const Builder::Tensor image = b.Input("image", DType::kFloat32, {batch, 1, 28, 28});
//   const Builder::Tensor flat = b.Call("aten::view", image, b.Sizes({batch, 784}));
//   b.Return(b.Call("aten::linear", flat, weight));
//   Result<Program> program = std::move(b).Build();
//
// Operators take their arguments in the order of their signatures (docs/ops.md) or by name. Nobody
// states the sizes of results: operators' rows find them when the program is weighed. Calls never
// fail; `Build` says what was wrong with the first that was.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steelyard/error.h"
#include "steelyard/program.h"

namespace steelyard {

// One call of a model that writes text: it takes a prompt or, where it has seen some tokens, goes
// on from what it keeps of them.
struct CacheStep {
  std::int64_t past = 0;      // tokens that it has seen; 0: none
  std::int64_t tokens = 1;    // tokens that it is given, of each sequence
  std::int64_t room = 0;      // tokens for which there is room from the start; 0: it grows
  bool after_prompt = false;  // what it has seen came in one call
  bool every = false;         // what follows each token is found, not only the last
  bool reorders = false;      // beams are chosen at its end, and take over what others keep
};

class Builder {
 public:
  // A tensor of the program. Default: none, which an optional argument may be.
  struct Tensor {
    ValueId id = kNoId;
    bool defined() const { return id != kNoId; }
  };

  // A size: a number or symbolic.
  struct Size : Dim {
    template <std::integral T>
    Size(T number) : Dim(static_cast<std::int64_t>(number)) {}
    Size(Dim dim) : Dim(dim) {}
  };
  using Shape = std::vector<Size>;

  // An argument of a call. A `Shape` is a list of integers: of sizes, dimensions or strides.
  class Arg {
   public:
    Arg(Tensor t) : argument_(t.defined() ? Argument::OfValue(t.id) : Argument::None()) {}
    Arg(std::nullopt_t) : argument_(Argument::None()) {}
    template <std::integral T>
    Arg(T number)
        : argument_(std::same_as<T, bool> ? Argument::OfBool(number)
                                          : Argument::OfInt(static_cast<std::int64_t>(number))) {}
    Arg(Dim number) : argument_(Argument::OfInt(number)) {}
    Arg(double number) : argument_(Argument::OfFloat(number)) {}
    Arg(DType dtype) : argument_(Argument::OfDType(dtype)) {}
    Arg(const char* text) : text_(text) {}
    Arg(std::string_view text) : text_(text) {}
    Arg(const Shape& sizes);
    Arg(const std::vector<Tensor>& tensors);
    Arg(const std::vector<bool>& flags);
    Arg(const std::vector<double>& numbers);

   private:
    friend class Builder;
    Argument argument_;
    std::optional<std::string_view> text_;
    std::optional<std::vector<Argument>> list_;
    std::string_view name_;
  };
  // An argument by its name in the signature.
  static Arg Named(std::string_view name, Arg value) {
    value.name_ = name;
    return value;
  }

  // `name` is the model's, as reports title it; `class_name` is of its outermost module.
  explicit Builder(std::string_view name, std::string_view class_name = {});

  // --- Sizes ------------------------------------------------------------------------------------
  struct SymbolSpec {
    std::string_view name;      // "batch"
    std::int64_t example = -1;  // what it is unless it is bound; -1: it must be
    std::int64_t min = 1;
    std::int64_t max = std::int64_t{1} << 31;
  };
  // A size that is bound when the program is weighed.
  Dim Symbol(const SymbolSpec& spec);
  Dim Sum(Size a, Size b) { return Compute(ExprOp::kAdd, a, b); }
  Dim Product(Size a, Size b) { return Compute(ExprOp::kMul, a, b); }
  Dim Quotient(Size a, Size b) { return Compute(ExprOp::kFloorDiv, a, b); }
  Dim Compute(ExprOp op, Size a, Size b = 0, Size c = 0) {
    return program_.expressions.Make(op, a, b, c);
  }
  // As an argument: { batch, -1, 64 } needs to be told from other lists.
  static Shape Sizes(std::initializer_list<Size> sizes) { return {sizes}; }

  // --- Modules ----------------------------------------------------------------------------------
  // As long as it lives, names are relative to the module and calls run in it. Scopes end in the
  // reverse order.
  class Scope {
   public:
    Scope(Scope&& other) noexcept : builder_(std::exchange(other.builder_, nullptr)) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (builder_ != nullptr) builder_->Leave();
    }

   private:
    friend class Builder;
    explicit Scope(Builder* builder) : builder_(builder) {}
    Builder* builder_;
  };
  // Calls the module `name` within the one that is entered: "layer.0" of "encoder".
  [[nodiscard]] Scope Enter(std::string_view name, std::string_view class_name);
  // The same in parts, for models that make their modules before they call them. `Declare` makes a
  // module within another (0: the model itself), `Enter` calls it, from anywhere and as often as
  // the model does, and `Within` only names what is declared in it.
  ModuleId Declare(ModuleId parent, std::string_view name, std::string_view class_name);
  [[nodiscard]] Scope Enter(ModuleId module);
  [[nodiscard]] Scope Within(ModuleId module);

  // --- Tensors ----------------------------------------------------------------------------------
  // A parameter, named within the module that is entered; in the order of module.parameters(),
  // which is the order in which optimizers take them. It is trained, unless it has no gradient:
  // then a step computes none for it, and optimizers leave it out.
  Tensor Parameter(std::string_view name, DType dtype, const Shape& sizes,
                   bool requires_grad = true);
  // Another name of a parameter: a tied weight.
  Tensor Tie(std::string_view name, Tensor parameter);
  Tensor Buffer(std::string_view name, DType dtype, const Shape& sizes, bool persistent = true);
  // What the caller passes, in order; a cache is an input of its own role.
  Tensor Input(std::string_view name, DType dtype, const Shape& sizes, Role role = Role::kInput);

  // --- Calls ------------------------------------------------------------------------------------
  // The result of an operator that has one.
  template <class... Args>
  Tensor Call(std::string_view op, const Args&... args) {
    return CallMany(op, 1, args...)[0];
  }
  // The first `results` results of an operator.
  template <class... Args>
  std::vector<Tensor> CallMany(std::string_view op, std::size_t results, const Args&... args) {
    const Arg list[] = {Arg(args)..., Arg(std::nullopt)};
    return Invoke(op, results, {list, sizeof...(args)});
  }
  // The same with arguments that are only known at run time.
  std::vector<Tensor> Invoke(std::string_view op, std::size_t results, std::span<const Arg> args);
  // A body of calls, as an operand of an operator that runs it: `body` is given `inputs` tensors
  // and gives what the graph returns. It may use no tensor from outside, unless `Capture` is told.
  Arg Graph(std::size_t inputs,
            const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& body);
  // Lets bodies that an operator chooses from use tensors from outside: those become operands of
  // all of them, after the ones that they have, and are what the operator is to be given.
  std::vector<Tensor> Capture(std::span<const Arg> graphs);
  // States what a result is, where nothing else can: of an operator without a row, or whose sizes
  // the data decide. A row that finds other sizes is not believed, and the report says so.
  void State(Tensor result, DType dtype, const Shape& sizes);
  // Names a result as reports show it; a number is added where the name stands already.
  void Name(Tensor result, std::string_view name);
  // What the caller receives, in order.
  void Return(Tensor tensor);
  // The same of a cache, which stays when the program has ended, and what a layer keeps in it.
  void Keep(Tensor tensor);
  void DescribeCache(const CacheLayer& layer) { program_.cache_layers.push_back(layer); }

  // --- Taking back ------------------------------------------------------------------------------
  // Where the program ends now. What is called after it can be taken back, so that a writer may
  // try; results of calls that were taken back are not to be used.
  struct Place {
    std::size_t calls = 0, graphs = 0;
  };
  Place Here() const { return {program_.graphs[graph_].nodes.size(), program_.graphs.size()}; }
  // What the next tensor's id is at least.
  ValueId NextValue() const { return static_cast<ValueId>(program_.values.size()); }
  void TakeBack(const Place& to) {
    program_.graphs.resize(to.graphs);
    program_.graphs[graph_].nodes.resize(to.calls);
  }

  // Something the report is to say, a line.
  void Note(std::string_view line) { program_.notes.push_back(program_.strings.Intern(line)); }
  // Who wrote the model: "pytorch 2.15".
  void Producer(std::string_view text) { program_.producer = program_.strings.Intern(text); }

  // The program. The error says what a call was given that is not of this builder, or which name
  // stands twice. Nothing can be built after it.
  Result<Program> Build() &&;

 private:
  struct Entered {
    ModuleId module;
    CallId call;
  };
  void Leave() { entered_.pop_back(); }
  std::string PathIn(ModuleId module, std::string_view name) const;
  std::string PathOf(std::string_view name) const { return PathIn(entered_.back().module, name); }
  Argument Stored(const Arg& arg);
  bool Check(const Shape& sizes, std::string_view place);
  Tensor AddNamed(std::string_view name, DType dtype, const Shape& sizes, Role role);
  StringId FreshName(std::string_view stem);
  Tensor AddUnsized(std::string_view stem);
  void Refuse(std::string message, std::string_view place);
  bool Owns(ValueId value, std::string_view place);
  void EachOperand(GraphId graph, const std::function<void(Argument*)>& visit);

  Program program_;
  GraphId graph_ = 0;  // that calls are added to
  std::vector<Entered> entered_;
  // By StringId, as far as it was needed: the module of a path, and how many values have a stem.
  std::vector<ModuleId> modules_;
  std::vector<std::uint32_t> named_;
  std::optional<Error> error_;
};

}  // namespace steelyard
