// SPDX-License-Identifier: Apache-2.0
//
// The arguments of calls: a tagged union of some thirty alternatives, one row each. Names of
// values become values here whether or not they are known yet; GraphReader::Resolve checks them.
#include <array>
#include <span>

#include "import/pt2/codes.h"
#include "import/pt2/graph_reader.h"

namespace steelyard::pt2 {

struct GraphReader::ArgumentRow {
  std::string_view key;
  bool (GraphReader::*read)(JsonValue, Argument&);
};

// The most frequent first: the table is searched from its beginning.
constinit const GraphReader::ArgumentRow GraphReader::kArgumentRows[] = {
    {"as_tensor", &GraphReader::ReadTensor},
    {"as_int", &GraphReader::ReadInt},
    {"as_ints", &GraphReader::ReadListOf<&GraphReader::ReadInt>},
    {"as_float", &GraphReader::ReadFloat},
    {"as_bool", &GraphReader::ReadBool},
    {"as_scalar_type", &GraphReader::ReadScalarType},
    {"as_device", &GraphReader::ReadDevice},
    {"as_layout", &GraphReader::ReadLayout},
    {"as_tensors", &GraphReader::ReadListOf<&GraphReader::ReadTensor>},
    {"as_none", &GraphReader::ReadNone},
    {"as_sym_ints", &GraphReader::ReadListOf<&GraphReader::ReadSymInt>},
    {"as_sym_int", &GraphReader::ReadSymInt},
    {"as_string", &GraphReader::ReadString},
    {"as_graph", &GraphReader::ReadSubgraph},
    {"as_optional_tensors", &GraphReader::ReadListOf<&GraphReader::ReadOptionalTensor>},
    {"as_optional_tensor", &GraphReader::ReadOptionalTensor},
    {"as_memory_format", &GraphReader::ReadMemoryFormat},
    {"as_floats", &GraphReader::ReadListOf<&GraphReader::ReadFloat>},
    {"as_bools", &GraphReader::ReadListOf<&GraphReader::ReadBool>},
    {"as_strings", &GraphReader::ReadListOf<&GraphReader::ReadString>},
    {"as_sym_float", &GraphReader::ReadSymFloat},
    {"as_sym_floats", &GraphReader::ReadListOf<&GraphReader::ReadSymFloat>},
    {"as_sym_bool", &GraphReader::ReadSymBool},
    {"as_sym_bools", &GraphReader::ReadListOf<&GraphReader::ReadSymBool>},
    {"as_custom_obj", &GraphReader::ReadCustomObject},
    {"as_operator", &GraphReader::ReadOperator},
    {"as_complex", &GraphReader::ReadComplex},
    {"as_nested_tensors",
     &GraphReader::ReadListOf<&GraphReader::ReadListOf<&GraphReader::ReadTensor>>},
    {"as_int_lists", &GraphReader::ReadListOf<&GraphReader::ReadListOf<&GraphReader::ReadInt>>},
    {"as_float_lists", &GraphReader::ReadListOf<&GraphReader::ReadListOf<&GraphReader::ReadFloat>>},
    {"as_string_to_argument", &GraphReader::ReadDictionary},
};

bool GraphReader::ReadArgument(JsonValue value, Argument& out) {
  if (depth_ >= kMaxDepth) return json_.Fail("graphs or arguments are nested too deeply");
  ++depth_;
  const bool ok = json_.Variant(value, [&](std::string_view key, JsonValue field) {
    for (const ArgumentRow& row : kArgumentRows) {
      if (row.key == key) return (this->*row.read)(field, out);
    }
    return json_.Fail(Unsupported("the kind of argument " + Quoted(key) + " is not known", {},
                                  "Was the file written by a torch newer than this build?"));
  });
  --depth_;
  return ok;
}

template <class F>
bool GraphReader::ReadList(JsonValue value, Argument& out, F&& read_element) {
  const std::size_t first = arguments_.size();
  const bool ok = json_.Array(value, [&](JsonValue element) {
    Argument argument;
    if (!read_element(element, argument)) return false;
    if (arguments_.size() - first >= kMaxList) return json_.Fail("the list is absurdly long");
    arguments_.push_back(argument);
    return true;
  });
  if (!ok) return false;
  out = Argument::OfList(program_.AddArguments(std::span(arguments_).subspan(first)));
  arguments_.resize(first);
  return true;
}

template <bool (GraphReader::*kRead)(JsonValue, Argument&)>
bool GraphReader::ReadListOf(JsonValue value, Argument& out) {
  return ReadList(value, out, [this](JsonValue element, Argument& argument) {
    return (this->*kRead)(element, argument);
  });
}

bool GraphReader::ReadNone(JsonValue, Argument& out) {
  out = Argument::None();
  return true;
}

bool GraphReader::ReadTensor(JsonValue value, Argument& out) {
  bool found = false;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key != "name") return true;
    found = true;
    std::string_view name;
    ValueId id = kNoId;
    if (!json_.Text(field, name) || !ValueNamed(name, ValueKind::kTensor, id)) return false;
    out = Argument::OfValue(id);
    return true;
  });
  return ok && (found || json_.Fail("the tensor has no name"));
}

