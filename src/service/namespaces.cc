#include "service/namespaces.h"

#include <utility>

#include "cycle/explain.h"

namespace berth {

void Namespaces::set(const Value& name_space) {
  const auto [at, is_new] = labels_.try_emplace(std::string(name_space["metadata"]["name"].text()));
  const Value& labels = name_space["metadata"]["labels"];
  if (!is_new && at->second == labels) return;
  at->second = labels;
  changed_ = true;
}

void Namespaces::remove(const std::string& name) { changed_ = labels_.erase(name) > 0 || changed_; }

void Namespaces::set_pod(const PodFacts& pod) {
  if (pod.namespaces_by_label.empty()) {
    selecting_.erase(pod.uid);
    told_.erase(pod.uid);
    return pods_.set_pod(pod);
  }
  selecting_[pod.uid] = pod;
  const PodFacts facts = resolved(pod);
  told_[pod.uid] = facts.neighbours;
  pods_.set_pod(facts);
}

void Namespaces::remove_pod(const std::string& uid) {
  selecting_.erase(uid);
  told_.erase(uid);
  pods_.remove_pod(uid);
}

void Namespaces::settle() {
  if (!std::exchange(changed_, false)) return;
  for (const auto& [uid, pod] : selecting_) {
    PodFacts facts = resolved(pod);
    if (std::exchange(told_[uid], facts.neighbours) != facts.neighbours) pods_.set_pod(facts);
  }
}

PodFacts Namespaces::resolved(const PodFacts& pod) const {
  PodFacts facts = pod;
  bool too_many = false;
  facts.neighbours = with_namespaces(pod.neighbours, pod.namespaces_by_label, labels_, too_many);
  if (too_many && facts.problem.empty()) {
    facts.problem = "a pod affinity selects more than " + with_separators(kNamespacesMax) +
                    " namespaces by their labels; select fewer, or write namespaceSelector: {} for all";
  }
  return facts;
}

}  // namespace berth
