#include "cli/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "controllers/controller.h"
#include "manifest/json.h"
#include "manifest/scheduler_name.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::size_t kNamedMax = 5;  // of things that are wrong alike
constexpr unsigned kOthers = 077;
constexpr std::int64_t kLittleRoom_bytes = std::int64_t{1} << 30;
constexpr std::int64_t kNoRoom_bytes = std::int64_t{100} << 20;
// A leader renews every 2 s; after 15 s without, others may take over.
constexpr Duration kLease = seconds(15);
constexpr Duration kLongWait = seconds(600);

// "a, b, c and 4 more"
std::string names(const std::vector<std::string>& all) {
  std::string out;
  for (std::size_t i = 0; i < all.size() && i < kNamedMax; ++i) out += (i == 0 ? "" : ", ") + all[i];
  if (all.size() > kNamedMax) out += fmt::format(" and {} more", all.size() - kNamedMax);
  return out;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string_view name_of(const Value& object) { return object["metadata"]["name"].text(); }

std::string full_name_of(const Value& object) {
  return fmt::format("{}/{}", object["metadata"]["namespace"].text(), name_of(object));
}

const Value& condition(const Value& object, std::string_view type) {
  static const Value none;
  for (const Value& each : object["status"]["conditions"].items()) {
    if (each["type"].text() == type) return each;
  }
  return none;
}

// "Capacity" of "Capacity: 8 GPUs are free ...": what many pods can have in common.
std::string reason_of_wait(const Value& pod) {
  if (!pod["spec"]["schedulingGates"].is_empty()) return "scheduling gates";
  const std::string_view message = condition(pod, "PodScheduled")["message"].text();
  if (message.empty() && !left_to_another_scheduler(pod).empty()) return "of another scheduler";
  if (message.empty()) return "not looked at by a scheduler";
  return std::string(message.substr(0, std::min(message.find_first_of(":;\n"), std::size_t{60})));
}

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      return "FAIL";
  }
  return "";
}

}  // namespace

Finding permissions_finding(std::span<const SeenFile> seen) {
  std::vector<std::string> open, remedies;
  for (const SeenFile& file : seen) {
    if ((file.mode & kOthers) == 0) continue;
    open.push_back(fmt::format("{} is {:04o}", file.path, file.mode));
    remedies.push_back(fmt::format("chmod {} {}", file.folder ? "700" : "600", file.path));
  }
  if (open.empty()) return {"permissions", Verdict::kOk, "folders and keys are their owner's alone"};
  std::string remedy;
  for (const std::string& each : remedies) remedy += (remedy.empty() ? "" : "; ") + each;
  return {"permissions", Verdict::kFail, "others may read what is secret: " + names(open), remedy};
}

Finding disk_finding(std::int64_t free_bytes) {
  const std::string what = fmt::format("{} MiB free", free_bytes >> 20);
  if (free_bytes >= kLittleRoom_bytes) return {"disk space", Verdict::kOk, what};
  return {
      "disk space", free_bytes < kNoRoom_bytes ? Verdict::kFail : Verdict::kWarn, what,
      "free some room: old files in backups/, logs/ and journal/ may go; writes are refused while the disk is full"};
}

Finding scheduler_finding(const Value& lease, Time now) {
  const std::string restart =
      "right after a start wait 15 s; else start `berth scheduler`, or look into log/scheduler.log";
  if (lease.is_null()) return {"scheduler", Verdict::kFail, "none has ever led here", restart};
  const std::string holder(lease["spec"]["holderIdentity"].text());
  const auto renewed = parse_timestamp(lease["spec"]["renewTime"].text());
  if (holder.empty() || !renewed) return {"scheduler", Verdict::kFail, "none leads", restart};
  const Duration age = now - *renewed;
  if (age > kLease) {
    return {"scheduler", Verdict::kFail, fmt::format("{} led, and was last heard of {} ago", holder, format_age(age)),
            restart};
  }
  if (age < Duration{-kLease.ms}) {
    return {"scheduler", Verdict::kWarn,
            fmt::format("{} leads, by a clock that is {} ahead of this one", holder, format_age(Duration{-age.ms})),
            "set the clocks of both machines by NTP"};
  }
  return {"scheduler", Verdict::kOk, holder + " leads"};
}

