// SPDX-License-Identifier: Apache-2.0
//
// Python's values become arguments as the builder has them: None, bool, int, float, str, DType, a
// tensor, a symbolic size, or a list of one kind.
#include "steelyard/builder.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

using Size = std::variant<std::int64_t, Dim>;
using Sizes = std::vector<Size>;

Builder::Size SizeOf(const Size& size) {
  return std::visit([](const auto& value) { return Builder::Size(value); }, size);
}

Builder::Shape ShapeOf(const Sizes& sizes) {
  Builder::Shape shape;
  for (const Size& size : sizes) shape.push_back(SizeOf(size));
  return shape;
}

// Whether all elements are of one kind; an empty list is of integers, which any list may be made
// of.
bool AllAre(const nb::list& list, bool (*wanted)(nb::handle)) {
  for (const nb::handle element : list) {
    if (!wanted(element)) return false;
  }
  return nb::len(list) > 0;
}

std::vector<Builder::Tensor> TensorsOf(const nb::list& list) {
  std::vector<Builder::Tensor> tensors;
  for (const nb::handle element : list) {
    tensors.push_back(element.is_none() ? Builder::Tensor{} : nb::cast<Builder::Tensor>(element));
  }
  return tensors;
}

Builder::Arg ListOf(const nb::list& list) {
  if (AllAre(list,
             [](nb::handle e) { return e.is_none() || nb::isinstance<Builder::Tensor>(e); })) {
    return TensorsOf(list);
  }
  if (AllAre(list, [](nb::handle e) { return PyBool_Check(e.ptr()) != 0; })) {
    return nb::cast<std::vector<bool>>(list);
  }
  if (AllAre(list, [](nb::handle e) { return PyFloat_Check(e.ptr()) != 0; })) {
    return nb::cast<std::vector<double>>(list);
  }
  return ShapeOf(nb::cast<Sizes>(list));
}

// `texts` holds what arguments only point to.
Builder::Arg ArgOf(nb::handle value, std::deque<std::string>* texts) {
  if (value.is_none()) return std::nullopt;
  if (PyBool_Check(value.ptr()) != 0) return nb::cast<bool>(value);
  if (PyLong_Check(value.ptr()) != 0) return nb::cast<std::int64_t>(value);
  if (PyFloat_Check(value.ptr()) != 0) return nb::cast<double>(value);
  if (nb::isinstance<Builder::Tensor>(value)) return nb::cast<Builder::Tensor>(value);
  if (nb::isinstance<Dim>(value)) return nb::cast<Dim>(value);
  if (nb::isinstance<DType>(value)) return nb::cast<DType>(value);
  if (nb::isinstance<nb::str>(value)) {
    return std::string_view(texts->emplace_back(nb::cast<std::string>(value)));
  }
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value))
    return ListOf(nb::list(value));
  throw nb::type_error(
      "an argument is None, a number, a text, a DType, a tensor or size of the builder, or a list");
}

std::vector<Builder::Tensor> Invoke(Builder& builder, const std::string& op, const nb::args& args,
                                    std::size_t results, const nb::kwargs& named) {
  std::deque<std::string> texts;
  std::vector<Builder::Arg> list;
  for (const nb::handle value : args) list.push_back(ArgOf(value, &texts));
  for (const auto& [name, value] : named) {
    const std::string& stored = texts.emplace_back(nb::cast<std::string>(name));
    list.push_back(Builder::Named(stored, ArgOf(value, &texts)));
  }
  return builder.Invoke(op, results, list);
}

// A scope as a context manager, which begins where it is made and ends with its block.
class Entered {
 public:
  explicit Entered(Builder::Scope scope)
      : scope_(std::make_unique<Builder::Scope>(std::move(scope))) {}
  void Leave() { scope_.reset(); }

 private:
  std::unique_ptr<Builder::Scope> scope_;
};

