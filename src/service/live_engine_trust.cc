// How a LiveEngine knows who trusts whom: circles of trust, and trust that has ended while some are still on one GPU for it.
//
// Who may be in a circle is written down in its status before they trust each other, and one that is deleted stays until
// they have parted. So a scheduler that is started anew knows whom a circle held that is narrower now, or is going away. It
// tells its engine that they trust each other, then who runs, and then that the trust has ended and by when they have to
// part: those whom a circle held together part in time, and whoever was found among strangers for another reason is left
// alone (docs/semantics.md, rule 29).
#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/wording.h"
#include "manifest/timestamp.h"
#include "manifest/topology_request.h"
#include "service/live_engine.h"
#include "state/starting.h"
#include "state/strangers.h"

namespace berth {
namespace {

// Of one circle; more are put together, and those then have the longer time.
constexpr std::size_t kEndedMax = 8;

bool holds_all(const std::vector<std::string>& of, const std::vector<std::string>& these) {
  return std::ranges::includes(of, these);
}

EndedTrust together(const EndedTrust& a, const EndedTrust& b) {
  EndedTrust both{.queues = {}, .since = std::min(a.since, b.since), .by = std::max(a.by, b.by)};
  both.apart = a.apart ? a.apart : b.apart;
  std::ranges::set_union(a.queues, b.queues, std::back_inserter(both.queues));
  return both;
}

void bound_ended(std::vector<EndedTrust>& ended) {
  if (ended.size() <= kEndedMax) return;
  const EndedTrust last = std::move(ended.back());
  ended.pop_back();
  ended.back() = together(ended.back(), last);
}

// By so many labels circles that are in force keep strangers apart; as many are left for those that were, until all have parted.
constexpr std::size_t kApartLabelsMax = kApartLevelsMax / 2;

// The labels that it names, added to others; false, and nothing is added: they would be more than so many.
bool add_labels(const Apart& apart, std::size_t most, std::set<std::string>& labels) {
  std::set<std::string> with = labels;
  for (const std::string& each : apart) {
    if (!each.empty() && each != kNodeLevel) with.insert(each);
  }
  if (with.size() > most) return false;
  labels = std::move(with);
  return true;
}

// Whether it would be kept apart by more labels than there may be, together with those that came before it.
bool names_too_many_labels(const auto& circles, const auto& circle) {
  const auto age = [](const auto& each) { return std::tie(each.facts.created, each.facts.name); };
  std::vector<decltype(&circle)> older;
  for (const auto& [name, each] : circles) {
    if (age(each) < age(circle)) older.push_back(&each);
  }
  std::ranges::sort(older, {}, [&](const auto* each) { return age(*each); });
  std::set<std::string> labels;
  for (const auto* each : older) add_labels(each->facts.spec.apart, kApartLabelsMax, labels);
  return !add_labels(circle.facts.spec.apart, kApartLabelsMax, labels);
}

// Whether nobody is kept further away than before, in any mode: labels say nothing of which domains are the wider.
bool allows_all_that(const Apart& now, const Apart& before) {
  bool allows = true;
  for (std::size_t mode = 0; mode < now.size(); ++mode) {
    allows = allows &&
             (now[mode].empty() || now[mode] == before[mode] || (now[mode] == kNodeLevel && !before[mode].empty()));
  }
  return allows;
}

// "work of these queues may be on one GPU; strangers are kept away from exclusive GPUs by kubernetes.io/hostname"
// What no node says of itself divides nobody: each node is a domain by itself then.
std::string without_domains(const State& state, const std::string& level) {
  if (level == kNodeLevel) return "";
  for (std::size_t node = 0; node < state.nodes(); ++node) {
    if (find_label(state.node(NodeId(node)).labels, level) != nullptr) return "";
  }
  return ", which no node has: strangers are kept apart node by node, and no further; label the nodes, or name a label "
         "that they have";
}

std::string what_holds(const State& state, const std::vector<std::string>& queues, const Apart& apart) {
  std::string text = queues.empty() ? "" : "work of these queues may be on one GPU";
  for (std::size_t mode = 0; mode < apart.size(); ++mode) {
    if (apart[mode].empty()) continue;
    text += (text.empty() ? "" : "; ") + std::string("strangers are kept away from ") +
            std::string(kSharingNames[mode]) + " GPUs by " + label_of_level(apart[mode]) +
            without_domains(state, apart[mode]);
  }
  return text;
}

// The first time by which a pod has to part from somebody, and from whom: with whom it has parts of a GPU, or who is too near otherwise.
struct TimeToPart {
  Time by = kForever;
  std::optional<int> gpu = {};
};

TimeToPart time_to_part(const State& state, const Pod& pod) {
  TimeToPart time;
  for (const auto& [stranger, by] : state.partings().of(pod.workload)) {
    for_each_pod(state, stranger, [&](const Pod& other) {
      if (by > time.by || !are_strangers(state, pod, other)) return;
      if (by < time.by) time = {by, {}};
      if (!time.gpu && share_as_strangers(state, pod, other)) {
        time.gpu = std::countr_zero(pod.gpus.bits() & other.gpus.bits());
      }
    });
  }
  return time;
}

}  // namespace

void LiveEngine::set_circle(const CircleFacts& facts) {
  const auto [at, is_new] = circles_.try_emplace(facts.name);
  LiveCircle& circle = at->second;
  if (is_new) {
    circle.holds = facts.queues;
    circle.apart = facts.apart;
    circle.ended = facts.parting;
    circle.conditions = facts.conditions;
    // Who trusted each other when nobody looked is told before who runs.
    anew_ = anew_ || !circle.holds.empty() || !circle.ended.empty();
  }
  circle.facts = facts;
  circle.gone = false;
  // Whose work is on which GPUs an engine has to know from its first day on.
  anew_ = anew_ || (some_keep_apart() && !state().ledger().trust().looks_beyond_devices());
}

bool LiveEngine::some_keep_apart() const {
  return std::ranges::any_of(circles_, [](const auto& each) {
    const LiveCircle& circle = each.second;
    return circle.apart != Apart() || circle.facts.spec.apart != Apart() ||
           std::ranges::any_of(circle.ended, [](const EndedTrust& ended) { return ended.apart.has_value(); });
  });
}

void LiveEngine::remove_circle(const std::string& name) {
  const auto at = circles_.find(name);
  if (at != circles_.end()) at->second.gone = true;
}

std::optional<QueueId> LiveEngine::queue_named(const std::string& name) const {
  const auto known = queue_ids_.find(name);
  return known == queue_ids_.end() ? std::nullopt : std::optional(known->second);
}

// Those that came first are in force.
bool LiveEngine::is_one_too_many(const LiveCircle& circle) const {
  if (names_too_many_labels(circles_, circle)) return true;
  if (circles_.size() <= kCirclesMax) return false;
  const auto age = [](const LiveCircle& each) { return std::tie(each.facts.created, each.facts.name); };
  const auto older = std::ranges::count_if(circles_, [&](const auto& each) { return age(each.second) < age(circle); });
  return static_cast<std::size_t>(older) >= kCirclesMax;
}

// What is of the tenant above it would be another's at once.
bool LiveEngine::can_be_tenant(const std::string& name) const {
  const auto queue = queue_named(name);
  return queue && (state().tenant_of(*queue) == *queue || !state().has_work(*queue));
}

// Whom it may hold from now on; that has to be written down first.
std::vector<std::string> LiveEngine::may_hold(const LiveCircle& circle) const {
  std::vector<std::string> queues;
  if (circle.gone || circle.facts.leaving || !circle.facts.problem.empty() || is_one_too_many(circle)) return queues;
  for (const std::string& name : circle.facts.spec.queues) {
    if (can_be_tenant(name)) queues.push_back(name);
  }
  return queues;
}

std::vector<std::string> LiveEngine::to_hold(const LiveCircle& circle) const {
  std::vector<std::string> queues = may_hold(circle);
  if (!circle.facts.is_kept()) queues.clear();
  std::erase_if(queues,
                [&](const std::string& name) { return !std::ranges::binary_search(circle.facts.queues, name); });
  return queues;
}

// From now on it holds those whom it should; false: it does already.
bool LiveEngine::hold(LiveCircle& circle, Time now) {
  std::vector<std::string> holds = to_hold(circle);
  if (holds == circle.holds) return false;
  std::swap(holds, circle.holds);
  if (holds_all(circle.holds, holds)) return true;
  circle.ended.push_back({std::move(holds), now, now + circle.facts.spec.within});
  bound_ended(circle.ended);
  return true;
}

Apart LiveEngine::to_keep_apart(const LiveCircle& circle) const {
  const bool is_void = circle.gone || circle.facts.leaving || !circle.facts.problem.empty() || is_one_too_many(circle);
  return is_void || !circle.facts.is_kept() ? Apart() : circle.facts.spec.apart;
}

// From now on it keeps strangers as far away as it should; false: it does already, or may not before that is written down.
bool LiveEngine::keep_apart(LiveCircle& circle, Time now) {
  const Apart apart = to_keep_apart(circle);
  if (apart == circle.apart) return false;
  const bool is_nearer = allows_all_that(apart, circle.apart);
  if (is_nearer && !circle.gone && circle.facts.apart != apart) return false;
  const Apart before = std::exchange(circle.apart, apart);
  if (is_nearer) return true;
  circle.ended.push_back({.queues = {}, .since = now, .by = now + circle.facts.spec.within, .apart = before});
  bound_ended(circle.ended);
  return true;
}

// The circles as they are, and beside them trust that has ended, as if it had not.
void LiveEngine::tell_circles(const std::vector<const EndedTrust*>& still, Time part_by) {
  std::vector<Circle> circles;
  const auto add = [&](const std::vector<std::string>& names, const Apart& apart = {}) {
    Circle circle{.queues = {}, .apart = apart};
    for (const std::string& name : names) {
      if (const auto queue = queue_named(name)) circle.queues.push_back(*queue);
    }
    std::ranges::sort(circle.queues);
    // Whom it names has nobody yet: it is not of all.
    const bool of_all = names.empty() && circle.keeps_apart();
    if (!circle.queues.empty() || of_all) circles.push_back(std::move(circle));
  };
  // Where labels that were are too many, what is so now holds at once.
  std::set<std::string> labels;
  for (const auto& [name, circle] : circles_) add_labels(circle.apart, kApartLevelsMax - 1, labels);
  for (const auto& [name, circle] : circles_) {
    const auto as_before = std::ranges::find_if(circle.ended, [&](const EndedTrust& each) {
      return each.apart && std::ranges::find(still, &each) != still.end();
    });
    const bool still_so = as_before != circle.ended.end() && add_labels(*as_before->apart, kApartLevelsMax - 1, labels);
    const Apart& apart = still_so ? *as_before->apart : circle.apart;
    const bool names_nobody = circle.holds.empty() && !circle.facts.spec.queues.empty();
    if (!names_nobody) add(circle.holds, apart);
  }
  // Where there are more than can be told apart the last are told as one.
  const std::size_t room = kCirclesMax - circles.size();
  const std::size_t alone = still.size() <= room ? still.size() : std::max<std::size_t>(room, 1) - 1;
  EndedTrust others;
  for (std::size_t at = 0; at < still.size(); ++at) {
    if (at < alone) {
      add(still[at]->queues);
    } else {
      others = together(others, *still[at]);
    }
  }
  if (circles.size() < kCirclesMax) add(others.queues);
  const bool beyond_devices = some_keep_apart() || state().ledger().trust().looks_beyond_devices();
  const bool is_known = beyond_devices == state().ledger().trust().looks_beyond_devices();
  if (is_known && circles == state().ledger().trust().circles()) return;
  const TrustChanged changed{std::move(circles), part_by, beyond_devices};
  if (state().refusal(changed)) return;
  give_up_starts_among_strangers(changed);
  session_->apply(changed);
  strangers_changed_ = true;
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

// Who has room where others still are, or around it, and is among strangers then, waits again.
void LiveEngine::give_up_starts_among_strangers(const TrustChanged& changed) {
  const auto keeps_room = [&](const State& then, WorkloadId id) {
    return std::ranges::find(then.starting(), id) != then.starting().end();
  };
  const auto after_it = [&] {
    State then = state().fork();
    then.apply(changed);
    return then;
  };
  const std::vector<WorkloadId> starting(state().starting().begin(), state().starting().end());
  if (starting.empty()) return;
  State now = after_it();
  for (const WorkloadId id : starting) {
    if (!runs_.contains(id) || keeps_room(now, id)) continue;
    give_up_start(id);
    now = after_it();
  }
}

// PRE: queues are there, and nobody runs or waits.
void LiveEngine::tell_who_trusted(Time now) {
  std::vector<const EndedTrust*> still;
  for (auto& [name, circle] : circles_) {
    hold(circle, now);
    keep_apart(circle, now);
  }
  for (const auto& [name, circle] : circles_) {
    for (const EndedTrust& each : circle.ended) still.push_back(&each);
  }
  std::ranges::stable_sort(still, {}, &EndedTrust::since);
  tell_circles(still, kForever);
}

// PRE: those are there who run. In the order in which it ended, so that each part by the time that they were told first.
void LiveEngine::tell_who_has_to_part() {
  std::vector<const EndedTrust*> still;
  for (const auto& [name, circle] : circles_) {
    for (const EndedTrust& each : circle.ended) still.push_back(&each);
  }
  std::ranges::stable_sort(still, {}, &EndedTrust::since);
  while (!still.empty()) {
    const Time by = still.front()->by;
    still.erase(still.begin());
    tell_circles(still, by);
  }
}

void LiveEngine::settle_circles(Time now) {
  for (auto& [name, circle] : circles_) {
    const bool holds_others = hold(circle, now);
    if (keep_apart(circle, now) || holds_others) tell_circles({}, now + circle.facts.spec.within);
  }
  note_parting();
  forget_who_parted();
  for (auto& [name, circle] : circles_) note_circle(circle, now);
}

// When nobody has to part any more, nothing of the trust that ended is to be known. A queue that was a tenant of its own for it
// belongs to the one above it again: that begins with a new life of the engine.
void LiveEngine::forget_who_parted() {
  if (!state().partings().none()) return;
  told_to_part_.clear();
  for (auto& [name, circle] : circles_) {
    for (const EndedTrust& each : std::exchange(circle.ended, {})) {
      anew_ =
          anew_ || std::ranges::any_of(each.queues, [&](const std::string& queue) {
            const auto id = queue_named(queue);
            const auto names_it = [&](const auto& other) {
              return std::ranges::binary_search(other.second.holds, queue);
            };
            return id && !state().queues()[id->index()].parent.is_none() && std::ranges::none_of(circles_, names_it);
          });
    }
  }
  std::erase_if(circles_, [](const auto& each) { return each.second.gone; });
}

// Each of them once for each time.
void LiveEngine::note_parting() {
  if (!std::exchange(strangers_changed_, false) || state().partings().none()) return;
  for (const auto& [uid, member] : members_) {
    const auto node = node_ids_.find(member.node);
    if (member.running.is_none() || node == node_ids_.end()) continue;
    TimeToPart time;
    for_each_pod(state(), member.running, [&](const Pod& pod) {
      if (pod.node == node->second && pod.gpus == member.given.gpus) time = time_to_part(state(), pod);
    });
    if (time.by == kForever || std::exchange(told_to_part_[uid], time.by) == time.by) continue;
    const std::string by = format_timestamp(time.by);
    const std::string text =
        time.gpu ? "on GPU " + std::to_string(*time.gpu) + " of " + member.node +
                       " is work of queues that do not trust each other any more; who is there after " + by +
                       " and does not trust the stronger claim has to stop"
                 : "on " + member.node +
                       " or around it is work with GPUs of queues that are to be further from each other; who is there "
                       "after " +
                       by + " and is too near to a stronger claim has to stop";
    notices_.push_back({{uid, member.facts.name_space, member.facts.name}, member.facts.owner, text});
  }
}

void LiveEngine::note_circle(LiveCircle& circle, Time now) const {
  if (circle.ended.empty()) {
    std::erase_if(circle.conditions, [](const QueueCondition& each) { return each.type == kPartingCondition; });
  } else {
    Time last{0};
    for (const EndedTrust& each : circle.ended) last = std::max(last, each.by);
    set_condition(circle.conditions,
                  {.type = std::string(kPartingCondition),
                   .holds = true,
                   .reason = "TrustEnded",
                   .message = "some are on one GPU who do not trust each other any more, or too near; they part by " +
                              format_timestamp(last) + ", or some of them have to stop",
                   .since = whole_second(now)});
  }
  std::string reason, wrong;
  const auto complain = [&](const char* why, std::string text) {
    if (reason.empty()) reason = why;
    wrong += (wrong.empty() ? "" : "; ") + std::move(text);
  };
  if (circle.facts.leaving) complain("Deleted", "it is being deleted");
  if (!circle.facts.problem.empty()) complain("NotFollowed", circle.facts.problem);
  if (names_too_many_labels(circles_, circle)) {
    complain("TooMany", "circles that came before it keep strangers apart by other labels, and there may be " +
                            std::to_string(kApartLabelsMax) + " of them together; write one of theirs");
  } else if (is_one_too_many(circle)) {
    complain("TooMany",
             "there are more than 64 circles, and those that came first hold; delete some, or put queues into one "
             "that trust each other");
  }
  for (const std::string& name : circle.facts.spec.queues) {
    const auto queue = queue_named(name);
    if (!queue) {
      complain("QueueUnknown", "there is no queue " + quote(name));
    } else if (!can_be_tenant(name)) {
      complain("QueueHasWork", "queue " + quote(name) + " has work that is of its tenant " +
                                   quote(state().queues()[state().tenant_of(*queue).index()].name) +
                                   "; it is a tenant of its own as soon as that has ended");
    }
  }
  // About to be as it says: what was so until now is told until then.
  if (reason.empty() && (circle.holds != circle.facts.spec.queues || circle.apart != circle.facts.spec.apart)) return;
  const bool in_force = reason.empty();
  set_condition(circle.conditions, {.type = std::string(kInForceCondition),
                                    .holds = in_force,
                                    .reason = in_force ? "AsWritten" : reason,
                                    .message = in_force ? what_holds(state(), circle.holds, circle.apart) : wrong,
                                    .since = whole_second(now)});
}

std::map<std::string, CircleStanding> LiveEngine::circle_standings() const {
  std::map<std::string, CircleStanding> standings;
  for (const auto& [name, circle] : circles_) {
    if (circle.gone) continue;
    const CircleFacts& facts = circle.facts;
    CircleStanding standing{facts, facts.finalizers, {}, to_keep_apart(circle), circle.ended, circle.conditions};
    if (facts.is_kept()) standing.queues = may_hold(circle);
    const bool is_done = facts.leaving && circle.holds.empty() && circle.ended.empty();
    if (is_done) {
      std::erase(standing.finalizers, kPartingFinalizer);
    } else if (!facts.is_kept() && !facts.leaving) {
      standing.finalizers.emplace_back(kPartingFinalizer);
    }
    standings[name] = std::move(standing);
  }
  return standings;
}

}  // namespace berth
