// SPDX-License-Identifier: Apache-2.0
//
// What is computed of the allocator is exact; what the process takes besides is an interval of what
// was measured elsewhere, and says so.

#include "present/device_memory.h"

#include <fmt/core.h>

#include <string>

#include "present/names.h"
#include "steelyard/units.h"

namespace steelyard::present {
namespace {

using report::Sentence;

// "allocated 2.27 GB (requested 2.26 GB, which the categories add up to), reserved 2.62 GB in 98
// segments (40 MB of that free between blocks in the end), the process 3.2 GB to 4.1 GB"
Sentence Numbers(const Findings& findings) {
  const DeviceMemoryReport& device = *findings.device;
  const Claim claim = findings.memory_claim();
  const Interval process = device.process();
  Sentence text = {fmt::format("On {}: allocated ", findings.target.name),
                   {In(Unit::kBytes, device.use.allocated, claim), report::Style::kStrong},
                   " (requested ",
                   In(Unit::kBytes, device.use.requested, claim),
                   ", which the categories add up to), reserved ",
                   {In(Unit::kBytes, device.use.reserved, claim), report::Style::kStrong},
                   fmt::format(" in {}", Counted(device.use.segments, "segment"))};
  if (device.use.inactive > 0) {
    text.insert(text.end(), {" (", In(Unit::kBytes, device.use.inactive, claim),
                             " of that free between blocks in the end)"});
  }
  text.insert(text.end(), {", the process ", In(Unit::kBytes, process.low, Claim::kEstimated),
                           " to ", In(Unit::kBytes, process.high, Claim::kEstimated),
                           ", not yet verified on this device"});
  return text;
}

// Of text that a model writes, only one call is told.
Sentence Verdict(const Findings& findings) {
  const DeviceMemoryReport& device = *findings.device;
  const std::string subject = findings.generation == nullptr ? "It" : "This call";
  if (device.use.out_of_memory) {
    const OutOfMemory& error = *device.use.out_of_memory;
    Sentence text{subject + " does not fit into its ", In(Unit::kBytes, device.total)};
    if (error.allowed) {
      text.insert(text.end(), {", of which ", In(Unit::kBytes, *error.allowed), " are allowed"});
    }
    text.insert(text.end(), {": PyTorch would fail to allocate ", In(Unit::kBytes, error.tried),
                             ", with ", In(Unit::kBytes, error.allocated), " allocated and ",
                             In(Unit::kBytes, error.unallocated), " reserved but unallocated"});
    return text;
  }
  const std::int64_t high = device.process().high;
  if (high > device.total) {
    return {subject + " may not fit into its ", In(Unit::kBytes, device.total)};
  }
  return {subject + " fits into its ", In(Unit::kBytes, device.total), " with at least ",
          In(Unit::kBytes, device.total - high), " to spare"};
}

}  // namespace

void AppendDeviceMemory(const Findings& findings, report::Document* document) {
  document->body.emplace_back(report::Paragraph{Numbers(findings), 1});
  document->body.emplace_back(report::Paragraph{Verdict(findings), 1});
  if (findings.device->made_in_parts) {
    document->body.emplace_back(report::Paragraph{
        {"The whole model has no room there: it is taken to be made in parts (deepspeed.zero.Init, "
         "transformers' from_pretrained under stage 3)"},
        1});
  }
}

void AddDeviceMemoryData(const Findings& findings, report::Data* data) {
  const DeviceMemoryReport& device = *findings.device;
  data->SetInt("requested_peak", device.use.requested, Unit::kBytes);
  data->SetInt("reserved_peak", device.use.reserved, Unit::kBytes);
  data->SetInt("segments", device.use.segments, Unit::kNone);
  data->SetInt("inactive_split", device.use.inactive, Unit::kBytes);
  data->OpenObject("process");
  data->SetInt("low", device.process().low, Unit::kBytes);
  data->SetInt("high", device.process().high, Unit::kBytes);
  data->Close();
  data->SetInt("device_total", device.total, Unit::kBytes);
  data->SetBool("fits", device.fits());
}

namespace {

std::string NameOf(const AllocatorTrial& trial) {
  return trial.settings.empty() ? "PyTorch's own" : trial.settings;
}

// Of trials, the least reserved first: what the first spares beside PyTorch's own, or beside the
// worst where that was not tried.
Sentence Recommended(std::span<const AllocatorTrial> trials) {
  const AllocatorTrial& best = trials.front();
  const auto* own = &trials.back();
  for (const AllocatorTrial& trial : trials) {
    if (trial.settings.empty()) own = &trial;
  }
  if (own->reserved <= best.reserved) {
    return {fmt::format("None reserves less than {}", NameOf(*own))};
  }
  return {{"PYTORCH_ALLOC_CONF=" + best.settings, report::Style::kStrong},
          " reserves least: ",
          In(Unit::kBytes, own->reserved - best.reserved),
          fmt::format(" less than {}", NameOf(*own))};
}

}  // namespace

void AppendAllocators(const Findings& findings, report::Document* document) {
  if (findings.allocators.empty()) return;
  using report::Align;
  report::Table table;
  table.columns = {
      {.key = "settings", .header = "Allocator set to"},
      {.key = "reserved", .header = "reserved", .align = Align::kRight},
      {.key = "inactive", .header = "free in segments", .align = Align::kRight, .priority = 1},
      {.key = "retries", .header = "retries", .align = Align::kRight, .priority = 2},
      {.key = "fits", .header = ""}};
  for (const AllocatorTrial& trial : findings.allocators) {
    report::Row row;
    row.cells.emplace_back(NameOf(trial));
    row.cells.emplace_back(In(Unit::kBytes, trial.reserved, findings.memory_claim()));
    row.cells.emplace_back(In(Unit::kBytes, trial.inactive, findings.memory_claim()));
    row.cells.emplace_back(In(Unit::kNone, trial.retries));
    row.cells.emplace_back(trial.fits ? "fits" : "does not fit",
                           trial.fits ? report::Style::kPlain : report::Style::kStrong);
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
  document->body.emplace_back(report::Paragraph{Recommended(findings.allocators), 1});
}

void AddAllocatorsData(const Findings& findings, report::Data* data) {
  if (findings.allocators.empty()) return;
  data->OpenArray("allocators");
  for (const AllocatorTrial& trial : findings.allocators) {
    data->OpenObject();
    data->SetText("settings", trial.settings);
    data->SetInt("reserved", trial.reserved, Unit::kBytes);
    data->SetInt("inactive_split", trial.inactive, Unit::kBytes);
    data->SetInt("retries", trial.retries, Unit::kNone);
    data->SetBool("fits", trial.fits);
    data->Close();
  }
  data->Close();
}

void AppendDevices(const Findings& findings, report::Document* document) {
  if (findings.devices.empty()) return;
  using report::Align;
  report::Table table;
  table.columns = {
      {.key = "device", .header = "On these devices"},
      {.key = "total", .header = "has", .align = Align::kRight},
      {.key = "allocated", .header = "allocated", .align = Align::kRight, .priority = 2},
      {.key = "reserved", .header = "reserved", .align = Align::kRight, .priority = 1},
      {.key = "process", .header = "process at most", .align = Align::kRight},
      {.key = "fits", .header = ""}};
  for (const DeviceFit& device : findings.devices) {
    report::Row row;
    row.cells.emplace_back(std::string(device.name));
    row.cells.emplace_back(In(Unit::kBytes, device.total));
    row.cells.emplace_back(In(Unit::kBytes, device.allocated, findings.memory_claim()));
    row.cells.emplace_back(In(Unit::kBytes, device.reserved, findings.memory_claim()));
    row.cells.emplace_back(In(Unit::kBytes, device.high, Claim::kEstimated));
    row.cells.emplace_back(device.fits ? "fits" : "does not fit",
                           device.fits ? report::Style::kPlain : report::Style::kStrong);
    table.rows.push_back(std::move(row));
  }
  document->body.emplace_back(std::move(table));
}

void AddDevicesData(const Findings& findings, report::Data* data) {
  if (findings.devices.empty()) return;
  data->OpenArray("devices");
  for (const DeviceFit& device : findings.devices) {
    data->OpenObject();
    data->SetText("device", device.name);
    data->SetInt("total", device.total, Unit::kBytes);
    data->SetInt("allocated", device.allocated, Unit::kBytes);
    data->SetInt("reserved", device.reserved, Unit::kBytes);
    data->SetInt("process_low", device.low, Unit::kBytes);
    data->SetInt("process_high", device.high, Unit::kBytes);
    data->SetBool("fits", device.fits);
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
