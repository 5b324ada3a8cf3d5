// SPDX-License-Identifier: Apache-2.0
//
// The observer of programs that run, for Python's hooks: each function hands on what it is given
// and comes back at once. Modules go by their addresses, as `id` has them.
#include "session/watch.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "function_tap.h"
#include "session/kernel_chunks.h"
#include "steelyard/error.h"
#include "steelyard/report.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

// A record, as it stands in a file.
std::string RecordOf(const SyObserver& observer) {
  std::string bytes;
  observer.read(&bytes, [](void* who, const void* part, std::size_t count) {
    static_cast<std::string*>(who)->append(static_cast<const char*>(part), count);
  });
  return bytes;
}

void Add(const SyObserver& observer, SyEntryKind kind, std::uint64_t id,
         const std::array<std::uint64_t, 4>& numbers, std::string_view text,
         std::uint32_t spare = 0) {
  const SyEntry entry{.size = 0,
                      .kind = static_cast<std::uint32_t>(kind),
                      .id = id,
                      .numbers = {numbers[0], numbers[1], numbers[2], numbers[3]},
                      .text_size = static_cast<std::uint32_t>(text.size()),
                      .spare = spare};
  observer.add_entry(&entry, text.data());
}

std::string Joined(std::string_view first, std::string_view second) {
  return std::string(first).append(1, '\0').append(second);
}

// The observer, and what is asked of it. It is one for the whole process.
struct Observer {
  const SyObserver* calls;

  void Watch(bool ops, std::uint32_t every, const std::optional<std::string>& path,
             std::optional<std::uint32_t> warmup, std::uint64_t ring) const {
    Start({.level = ops ? SY_OPS : SY_LIGHT,
           .every = every,
           .parts = 0,
           .warmup = warmup ? *warmup + 1 : 0,
           .ring = ring,
           .path = path ? path->c_str() : nullptr});
  }
  void StartProfile(bool inputs, bool memory) const {
    const int parts = (inputs ? SY_PART_INPUTS : 0) | (memory ? SY_PART_MEMORY : 0);
    Start({.level = SY_PROFILE,
           .every = 1,
           .parts = static_cast<std::uint32_t>(parts),
           .warmup = 0,
           .ring = 0,
           .path = nullptr});
  }

 private:
  void Start(const SyWatchOptions& options) const {
    const char* problem = nullptr;
    if (calls->start(&options, &problem)) return;
    const bool in_file = options.path != nullptr;
    throw Failure(InvalidInput(problem, in_file ? options.path : "the observer",
                               in_file
                                   ? "Name a file that can be written: record=\"run.record\"."
                                   : "One session at a time watches a process: leave the other."));
  }
};

// What a range is called in the record.
std::uint32_t NameRange(const SyObserver& observer, std::string_view name) {
  const auto id = static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
  Add(observer, SY_NAME, id, {}, name);
  return id;
}

void BindRanges(nb::class_<Observer>& observer) {
  observer
      .def("enter_range",
           [](const Observer& self, std::string_view name) {
             self.calls->enter_range(NameRange(*self.calls, name), SY_USER_RANGE);
           })
      .def("leave_range",
           [](const Observer& self, std::string_view name) {
             self.calls->leave_range(NameRange(*self.calls, name), SY_USER_RANGE);
           })
      .def("begin_functions",
           [](const Observer& self, std::vector<std::string> prefixes, std::string own) {
             BeginFunctions(*self.calls, std::move(prefixes), std::move(own));
           })
      .def("end_functions", [](const Observer&) { EndFunctions(); });
}

void BindEntries(nb::class_<Observer>& observer) {
  observer
      .def(
          "add_module",
          [](const Observer& self, std::uintptr_t module, std::uint32_t id,
             std::optional<std::uint32_t> parent, bool trains, std::string_view path,
             std::string_view class_name) {
            Add(*self.calls, SY_MODULE, id, {parent.value_or(SY_NO_ID), trains ? 1u : 0u, 0, 0},
                Joined(path, class_name));
            self.calls->add_module(reinterpret_cast<const void*>(module), id);
          },
          nb::arg("module"), nb::arg("id"), nb::arg("parent").none(), nb::arg("trains"),
          nb::arg("path"), nb::arg("class_name"))
      .def(
          "add_place",
          [](const Observer& self, std::uint32_t id, std::uint32_t parent, std::uint32_t first,
             std::string_view path, std::string_view class_name) {
            Add(*self.calls, SY_MODULE, id, {parent, 0, first + std::uint64_t{1}, 0},
                Joined(path, class_name));
          },
          nb::arg("id"), nb::arg("parent"), nb::arg("first"), nb::arg("path"),
          nb::arg("class_name"))
      .def("alias_module",
           [](const Observer& self, std::uintptr_t module, std::uint32_t id) {
             self.calls->add_module(reinterpret_cast<const void*>(module), id);
           })
      .def("forget_module",
           [](const Observer& self, std::uintptr_t module) {
             self.calls->forget_module(reinterpret_cast<const void*>(module));
           })
      .def(
          "add_tensor",
          [](const Observer& self, std::uint32_t id, std::uint32_t module, std::uint64_t elements,
             std::uint64_t bytes, std::uint64_t tensor, Category category, std::string_view name,
             std::string_view dtype) {
            Add(*self.calls, SY_TENSOR, id, {module, elements, bytes, tensor}, Joined(name, dtype),
                static_cast<std::uint32_t>(category));
          },
          nb::arg("id"), nb::arg("module"), nb::arg("elements"), nb::arg("bytes"),
          nb::arg("tensor"), nb::arg("category"), nb::arg("name"), nb::arg("dtype"))
      .def("add_optimizer",
           [](const Observer& self, std::uint32_t id, std::string_view class_name) {
             Add(*self.calls, SY_OPTIMIZER, id, {}, class_name);
           })
      .def("fact", [](const Observer& self, std::string_view key,
                      std::uint64_t value) { Add(*self.calls, SY_FACT, 0, {value, 0, 0, 0}, key); })
      .def("remark", [](const Observer& self, std::string_view text) {
        Add(*self.calls, SY_REMARK, 0, {}, text);
      });
}

