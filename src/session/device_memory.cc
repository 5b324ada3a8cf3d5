// SPDX-License-Identifier: Apache-2.0
//
// What is reserved depends on where earlier blocks lie, so that parameters are placed as modules
// are moved, and a step is told as the third of its kind. A device that is too small is told of
// with what it would have taken.

#include "session/device_memory.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/cuda/releases.h"
#include "runtime/eager.h"
#include "runtime/residents.h"
#include "session/analyses.h"
#include "session/prepare.h"
#include "session/runtimes.h"
#include "support/choices.h"

namespace steelyard {

bool Caches(const WeighOptions& options) {
  const Runtime* runtime = FindRuntime(options.runtime);
  return options.target.device == Device::kCuda && runtime != nullptr && !runtime->compiles;
}

namespace {

// What a module holds itself, and its children in the order in which they are met.
struct Holder {
  std::vector<ResidentBlock> own;
  std::vector<std::pair<std::string_view, std::size_t>> children;
};

// A tree of modules by the dots in the names of tensors.
class Holders {
 public:
  void Add(std::string_view name, const ResidentBlock& block) {
    std::size_t at = 0;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
      at = Child(at, name.substr(0, dot));
      name.remove_prefix(dot + 1);
    }
    holders_[at].own.push_back(block);
  }
  // Children before what holds them.
  void Append(std::vector<ResidentBlock>* out, std::size_t at = 0) const {
    for (const auto& [name, child] : holders_[at].children) Append(out, child);
    out->insert(out->end(), holders_[at].own.begin(), holders_[at].own.end());
  }

 private:
  std::size_t Child(std::size_t of, std::string_view name) {
    for (const auto& [known, child] : holders_[of].children) {
      if (known == name) return child;
    }
    const std::size_t child = holders_.size();
    holders_[of].children.emplace_back(name, child);
    holders_.emplace_back();
    return child;
  }

  std::vector<Holder> holders_{1};
};

}  // namespace

std::vector<ResidentBlock> ResidentBlocks(const Program& kernels, const Timeline& timeline) {
  std::vector<std::string_view> names(kernels.values.size());
  for (const auto* list : {&kernels.buffers, &kernels.parameters}) {
    for (const NamedTensor& tensor : *list | std::views::reverse) {
      if (tensor.value != kNoId) names[tensor.value] = kernels.text(tensor.name);
    }
  }
  std::vector<std::uint32_t> given_up(kernels.values.size(), ResidentBlock::kKept);
  for (std::uint32_t i = 0; i < timeline.blocks.size(); ++i) {
    if (timeline.blocks[i].resident) given_up[timeline.blocks[i].value] = i;
  }
  Holders holders;
  std::vector<ResidentBlock> others, residents;
  VisitResidents(kernels, [&](ValueId id, Category category, std::int64_t bytes) {
    const bool held = category == Category::kParameters || category == Category::kBuffers;
    const ResidentBlock block{.bytes = bytes, .category = category, .block = given_up[id]};
    held ? holders.Add(names[id], block) : others.push_back(block);
  });
  holders.Append(&residents);
  residents.insert(residents.end(), others.begin(), others.end());
  return residents;
}

namespace {

Result<EarlierRun> RunAs(const Program& program, const WeighOptions& options) {
  SY_ASSIGN_OR_RETURN(const Lowered lowered, Lower(program, PassesOf(options)));
  Timeline timeline = RunEager(lowered.kernels, options.target);
  std::vector<ResidentBlock> residents = ResidentBlocks(lowered.kernels, timeline);
  return EarlierRun{.timeline = std::move(timeline), .residents = std::move(residents)};
}

}  // namespace

Result<EarlierRuns> RunEarlier(const Program& program, const WeighOptions& options) {
  EarlierRuns runs;
  if (!Caches(options)) return runs;
  const bool trains = !options.train.optimizer.empty();
  if (trains && ZeroStage(options.train.parallel) > 0) {
    WeighOptions making = options;
    making.train.first_step = making.train.makes_engine = true;
    SY_ASSIGN_OR_RETURN(runs.making, RunAs(program, making));
  }
  const bool differs = trains || cuda::IsBefore(options.target, cuda::kWorkspacesAreFreed);
  if (differs && !options.train.first_step) {
    WeighOptions first = options;
    first.train.first_step = trains;
    SY_ASSIGN_OR_RETURN(runs.first_step, RunAs(program, first));
  }
  return runs;
}

