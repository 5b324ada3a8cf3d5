// SPDX-License-Identifier: Apache-2.0
//
// What a graph says of its values beside their definitions: sizes, strides and dtypes of tensors,
// the expressions of scalars.
#include <algorithm>
#include <span>

#include "import/pt2/codes.h"
#include "import/pt2/graph_reader.h"

namespace steelyard::pt2 {

// The value of a table's entry, which is new if the table stands before what defines it.
bool GraphReader::ValueToDescribe(std::string_view name, ValueKind kind, ValueId& out) {
  if (!ValueNamed(name, kind, out)) return false;
  if (states_[out].described) return json_.Fail("it is described twice");
  states_[out].described = true;
  return true;
}

bool GraphReader::ReadTensorValues(JsonValue value) {
  return json_.Object(value, [&](std::string_view name, JsonValue field) {
    ValueId id = kNoId;
    return ValueToDescribe(name, ValueKind::kTensor, id) && ReadTensorMeta(field, id);
  });
}

// Few layouts are distinct: a description that was read before is known by its text.
bool GraphReader::ReadTensorMeta(JsonValue value, ValueId id) {
  simdjson::ondemand::object object;
  std::string_view text;
  if (!json_.GetObject(value, object)) return false;
  if (object.raw_json().get(text) != simdjson::SUCCESS) {
    return json_.Fail("the description is cut short");
  }
  const std::size_t entry = metas_.IndexOf(text);
  if (metas_.at(entry) != kNoId) {
    CopyLayout(metas_.at(entry), id);
    return true;
  }
  metas_.at(entry) = id;
  if (object.reset().error() != simdjson::SUCCESS)
    return json_.Fail("the description is cut short");
  return ReadTensorFields(object, id);
}

// Equal layouts have sizes of their own, so that each can be changed alone.
void GraphReader::CopyLayout(ValueId from, ValueId to) {
  const Value& known = program_.values[from];
  Value& value = program_.values[to];
  value.dtype = known.dtype;
  value.requires_grad = known.requires_grad;
  value.has_layout = known.has_layout;
  if (!known.has_layout) return;
  const std::uint32_t count = 2u * known.rank;
  value.rank = known.rank;
  value.dims = program_.dims.Allocate(count);
  std::ranges::copy(program_.dims.span(known.dims, count),
                    program_.dims.span(value.dims, count).begin());
}

bool GraphReader::ReadTensorFields(simdjson::ondemand::object& object, ValueId id) {
  Dims sizes;
  Dims strides;
  std::int64_t dtype = 0;
  std::int64_t layout = kStridedLayout;
  bool requires_grad = false;
  bool has_sizes = false;
  const bool ok = json_.Fields(object, [&](std::string_view key, JsonValue field) {
    if (key == "dtype") return json_.Int(field, dtype);
    if (key == "sizes") {
      has_sizes = true;
      return ReadSizes(field, sizes);
    }
    if (key == "requires_grad") return json_.Bool(field, requires_grad);
    if (key == "strides") return ReadSizes(field, strides);
    if (key == "layout") return json_.Int(field, layout);
    return true;
  });
  if (!ok) return false;
  const DTypeCode* row = FindDType(dtype);
  if (row == nullptr) {
    return json_.Fail(Unsupported("the dtype code " + std::to_string(dtype) + " is not known"));
  }
  program_.values[id].dtype = row->dtype;
  program_.values[id].requires_grad = requires_grad;
  if (!has_sizes) return json_.Fail("the sizes are missing");
  if (layout == kStridedLayout) return SetLayout(id, sizes, strides);
  Note(QuotedName(id) + " is not strided but " + Quoted(LayoutNamed(layout)) +
       ": its bytes are not known");
  return true;
}

bool GraphReader::SetLayout(ValueId id, const Dims& sizes, const Dims& strides) {
  if (sizes.size() != strides.size()) {
    return json_.Fail(std::to_string(sizes.size()) + " sizes but " +
                      std::to_string(strides.size()) + " strides");
  }
  Value& value = program_.values[id];
  const auto is_number = [](std::int64_t raw) { return Dim::FromRaw(raw).is_number(); };
  const auto is_unknown = [](std::int64_t raw) { return Dim::FromRaw(raw).is_unknown(); };
  const bool concrete =
      std::ranges::all_of(sizes, is_number) && std::ranges::all_of(strides, is_number);
  if (concrete && !CheckLayout(value.dtype, sizes, strides)) {
    return json_.Fail("the tensor is larger than 2^63 bytes");
  }
  // A size that is not understood: there is no layout, and the note says why.
  if (std::ranges::any_of(sizes, is_unknown) || std::ranges::any_of(strides, is_unknown)) {
    return true;
  }
  const auto rank = static_cast<std::uint32_t>(sizes.size());
  value.rank = static_cast<std::uint8_t>(rank);
  value.dims = program_.dims.Allocate(2 * rank);
  const std::span<std::int64_t> out = program_.dims.span(value.dims, 2 * rank);
  std::ranges::copy(sizes, out.begin());
  std::ranges::copy(strides, out.subspan(rank).begin());
  value.has_layout = true;
  return true;
}

bool GraphReader::ReadSizes(JsonValue value, Dims& out) {
  return json_.Array(value, [&](JsonValue element) {
    if (out.size() == Dims::kMaxRank) {
      return json_.Fail("the tensor has more than 64 dimensions, PyTorch's limit");
    }
    Dim size = Dim::Unknown();
    if (!ReadSize(element, size)) return false;
    out.push_back(size.raw());
    return true;
  });
}

bool GraphReader::ReadSize(JsonValue value, Dim& out) {
  return json_.Variant(value, [&](std::string_view key, JsonValue field) {
    if (key == "as_expr") {
      if (!ReadExpression(field, out)) return false;
    } else if (key == "as_int") {
      std::int64_t number = 0;
      if (!json_.Int(field, number)) return false;
      out = Dim(std::max<std::int64_t>(number, -1));
    } else {
      return json_.Fail("expected a size, found " + Quoted(key));
    }
    if (out.is_number() && out.number() < 0) return json_.Fail("a size or stride is negative");
    return true;
  });
}

bool GraphReader::ReadExpression(JsonValue value, Dim& out) {
  std::string_view text;
  std::optional<std::int64_t> hint;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "expr_str") return json_.Text(field, text);
    if (key != "hint" || JsonReader::IsNull(field)) return true;
    return json_.Variant(field, [&](std::string_view kind, JsonValue number) {
      std::int64_t integer = 0;
      if (kind == "as_int" && !json_.Int(number, integer)) return false;
      if (kind == "as_int") hint = integer;
      return true;
    });
  });
  return ok && SizeOf(text, hint, out);
}

