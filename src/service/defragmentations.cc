#include "service/defragmentations.h"

#include <algorithm>
#include <bit>

#include "manifest/given_gpus.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

std::optional<Time> moment(const Value& value) { return parse_timestamp(value.text()); }

Value moved_pod(const State& state, const PodName& pod, NodeId from, const PodPlacement& to) {
  Value made = Value::map_of({{"name", pod.name_space + "/" + pod.name},
                              {"uid", pod.uid},
                              {"from", state.node(from).name},
                              {"to", state.node(to.node).name}});
  if (!to.gpus.empty()) made.set("gpus", format_given_gpus({.gpus = to.gpus}));
  if (to.slice_start > 0) made.set("sliceStart", std::int64_t{to.slice_start});
  return made;
}

// Its pods have names that people know; empty: they have not.
Value move_in_words(const State& state, const PodsOfRuns& pods, const Migration& migration) {
  const auto names = pods.find(migration.start.workload);
  if (names == pods.end() || names->second.size() != migration.start.pods.size()) return {};
  Value made = Value::map_of({{"lostGPUSeconds", migration.lost_gpu_s}});
  std::size_t at = 0;
  Value list = Value::list();
  for_each_pod(state, migration.start.workload, [&](const Pod& pod) {
    if (at < names->second.size())
      list.push_back(moved_pod(state, names->second[at], pod.node, migration.start.pods[at]));
    ++at;
  });
  made.set("pods", std::move(list));
  return made;
}

std::int64_t pods_in(const Plan& plan) {
  std::int64_t pods = 0;
  for (const Migration& each : plan.migrations) pods += std::ssize(each.start.pods);
  return pods;
}

}  // namespace

Value defragmentation_plan(const State& state, const PodsOfRuns& pods, const DefragmentationSpec& spec, Time now) {
  DefragmentOptions options{.gpus = spec.gpus,
                            .slice = spec.slice,
                            .horizon = spec.use,
                            .moves_max = Defragmentations::kMovesMax,
                            .attempts = spec.effort};
  const std::optional<PodRequest> request = request_of(state, options);
  Defragmentation made;
  if (request) made = plan_that_holds(state, now, options);
  while (pods_in(made.plan) > Defragmentations::kPodsMax && options.moves_max > 1) {
    options.moves_max /= 2;
    made = plan_that_holds(state, now, options);
  }
  Value moves = Value::list();
  for (const Migration& each : made.plan.migrations) {
    if (Value move = move_in_words(state, pods, each); !move.is_null()) moves.push_back(std::move(move));
  }
  Value plan = Value::map_of({{"revision", std::to_string(now.ms) + "-" + std::to_string(state.revision())},
                              {"asOf", format_micro_timestamp(now)},
                              {"gpus", std::int64_t{spec.gpus}},
                              {"use", format_duration_ms(spec.use.ms)},
                              {"effort", spec.effort},
                              {"podsBefore", made.pods_before},
                              {"podsAfter", made.pods_after},
                              {"podsAtBest", made.pods_ideal},
                              {"lostGPUSeconds", made.lost_gpu_s},
                              {"unlockedGPUSeconds", made.unlocked_gpu_s},
                              {"moves", std::move(moves)}});
  if (!spec.slice.empty()) plan.set("slice", spec.slice);
  if (request && request->is_slice()) {
    const auto flavor = static_cast<std::size_t>(std::countr_zero(request->flavors.bits()));
    plan.set("flavor", state.flavors()[flavor].name);
  }
  return plan;
}

AskedMoves moves_in(const Value& plan) {
  AskedMoves asked;
  const Parsed<std::int64_t> use = parse_duration_ms(plan["use"].text());
  const std::int64_t gpus = plan["gpus"].integer();
  if (!use || gpus < 1 || gpus > kGpusPerNodeMax) return asked;
  asked.use = Duration{*use};
  asked.gpus = static_cast<std::int32_t>(gpus);
  asked.slice = plan["slice"].text();
  asked.flavor = plan["flavor"].text();
  for (const Value& move : plan["moves"].items()) {
    AskedMove read;
    for (const Value& pod : move["pods"].items()) {
      const auto given = pod["gpus"].is_empty() ? std::optional(GivenGpus()) : parse_given_gpus(pod["gpus"].text());
      const std::int64_t slice_start = pod["sliceStart"].integer();
      if (!given || slice_start < 0 || slice_start > 255) return {};
      read.push_back({std::string(pod["uid"].text()), std::string(pod["to"].text()), given->gpus,
                      static_cast<std::uint8_t>(slice_start)});
    }
    asked.moves.push_back(std::move(read));
  }
  return asked;
}

// What its status says was written here, by this scheduler or by one before: the latter's is believed once.
void Defragmentations::set(const Value& object) {
  const std::string name(object["metadata"]["name"].text());
  const std::string uid(object["metadata"]["uid"].text());
  DefragmentationSpecReading reading = read_defragmentation_spec(object["spec"]);
  Asked& asked = asked_[name];
  if (asked.uid != uid) asked = {.uid = uid, .spec = {}, .said = {}, .status = object["status"]};
  asked.spec = std::move(reading.spec);
  asked.is_wrong = !reading.mistakes.empty() || !object["metadata"]["deletionTimestamp"].is_null();
  asked.said = object["status"];
  say_how_it_stands(asked);
}

bool Defragmentations::has_plan_for(const Asked& asked) {
  const Value& plan = asked.status["plan"];
  const Parsed<std::int64_t> use = parse_duration_ms(plan["use"].text());
  return use && asked.spec.asks_the_same({.gpus = static_cast<std::int32_t>(plan["gpus"].integer()),
                                          .slice = std::string(plan["slice"].text()),
                                          .use = Duration{*use},
                                          .effort = plan["effort"].integer()});
}