namespace {

// Stands for the settings below, besides those that PyTorch has itself.
constexpr std::string_view kRecommend = "recommend";
// Each helps some programs, of those whose sizes vary or whose large blocks are split.
constexpr std::array<std::string_view, 4> kOftenHelp = {
    "expandable_segments:True", "max_split_size_mb:128", "max_split_size_mb:512",
    "roundup_power2_divisions:8"};

Result<AllocatorSettings> SettingsOf(std::string_view text, const Target& target) {
  Result<AllocatorSettings> settings = ParseAllocatorSettings(text);
  if (!settings) return Unexpected(Within("--alloc-conf", std::move(settings).error()));
  settings->tie_break = AllocatorSettingsOfTorch(2, target.torch_minor).tie_break;
  return settings;
}

// The steps, and what is there before them.
struct Course {
  std::vector<ResidentBlock> residents;
  std::vector<const Timeline*> steps;
};

Course CourseOf(const Program& kernels, const Timeline& timeline, const WeighOptions& options,
                const std::optional<EarlierRun>& first) {
  const bool trains = !options.train.optimizer.empty();
  const bool keeps_cache = std::ranges::any_of(
      kernels.values, [](const Value& value) { return value.role == Role::kCache; });
  // A forward pass gives its cache to the next one, which is another call.
  const bool once = trains ? !first : keeps_cache;
  Course course;
  course.steps.assign(once ? 1 : 3, &timeline);
  if (first) course.steps[0] = &first->timeline;
  course.residents = first ? first->residents : ResidentBlocks(kernels, timeline);
  return course;
}

Course After(const EarlierRun& making, Course course) {
  course.residents = making.residents;
  course.steps.insert(course.steps.begin(), &making.timeline);
  return course;
}

// The same, unless the device has no room for the making of a whole model. Then the model was made
// in parts, which has left what the other way leaves; where even that is too much, nothing.
ReservedUse RunAfter(const EarlierRun& making, Course* course, const AllocatorSettings& settings,
                     const DeviceMemory& device, bool* made_in_parts) {
  Course longer = After(making, *course);
  ReservedUse use = RunSteps(longer.residents, longer.steps, settings, device);
  *made_in_parts = use.out_of_memory && use.step == 0;
  if (!*made_in_parts) {
    *course = std::move(longer);
    return use;
  }
  use = RunSteps(longer.residents, longer.steps, settings, DeviceMemory::Unlimited());
  if (use.reserved <= device.free()) return use;
  return RunSteps(course->residents, course->steps, settings, device);
}

DeviceMemoryReport RunWith(const AllocatorSettings& settings, const Program& kernels,
                           const Timeline& timeline, const WeighOptions& options,
                           const EarlierRuns& earlier, bool follows) {
  const Target& target = options.target;
  DeviceMemoryReport report;
  report.total = target.memory;
  if (const DeviceSpec* device = FindDevice(target.name)) {
    ProcessUse use = ProcessUseOf(kernels);
    use.ranks = options.train.ranks;
    report.overhead = ProcessBytes(*device, use);
  }
  const DeviceMemory device(target.memory, report.overhead.high);
  Course course = CourseOf(kernels, timeline, options, earlier.first_step);
  report.use = earlier.making
                   ? RunAfter(*earlier.making, &course, settings, device, &report.made_in_parts)
                   : RunSteps(course.residents, course.steps, settings, device);
  if (report.use.out_of_memory) {
    // What it would take, had the device enough.
    ReservedUse use = RunSteps(course.residents, course.steps, settings, DeviceMemory::Unlimited());
    use.out_of_memory = report.use.out_of_memory;
    use.step = report.use.step;
    use.event = report.use.event;
    report.use = use;
  }
  if (follows) {
    report.course = FollowSteps(course.residents, course.steps, settings,
                                report.use.out_of_memory ? DeviceMemory::Unlimited() : device);
  }
  return report;
}

// Those that are to be compared, each once; the first is what holds.
std::vector<std::string_view> TextsOf(const std::vector<std::string>& alloc_conf) {
  std::vector<std::string_view> texts;
  const auto add = [&](std::string_view text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  };
  for (const std::string& text : alloc_conf) {
    if (text != kRecommend) {
      add(text);
      continue;
    }
    add("");
    for (const std::string_view known : kOftenHelp) add(known);
  }
  return texts;
}

}  // namespace

