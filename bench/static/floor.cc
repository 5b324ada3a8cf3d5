// SPDX-License-Identifier: Apache-2.0
//
// The least any reader of a .pt2 can do: open the archive, inflate the model's JSON and walk every
// token of it. Prints the number of values, so that nothing is optimised away.

#include <simdjson.h>
#include <zip.h>

#include <cstdio>
#include <string_view>
#include <vector>

namespace {

std::size_t Walk(simdjson::ondemand::value value) {
  std::size_t count = 1;
  simdjson::ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return 0;
  if (type == simdjson::ondemand::json_type::array) {
    simdjson::ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return 0;
    for (auto element : array) {
      simdjson::ondemand::value child;
      if (element.get(child) == simdjson::SUCCESS) count += Walk(child);
    }
  } else if (type == simdjson::ondemand::json_type::object) {
    simdjson::ondemand::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return 0;
    for (auto field : object) {
      simdjson::ondemand::value child;
      if (field.value().get(child) == simdjson::SUCCESS) count += Walk(child);
    }
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int code = 0;
  zip_t* archive = zip_open(argv[1], ZIP_RDONLY, &code);
  if (archive == nullptr) return 1;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); ++i) {
    zip_stat_t entry;
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &entry) != 0) return 1;
    if (!std::string_view(entry.name).ends_with("models/model.json")) continue;
    std::vector<char> text(entry.size + simdjson::SIMDJSON_PADDING);
    zip_file_t* file = zip_fopen_index(archive, static_cast<zip_uint64_t>(i), 0);
    if (file == nullptr || zip_fread(file, text.data(), entry.size) < 0) return 1;
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    if (parser.iterate(text.data(), entry.size, text.size()).get(document) != simdjson::SUCCESS)
      return 1;
    simdjson::ondemand::value root;
    if (document.get_value().get(root) != simdjson::SUCCESS) return 1;
    std::printf("%zu\n", Walk(root));
  }
  zip_discard(archive);
  return 0;
}