void BindCalls(nb::class_<Builder>& builder) {
  builder
      .def(
          "call",
          [](Builder& self, const std::string& op, const nb::args& args, const nb::kwargs& named) {
            return Invoke(self, op, args, 1, named).front();
          },
          nb::sig("def call(self, op: str, *args: object, **named: object) -> Tensor"),
          "The result of an operator that has one.")
      .def(
          "call_many",
          [](Builder& self, const std::string& op, std::size_t results, const nb::args& args,
             const nb::kwargs& named) { return Invoke(self, op, args, results, named); },
          nb::sig("def call_many(self, op: str, results: int, *args: object, **named: object)"
                  " -> list[Tensor]"),
          "The first results of an operator.")
      .def("returns", &Builder::Return, nb::arg("tensor"), "What the caller receives, in order.")
      .def(
          "build", [](Builder& self) { return Unwrap(std::move(self).Build()); },
          "The program. Nothing can be built after it.");
}

void BindTensors(nb::class_<Builder>& builder) {
  builder
      .def(
          "parameter",
          [](Builder& self, std::string_view name, DType dtype, const Sizes& sizes,
             bool requires_grad) {
            return self.Parameter(name, dtype, ShapeOf(sizes), requires_grad);
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("sizes"), nb::kw_only(),
          nb::arg("requires_grad") = true, "A parameter, trained unless it has no gradient.")
      .def("tie", &Builder::Tie, nb::arg("name"), nb::arg("parameter"),
           "Another name of a parameter: a tied weight.")
      .def(
          "buffer",
          [](Builder& self, std::string_view name, DType dtype, const Sizes& sizes,
             bool persistent) { return self.Buffer(name, dtype, ShapeOf(sizes), persistent); },
          nb::arg("name"), nb::arg("dtype"), nb::arg("sizes"), nb::kw_only(),
          nb::arg("persistent") = true)
      .def(
          "input",
          [](Builder& self, std::string_view name, DType dtype, const Sizes& sizes) {
            return self.Input(name, dtype, ShapeOf(sizes));
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("sizes"), "What the caller passes, in order.");
}

void BindSizes(nb::class_<Builder>& builder) {
  builder
      .def(
          "symbol",
          [](Builder& self, std::string_view name, std::int64_t example, std::int64_t min,
             std::int64_t max) {
            return self.Symbol({.name = name, .example = example, .min = min, .max = max});
          },
          nb::arg("name"), nb::arg("example") = Builder::SymbolSpec{}.example,
          nb::arg("min") = Builder::SymbolSpec{}.min, nb::arg("max") = Builder::SymbolSpec{}.max,
          "A size that is bound when the program is weighed.")
      .def(
          "sum",
          [](Builder& self, const Size& a, const Size& b) {
            return self.Sum(SizeOf(a), SizeOf(b));
          },
          nb::arg("a"), nb::arg("b"))
      .def(
          "product",
          [](Builder& self, const Size& a, const Size& b) {
            return self.Product(SizeOf(a), SizeOf(b));
          },
          nb::arg("a"), nb::arg("b"))
      .def(
          "quotient",
          [](Builder& self, const Size& a, const Size& b) {
            return self.Quotient(SizeOf(a), SizeOf(b));
          },
          nb::arg("a"), nb::arg("b"));
}

}  // namespace

void BindBuilder(nb::module_& module) {
  nb::class_<Builder::Tensor>(module, "Tensor", "A tensor of a program that is built.");
  nb::class_<Entered>(module, "Scope", "A module that calls run in, until its block ends.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__", [](Entered& self, nb::handle, nb::handle, nb::handle) { self.Leave(); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none());
  nb::class_<Builder> builder(module, "Builder",
                              "Writes a program by hand, in PyTorch's operators.");
  builder.def(nb::init<std::string_view, std::string_view>(), nb::arg("name"),
              nb::arg("class_name") = "");
  builder.def(
      "enter",
      [](Builder& self, std::string_view name, std::string_view class_name) {
        return Entered(self.Enter(name, class_name));
      },
      nb::arg("name"), nb::arg("class_name"), nb::keep_alive<0, 1>(),
      "Calls the module of that name within the one that is entered: a context manager.");
  BindSizes(builder);
  BindTensors(builder);
  BindCalls(builder);
}

}  // namespace steelyard::python
