// SPDX-License-Identifier: Apache-2.0
#include "present/notes.h"

#include <utility>

#include "present/findings.h"
#include "steelyard/program.h"
#include "steelyard/report.h"

namespace steelyard::present {

void AppendNotes(const Findings& findings, report::Document* document) {
  report::NoteList list;
  for (StringId note : findings.kernels.notes) {
    list.notes.push_back({findings.kernels.text(note)});
  }
  if (!list.notes.empty()) document->body.emplace_back(std::move(list));
}

void AddNoteData(const Findings& findings, report::Data* data) {
  data->OpenArray("notes");
  for (StringId note : findings.kernels.notes) {
    data->OpenObject();
    data->SetText("severity", "note");
    data->SetText("message", findings.kernels.text(note));
    data->Close();
  }
  data->Close();
}

}  // namespace steelyard::present
