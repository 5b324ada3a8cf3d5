// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "analyze/counting.h"
#include "render/renderer.h"
#include "steelyard/weigh.h"

namespace steelyard {

std::vector<Choice> ReportFormats() {
  std::vector<Choice> choices;
  for (const render::Renderer& renderer : render::Renderers()) {
    choices.push_back({renderer.name, renderer.summary, renderer.extension});
  }
  return choices;
}

std::vector<Choice> CountingConventions() {
  std::vector<Choice> choices;
  for (const Convention& convention : Conventions()) {
    choices.push_back({convention.name, convention.summary});
  }
  return choices;
}

}  // namespace steelyard
