#include "apiserver/gang_holds.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "apiserver/object_records.h"

namespace berth {

namespace {

constexpr std::string_view kJobs = "jobs.batch";

std::string gang_key(std::string_view name_space, std::string_view group) {
  return object_key("_groups", name_space, group);
}

GangHold gang_in(const Value& record) {
  GangHold gang{.there = record["there"].integer(),
                .live = record["live"].integer(),
                .unfailed = record["unfailed"].integer(),
                .hold = record["hold"].integer(),
                .job = std::string(record["job"].text()),
                .each = {}};
  for (const Value::Member& member : record["each"].members()) {
    if (const std::optional<Quantity> amount = quantity_of(member.value)) gang.each.emplace(member.key, *amount);
  }
  return gang;
}

Value record_of(const GangHold& gang) {
  Value record = Value::map_of({{"there", gang.there},
                                {"live", gang.live},
                                {"unfailed", gang.unfailed},
                                {"hold", gang.hold},
                                {"job", gang.job}});
  Value& each = record.set("each", Value::map());
  for (const auto& [name, amount] : gang.each) each.set(name, amount.to_string());
  return record;
}

bool is_over(const Value& job) {
  return std::ranges::any_of(job["status"]["conditions"].items(), [](const Value& each) {
    const std::string_view type = each["type"].text();
    return each["status"].text() == "True" &&
           (type == "Complete" || type == "Failed" || type == "FailureTarget" || type == "SuccessCriteriaMet");
  });
}

bool has_failed(const Value& pod) { return pod["status"]["phase"].text() == "Failed"; }

// A gang that no Job fills up again is held together only until it has been whole.
GangHold let_go_if_whole(GangHold gang) {
  if (gang.job.empty() && (gang.to_come() == 0 || gang.there == 0)) gang.hold = 0;
  return gang;
}

}  // namespace

Amounts GangHold::reserved() const {
  Amounts sum;
  for (const auto& [name, amount] : each) {
    // The objects of pods that have ended are still counted as objects.
    const std::int64_t present = name.starts_with("count/") ? there : live;
    if (hold > present) sum.emplace(name, times(amount, hold - present));
  }
  return sum;
}

std::int64_t pods_wanted(const Value& job) {
  const Value& spec = job["spec"];
  if (!job["metadata"]["deletionTimestamp"].is_empty() || spec["suspend"].truth() || is_over(job)) return 0;
  const std::int64_t at_once = spec["parallelism"].integer(1);
  const std::int64_t left = spec["completions"].integer(at_once) - job["status"]["succeeded"].integer();
  return std::clamp<std::int64_t>(spec["completions"].is_null() ? at_once : std::min(at_once, left), 0,
                                  kPodGroupSizeMax);
}

GangHold with_pod(GangHold gang, const Amounts& usage, std::int64_t group_size, const Value& job) {
  const std::string_view uid = job["metadata"]["uid"].text();
  const bool is_expected = gang.job == uid && gang.to_come() > 0;
  const std::int64_t missing = std::max<std::int64_t>(1, group_size - gang.unfailed);
  if (gang.hold == 0) gang.each = usage;
  if (!is_expected) gang.hold = job.is_null() ? std::min(gang.live + missing, kPodGroupSizeMax) : pods_wanted(job);
  gang.job = uid;
  ++gang.there;
  ++gang.live;
  ++gang.unfailed;
  return let_go_if_whole(std::move(gang));
}

GangHold with_end(GangHold gang, const Value& ended) {
  --gang.live;
  if (has_failed(ended)) --gang.unfailed;
  if (gang.job.empty() && gang.hold > 0) --gang.hold;
  return let_go_if_whole(std::move(gang));
}

GangHold without_pod(GangHold gang, const Value& erased) {
  --gang.there;
  if (!pod_has_ended(erased)) --gang.live;
  if (!has_failed(erased)) --gang.unfailed;
  return let_go_if_whole(std::move(gang));
}

GangHold with_job(GangHold gang, const Value& job, bool erased) {
  if (gang.job.empty() || gang.job != job["metadata"]["uid"].text()) return gang;
  gang.hold = erased ? 0 : std::min(gang.hold, pods_wanted(job));
  return gang;
}

GangHold read_gang(const Transaction& transaction, std::string_view name_space, std::string_view group) {
  return gang_in(find_object(transaction, gang_key(name_space, group)));
}

void write_gang(Transaction& transaction, std::string_view name_space, const std::string& group, const GangHold& gang) {
  const std::string key = gang_key(name_space, group);
  Value record = record_of(gang);
  const bool is_there = transaction.find(key) != nullptr;
  if (gang.is_nothing()) {
    if (is_there) transaction.erase(key, "{}");
    return;
  }
  if (is_there && record_of(gang_in(find_object(transaction, key))) == record) return;
  put_object(transaction, key, std::move(record));
}

std::map<std::string, GangHold> settled_gangs(const Transaction& transaction, std::string_view name_space,
                                              std::map<std::string, GangHold> counted) {
  const std::string prefix = gang_key(name_space, "");
  transaction.for_each(prefix, [&](const RecordPtr& record) {
    const std::string group = record->key.substr(prefix.size());
    GangHold gang = gang_in(object_of(record));
    const GangHold& now = counted[group];
    gang.there = now.there;
    gang.live = now.live;
    gang.unfailed = now.unfailed;
    if (!gang.job.empty()) {
      const Value job = find_object(transaction, object_key(kJobs, name_space, group));
      const bool is_gone = job["metadata"]["uid"].text() != gang.job;
      gang.hold = is_gone ? 0 : std::min(gang.hold, pods_wanted(job));
    }
    counted[group] = let_go_if_whole(std::move(gang));
  });
  return counted;
}

void write_gangs(Transaction& transaction, std::string_view name_space, const std::map<std::string, GangHold>& gangs) {
  for (const auto& [group, gang] : gangs) write_gang(transaction, name_space, group, gang);
}

Value job_of_pod(const Transaction& transaction, const Value& pod) {
  for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].truth() || owner["kind"].text() != "Job") continue;
    Value job = find_object(transaction, object_key(kJobs, pod["metadata"]["namespace"].text(), owner["name"].text()));
    if (!job.is_null() && job["metadata"]["uid"] == owner["uid"]) return job;
  }
  return {};
}

}  // namespace berth
