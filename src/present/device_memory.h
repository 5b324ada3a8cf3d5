// SPDX-License-Identifier: Apache-2.0
//
// The three numbers that are called the memory of a program on a CUDA device, side by side.
#pragma once

#include "present/findings.h"
#include "steelyard/report.h"

namespace steelyard::present {

// Requires: `findings.device`.
void AppendDeviceMemory(const Findings& findings, report::Document* document);
// Into the object that is open.
void AddDeviceMemoryData(const Findings& findings, report::Data* data);

// What other settings of the allocator reserve; nothing where none were asked for.
void AppendAllocators(const Findings& findings, report::Document* document);
void AddAllocatorsData(const Findings& findings, report::Data* data);

// Which of the devices that were asked for it fits.
void AppendDevices(const Findings& findings, report::Document* document);
void AddDevicesData(const Findings& findings, report::Data* data);

}  // namespace steelyard::present
