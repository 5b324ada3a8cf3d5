// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "ir/text_printer.h"
#include "models/model.h"

namespace steelyard::models {

// A net to build layers in, without a config.
struct NetUnderTest {
  explicit NetUnderTest(ModelOptions chosen = {}) : options(std::move(chosen)) {}

  // The calls of the program, as text.
  std::string Text() {
    const std::string text = Print(std::move(builder).Build().value());
    return text.substr(text.find("\n%") + 1);
  }

  Setting root{.kind = Setting::Kind::kObject};
  Settings config{root};
  ModelOptions options;
  Builder builder{"M"};
  Net net{.b = builder, .config = config, .options = options, .batch = Dim(2), .seq = Dim(3)};
};

}  // namespace steelyard::models
