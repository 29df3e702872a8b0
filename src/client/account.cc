#include "client/account.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "client/queue_tree.h"
#include "client/text_width.h"
#include "client/topology_levels.h"
#include "manifest/labels.h"
#include "manifest/timestamp.h"
#include "manifest/told_changes.h"
#include "manifest/workload_name.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr std::size_t kOlderShownMax = 5;
constexpr std::size_t kReasonsShownMax = 5;
constexpr std::size_t kEvictionsShownMax = 3;
constexpr std::size_t kGivenShownMax = 5;

// Facts line up below each other: "  queue   default".
class Lines {
 public:
  explicit Lines(std::string title) : text_(std::move(title) + "\n") {}
  void add(std::string_view label, std::string_view fact) {
    std::string line = "  " + std::string(label);
    line.resize(std::max<std::size_t>(line.size() + 2, 10), ' ');
    text_ += line + printable(fact) + "\n";
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string count_of(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string asks_in_words(const Work& work) {
  const std::string per_pod = asked_per_pod(work);
  std::string text = per_pod;
  if (work.pods_at_once > 1) {
    text = count_of(static_cast<std::size_t>(work.pods_at_once), "pod", "pods") + " with " +
           (work.gpu_milli_mixed ? "up to " : "") + per_pod + " each";
    if (work.gpu_milli() > 0) text += ", " + gpus_in_words(work.gpu_milli()) + " together";
  }
  if (!work.gpu_models.empty()) text += "; only " + work.gpu_models;
  return text;
}

// Empty: each of its pods starts for itself, and all of them are asked for.
std::string gang_in_words(const Work& work) {
  const std::string together = work.gang > 1 ? std::to_string(work.gang) + " pods start together or not at all" : "";
  if (!work.elastic) return together;
  const int more = work.pods_at_once - std::max(work.gang, 1);
  return (together.empty() ? "1 pod is enough to start" : together) + "; up to " + std::to_string(more) +
         " more join as there is room";
}

// "h100-0001: 0,3; h100-mig-0001: 0:1g.10gb@6": what its live pods were given.
std::string given_in_words(const std::vector<Value>& own_pods) {
  std::string text;
  std::size_t told = 0, more = 0;
  for (const Value& pod : own_pods) {
    const std::string_view phase = pod["status"]["phase"].text();
    const std::string_view given = pod["metadata"]["annotations"][kGpusAnnotation].text();
    if (given.empty() || phase == "Succeeded" || phase == "Failed") continue;
    if (told == kGivenShownMax) {
      ++more;
      continue;
    }
    text += (told++ == 0 ? "" : "; ") + std::string(pod["spec"]["nodeName"].text()) + ": " + std::string(given);
  }
  return more == 0 ? text : text + "; and " + std::to_string(more) + " more";
}

struct OlderWork {
  std::vector<const Work*> all;
  std::size_t same_age = 0;  // API objects tell whole seconds: of these nobody knows who came first
};

// Work that waits longer in its queue. A pod's own Job is no other.
OlderWork older_in_queue(const Work& work, const AccountFacts& seen) {
  OlderWork older;
  const std::string_view own_job =
      work.name.is_pod() && !seen.own_pods.empty() ? job_uid_of_pod(seen.own_pods.front()) : std::string_view();
  for (const Work& each : seen.others) {
    const bool is_own = each.uid == work.uid || (!own_job.empty() && each.uid == own_job);
    if (each.queue != work.queue || each.state != WorkState::kWaiting || is_own) continue;
    if (each.created < work.created) older.all.push_back(&each);
    older.same_age += each.created == work.created ? 1 : 0;
  }
  const auto age = [](const Work& each) {
    return std::tie(each.created, each.name_space, each.name.kind, each.name.name);
  };
  std::ranges::sort(older.all, [&](const Work* a, const Work* b) { return age(*a) < age(*b); });
  return older;
}

std::string older_in_words(const Work& work, const OlderWork& found, bool seen_all, Time now) {
  const std::vector<const Work*>& older = found.all;
  const std::string unseen = seen_all ? "" : " (of namespace " + work.name_space + "; the others may not be seen)";
  const std::string same_age =
      found.same_age == 0 ? "" : "; " + std::to_string(found.same_age) + " came in the same second";
  if (older.empty()) return "nothing older waits in its queue" + unseen + same_age;
  std::string text;
  for (std::size_t i = 0; i < std::min(older.size(), kOlderShownMax); ++i) {
    const Work& each = *older[i];
    text += (i > 0 ? ", " : "") + each.name.to_string();
    if (each.name_space != work.name_space) text += " of " + each.name_space;
    text += " (" + asked_in_words(each) + ", " + format_age(now - each.created) + ")";
  }
  if (older.size() > kOlderShownMax) text += ", and " + std::to_string(older.size() - kOlderShownMax) + " more";
  return count_of(older.size(), "waits", "wait") + " longer in its queue" + unseen + ": " + text + same_age;
}

// Empty: nobody holds it.
std::string hold_in_words(const std::vector<const Value*>& way) {
  for (const Value* queue : way) {
    if ((*queue)["spec"]["stop"].text() != "hold") continue;
    const std::string name((*queue)["metadata"]["name"].text());
    return "queue " + name + " is on hold, nothing of it starts; `kubectl patch queue " + name +
           " --type=merge -p '{\"spec\":{\"stop\":null}}'` lets it go";
  }
  return "";
}

std::string queue_in_words(const Work& work, const std::vector<const Value*>& way) {
  std::string text = work.queue;
  if (way.empty()) return text;
  const std::string_view order = (*way.front())["spec"]["order"].text();
  if (order == "fifo") text += ", first come, first served (fifo)";
  if (order == "fifo-skip") text += ", in turn, but who fits may pass (fifo-skip)";
  if (order == "sjf") text += ", shortest declared run first (sjf)";
  if (way.size() > 1) text += ", below " + std::string((*way[1])["metadata"]["name"].text());
  return text;
}

// The names under which the scheduler speaks of it: a gang by its Job's, other pods of a Job each by its own.
std::vector<std::string> scheduled_names(const Work& work, const std::vector<Value>& own_pods) {
  std::vector<std::string> names = {work.name_space + "/" + work.name.name};
  for (const Value& pod : own_pods) {
    names.push_back(work.name_space + "/" + std::string(pod["metadata"]["name"].text()));
    for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
      if (owner["controller"].truth()) names.push_back(work.name_space + "/" + std::string(owner["name"].text()));
    }
  }
  return names;
}

// Where it stands among those whom the scheduler names as the first of its line; empty: it has not said.
std::string place_in_words(const Value& queue, const std::vector<std::string>& names) {
  const Value::List& waiting = queue["status"]["waiting"].items();
  if (waiting.empty()) return "";
  const auto own = [&](const Value& each) { return std::ranges::find(names, each.text()) != names.end(); };
  const auto at = std::ranges::find_if(waiting, own);
  if (at == waiting.begin()) return "the first of its line";
  if (at == waiting.end()) {
    if (waiting.size() == 1) return "not the first of its line, which is " + std::string(waiting.front().text());
    return "not among the first " + std::to_string(waiting.size()) + " of its line";
  }
  std::string text = "number " + std::to_string(at - waiting.begin() + 1) + " of its line, after ";
  for (auto each = waiting.begin(); each != at; ++each) {
    text += (each == waiting.begin() ? "" : ", ") + std::string(each->text());
  }
  return text;
}

struct Told {
  Time at;
  std::string reason, text;
};

// Who took its room and whose room it took, as the scheduler said then; the latest first.
std::vector<Told> evictions_told(const Work& work, const AccountFacts& facts) {
  std::vector<Told> told;
  const std::string kind = work.name.is_pod() ? "Pod" : "Job";
  for (const Value& event : facts.events) {
    const Value& about = event["involvedObject"];
    if (about["uid"].text() != work.uid || about["kind"].text() != kind) continue;
    const std::string reason(event["reason"].text());
    if (reason != "Evicted" && reason != "TakesRoom") continue;
    const std::string_view last = event["lastTimestamp"].text(event["eventTime"].text());
    told.push_back({parse_timestamp(last).value_or(Time{}), reason, std::string(event["message"].text())});
  }
  std::ranges::stable_sort(told, std::ranges::greater(), &Told::at);
  return told;
}

// What was to happen by a moment that is over is no longer to come: "it stops by 10:00" was told before.
std::string of_the_past(std::string text, Time now) {
  constexpr std::string_view kStops = " stops by ", kWasToStop = " was to stop by ";
  const std::size_t at = text.find(kStops);
  if (at == std::string::npos) return text;
  const std::size_t moment = at + kStops.size();
  const std::size_t end = text.find('Z', moment);
  if (end == std::string::npos) return text;
  const auto by = parse_timestamp(std::string_view(text).substr(moment, end + 1 - moment));
  if (by && *by < now) text.replace(at, kStops.size(), kWasToStop);
  return text;
}

void add_evictions(const std::vector<Told>& told, Time now, Lines& lines) {
  for (std::size_t i = 0; i < std::min(told.size(), kEvictionsShownMax); ++i) {
    lines.add(told[i].reason == "Evicted" ? "lost" : "took",
              format_age(now - told[i].at) + " ago, " + of_the_past(told[i].text, now));
  }
}

void add_reasons(const Work& work, Lines& lines) {
  const bool several = work.reasons.size() > 1;
  for (std::size_t i = 0; i < std::min(work.reasons.size(), kReasonsShownMax); ++i) {
    const auto& [reason, pods] = work.reasons[i];
    lines.add(i == 0 ? "why" : "",
              several ? count_of(static_cast<std::size_t>(pods), "pod: ", "pods: ") + reason : reason);
  }
  if (work.reasons.size() > kReasonsShownMax) {
    lines.add("", "and " + std::to_string(work.reasons.size() - kReasonsShownMax) + " other reasons");
  }
}

// Domain by domain what it would find, as the scheduler counts it: "r2   9 of its pods fit, 72 GPUs free, lacks 56".
void add_room(const Value& topology, Lines& lines) {
  const Value::List& domains = topology["domains"].items();
  if (domains.empty()) return;
  const std::string level = short_level(topology["level"].text());
  const std::int64_t pods = topology["pods"].integer();
  const bool with_gpus = !topology["gpusPerPod"].is_null();
  std::string asked = count_of(static_cast<std::size_t>(pods), "pod", "pods");
  if (with_gpus) {
    asked +=
        " with " + gpus_in_words(parse_milli(topology["gpusPerPod"].text()).value_or(0)) + (pods == 1 ? "" : " each");
  }
  lines.add("room",
            level + " by " + level + ", for " + asked + (topology["together"].truth() ? ", all in one" : "") + ":");
  std::size_t width = 0;
  for (const Value& each : domains) width = std::max(width, columns_of(printable(each["name"].text())));
  for (const Value& each : domains) {
    const std::int64_t fit = each["podsFit"].integer();
    std::string fact = printable(each["name"].text());
    fact.append(width + 3 - columns_of(fact), ' ');
    fact += (fit == 0 ? "none" : std::to_string(fit)) + (fit == 1 ? " fits" : " fit");
    if (with_gpus) fact += ", " + gpus_in_words(each["gpusFree"].integer() * 1000) + " free";
    const auto lacking = parse_milli(each["gpusLacking"].text());
    if (!each["gpusLacking"].is_null() && lacking && *lacking > 0) fact += ", lacks " + gpus_in_words(*lacking);
    lines.add("", fact);
  }
  if (const std::int64_t more = topology["moreDomains"].integer(); more > 0) {
    lines.add("", "and " + std::to_string(more) + " more, in which no more of them fit");
  }
}

// Of the first of its pods that wait of which it was told.
std::optional<ChangesOfPod> changes_of(const std::vector<Value>& own_pods) {
  std::optional<std::pair<std::string_view, ChangesOfPod>> first;
  for (const Value& pod : own_pods) {
    const bool waits = pod["spec"]["nodeName"].is_empty() && pod["metadata"]["deletionTimestamp"].is_null();
    auto told = waits ? changes_told_of(pod) : std::nullopt;
    const std::string_view created = pod["metadata"]["creationTimestamp"].text();
    if (told && (!first || created < first->first)) first.emplace(created, *std::move(told));
  }
  return first ? std::optional(std::move(first->second)) : std::nullopt;
}

void add_changes(const ChangesOfPod& changes, Time now, Lines& lines) {
  const auto& [told, as_of] = changes;
  const bool none = told.changes.empty();
  for (std::size_t i = 0; i < told.changes.size(); ++i)
    lines.add(i == 0 ? "starts" : "", "at once " + told.changes[i].text);
  std::string text = none ? "at once by no small change, " : "";
  text += "as tried " + format_age(std::max(now - as_of, Duration{0})) + " ago on copies of the cluster";
  for (std::size_t i = 0; i < told.not_searched.size(); ++i)
    text += (i == 0 ? ", and not all of kind " : ", ") + told.not_searched[i];
  lines.add(none ? "starts" : "", text);
}

Value facts_of_changes(const ChangesOfPod& changes) {
  Value facts = Value::map_of({{"asOf", format_timestamp(changes.as_of)}});
  facts.set("changes", Value::list());
  for (const ToldChange& each : changes.told.changes)
    facts.at("changes").push_back(Value::map_of({{"kind", each.kind}, {"text", each.text}}));
  for (const std::string& kind : changes.told.not_searched) facts.at("notSearched").push_back(kind);
  return facts;
}

Value facts_of(const Work& work, const OlderWork& older, bool seen_all, const std::string& hold) {
  Value facts = Value::map_of({{"kind", work.name.kind},
                               {"namespace", work.name_space},
                               {"name", work.name.name},
                               {"state", name_of(work.state)},
                               {"created", format_timestamp(work.created)},
                               {"queue", work.queue},
                               {"gang", work.gang},
                               {"pods", work.pods},
                               {"podsReady", work.pods_ready},
                               {"gpus", format_milli(work.gpu_milli())},
                               {"gpusPerPod", format_milli(work.gpu_milli_per_pod)},
                               {"gpuModels", work.gpu_models},
                               {"nodes", Value::list()},
                               {"reasons", Value::list()},
                               {"older", Value::list()}});
  if (!work.slice_per_pod.empty()) facts.set("slice", work.slice_per_pod);
  if (!work.part_per_pod.is_none()) facts.set("part", asked_per_pod(work));
  for (const std::string& node : work.nodes) facts.at("nodes").push_back(node);
  for (const auto& [reason, pods] : work.reasons) {
    facts.at("reasons").push_back(Value::map_of({{"message", reason}, {"pods", pods}}));
  }
  for (const Work* each : older.all) {
    facts.at("older").push_back(Value::map_of({{"kind", each->name.kind},
                                               {"namespace", each->name_space},
                                               {"name", each->name.name},
                                               {"gpus", format_milli(each->gpu_milli())}}));
  }
  facts.set("cameInTheSameSecond", static_cast<std::int64_t>(older.same_age));
  facts.set("olderOfAllNamespaces", seen_all);
  facts.set("hold", !hold.empty());
  return facts;
}

}  // namespace

std::string Account::text_in_color() const {
  const std::size_t at = text.find(": " + state) + 2;
  return text.substr(0, at) + colored_state(state) + text.substr(at + state.size());
}

std::string workload_name_of(const Work& work, const std::vector<Value>& own_pods) {
  if (!own_pods.empty()) return workload_name_of(own_pods.front());
  return work.name.is_pod() ? "" : workload_name_of_job(work.name.name, work.uid);
}

Account account_of(const Work& work, const AccountFacts& seen, Time now) {
  const std::vector<const Value*> way = queue_and_parents(seen.queues, work.queue);
  const OlderWork older = older_in_queue(work, seen);
  const std::string hold = hold_in_words(way);
  const std::string place = way.empty() ? "" : place_in_words(*way.front(), scheduled_names(work, seen.own_pods));
  const std::string turn(way.empty() ? "" : (*way.front())["status"]["turn"].text());
  const std::vector<Told> told = evictions_told(work, seen);
  Account account;
  account.waits = work.state == WorkState::kWaiting || work.state == WorkState::kSuspended;
  const std::string age = format_age(now - work.created);
  Lines lines(work.name.to_string() + " of namespace " + printable(work.name_space) + ": " +
              std::string(name_of(work.state)) + (account.waits ? " for " + age : ", created " + age + " ago"));
  lines.add("queue", queue_in_words(work, way));
  lines.add("asks", asks_in_words(work));
  if (const std::string gang = gang_in_words(work); !gang.empty()) lines.add("gang", gang);
  lines.add("pods", std::to_string(work.pods_ready) + " of " + std::to_string(work.pods) + " run or are done");
  std::string nodes;
  for (const std::string& node : work.nodes) nodes += (nodes.empty() ? "" : ", ") + node;
  if (!nodes.empty()) lines.add("nodes", nodes);
  if (const std::string given = given_in_words(seen.own_pods); !given.empty()) lines.add("gpus", given);
  add_reasons(work, lines);
  const Value& topology = seen.workload["status"]["topology"];
  const auto changes = changes_of(seen.own_pods);
  if (account.waits) {
    add_room(topology, lines);
    if (changes) add_changes(*changes, now, lines);
    if (!hold.empty()) lines.add("hold", hold);
    if (!place.empty()) lines.add("place", place);
    if (!turn.empty()) lines.add("turn", "queue " + work.queue + " is " + turn);
    lines.add("older", older_in_words(work, older, seen.others_are_all, now));
  }
  for (const std::string& each : seen.beyond) lines.add("beyond", each);
  add_evictions(told, now, lines);
  account.text = std::move(lines).text();
  account.state = name_of(work.state);
  account.facts = facts_of(work, older, seen.others_are_all, hold);
  if (account.waits && !place.empty()) account.facts.set("place", place);
  if (account.waits && !turn.empty()) account.facts.set("turn", turn);
  if (account.waits && changes) account.facts.set("smallestChanges", facts_of_changes(*changes));
  if (account.waits && !topology.is_null()) account.facts.set("topology", topology);
  for (const std::string& each : seen.beyond) account.facts.at("beyond").push_back(each);
  for (const Told& each : told) {
    account.facts.at("evictions")
        .push_back(Value::map_of({{"at", format_timestamp(each.at)},
                                  {"what", each.reason == "Evicted" ? "evicted" : "took"},
                                  {"message", each.text}}));
  }
  return account;
}

}  // namespace berth
