#include "client/refusals.h"

#include <algorithm>
#include <array>

#include "client/event_time.h"

namespace berth {
namespace {

// "exceeded quota: q, ..." of `Error creating: 403 Forbidden: pods "w-x7k2p" is forbidden: exceeded quota: q, ...`: the rule
// is what counts, and the next pod has another name.
std::string_view rule_of(std::string_view message) {
  constexpr std::string_view kBegin = "Error creating: ";
  if (message.starts_with(kBegin)) message.remove_prefix(kBegin.size());
  constexpr std::array<std::string_view, 2> kVerdicts = {"\" is forbidden: ", "\" is invalid: "};
  for (const std::string_view verdict : kVerdicts) {
    const std::size_t at = message.find(verdict);
    if (at != std::string_view::npos) return message.substr(at + verdict.size());
  }
  return message;
}

}  // namespace

Refusals::Refusals(const std::vector<Value>& events) {
  for (const Value& event : events) {
    if (event["reason"].text() != "FailedCreate") continue;
    const Time at = time_of_event(event);
    const auto [told, is_first] = told_.try_emplace(std::string(event["involvedObject"]["uid"].text()));
    if (is_first || at >= told->second.first) told->second = {at, std::string(rule_of(event["message"].text()))};
  }
}

std::string_view Refusals::of(std::string_view uid) const {
  const auto told = told_.find(uid);
  return told == told_.end() ? std::string_view() : told->second.second;
}

void note_refusals(std::vector<Work>& work, const Refusals& refusals) {
  for (Work& each : work) {
    const std::string_view why = refusals.of(each.uid);
    if (each.pods_lacking > 0 && !why.empty()) say_not_made(each, why);
  }
}

void add_job_sets(std::vector<Work>& work, const std::vector<Value>& sets, const std::vector<Value>& jobs,
                  const Refusals& refusals) {
  std::map<std::string_view, int> jobs_of;
  for (const Value& job : jobs) {
    for (const Value& owner : job["metadata"]["ownerReferences"].items()) {
      if (owner["controller"].truth()) ++jobs_of[owner["uid"].text()];
    }
  }
  for (const Value& set : sets) {
    const std::string_view uid = set["metadata"]["uid"].text();
    const int made = jobs_of[uid];
    Work of_set = read_job_set_work(set, made);
    if (made > 0 && (of_set.pods_lacking == 0 || refusals.of(uid).empty())) continue;
    work.push_back(std::move(of_set));
  }
  sort_by_creation(work);
}

}  // namespace berth
