#include "service/predecessors.h"

#include <utility>

#include "model/reason.h"

namespace berth {
namespace {

std::string key_of(const std::string& name_space, const std::string& kind, std::string_view name) {
  return name_space + "/" + kind + "/" + std::string(name);
}
std::string key_of_job(const Value& job) {
  return key_of(std::string(job["metadata"]["namespace"].text()), "job", job["metadata"]["name"].text());
}
// That it has begun is told to those whom its Job makes by its uid.
std::string key_of_uid(const std::string& uid) { return "uid/" + uid; }

bool is_true(const Value& job, std::string_view type) {
  for (const Value& condition : job["status"]["conditions"].items()) {
    if (condition["type"].text() == type) return condition["status"].text() == "True";
  }
  return false;
}

bool matters(const PodFacts& pod) { return !pod.time.after.empty() || pod.time.max_wait.has_value(); }
bool is_of_a_job(const PodFacts& pod) { return pod.owner.kind == "Job" && !pod.owner.uid.empty(); }
bool is_over(const PodFacts& pod) { return pod.stage == PodStage::kSucceeded || pod.stage == PodStage::kFailed; }
bool has_place(const PodFacts& pod) { return pod.stage == PodStage::kBound || is_over(pod); }

// "it starts when job/a has ended", as far as it has not.
std::string waits_in_words(const AfterName& after) {
  switch (after.what) {
    case DependsOn::kEnd:
      return " has ended";
    case DependsOn::kDone:
      return " is done";
    case DependsOn::kBegin:
      return " has begun";
  }
  return "";
}

}  // namespace

void Predecessors::set_job(const Value& job) {
  const std::string key = key_of_job(job);
  const std::string uid(job["metadata"]["uid"].text());
  const Value& status = job["status"];
  const bool done = is_true(job, "Complete");
  Standing standing{.uid = uid, .ended = done || is_true(job, "Failed"), .done = done};
  const bool says_so = !job["metadata"]["annotations"][kBegunAtAnnotation].is_null();
  const auto known = known_.find(key);
  standing.begun = standing.ended || says_so ||
                   (known != known_.end() && known->second.uid == uid && known->second.begun) ||
                   status["ready"].integer() + status["succeeded"].integer() + status["failed"].integer() > 0;
  note(key, std::move(standing));
  if (!says_so || !begun_jobs_.insert(uid).second) return;
  const auto made = followers_.find(key_of_uid(uid));
  if (made != followers_.end()) changed_.insert(made->second.begin(), made->second.end());
}

void Predecessors::remove_job(const Value& job) {
  const std::string key = key_of_job(job);
  begun_jobs_.erase(std::string(job["metadata"]["uid"].text()));
  note(key, {});
  known_.erase(key);
}

void Predecessors::note(const std::string& key, Standing standing) {
  Standing& known = known_[key];
  if (known == standing) return;
  known = std::move(standing);
  const auto followers = followers_.find(key);
  if (followers != followers_.end()) changed_.insert(followers->second.begin(), followers->second.end());
}

// A Job has when one of its pods has.
void Predecessors::note_begun(const PodFacts& pod) {
  if (!is_of_a_job(pod) || !has_place(pod)) return;
  const auto job = known_.find(key_of(pod.name_space, "job", pod.owner.name));
  if (job == known_.end() || job->second.uid != pod.owner.uid || job->second.begun) return;
  Standing standing = job->second;
  standing.begun = true;
  note(job->first, std::move(standing));
}

void Predecessors::set_pod(const PodFacts& pod) {
  const std::string key = key_of(pod.name_space, "pod", pod.name);
  keys_[pod.uid] = key;
  note(key,
       {.uid = pod.uid, .begun = has_place(pod), .ended = is_over(pod), .done = pod.stage == PodStage::kSucceeded});
  note_begun(pod);
  forget(pod);
  if (!matters(pod)) return pods_.set_pod(pod);
  following_[pod.uid] = pod;
  for (const AfterName& each : pod.time.after) followers_[key_of(pod.name_space, each.kind, each.name)].insert(pod.uid);
  if (is_of_a_job(pod)) followers_[key_of_uid(pod.owner.uid)].insert(pod.uid);
  const PodFacts facts = resolved(pod);
  told_[pod.uid] = {facts.has_begun, facts.follows};
  pods_.set_pod(facts);
}

void Predecessors::forget(const PodFacts& pod) {
  const auto before = following_.find(pod.uid);
  if (before == following_.end()) return;
  const auto leave = [&](const std::string& key) {
    const auto followers = followers_.find(key);
    if (followers == followers_.end()) return;
    followers->second.erase(pod.uid);
    if (followers->second.empty()) followers_.erase(followers);
  };
  const PodFacts& said = before->second;
  for (const AfterName& each : said.time.after) leave(key_of(said.name_space, each.kind, each.name));
  leave(key_of_uid(said.owner.uid));
  following_.erase(before);
  told_.erase(pod.uid);
  changed_.erase(pod.uid);
}

void Predecessors::remove_pod(const std::string& uid) {
  const auto key = keys_.find(uid);
  if (key != keys_.end()) {
    const auto known = known_.find(key->second);
    // Perhaps another has its name already.
    if (known != known_.end() && known->second.uid == uid) {
      note(key->second, {});
      known_.erase(key->second);
    }
    keys_.erase(key);
  }
  const auto following = following_.find(uid);
  if (following != following_.end()) forget(PodFacts(following->second));
  pods_.remove_pod(uid);
}

void Predecessors::settle() {
  for (const std::string& uid : std::exchange(changed_, {})) {
    const PodFacts facts = resolved(following_.at(uid));
    std::pair<bool, Obstacle> now{facts.has_begun, facts.follows};
    if (told_[uid] == now) continue;
    told_[uid] = std::move(now);
    pods_.set_pod(facts);
  }
}

bool Predecessors::has_to_say_that_it_began(const PodFacts& pod) const {
  return matters(pod) && is_of_a_job(pod) && has_place(pod) && !begun_jobs_.contains(pod.owner.uid);
}

PodFacts Predecessors::resolved(const PodFacts& pod) const {
  PodFacts facts = pod;
  facts.has_begun = begun_jobs_.contains(pod.owner.uid);
  if (!facts.has_begun) facts.follows = obstacle_of(pod);
  return facts;
}

// The first that is in its way, and how many more are.
Obstacle Predecessors::obstacle_of(const PodFacts& pod) const {
  std::string text;
  std::size_t more = 0;
  for (const AfterName& each : pod.time.after) {
    const auto at = known_.find(key_of(pod.name_space, each.kind, each.name));
    const bool there = at != known_.end() && !at->second.uid.empty();
    const Standing standing = there ? at->second : Standing();
    if (each.what == DependsOn::kDone && standing.ended && !standing.done) {
      return {std::string(name_of(ReasonCode::kDependency)),
              "never: it was to start when " + each.to_string() + " is done, and that has failed; delete it"};
    }
    const bool met = each.what == DependsOn::kBegin  ? standing.begun
                     : each.what == DependsOn::kDone ? standing.done
                                                     : standing.ended;
    if (met) continue;
    if (!text.empty()) {
      ++more;
      continue;
    }
    text = "it starts when " + each.to_string() + waits_in_words(each);
    if (!there) text += "; there is none of that name, and it is waited for";
  }
  if (text.empty()) return {};
  if (more > 0) text += "; and it waits for " + std::to_string(more) + (more == 1 ? " other" : " others");
  return {std::string(name_of(ReasonCode::kDependency)), std::move(text)};
}

}  // namespace berth
