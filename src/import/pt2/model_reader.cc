// SPDX-License-Identifier: Apache-2.0
//
// The outermost level of the schema: graph, signature, ranges of symbols, versions. Torch writes
// the version last, so it is looked at when everything has been read or something was wrong: a file
// of an unknown version is refused as that, whatever the first thing was that did not fit.
#include "import/pt2/model_reader.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/json.h"
#include "import/pt2/graph_reader.h"
#include "import/pt2/in_spec.h"
#include "import/pt2/out_spec.h"
#include "import/pt2/signature.h"
#include "ir/facts.h"
#include "ir/release_order.h"

namespace steelyard::pt2 {
namespace {

constexpr char kDamagedHint[] =
    "The file is damaged or was not written by torch.export.save; export the model again.";

struct SchemaVersion {
  std::int64_t major = -1;
  std::int64_t minor = 0;
};

class ModelReader {
 public:
  ModelReader(Program& program, JsonReader& json, bool holds_variables, const ModuleFacts* module)
      : program_(program),
        json_(json),
        graph_(program, json, holds_variables, module),
        signature_(program, json, graph_) {}

  bool Read(JsonValue root) {
    bool has_graph = false;
    const bool ok = json_.Object(root, [&](std::string_view key, JsonValue field) {
      if (key == "graph_module") {
        if (std::exchange(has_graph, true)) return json_.Fail("it is there twice");
        return ReadGraphModule(field);
      }
      if (key == "range_constraints") return ReadRanges(field);
      if (key == "schema_version") return ReadVersion(field);
      if (key == "torch_version") return json_.Text(field, torch_version_);
      return true;
    });
    if (!ok) return false;
    if (!has_graph) return json_.Fail("the JSON describes no exported program (no graph_module)");
    if (version_.major < 0) return json_.Fail("schema_version is missing");
    if (!graph_.Finish()) return false;
    SetRanges();
    SetOutputs();
    SetArguments();
    SetProducer();
    SetName();
    return true;
  }

  const SchemaVersion& version() const { return version_; }

  // An object of two numbers; before schema 2, one number.
  bool ReadVersion(JsonValue value) {
    std::int64_t number = 0;
    if (value.get_int64().get(number) == simdjson::SUCCESS) {
      version_ = {number, 0};
      return true;
    }
    return json_.Object(value, [&](std::string_view key, JsonValue field) {
      if (key == "major") return json_.Int(field, version_.major);
      return key != "minor" || json_.Int(field, version_.minor);
    });
  }

 private:
  struct Range {
    std::string_view symbol;
    std::optional<double> min, max;
  };

  bool ReadGraphModule(JsonValue value) {
    bool has_graph = false;
    bool has_signature = false;
    std::string_view early_signature;
    const bool ok = json_.Object(value, [&](std::string_view key, JsonValue field) {
      if (key == "graph") {
        if (std::exchange(has_graph, true)) return json_.Fail("it is there twice");
        return graph_.ReadMain(field);
      }
      if (key == "module_call_graph") return ReadCalls(field);
      if (key != "signature") return true;
      if (std::exchange(has_signature, true)) return json_.Fail("it is there twice");
      return has_graph ? signature_.Read(field) : json_.Later(field, early_signature);
    });
    if (!ok) return false;
    if (!has_graph) return json_.Fail("there is no graph");
    if (!has_signature) return json_.Fail("there is no signature");
    if (early_signature.empty()) return true;
    return json_.Now(early_signature, [&](JsonValue text) { return signature_.Read(text); }) ||
           json_.Inside("signature");
  }

  // Of the calls of modules, the outermost tells the structure of what the program takes and
  // returns.
  bool ReadCalls(JsonValue value) {
    bool outermost = true;
    return json_.Array(value, [&](JsonValue call) {
      if (!std::exchange(outermost, false)) return true;
      return json_.Object(call, [&](std::string_view key, JsonValue field) {
        if (key != "signature" || JsonReader::IsNull(field)) return true;
        return json_.Object(field, [&](std::string_view name, JsonValue spec) {
          if (name == "in_spec") return json_.Text(spec, in_spec_);
          if (name == "forward_arg_names" && !JsonReader::IsNull(spec)) return ReadNames(spec);
          return name != "out_spec" || json_.Text(spec, out_spec_);
        });
      });
    });
  }

  bool ReadNames(JsonValue value) {
    return json_.Array(
        value, [&](JsonValue name) { return json_.Text(name, parameter_names_.emplace_back()); });
  }

  // Whether forward's parameters are the inputs under their own names. Numbered ones, "xs_0" and
  // "xs_1", may be those of *xs; of keywords nobody knows whether **kwargs took them.
  bool ParametersAreInputs(const std::vector<std::string>& paths) const {
    const std::vector<ValueId>& passed = signature_.passed();
    if (passed != program_.inputs || paths.size() != passed.size()) return false;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string_view name = program_.text(program_.values[passed[i]].name);
      const bool named = i >= parameter_names_.size() || parameter_names_[i] == name;
      if (!named || name.ends_with("_0") || paths[i] != "args[" + std::to_string(i) + "]") {
        return false;
      }
    }
    return true;
  }

  // How each argument is passed, for a remedy where no size is open.
  void SetArguments() {
    if (!program_.symbols.empty()) return;
    const std::vector<std::string> paths = ReadInSpec(in_spec_);
    const std::vector<ValueId>& passed = signature_.passed();
    if (paths.size() != passed.size() || ParametersAreInputs(paths)) return;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      std::string text(program_.text(program_.values[passed[i]].name));
      text.append(kArgumentIs).append(paths[i]);
      program_.facts.push_back(
          {.name = program_.strings.Intern(kArgument), .text = program_.strings.Intern(text)});
    }
  }