bool GraphReader::ReadOptionalTensor(JsonValue value, Argument& out) {
  return json_.Variant(value, [&](std::string_view key, JsonValue field) {
    if (key == "as_tensor") return ReadTensor(field, out);
    out = Argument::None();
    return key == "as_none" || json_.Fail("expected as_tensor or as_none, found " + Quoted(key));
  });
}

bool GraphReader::ReadInt(JsonValue value, Argument& out) {
  std::int64_t number = 0;
  if (value.get_int64().get(number) == simdjson::SUCCESS) {
    out = Dim(number).is_number() ? Argument::OfInt(number)
                                  : Argument::OfFloat(static_cast<double>(number));
    return true;
  }
  // Python's integers have no limit, and the most negative ones of 64 bits are no Dims: as the
  // scalars they are (a mask's least value), floats serve as well.
  const std::string_view token = JsonReader::Token(value);
  if (token.find_first_not_of("-0123456789") == std::string_view::npos)
    return ReadFloat(value, out);
  return json_.Mismatch("an integer", token);
}

bool GraphReader::ReadFloat(JsonValue value, Argument& out) {
  double real = 0;
  if (!json_.Real(value, real)) return false;
  out = Argument::OfFloat(real);
  return true;
}

bool GraphReader::ReadBool(JsonValue value, Argument& out) {
  bool truth = false;
  if (!json_.Bool(value, truth)) return false;
  out = Argument::OfBool(truth);
  return true;
}

bool GraphReader::ReadString(JsonValue value, Argument& out) {
  std::string_view text;
  if (!json_.Text(value, text)) return false;
  out = Argument::OfString(program_.strings.Intern(text));
  return true;
}

bool GraphReader::ReadSymInt(JsonValue value, Argument& out) {
  return ReadSymbolic(value, ValueKind::kInt, out);
}
bool GraphReader::ReadSymFloat(JsonValue value, Argument& out) {
  return ReadSymbolic(value, ValueKind::kFloat, out);
}
bool GraphReader::ReadSymBool(JsonValue value, Argument& out) {
  return ReadSymbolic(value, ValueKind::kBool, out);
}

// The name of a scalar, or a scalar.
bool GraphReader::ReadSymbolic(JsonValue value, ValueKind kind, Argument& out) {
  return json_.Variant(value, [&](std::string_view key, JsonValue field) {
    if (key == "as_int") return ReadInt(field, out);
    if (key == "as_float") return ReadFloat(field, out);
    if (key == "as_bool") return ReadBool(field, out);
    std::string_view name;
    ValueId id = kNoId;
    if (key != "as_name") return json_.Fail("expected a name or a scalar, found " + Quoted(key));
    if (!json_.Text(field, name) || !ValueNamed(name, kind, id)) return false;
    out = Argument::OfValue(id);
    return true;
  });
}

