// SPDX-License-Identifier: Apache-2.0
//
// Numbers of fields are those of onnx.proto.
#include "import/onnx/proto.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace steelyard::onnx {
namespace {

// Lists of attributes are of strides, axes and the like.
constexpr std::size_t kMostListed = 4096;
// One more than a tensor may have, so that too many are noticed.
constexpr std::size_t kMostSizes = static_cast<std::size_t>(Dims::kMaxRank) + 1;

DimProto ParseDim(std::string_view message) {
  DimProto out;
  for (Fields fields(message, "Dimension"); fields.Next();) {
    if (fields.number() == 1) out.number = fields.integer();
    if (fields.number() == 2) out.name = fields.bytes();
  }
  // A negative size is how some writers say that they do not know it.
  if (out.number && *out.number < 0) out.number.reset();
  return out;
}

std::vector<DimProto> ParseSizes(std::string_view message) {
  std::vector<DimProto> out;
  for (Fields fields(message, "TensorShapeProto"); fields.Next();) {
    if (fields.number() == 1 && out.size() < kMostSizes) out.push_back(ParseDim(fields.bytes()));
  }
  return out;
}

std::pair<std::string_view, std::int64_t> ParseOpset(std::string_view message) {
  std::pair<std::string_view, std::int64_t> out;
  for (Fields fields(message, "OperatorSetIdProto"); fields.Next();) {
    if (fields.number() == 1) out.first = fields.bytes();
    if (fields.number() == 2) out.second = fields.integer();
  }
  return out;
}

constexpr std::array<std::pair<std::int64_t, DType>, 22> kElementTypes{{
    {1, DType::kFloat32},
    {2, DType::kUInt8},
    {3, DType::kInt8},
    {4, DType::kUInt16},
    {5, DType::kInt16},
    {6, DType::kInt32},
    {7, DType::kInt64},
    {9, DType::kBool},
    {10, DType::kFloat16},
    {11, DType::kFloat64},
    {12, DType::kUInt32},
    {13, DType::kUInt64},
    {14, DType::kComplex64},
    {15, DType::kComplex128},
    {16, DType::kBFloat16},
    {17, DType::kFloat8E4M3},
    {18, DType::kFloat8E4M3FNUZ},
    {19, DType::kFloat8E5M2},
    {20, DType::kFloat8E5M2FNUZ},
    {22, DType::kInt4},
    {23, DType::kFloat4E2M1},
    {24, DType::kFloat8E8M0},
}};
constexpr std::int64_t kUInt4 = 21;

// Of external data; an offset that is no number is none that is anywhere.
void ReadLocation(const std::pair<std::string_view, std::string_view>& entry, TensorProto& out) {
  const auto [key, value] = entry;
  if (key == "location") out.location = value;
  if (key != "offset") return;
  const auto [end, fault] = std::from_chars(value.begin(), value.end(), out.offset);
  if (fault != std::errc() || end != value.end()) out.offset = -1;
}

}  // namespace

std::optional<DType> DTypeOf(std::int64_t element) {
  if (element == kUInt4) return DType::kUInt4;
  const auto* const found =
      std::ranges::find(kElementTypes, element, &std::pair<std::int64_t, DType>::first);
  if (found == kElementTypes.end()) return std::nullopt;
  return found->second;
}

std::string ElementName(std::int64_t element) {
  if (element == 8) return "text";
  if (element == 25) return "uint2";
  if (element == 26) return "int2";
  return "type " + std::to_string(element);
}

TensorProto::TensorProto(std::string_view message) {
  for (Fields fields(message, "TensorProto"); fields.Next();) {
    switch (fields.number()) {
      case 1:
        fields.AppendTo(sizes, kMostSizes);
        break;
      case 2:
        type = fields.integer();
        break;
      case 4:
        fields.AppendTo(reals, kMostContents);
        break;
      case 5:
      case 7:
      case 11:
        fields.AppendTo(integers, kMostContents);
        break;
      case 8:
        name = fields.bytes();
        break;
      case 9:
        raw = fields.bytes();
        break;
      case 10:
        fields.AppendDoublesTo(reals, kMostContents);
        break;
      case 13:
        ReadLocation(ParseEntry(fields.bytes()), *this);
        break;
      case 14:
        external = fields.integer() == 1;
        break;
      default:
        break;
    }
  }
}

TypeProto::TypeProto(std::string_view message) {
  for (Fields fields(message, "TypeProto"); fields.Next();) {
    if (fields.number() != 1) continue;
    is_tensor = true;
    for (Fields tensor(fields.bytes(), "TypeProto.Tensor"); tensor.Next();) {
      if (tensor.number() == 1) element = tensor.integer();
      if (tensor.number() == 2) sizes = ParseSizes(tensor.bytes());
    }
  }
}