bool GraphReader::SizeOf(std::string_view expression, std::optional<std::int64_t> hint, Dim& out) {
  std::optional<Dim>& known = sizes_[expression];
  if (!known) {
    const Result<Dim> parsed = expressions_.Parse(expression);
    if (!parsed) return json_.Fail(parsed.error());
    known = *parsed;
    if (parsed->is_unknown() && hint && Dim(*hint).is_number()) {
      Note("the size " + Quoted(expression) +
           " is not understood; it stays what it was at export, " + std::to_string(*hint));
      known = Dim(*hint);
    } else if (parsed->is_unknown()) {
      Note("the size " + Quoted(expression) + " is not understood");
    } else if (hint) {
      expressions_.AddHint(*parsed, *hint);
    }
  }
  out = *known;
  return true;
}

bool GraphReader::ReadScalarValues(JsonValue value, ValueKind kind) {
  return json_.Object(value, [&](std::string_view name, JsonValue field) {
    ValueId id = kNoId;
    if (!ValueToDescribe(name, kind, id)) return false;
    // Fractions have no place in a Dim; what is computed with them is not a size.
    if (kind == ValueKind::kFloat) return true;
    Dim scalar = Dim::Unknown();
    if (!ReadScalarValue(field, scalar)) return false;
    program_.values[id].scalar = scalar;
    return true;
  });
}

bool GraphReader::ReadScalarValue(JsonValue value, Dim& out) {
  return json_.Variant(value, [&](std::string_view key, JsonValue field) {
    if (key == "as_expr") return ReadExpression(field, out);
    bool truth = false;
    std::int64_t number = 0;
    if (key == "as_bool") {
      if (!json_.Bool(field, truth)) return false;
      out = Dim(truth ? 1 : 0);
    } else if (key == "as_int") {
      if (!json_.Int(field, number)) return false;
      if (Dim(number).is_number()) out = Dim(number);
    }
    return true;
  });
}

}  // namespace steelyard::pt2