bool GraphReader::ReadScalarType(JsonValue value, Argument& out) {
  std::int64_t code = 0;
  if (!json_.Int(value, code)) return false;
  const DTypeCode* row = FindDType(code);
  if (row == nullptr) {
    return json_.Fail(Unsupported("the dtype code " + std::to_string(code) + " is not known"));
  }
  out = Argument::OfDType(row->dtype);
  return true;
}

bool GraphReader::ReadMemoryFormat(JsonValue value, Argument& out) {
  std::int64_t code = 0;
  if (!json_.Int(value, code)) return false;
  out = Argument::OfString(program_.strings.Intern(MemoryFormatNamed(code)));
  return true;
}

bool GraphReader::ReadLayout(JsonValue value, Argument& out) {
  std::int64_t code = 0;
  if (!json_.Int(value, code)) return false;
  out = Argument::OfString(program_.strings.Intern(LayoutNamed(code)));
  return true;
}

// "cuda:1", or "cuda" where no index is given.
bool GraphReader::ReadDevice(JsonValue value, Argument& out) {
  std::string device;
  std::optional<std::int64_t> index;
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    std::string_view type;
    std::int64_t number = 0;
    if (key == "type" && !json_.Text(field, type)) return false;
    if (key == "type") device = type;
    if (key != "index" || JsonReader::IsNull(field)) return true;
    if (!json_.Int(field, number)) return false;
    index = number;
    return true;
  });
  if (!ok) return false;
  if (index) device.append(":").append(std::to_string(*index));
  out = Argument::OfString(program_.strings.Intern(device));
  return true;
}

bool GraphReader::ReadOperator(JsonValue value, Argument& out) {
  std::string_view target;
  if (!json_.Text(value, target)) return false;
  out = Argument::OfString(program_.strings.Intern(OpNameOf(target)));
  return true;
}

bool GraphReader::ReadComplex(JsonValue value, Argument& out) {
  std::array parts = {Argument::OfFloat(0), Argument::OfFloat(0)};
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key == "real") return ReadFloat(field, parts[0]);
    if (key == "imag") return ReadFloat(field, parts[1]);
    return true;
  });
  if (!ok) return false;
  out = Argument::OfComplex(program_.AddArguments(parts));
  return true;
}

bool GraphReader::ReadCustomObject(JsonValue value, Argument& out) {
  return json_.Object(value, [&](std::string_view key, JsonValue field) {
    std::string_view name;
    ValueId id = kNoId;
    if (key != "name") return true;
    if (!json_.Text(field, name) || !ValueNamed(name, ValueKind::kOther, id)) return false;
    out = Argument::OfValue(id);
    return true;
  });
}

bool GraphReader::ReadSubgraph(JsonValue value, Argument& out) {
  const auto id = static_cast<GraphId>(program_.graphs.size());
  bool found = false;
  program_.graphs.emplace_back();
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    if (key != "graph" || found) return true;
    found = true;
    return ReadGraph(field, id);
  });
  out = Argument::OfGraph(id);
  return ok && (found || json_.Fail("the graph has no body"));
}

// A list whose elements have the keys as their names.
bool GraphReader::ReadDictionary(JsonValue value, Argument& out) {
  const std::size_t first = arguments_.size();
  const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
    Argument argument;
    if (!ReadArgument(field, argument)) return false;
    argument.name = program_.strings.Intern(key);
    arguments_.push_back(argument);
    return true;
  });
  if (!ok) return false;
  out = Argument::OfList(program_.AddArguments(std::span(arguments_).subspan(first)));
  arguments_.resize(first);
  return true;
}

}  // namespace steelyard::pt2
