// SPDX-License-Identifier: Apache-2.0
//
// Which of the two is told, the model or its weights, and how they are put together. Tensors that a
// file's metadata do not account for make another model of it, so that their numbers are compared.

#include "import/with_weights.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/gguf_names.h"
#include "import/hf_config/hf_config_importer.h"
#include "import/quantised_model.h"
#include "ir/facts.h"
#include "support/checked.h"

namespace steelyard {
namespace {

constexpr std::string_view kQuantisationFact = "quantisation";

bool IsQuantised(const Program& program) { return HasFact(program, kQuantisationFact); }

using Names = std::set<std::string_view>;

void AddNames(const Program& program, const std::vector<NamedTensor>& tensors, Names* to) {
  for (const NamedTensor& tensor : tensors) to->insert(program.text(tensor.name));
}

// "3 tensors of the config are not stored, as model.norm.weight": those of `tensors` with none of
// these names, but for second names.
std::string Lacking(const Program& program, const std::vector<NamedTensor>& tensors,
                    const Names& names, std::string_view whose, std::string_view what) {
  std::int64_t count = 0;
  std::string_view first;
  for (const NamedTensor& tensor : tensors) {
    const std::string_view name = program.text(tensor.name);
    if (tensor.tied_to != kNoId || names.contains(name)) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return "";
  return fmt::format(
      "{} {} {}, as {}", count,
      count == 1 ? fmt::format("tensor {} is", whose) : fmt::format("tensors {} are", whose), what,
      first);
}

// What a config and the weights beside it do not agree in.
void NoteDifferences(const Program& weights, Program* built) {
  Names stored, known;
  AddNames(weights, weights.parameters, &stored);
  AddNames(*built, built->parameters, &known);
  AddNames(*built, built->buffers, &known);
  std::string lacking = Lacking(*built, built->parameters, stored, "of the config", "not stored");
  std::string more =
      Lacking(weights, weights.parameters, known, "of the weights", "none of the model's");
  // From here on the names may lie elsewhere.
  if (!lacking.empty()) lacking += ". What is not stored counts as the config has it.";
  if (!more.empty()) more += ". It does not count.";
  for (const std::string& note : {lacking, more}) {
    if (!note.empty()) built->notes.push_back(built->strings.Intern(note));
  }
}

// The model that was built of a config, with the weights beside it as they are stored.
Result<Program> Joined(Program built, const Importer& reader, const std::string& path,
                       const ImportOptions& options) {
  SY_ASSIGN_OR_RETURN(const Program weights, reader.read(path, options));
  Result<Program> joined = WithQuantisedWeights(std::move(built), weights);
  if (joined) NoteDifferences(weights, &*joined);
  if (joined) return joined;
  return Unexpected(Within(path + "/config.json: quantization_config", std::move(joined).error()));
}

// The model with weights that are called as llama.cpp calls them, and how they are quantised.
Result<Program> JoinedByName(Program built, Program weights) {
  NameAsIn(built, &weights);
  SY_ASSIGN_OR_RETURN(Program joined, WithQuantisedWeights(std::move(built), weights));
  for (const Fact& fact : weights.facts) {
    if (weights.text(fact.name) != kQuantisationFact) continue;
    joined.facts.push_back({.name = joined.strings.Intern(kQuantisationFact),
                            .text = joined.strings.Intern(weights.text(fact.text)),
                            .number = fact.number});
  }
  return joined;
}

// The model of a config that says nothing of quantisation, joined with weights that are quantised
// all the same, as GGUF's: their file says how. Nothing where they are not or are not asked for;
// an error where they are not weights of that model.
Result<std::optional<Program>> JoinedAsStored(const Program& built, const Importer& reader,
                                              const std::string& path,
                                              const ImportOptions& options) {
  if (options.dtype || options.training || options.labelled) return std::nullopt;
  SY_ASSIGN_OR_RETURN(Program weights, reader.read(path, options));
  if (weights.packings.empty()) return std::nullopt;
  return JoinedByName(built, std::move(weights));
}

// How the weights alone are asked for.
std::string Alone(const Importer& reader) { return "--from " + std::string(reader.name); }

void OfferAlone(const Importer& reader, Error& error) {
  error.hint += (error.hint.empty() ? "" : " ") +
                ("Its weights alone, as they are stored: " + Alone(reader) + ".");
}

// The key of a config that an error is about.
std::string KeyOf(const Error& error) {
  const std::size_t colon = error.where.rfind(": ");
  return colon == std::string::npos ? error.where : error.where.substr(colon + 2);
}

// Numbers that llama.cpp stores and transformers computes: factors of the rotary frequencies.
constexpr std::array<std::string_view, 3> kComputed{"rope_freqs.weight", "rope_factors_long.weight",
                                                    "rope_factors_short.weight"};

// Of experts, which transformers has as a buffer.
constexpr std::string_view kCorrection = ".exp_probs_b.bias";

std::int64_t NumbersIn(const Program& program) {
  CheckedInt all = 0;
  for (const NamedTensor& parameter : program.parameters) {
    if (parameter.tied_to != kNoId) continue;
    const std::string_view name = program.text(parameter.name);
    if (std::ranges::find(kComputed, name) != kComputed.end()) continue;
    if (name.ends_with(kCorrection)) continue;
    CheckedInt count = 1;
    for (int i = 0; i < program.values[parameter.value].rank; ++i) {
      count = count * CheckedInt(program.size(parameter.value, i).number());
    }
    all = all + count;
  }
  return all.ok() ? all.value() : -1;
}

Status CheckNumbers(const Program& built, const Program& weights) {
  const std::int64_t wanted = NumbersIn(built), stored = NumbersIn(weights);
  if (wanted == stored) return {};
  return Unexpected(Unsupported(
      fmt::format("they describe a model of {} parameters, and the file has {}", wanted, stored),
      "metadata", "Put the config.json of the model into a folder with it, and name the folder."));
}

// Matrices of halves, of a model that computes in float32, stay halves.
void PackHalves(Program* weights) {
  for (NamedTensor& stored : weights->parameters) {
    const Value& value = weights->values[stored.value];
    const bool half = value.dtype == DType::kFloat16 || value.dtype == DType::kBFloat16;
    if (stored.packing != kNoId || !half || value.rank < 2) continue;
    const Packing packing{.name = weights->strings.Intern(weights->stored_as(stored)),
                          .bytes = weights->stored_bytes(stored)};
    stored.packing = static_cast<std::uint32_t>(weights->packings.size());
    weights->packings.push_back(packing);
  }
}

// What the matrices of a model that was built are, and what is made of them.
DType ComputedIn(const Program& built) {
  for (const NamedTensor& parameter : built.parameters) {
    const Value& value = built.values[parameter.value];
    if (value.rank >= 2) return value.dtype;
  }
  return DType::kFloat32;
}

void NoteDescribed(const Importer& reader, std::string_view how, Program* program) {
  program->notes.push_back(program->strings.Intern(
      fmt::format("The model is built of the file's metadata, {}: {} weighs its weights alone.",
                  how, Alone(reader))));
}

// Of a file in which halves are beside float32, but whose model has layers that are made of no
// packed weights, as GPT-2's.
Result<Program> BuildInOneDType(const Importer& reader, const std::string& config,
                                ImportOptions options, const Program& weights) {
  options.dtype = ComputedIn(weights);
  SY_ASSIGN_OR_RETURN(Program built, BuildOfConfig(config, "metadata", options));
  NoteDescribed(reader,
                fmt::format("and all of it is {0}, as the file's matrices are: its layers are not "
                            "known to run on them beside float32, so weights that the file has in "
                            "another dtype count as {0}",
                            NameOf(*options.dtype)),
                &built);
  return built;
}

Result<Program> BuildDescribed(const Importer& reader, const std::string& path,
                               const ImportOptions& options, const Program& weights) {
  SY_ASSIGN_OR_RETURN(const std::string config, reader.config(path, weights));
  SY_ASSIGN_OR_RETURN(Program built, BuildOfConfig(config, "metadata", options));
  SY_RETURN_IF_ERROR(CheckNumbers(built, weights));
  const DType computed = ComputedIn(built);
  const bool quantised = !weights.packings.empty();
  if (options.dtype || options.training || options.labelled) {
    const std::string as = quantised ? "as if it were not quantised, in" : "and all of it is";
    NoteDescribed(reader, fmt::format("{} {}", as, NameOf(computed)), &built);
    return built;
  }
  Program stored = weights;
  if (computed == DType::kFloat32) PackHalves(&stored);
  if (stored.packings.empty()) {
    NoteDescribed(reader, fmt::format("and all of it is {}", NameOf(computed)), &built);
    return built;
  }
  Result<Program> joined = JoinedByName(std::move(built), std::move(stored));
  if (!joined && !quantised) return BuildInOneDType(reader, config, options, weights);
  SY_RETURN_IF_ERROR(joined);
  NoteDescribed(reader, "and what is computed is float32, as in llama.cpp", &*joined);
  return joined;
}

}  // namespace

Result<Program> WithWeights(Result<Program> built, const Importer& reader, const std::string& path,
                            const ImportOptions& options) {
  if (built && !IsQuantised(*built)) {
    Result<std::optional<Program>> joined = JoinedAsStored(*built, reader, path, options);
    if (joined && *joined) return **std::move(joined);
    const std::string reason = joined ? "" : " (" + joined.error().message + ")";
    built->notes.push_back(built->strings.Intern("The weights in the folder are not read" + reason +
                                                 ": " + Alone(reader) +
                                                 " weighs them as they are stored."));
    return built;
  }
  if (built) built = Joined(*std::move(built), reader, path, options);
  if (built) return built;
  const bool of_weights = !options.runs && !options.dtype && options.attention.empty();
  if (built.error().code != ErrorCode::kUnsupported || !of_weights) {
    OfferAlone(reader, built.error());
    return built;
  }
  Result<Program> weights = reader.read(path, options);
  if (!weights) return weights;
  const Error& reason = built.error();
  weights->notes.push_back(weights->strings.Intern("No model is built of its config.json (" +
                                                   KeyOf(reason) + ": " + reason.message +
                                                   "): these are its weights as they are stored."));
  return weights;
}

Result<Program> DescribedByWeights(const Importer& reader, const std::string& path,
                                   const ImportOptions& options) {
  SY_ASSIGN_OR_RETURN(Program weights, reader.read(path, options));
  Result<Program> built = BuildDescribed(reader, path, options, weights);
  if (built || built.error().code == ErrorCode::kUsage) return built;
  Error reason = std::move(built).error();
  const bool asks = options.runs || options.dtype || options.cache || !options.attention.empty();
  if (asks) {
    OfferAlone(reader, reason);
    return Unexpected(Within(path, std::move(reason)));
  }
  const std::string key = KeyOf(reason);
  weights.notes.push_back(weights.strings.Intern("No model is built of its metadata (" +
                                                 (key.empty() ? "" : key + ": ") + reason.message +
                                                 "): these are its weights as they are stored."));
  return weights;
}

}  // namespace steelyard