  // In which order outputs go, where that is not the usual one, and what the model itself calls its
  // loss. Only where the structure has as many leaves as there are outputs.
  void SetOutputs() {
    OutSpec spec = ReadOutSpec(out_spec_);
    const std::vector<Argument>& outputs = program_.main().outputs;
    if (spec.released.size() != outputs.size()) return;
    if (spec.loss && outputs[*spec.loss].kind == ArgKind::kValue) {
      program_.loss = outputs[*spec.loss].value;
    }
    if (spec.released != ReleaseOrder(program_)) program_.released = std::move(spec.released);
  }

  bool ReadRanges(JsonValue value) {
    return json_.Object(value, [&](std::string_view symbol, JsonValue field) {
      Range& range = ranges_.emplace_back(Range{symbol, {}, {}});
      return json_.Object(field, [&](std::string_view key, JsonValue bound) {
        double number = 0;
        if ((key != "min_val" && key != "max_val") || JsonReader::IsNull(bound)) return true;
        if (!json_.Real(bound, number)) return false;
        (key == "min_val" ? range.min : range.max) = number;
        return true;
      });
    });
  }

  // Bounds beyond what a size can be, infinite ones among them, are none.
  void SetRanges() {
    constexpr double kLimit = 4611686018427387904.0;  // 2^62
    std::vector<std::uint32_t> symbol_of(program_.strings.size(), kNoId);
    for (std::uint32_t i = 0; i < program_.symbols.size(); ++i) {
      symbol_of[program_.symbols[i].name] = i;
    }
    for (const Range& range : ranges_) {
      const std::uint32_t index = symbol_of[program_.strings.Find(range.symbol)];
      if (index == kNoId) continue;
      Symbol& symbol = program_.symbols[index];
      if (range.min && *range.min > -kLimit && *range.min < kLimit) {
        symbol.min = static_cast<std::int64_t>(*range.min);
      }
      if (range.max && *range.max > -kLimit && *range.max < kLimit) {
        symbol.max = static_cast<std::int64_t>(*range.max);
      }
    }
  }

  // "torch 2.15.0 (schema 8.20)", without the build's "+cu132".
  void SetProducer() {
    std::string producer = "torch";
    const std::string_view release = torch_version_.substr(0, torch_version_.find('+'));
    if (!release.empty()) producer.append(" ").append(release);
    producer.append(" (schema " + std::to_string(version_.major) + "." +
                    std::to_string(version_.minor) + ")");
    program_.producer = program_.strings.Intern(producer);
  }

  // The class of the model, without the modules it stands in.
  void SetName() {
    const std::string name(program_.text(program_.modules[0].class_name));
    program_.name = program_.strings.Intern(name.substr(name.rfind('.') + 1));
  }

  Program& program_;
  JsonReader& json_;
  GraphReader graph_;
  SignatureReader signature_;
  SchemaVersion version_;
  std::string_view torch_version_;
  std::string_view in_spec_, out_spec_;
  std::vector<std::string_view> parameter_names_;
  std::vector<Range> ranges_;
};

Result<JsonValue> RootOf(const JsonText& text) {
  if (text.ok()) return text.root();
  const simdjson::error_code code = text.code();
  if (code == simdjson::UTF8_ERROR) {
    return Unexpected(InvalidInput("the JSON is not valid UTF-8", {}, kDamagedHint));
  }
  if (code == simdjson::CAPACITY || code == simdjson::MEMALLOC) {
    return Unexpected(Unsupported("the JSON is too large for the memory there is"));
  }
  return Unexpected(InvalidInput("the JSON is malformed or cut short (" + ReasonOf(code) + ")", {},
                                 kDamagedHint));
}

bool IsSupported(const SchemaVersion& version) {
  return version.major >= kOldestSchema && version.major <= kNewestSchema;
}

Error UnsupportedVersion(const SchemaVersion& version) {
  return Unsupported("the export schema is version " + std::to_string(version.major) + "." +
                         std::to_string(version.minor) + "; versions " +
                         std::to_string(kOldestSchema) + " to " + std::to_string(kNewestSchema) +
                         " are read (torch 2.3 to 2.15)",
                     {}, "Export the model again with one of those versions of torch.");
}

// The version alone, as far as it can be found in a text that could not be read.
SchemaVersion FindVersion(const PaddedText& text) {
  const JsonText json_text(text);
  if (!json_text.ok()) return {};
  Program unused;
  JsonReader json;
  ModelReader reader(unused, json, false, nullptr);
  json.Object(json_text.root(), [&](std::string_view key, JsonValue field) {
    return key != "schema_version" || reader.ReadVersion(field);
  });
  return reader.version();
}

}  // namespace

Result<Model> ReadModel(const PaddedText& json, bool holds_variables, const ModuleFacts* module) {
  JsonText text(json);
  SY_ASSIGN_OR_RETURN(const JsonValue root, RootOf(text));
  Program program;
  JsonReader reader;
  ModelReader model(program, reader, holds_variables, module);
  bool ok = model.Read(root);
  if (ok && text.Continues()) ok = reader.Fail("something follows the end of the JSON");
  if (ok && IsSupported(model.version())) {
    return Model{std::move(program), model.version().major};
  }
  const SchemaVersion version = ok ? model.version() : FindVersion(json);
  if (version.major >= 0 && !IsSupported(version)) return Unexpected(UnsupportedVersion(version));
  Error error = reader.TakeError();
  if (error.hint.empty()) error.hint = kDamagedHint;
  return Unexpected(std::move(error));
}

}  // namespace steelyard::pt2