ValueProto::ValueProto(std::string_view message) {
  for (Fields fields(message, "ValueInfoProto"); fields.Next();) {
    if (fields.number() == 1) name = fields.bytes();
    if (fields.number() == 2) type = TypeProto(fields.bytes());
  }
}

AttributeProto::AttributeProto(std::string_view message) {
  for (Fields fields(message, "AttributeProto"); fields.Next();) {
    switch (fields.number()) {
      case 1:
        name = fields.bytes();
        break;
      case 2:
        real = fields.real();
        break;
      case 3:
        integer = fields.integer();
        break;
      case 4:
        text = fields.bytes();
        break;
      case 5:
        tensor = fields.bytes();
        break;
      case 6:
        graph = fields.bytes();
        break;
      case 7:
        fields.AppendTo(reals, kMostListed);
        break;
      case 8:
        fields.AppendTo(integers, kMostListed);
        break;
      case 9:
        if (texts.size() < kMostListed) texts.push_back(fields.bytes());
        break;
      case 21:
        reference = fields.bytes();
        break;
      default:
        break;
    }
  }
}

NodeProto::NodeProto(std::string_view message) {
  for (Fields fields(message, "NodeProto"); fields.Next();) {
    switch (fields.number()) {
      case 1:
        inputs.push_back(fields.bytes());
        break;
      case 2:
        outputs.push_back(fields.bytes());
        break;
      case 3:
        name = fields.bytes();
        break;
      case 4:
        op = fields.bytes();
        break;
      case 5:
        attributes.push_back(fields.bytes());
        break;
      case 7:
        domain = fields.bytes();
        break;
      case 9:
        metadata.push_back(fields.bytes());
        break;
      default:
        break;
    }
  }
}

std::optional<AttributeProto> NodeProto::Find(std::string_view attribute) const {
  for (const std::string_view message : attributes) {
    AttributeProto parsed(message);
    if (parsed.name == attribute) return parsed;
  }
  return std::nullopt;
}

std::pair<std::string_view, std::string_view> ParseEntry(std::string_view message) {
  std::pair<std::string_view, std::string_view> out;
  for (Fields fields(message, "StringStringEntryProto"); fields.Next();) {
    if (fields.number() == 1) out.first = fields.bytes();
    if (fields.number() == 2) out.second = fields.bytes();
  }
  return out;
}

std::string_view FindEntry(const std::vector<std::string_view>& entries, std::string_view key) {
  for (const std::string_view message : entries) {
    const auto [name, value] = ParseEntry(message);
    if (name == key) return value;
  }
  return {};
}

GraphProto::GraphProto(std::string_view message) {
  for (Fields fields(message, "GraphProto"); fields.Next();) {
    switch (fields.number()) {
      case 1:
        nodes.emplace_back(fields.bytes());
        break;
      case 2:
        name = fields.bytes();
        break;
      case 5:
        initializers.emplace_back(fields.bytes());
        break;
      case 11:
        inputs.emplace_back(fields.bytes());
        break;
      case 12:
        outputs.emplace_back(fields.bytes());
        break;
      case 13:
        values.emplace_back(fields.bytes());
        break;
      case 16:
        metadata.push_back(fields.bytes());
        break;
      default:
        break;
    }
  }
}

FunctionProto::FunctionProto(std::string_view message) {
  for (Fields fields(message, "FunctionProto"); fields.Next();) {
    switch (fields.number()) {
      case 1:
        name = fields.bytes();
        break;
      case 4:
        inputs.push_back(fields.bytes());
        break;
      case 5:
        outputs.push_back(fields.bytes());
        break;
      case 7:
        nodes.emplace_back(fields.bytes());
        break;
      case 9:
        opsets.push_back(ParseOpset(fields.bytes()));
        break;
      case 10:
        domain = fields.bytes();
        break;
      case 11:
        defaults.push_back(fields.bytes());
        break;
      case 13:
        overload = fields.bytes();
        break;
      default:
        break;
    }
  }
}

ModelProto::ModelProto(std::string_view message) {
  for (Fields fields(message, "ModelProto"); fields.Next();) {
    switch (fields.number()) {
      case 1:
        ir_version = fields.integer();
        break;
      case 2:
        producer = fields.bytes();
        break;
      case 3:
        producer_version = fields.bytes();
        break;
      case 7:
        graph = fields.bytes();
        break;
      case 8:
        opsets.push_back(ParseOpset(fields.bytes()));
        break;
      case 25:
        functions.push_back(fields.bytes());
        break;
      default:
        break;
    }
  }
}

}  // namespace steelyard::onnx
