// SPDX-License-Identifier: Apache-2.0
//
// The messages of onnx.proto as far as weighing needs them. All texts are views of the file, and
// what is nested is parsed when it is asked for: an initializer's bytes are never looked at, and an
// attribute is searched among views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/wire.h"
#include "steelyard/program.h"

namespace steelyard::onnx {

// Contents of larger tensors are not read: they are weights, not sizes.
inline constexpr std::size_t kMostContents = 64;

struct TensorProto {
  explicit TensorProto(std::string_view message);

  std::string_view name;
  std::int64_t type = 0;
  std::vector<std::int64_t> sizes;
  std::string_view raw;                // little-endian elements
  std::vector<std::int64_t> integers;  // where they are not raw; the first kMostContents
  std::vector<double> reals;
  bool external = false;
  // Of external data: the file, beside the model, and where in it the elements begin.
  std::string_view location;
  std::int64_t offset = 0;
};

// A size in a type: a number, a name, or neither.
struct DimProto {
  std::optional<std::int64_t> number;
  std::string_view name;
};

struct TypeProto {
  TypeProto() = default;
  explicit TypeProto(std::string_view message);

  bool is_tensor = false;
  std::int64_t element = 0;
  std::optional<std::vector<DimProto>> sizes;  // nothing where even the rank is not said
};

struct ValueProto {
  explicit ValueProto(std::string_view message);
  std::string_view name;
  TypeProto type;
};

struct AttributeProto {
  explicit AttributeProto(std::string_view message);

  std::string_view name, reference;  // `reference`: the attribute of the function that is meant
  std::int64_t integer = 0;
  float real = 0;
  std::string_view text;
  std::string_view tensor, graph;  // messages
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string_view> texts;
};

struct NodeProto {
  explicit NodeProto(std::string_view message);

  std::string_view name, op, domain;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> attributes;  // messages
  std::vector<std::string_view> metadata;    // messages

  std::optional<AttributeProto> Find(std::string_view attribute) const;
};

// Key and value of a StringStringEntryProto.
std::pair<std::string_view, std::string_view> ParseEntry(std::string_view message);
// The value of `key` among entries; empty where there is none.
std::string_view FindEntry(const std::vector<std::string_view>& entries, std::string_view key);

struct GraphProto {
  explicit GraphProto(std::string_view message);

  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueProto> inputs, outputs, values;
  std::vector<std::string_view> metadata;  // messages
};

// Versions of operator sets, by domain.
using Opsets = std::vector<std::pair<std::string_view, std::int64_t>>;

struct FunctionProto {
  explicit FunctionProto(std::string_view message);

  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<std::string_view> defaults;  // messages: attributes a call may leave out
  std::vector<NodeProto> nodes;
  Opsets opsets;
};

struct ModelProto {
  explicit ModelProto(std::string_view message);

  std::int64_t ir_version = 0;
  std::string_view producer, producer_version;
  std::optional<std::string_view> graph;  // a message
  Opsets opsets;
  std::vector<std::string_view> functions;  // messages
};

// The dtype of an element type; nothing for text and what PyTorch has not.
std::optional<DType> DTypeOf(std::int64_t element);
// What an element type is that has no dtype, for messages: "text".
std::string ElementName(std::int64_t element);

}  // namespace steelyard::onnx
