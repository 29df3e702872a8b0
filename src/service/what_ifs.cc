#include "service/what_ifs.h"

#include "manifest/timestamp.h"
#include "sim/replay.h"
#include "sim/what_if_told.h"

namespace berth {

void WhatIfs::set(const Value& object) {
  const std::string name(object["metadata"]["name"].text());
  const std::string uid(object["metadata"]["uid"].text());
  Asked& asked = asked_[name];
  // What a scheduler before this one has answered stands.
  if (asked.uid != uid) asked = {.uid = uid, .spec = {}, .said = {}, .status = object["status"]};
  asked.spec = object["spec"];
  asked.said = object["status"];
}

std::optional<WhatIfs::Question> WhatIfs::due() const {
  for (const auto& [name, asked] : asked_) {
    if (!(asked.status["changes"] == asked.spec["changes"])) return Question{name, asked.uid, asked.spec};
  }
  return std::nullopt;
}

void WhatIfs::note_answered(const Question& question, Value status) {
  const auto found = asked_.find(question.name);
  if (found != asked_.end() && found->second.uid == question.uid) found->second.status = std::move(status);
}

std::vector<std::pair<std::string, Value>> WhatIfs::statuses() const {
  std::vector<std::pair<std::string, Value>> all;
  for (const auto& [name, asked] : asked_) {
    if (!asked.status.is_null() && !(asked.status == asked.said)) all.emplace_back(name, asked.status);
  }
  return all;
}

Value what_if_answer(const State& state, const NamesOfWork& names, const RunTimes& run_times, const Value& spec,
                     Time now, const std::function<bool()>& is_broken_off) {
  Value status = Value::map_of({{"asOf", format_micro_timestamp(now)}, {"changes", spec["changes"]}});
  Recorded there;
  there.engine.state = state.fork();
  there.workloads.resize(state.workloads().next_id().index());
  for (const auto& [id, name] : names) there.workloads[id.index()] = name;
  there.now = now;
  there.run_times = run_times;
  std::string text;
  for (const Value& line : spec["changes"].items()) text += std::string(line.text()) + "\n";
  std::vector<std::string> all_names = there.workloads;
  const Result<Changes> changes = read_changes("change", text, there, all_names);
  if (!changes) {
    status.set("problem", changes.error().to_string());
    return status;
  }
  WhatIfOptions options;
  bool broken_off = false;
  options.is_broken_off = [&] { return broken_off = broken_off || is_broken_off(); };
  const WhatIf done = what_if(there, *changes, options);
  if (broken_off) {
    status.set("problem",
               "it takes longer than two minutes, and was broken off; ask a snapshot of the journal instead (berth "
               "snapshot, berth whatif FILE)");
    return status;
  }
  status.set("answer", what_if_as_value(done, WhatIfs::kWaitingMax));
  return status;
}

}  // namespace berth
