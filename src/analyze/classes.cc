// SPDX-License-Identifier: Apache-2.0

#include "analyze/classes.h"

#include <algorithm>
#include <tuple>

namespace steelyard {

std::vector<ClassReport> CountClasses(const Program& kernels,
                                      const std::vector<ModuleReport>& modules) {
  std::vector<ClassReport> classes;
  for (const ModuleReport& module : modules) {
    const StringId name = kernels.modules[module.module].class_name;
    auto found = std::ranges::find_if(classes, [&](const ClassReport& known) {
      return known.depth == module.depth && known.class_name == name;
    });
    if (found == classes.end()) {
      found = classes.insert(found, {.depth = module.depth, .class_name = name});
    }
    ++found->modules;
    found->parameters += module.parameters;
    found->parameter_bytes += module.parameter_bytes;
    found->activation_bytes += module.activation_bytes;
    found->work += module.work;
  }
  std::ranges::stable_sort(classes, [](const ClassReport& a, const ClassReport& b) {
    return std::tuple(a.depth, -a.work.flops, -a.parameters) <
           std::tuple(b.depth, -b.work.flops, -b.parameters);
  });
  return classes;
}

}  // namespace steelyard
