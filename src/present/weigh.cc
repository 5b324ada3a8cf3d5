// SPDX-License-Identifier: Apache-2.0
//
// The order of a report. For people: what was weighed, its memory, what could be done about that,
// its work, then modules and operators, and last how far the figures can be trusted. For programs
// the order means nothing. A file without a graph has a report of its own (weights.cc).

#include "present/weigh.h"

#include "present/advice.h"
#include "present/classes.h"
#include "present/conventions.h"
#include "present/device_memory.h"
#include "present/events.h"
#include "present/findings.h"
#include "present/generation.h"
#include "present/kernels.h"
#include "present/memory.h"
#include "present/modules.h"
#include "present/names.h"
#include "present/notes.h"
#include "present/operators.h"
#include "present/parameters.h"
#include "present/precision.h"
#include "present/segments.h"
#include "present/tables.h"
#include "present/timings.h"
#include "present/weights.h"
#include "present/work.h"
#include "steelyard/report.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

// "Modelled: 2,431 of 2,431 operators in 6.2 ms."
void AppendModelled(const Findings& findings, report::Document* document) {
  document->body.emplace_back(report::Paragraph{
      {"Modelled: ", In(Unit::kNone, findings.work.modelled_calls), " of ",
       In(Unit::kNone, findings.work.calls), " operators in ",
       Quantity{.value = findings.elapsed_seconds, .unit = Unit::kSeconds}, "."}});
}

std::string_view KeyOf(Claim claim) {
  switch (claim) {
    case Claim::kExact:
      return "exact";
    case Claim::kAtLeast:
      return "at_least";
    case Claim::kEstimated:
      return "estimated";
  }
  __builtin_unreachable();
}

void AddClaimData(const Findings& findings, report::Data* data) {
  data->OpenObject("claims");
  data->SetText("work", KeyOf(findings.claim()));
  data->SetText("memory", KeyOf(findings.memory_claim()));
  data->Close();
}

// The table that is asked for comes last.
void AddSegmentData(const Findings& findings, const Shown& shown, report::Data* data) {
  if (findings.device == nullptr || !findings.device->course) return;
  for (const std::string_view table : {"segments", "levels"}) {
    if (table != shown.table) AddTable(findings, table, data);
  }
}

void PresentProgramData(const Findings& findings, const Shown& shown, report::Data* data) {
  AddModelData(findings, data);
  AddGenerationData(findings, data);
  AddWorkData(findings, data);
  AddMemoryData(findings, shown, data);
  AddAllocatorsData(findings, data);
  AddSegmentData(findings, shown, data);
  AddDevicesData(findings, data);
  AddPrecisionData(findings, data);
  AddAdviceData(findings, data);
  AddModuleData(findings, data);
  AddClassData(findings, data);
  AddOperatorData(findings, data);
  AddConventionData(findings, data);
  AddClaimData(findings, data);
  AddNoteData(findings, data);
  AddTable(findings, shown.table, data);
}

}  // namespace

void PresentBody(const Findings& findings, const Shown& shown, report::Document* document) {
  if (!findings.kernels.has_graph) return PresentWeightsBody(findings, shown, document);
  AppendModel(findings, document);
  AppendGeneration(findings, document);
  AppendMemory(findings, shown, document);
  AppendSegments(findings, shown.detailed, document);
  AppendAllocators(findings, document);
  AppendDevices(findings, document);
  AppendPrecision(findings, shown.top, document);
  AppendAdvice(findings, document);
  AppendWork(findings, document);
  AppendModules(findings, shown, document);
  if (shown.classes) AppendClasses(findings, shown, document);
  AppendOperators(findings, shown.top, document);
  if (shown.detailed) AppendKinds(findings, document);
  AppendConventions(findings, shown.top, document);
  if (shown.events && findings.graph != nullptr) AppendKernels(findings, document);
  if (shown.events) AppendEvents(findings, document);
  AppendUnmodelled(findings, document);
  AppendNotes(findings, document);
  if (shown.timings) AppendTimings(findings, document);
  AppendModelled(findings, document);
}

void PresentData(const Findings& findings, const Shown& shown, report::Document* document) {
  report::Data& data = document->data;
  data.SetText("schema", kReportSchema);
  data.SetText("steelyard", kVersion);
  if (findings.kernels.has_graph) {
    PresentProgramData(findings, shown, &data);
  } else {
    PresentWeightsData(findings, shown, &data);
  }
  if (shown.timings) AddTimingsData(findings, &data);
  data.SetDouble("elapsed_seconds", findings.elapsed_seconds, Unit::kSeconds);
}

}  // namespace steelyard::present