Result<DeviceMemoryReport> RunOnDevice(const Program& kernels, const Timeline& timeline,
                                       const WeighOptions& options, const EarlierRuns& earlier) {
  const std::vector<std::string_view> texts = TextsOf(options.alloc_conf);
  SY_ASSIGN_OR_RETURN(
      const AllocatorSettings settings,
      SettingsOf(texts.empty() ? std::string_view() : texts.front(), options.target));
  return RunWith(settings, kernels, timeline, options, earlier, options.segments);
}

Result<std::vector<AllocatorTrial>> CompareAllocators(const Program& kernels,
                                                      const Timeline& timeline,
                                                      const WeighOptions& options,
                                                      const EarlierRuns& earlier,
                                                      const DeviceMemoryReport& device) {
  std::vector<AllocatorTrial> trials;
  const std::vector<std::string_view> texts = TextsOf(options.alloc_conf);
  if (texts.size() < 2) return trials;
  for (const std::string_view text : texts) {
    SY_ASSIGN_OR_RETURN(const AllocatorSettings settings, SettingsOf(text, options.target));
    const DeviceMemoryReport report =
        text == texts.front() ? device
                              : RunWith(settings, kernels, timeline, options, earlier, false);
    trials.push_back({.settings = std::string(text),
                      .reserved = report.use.reserved,
                      .inactive = report.use.inactive,
                      .retries = report.use.retries,
                      .fits = report.fits()});
  }
  std::ranges::stable_sort(trials, {}, [](const AllocatorTrial& trial) {
    return std::tuple(!trial.fits, trial.reserved);
  });
  return trials;
}

std::int64_t NeededBytes(const Weighing& weighing) {
  const auto& device = weighing.analyses->device;
  return device ? device->process().high : weighing.totals.peak_bytes;
}

Result<std::vector<Target>> DevicesNamed(std::span<const std::string> names) {
  std::vector<std::string_view> known;
  for (const DeviceSpec& device : Devices()) known.push_back(device.name);
  const bool all = std::ranges::find(names, "all") != names.end();
  std::vector<Target> targets;
  for (const std::string& name : names) {
    if (name != "all" && FindDevice(name) == nullptr) {
      return Unexpected(NoSuch("CUDA device", name, known, "--devices"));
    }
  }
  for (const std::string_view name : known) {
    if (all || std::ranges::find(names, name) != names.end()) targets.push_back(*TargetNamed(name));
  }
  return targets;
}

Result<DeviceFit> FitOn(const Program& program, const WeighOptions& options) {
  SY_ASSIGN_OR_RETURN(const EarlierRuns earlier, RunEarlier(program, options));
  SY_ASSIGN_OR_RETURN(Lowered lowered, Lower(program, PassesOf(options)));
  std::optional<GraphRun> graph;
  SY_ASSIGN_OR_RETURN(const Timeline timeline, RunAsChosen(options, &lowered.kernels, &graph));
  SY_ASSIGN_OR_RETURN(const DeviceMemoryReport device,
                      RunOnDevice(lowered.kernels, timeline, options, earlier));
  return DeviceFit{.name = options.target.name,
                   .total = device.total,
                   .allocated = device.use.allocated,
                   .reserved = device.use.reserved,
                   .low = device.process().low,
                   .high = device.process().high,
                   .fits = device.fits()};
}

}  // namespace steelyard