bool Defragmentations::cools_down(const Asked& asked, Time now) {
  const Value& done = asked.status["carriedOut"];
  const auto at = moment(done["at"]);
  return at && done["moves"].integer() > 0 && *at + asked.spec.cooldown > now;
}

std::optional<Defragmentations::Question> Defragmentations::due(Time now) const {
  std::optional<Question> next;
  std::optional<Time> oldest;
  for (const auto& [name, asked] : asked_) {
    if (asked.is_wrong || name == deciding_) continue;
    const Time made = has_plan_for(asked) ? moment(asked.status["plan"]["asOf"]).value_or(Time{}) : Time{};
    const bool is_stale = asked.spec.is_open(now) && !cools_down(asked, now) && made + kAgainAfter <= now;
    if (made != Time{} && !is_stale) continue;
    if (oldest && *oldest <= made) continue;
    oldest = made;
    next = Question{name, asked.uid, asked.spec};
  }
  return next;
}

void Defragmentations::note_planned(const Question& question, Value plan, Time) {
  const auto found = asked_.find(question.name);
  if (found == asked_.end() || found->second.uid != question.uid) return;
  found->second.status.set("plan", std::move(plan));
  say_how_it_stands(found->second);
}

bool Defragmentations::is_to_be_carried_out(const Asked& asked, Time now) {
  const Value& plan = asked.status["plan"];
  const std::string_view revision = plan["revision"].text();
  if (asked.is_wrong || !has_plan_for(asked) || asked.status["carriedOut"]["revision"].text() == revision) return false;
  if (asked.spec.carry_out == revision) return true;
  const auto made = moment(plan["asOf"]);
  return asked.spec.is_open(now) && !cools_down(asked, now) && !plan["moves"].items().empty() && made &&
         *made + kAgainAfter > now;
}

std::optional<AskedMoves> Defragmentations::to_carry_out(Time now) {
  if (!deciding_.empty()) return std::nullopt;
  for (const auto& [name, asked] : asked_) {
    if (!is_to_be_carried_out(asked, now)) continue;
    deciding_ = name;
    return moves_in(asked.status["plan"]);
  }
  return std::nullopt;
}

void Defragmentations::note_decided(const MovesDecided& decided, Time now) {
  const auto found = asked_.find(std::exchange(deciding_, ""));
  if (found == asked_.end()) return;
  Asked& asked = found->second;
  const Value& plan = asked.status["plan"];
  Value left_out = Value::list();
  for (const Value& move : plan["moves"].items()) {
    const Value::List& pods = move["pods"].items();
    if (!pods.empty() && !decided.uids.contains(std::string(pods.front()["uid"].text())))
      left_out.push_back(pods.front()["name"].text());
  }
  Value done = Value::map_of({{"revision", plan["revision"].text()},
                              {"at", format_micro_timestamp(now)},
                              {"moves", decided.moves},
                              {"lostGPUSeconds", decided.lost_gpu_s}});
  if (!left_out.items().empty()) done.set("leftOut", std::move(left_out));
  asked.status.set("carriedOut", std::move(done));
  say_how_it_stands(asked);
}

void Defragmentations::say_how_it_stands(Asked& asked) {
  Value& status = asked.status;
  const std::string_view revision = status["plan"]["revision"].text();
  if (revision.empty()) return;
  const Value done = status["carriedOut"];
  const std::string& wanted = asked.spec.carry_out;
  const bool is_decided = done["revision"].text() == revision;
  const bool is_empty = status["plan"]["moves"].items().empty();
  std::string message;
  const Value& plan = status["plan"];
  if (is_empty && !plan["slice"].is_empty() && plan["flavor"].is_empty()) {
    message = "no node is cut into slices of " + std::string(plan["slice"].text()) +
              " as pods ask; write a profile of GPUs whose nodes have the label berth.dev/gpu-mode: mig";
  } else if (is_decided && done["moves"].integer() == 0) {
    message = "what it moves is not worth it any more, as things are now: nobody was moved";
  } else if (!wanted.empty() && wanted != revision && wanted != done["revision"].text()) {
    message = "spec.carryOut names " + wanted +
              ", which is not the plan that stands here; look at this one, and write " + std::string(revision);
  }
  status.set("phase", is_decided ? (done["moves"].integer() > 0 ? "CarriedOut" : "NotCarriedOut")
                                 : (is_empty ? "NothingToMove" : "Planned"));
  if (message.empty()) {
    status.erase("message");
  } else {
    status.set("message", message);
  }
}

std::optional<Time> Defragmentations::next_moment(Time now) const {
  std::optional<Time> next;
  const auto consider = [&](std::optional<Time> at) {
    if (at && *at > now && (!next || *at < *next)) next = at;
  };
  for (const auto& [name, asked] : asked_) {
    if (asked.is_wrong || !asked.spec.hours) continue;
    consider(asked.spec.opens_after(now));
    if (!asked.spec.is_open(now)) continue;
    if (const auto made = moment(asked.status["plan"]["asOf"])) consider(*made + kAgainAfter);
    if (const auto moved = moment(asked.status["carriedOut"]["at"])) consider(*moved + asked.spec.cooldown);
  }
  return next;
}

std::vector<std::pair<std::string, Value>> Defragmentations::statuses() const {
  std::vector<std::pair<std::string, Value>> all;
  for (const auto& [name, asked] : asked_) {
    if (!asked.status.is_null() && !(asked.status == asked.said)) all.emplace_back(name, asked.status);
  }
  return all;
}

}  // namespace berth
