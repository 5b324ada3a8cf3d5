// SPDX-License-Identifier: Apache-2.0
//
// Runs take tensors of PyTorch by their addresses, so that nothing here knows PyTorch; the
// interpreter is free while they last.
#include "session/run.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "steelyard/program.h"
#include "steelyard/report.h"
#include "text.h"
#include "unwrap.h"

namespace nb = nanobind;

namespace steelyard::python {
namespace {

// A tensor of Python's, which holds it as long as a run lasts: its elements lie row by row.
struct HeldTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::uintptr_t address = 0;
};

// Nothing where there are no tensors at all: they are drawn.
GivenTensors Given(const std::vector<HeldTensor>& tensors) {
  if (tensors.empty()) return {};
  return [&tensors](std::string_view name) -> std::optional<GivenTensor> {
    for (const HeldTensor& tensor : tensors) {
      if (tensor.name != name) continue;
      return GivenTensor{tensor.dtype, tensor.sizes, reinterpret_cast<const void*>(tensor.address)};
    }
    return std::nullopt;
  };
}

Sources SourcesOf(const std::vector<HeldTensor>& weights, const std::vector<HeldTensor>& inputs) {
  return {.weights = Given(weights),
          .inputs = Given(inputs),
          .weights_name = "model",
          .inputs_name = "args"};
}

// As long as one lives Ctrl-C ends a run, too, besides what Python does of it.
class Interruptible {
 public:
  Interruptible() {
    const PyOS_sighandler_t found = PyOS_getsig(SIGINT);
    installs_ = found != SIG_DFL && found != SIG_IGN && found != Stop;  // that of another thread
    if (!installs_) return;
    g_pythons = found;
    g_stop = 0;
    PyOS_setsig(SIGINT, Stop);
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() {
    if (installs_) PyOS_setsig(SIGINT, g_pythons);
  }
  static const volatile int* stop() { return &g_stop; }

 private:
  static void Stop(int signal) {
    g_stop = 1;
    g_pythons(signal);
  }
  static inline volatile std::sig_atomic_t g_stop = 0;
  static inline PyOS_sighandler_t g_pythons = nullptr;
  bool installs_ = false;
};

// What `run` makes of the options, with the interpreter free; raises what Ctrl-C raises.
template <class Work>
auto WhileFree(RunOptions options, const Work& run) {
  const Interruptible interruptible;
  options.stop = Interruptible::stop();
  auto result = [&] {
    const nb::gil_scoped_release free;
    return run(options);
  }();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return Unwrap(std::move(result));
}

// Milliseconds of a run, one number for each repetition.
std::vector<double> MillisecondsOf(const Running& running) {
  constexpr double kMilli = 1e3;
  std::vector<double> sums;
  for (const StageTimes& stage : running.measurement.stages) {
    sums.resize(stage.seconds.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += kMilli * stage.seconds[i];
  }
  return sums;
}

}  // namespace

void BindRun(nb::module_& module) {
  nb::class_<HeldTensor>(module, "HeldTensor", "A tensor of PyTorch's, where its elements lie.")
      .def(
          "__init__",
          [](HeldTensor* self, std::string name, DType dtype, std::vector<std::int64_t> sizes,
             std::uintptr_t address) {
            new (self) HeldTensor{std::move(name), dtype, std::move(sizes), address};
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("sizes"), nb::arg("address"));
  nb::class_<RunOptions>(module, "RunOptions", "What runs, and how often.")
      .def(nb::init<>())
      .def_rw("weigh", &RunOptions::weigh)
      .def_rw("device_at_hand", &RunOptions::device_at_hand)
      .def_rw("engine", &RunOptions::engine)
      .def_rw("threads", &RunOptions::threads)
      .def_rw("warmup", &RunOptions::warmup)
      .def_rw("number", &RunOptions::number)
      .def_rw("repeat", &RunOptions::repeat)
      .def_rw("compare", &RunOptions::compare)
      .def_rw("peak_flops", &RunOptions::peak_flops)
      .def_rw("leave_peak_out", &RunOptions::leave_peak_out);
  module.def(
      "milliseconds",
      [](const Program& program, const RunOptions& options, const std::vector<HeldTensor>& weights,
         const std::vector<HeldTensor>& inputs) {
        return MillisecondsOf(WhileFree(options, [&](const RunOptions& asked) {
          return Run(Program(program), asked, SourcesOf(weights, inputs));
        }));
      },
      nb::arg("program"), nb::arg("options"), nb::arg("weights"), nb::arg("inputs"),
      "What a run of a program takes in PyTorch, on tensors or, without them, on random numbers.");
  module.def(
      "compared_runs",
      [](const Program& program, const RunOptions& options, const std::vector<HeldTensor>& weights,
         const std::vector<HeldTensor>& inputs, std::string_view format) {
        const RunComparison compared = WhileFree(options, [&](const RunOptions& asked) {
          return CompareRuns(program, asked, SourcesOf(weights, inputs));
        });
        return Unwrap(report::Render(Describe(compared, {}), format));
      },
      nb::arg("program"), nb::arg("options"), nb::arg("weights"), nb::arg("inputs"),
      nb::arg("format"), "The report of a program that ran in two precisions in turns.");
  module.def("input_names", [](const Program& program) {
    std::vector<std::string> names;
    for (const ValueId id : program.inputs)
      names.emplace_back(program.text(program.values[id].name));
    return names;
  });
}

}  // namespace steelyard::python