void BindEvents(nb::class_<Observer>& observer) {
  observer
      .def("enter",
           [](const Observer& self, nb::handle module) { return self.calls->enter(module.ptr()); })
      .def("leave",
           [](const Observer& self, nb::handle module) { return self.calls->leave(module.ptr()); })
      .def("enter_optimizer",
           [](const Observer& self, std::uint32_t id) { self.calls->enter_optimizer(id); })
      .def("leave_optimizer",
           [](const Observer& self, std::uint32_t id) { self.calls->leave_optimizer(id); })
      .def("hear_cuda", [](const Observer& self) { return self.calls->hear_cuda(); })
      .def("hear_calls", [](const Observer& self, bool heard) { self.calls->hear_calls(heard); })
      .def("end_step",
           [](const Observer& self, std::uint32_t number) { self.calls->end_step(number); })
      .def(
          "mark",
          [](const Observer& self, std::uintptr_t storage, std::uint64_t address,
             std::uint64_t bytes, std::uint16_t device, Category category,
             std::optional<std::uint32_t> tensor) {
            const bool lasts = category == Category::kParameters ||
                               category == Category::kBuffers ||
                               category == Category::kOptimizerState;
            self.calls->mark(reinterpret_cast<void*>(storage), address, bytes,
                             static_cast<std::uint8_t>(category), tensor.value_or(SY_NO_ID), lasts,
                             device);
          },
          nb::arg("storage"), nb::arg("address"), nb::arg("bytes"), nb::arg("device"),
          nb::arg("category"), nb::arg("tensor").none() = nb::none());
}

}  // namespace

void BindWatch(nb::module_& module) {
  nb::enum_<Category>(module, "Category", "Whose a stretch of memory is.")
      .value("PARAMETERS", Category::kParameters)
      .value("BUFFERS", Category::kBuffers)
      .value("INPUTS", Category::kInputs)
      .value("GRADIENTS", Category::kGradients)
      .value("OPTIMIZER_STATE", Category::kOptimizerState)
      .value("ACTIVATIONS", Category::kActivations)
      .value("TEMPORARIES", Category::kTemporaries)
      .value("OUTPUTS", Category::kOutputs)
      .value("CACHE", Category::kCache)
      .value("LIBRARIES", Category::kLibraries);
  auto observer =
      nb::class_<Observer>(module, "Observer", "Writes down what a program does while it runs.")
          .def("start", &Observer::Watch, nb::arg("ops"), nb::arg("every"),
               nb::arg("path").none() = nb::none(), nb::arg("warmup").none() = nb::none(),
               nb::arg("ring") = 0)
          .def("start_profile", &Observer::StartProfile, nb::arg("inputs"), nb::arg("memory"))
          .def("stop", [](const Observer& self) { self.calls->stop(); })
          .def("running", [](const Observer& self) { return self.calls->running(); })
          .def("discard", [](const Observer& self) { self.calls->discard(); })
          .def("record", [](const Observer& self) {
            const std::string bytes = RecordOf(*self.calls);
            return nb::bytes(bytes.data(), bytes.size());
          });
  BindEntries(observer);
  BindEvents(observer);
  BindRanges(observer);
  module.def(
      "load_observer",
      [](const std::string& engine) { return Observer{Unwrap(LoadObserver(engine))}; },
      nb::arg("engine"), "The observer of the engine at that path; \"\": beside the package.");
  module.def(
      "kernel_chunks",
      [](const nb::bytes& record, const nb::bytes& trace, std::string_view where) {
        const std::string bytes = Unwrap(
            KernelChunks({record.c_str(), record.size()}, {trace.c_str(), trace.size()}, where));
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("record"), nb::arg("trace"), nb::arg("where"),
      "What follows a record of what devices ran, from a trace that PyTorch's profiler wrote.");
  nb::class_<Watching>(module, "Watching", "What a program did while it was watched.")
      .def(
          "describe",
          [](const Watching& watching, int depth, int top) {
            return Describe(watching, {.depth = depth, .top = top});
          },
          nb::arg("depth") = 2, nb::arg("top") = 10, nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "read_watch",
      [](const nb::bytes& record, std::string_view where, std::string_view count, bool whole) {
        const std::string_view bytes(record.c_str(), record.size());
        const nb::gil_scoped_release free;
        return Unwrap(ReadWatch(bytes, where, {.count = count, .whole = whole}));
      },
      nb::arg("record"), nb::arg("where"), nb::arg("count") = "torch", nb::arg("whole") = false,
      "What a record says, with work counted as that convention does; all of it as one step, or "
      "step by step.");
}

}  // namespace steelyard::python