Finding nodes_finding(std::span<const Value> nodes) {
  std::vector<std::string> away;
  for (const Value& node : nodes) {
    if (condition(node, "Ready")["status"].text() != "True") away.emplace_back(name_of(node));
  }
  if (nodes.empty()) {
    return {"nodes", Verdict::kWarn, "there are none", "start `berth node-agent`, or look into log/node-agent.log"};
  }
  const std::string all = counted(nodes.size(), "node", "nodes");
  if (away.empty()) return {"nodes", Verdict::kOk, all + ", all ready"};
  return {"nodes", away.size() == nodes.size() ? Verdict::kFail : Verdict::kWarn,
          fmt::format("{} of {} not ready: {}", away.size(), all, names(away)),
          "look at their agents: kubectl describe node " + away.front()};
}

Finding waiting_finding(std::span<const Value> pods, Time now) {
  std::map<std::string, std::size_t> reasons;
  std::size_t count = 0;
  std::string example;
  std::optional<Time> oldest;
  for (const Value& pod : pods) {
    const auto created = parse_timestamp(pod["metadata"]["creationTimestamp"].text());
    if (has_ended(pod) || !pod["spec"]["nodeName"].text().empty() || !created || now - *created < kLongWait) continue;
    ++count;
    ++reasons[reason_of_wait(pod)];
    if (!oldest || *created < *oldest) {
      oldest = created;
      example = full_name_of(pod);
    }
  }
  if (count == 0) return {"waiting pods", Verdict::kOk, "none has waited for ten minutes"};
  std::vector<std::pair<std::size_t, std::string>> most;
  for (const auto& [reason, times] : reasons) most.emplace_back(times, reason);
  // The most frequent first; of equals, by name.
  std::ranges::stable_sort(most, std::ranges::greater{}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> words;
  for (const auto& [times, reason] : most) words.push_back(fmt::format("{} {}", times, reason));
  return {"waiting pods", Verdict::kWarn,
          fmt::format("{} for ten minutes or more ({}); the longest is {}, {}",
                      counted(count, "has waited", "have waited"), names(words), example, format_age(now - *oldest)),
          fmt::format("kubectl describe pod -n {} {}", example.substr(0, example.find('/')),
                      example.substr(example.find('/') + 1))};
}

Finding bound_pods_finding(std::span<const Value> pods, std::span<const Value> nodes) {
  std::set<std::string_view> known;
  for (const Value& node : nodes) known.insert(name_of(node));
  std::vector<std::string> lost;
  for (const Value& pod : pods) {
    const std::string_view node = pod["spec"]["nodeName"].text();
    if (node.empty() || has_ended(pod) || known.contains(node)) continue;
    lost.push_back(fmt::format("{} on {}", full_name_of(pod), node));
  }
  if (lost.empty()) return {"bound pods", Verdict::kOk, "each is on a node that is there"};
  return {"bound pods", Verdict::kFail,
          fmt::format("{} on nodes that are not there: {}", counted(lost.size(), "is", "are"), names(lost)),
          "bring the nodes back, or kubectl delete pod --force"};
}

Finding log_folders_finding(std::span<const std::string> folders, std::span<const Value> pods) {
  std::set<std::string_view> known;
  for (const Value& pod : pods) known.insert(pod["metadata"]["uid"].text());
  std::vector<std::string> orphans;
  for (const std::string& folder : folders) {
    if (!known.contains(folder)) orphans.push_back(folder);
  }
  if (orphans.empty()) return {"log folders", Verdict::kOk, counted(folders.size(), "folder", "folders")};
  return {"log folders", Verdict::kWarn,
          fmt::format("{} of pods that are gone: {}", counted(orphans.size(), "is", "are"), names(orphans)),
          "delete them from logs/ when nobody wants to read them any more"};
}

std::string findings_as_table(std::span<const Finding> findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  std::string out;
  for (const Finding& finding : findings) {
    out += fmt::format("{:<{}}  {:<4}  {}\n", finding.check, width, word_of(finding.verdict), finding.what);
    if (!finding.remedy.empty()) out += fmt::format("{:<{}}        -> {}\n", "", width, finding.remedy);
  }
  return out;
}

std::string findings_as_json(std::span<const Finding> findings) {
  Value checks = Value::list();
  std::int64_t warnings = 0, failures = 0;
  for (const Finding& finding : findings) {
    std::string verdict(word_of(finding.verdict));
    if (finding.verdict == Verdict::kFail) verdict = "fail";
    warnings += finding.verdict == Verdict::kWarn ? 1 : 0;
    failures += finding.verdict == Verdict::kFail ? 1 : 0;
    Value check = Value::map_of({{"check", finding.check}, {"result", verdict}, {"what", finding.what}});
    if (!finding.remedy.empty()) check.set("remedy", finding.remedy);
    checks.push_back(std::move(check));
  }
  return to_pretty_json(
             Value::map_of({{"checks", std::move(checks)}, {"warnings", warnings}, {"failures", failures}})) +
         "\n";
}

}  // namespace berth
