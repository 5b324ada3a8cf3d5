// SPDX-License-Identifier: Apache-2.0
//
// What is known of a value of an ONNX graph while it is translated, and the things that all
// translations share. ATen's operators take sizes as integers where ONNX has tensors, so values
// that are small lists of integers are followed by their contents, symbolic or not, and become
// tensors of the program only where an operator wants one.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/external_data.h"
#include "import/onnx/sizes.h"
#include "import/onnx/wire.h"
#include "steelyard/builder.h"

namespace steelyard::onnx {

using Shape = std::vector<Dim>;
using Tensor = Builder::Tensor;

// A size by another, with its rest: what a float computed from sizes is.
struct Ratio {
  Dim above, below;
};

struct Item {
  std::string_view name = {};
  std::optional<DType> dtype = {};
  std::optional<Shape> shape = {};  // nothing: not even the rank is known
  // Contents in row-major order, where they are known and few: integers, booleans and floats
  // without a fraction as `numbers`, constant floats as `reals`.
  std::optional<std::vector<Dim>> numbers = {};
  std::optional<std::vector<double>> reals = {};
  std::optional<std::vector<Ratio>> ratios = {};  // of floats that are neither
  Tensor tensor = {};                             // none: nobody has asked for one yet
  bool stored = false;  // the file has its elements, whether they were read or not
  std::optional<std::vector<Item*>> sequence = {};

  bool is_constant() const { return numbers || reals || ratios; }
};

// Thrown by a translation that does not know how; the node becomes one of an unknown operator.
struct Untranslatable {
  std::string reason;
};

// A program in the making.
class Workshop {
 public:
  // `folder` is where the file is.
  Workshop(std::string_view name, std::filesystem::path folder)
      : builder(name), sizes(builder), external(std::move(folder)) {}
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  Builder builder;
  Sizes sizes;
  ExternalData external;

  // Items stay where they are.
  Item& Add(Item item) { return items_.emplace_back(std::move(item)); }
  // The item as a tensor of the program.
  Tensor TensorOf(Item& item);
  // A size that only the data tell, or that the file names; the same name is the same size.
  Dim Symbol(std::string_view name);
  Dim FreshSymbol();
  // Something the report is to say of all nodes of a kind, once.
  void NoteOnce(std::string_view line);

 private:
  Tensor Computed(const Item& item);

  std::deque<Item> items_;
  std::unordered_map<std::string, Dim> symbols_;
  int fresh_ = 0;
  std::vector<std::string> noted_;
};

}  // namespace steelyard::onnx
