// What a LiveEngine's engine measures room by: the typical pods, learned from all pods that there are, whether they wait, run
// or have ended. So a scheduler that is started anew learns the same from the same objects, and needs nobody's record.
#include <string_view>

#include "service/live_engine.h"

namespace berth {
namespace {

// Each node has one of its own, whatever else is there: nobody asks for room for another.
bool is_of_its_node(std::string_view owner_kind) { return owner_kind == "DaemonSet" || owner_kind == "Node"; }

}  // namespace

// Slices, shares and replicas are of nodes that have nothing else, and where they go there is no matter of typical pods.
std::optional<AskedKind> LiveEngine::kind_asked_by(const PodFacts& pod) const {
  if (pod.stage == PodStage::kGated || !pod.problem.empty() || is_of_its_node(pod.owner.kind)) return std::nullopt;
  if (pod.asks_slice() || pod.request.sharing != Sharing::kExclusive) return std::nullopt;
  if (pod.request.gpus == 0) return kind_of(pod.request, {});
  const auto flavors = flavors_of(pod);
  if (!flavors || flavors->empty()) return std::nullopt;
  FlavorSet set;
  for (const FlavorId flavor : *flavors) set.add(flavor);
  return kind_of(*request_of(pod, flavors->front()), set);
}

// In an engine that will be made anew flavors have other numbers: then all are counted again.
void LiveEngine::note_asked(Member& member) {
  if (anew_ || !needs_typical_pods(policy_)) return;
  const std::optional<AskedKind> kind = kind_asked_by(member.facts);
  if (kind == member.asked) return;
  forget_asked(member);
  if (kind) asked_.add(*kind);
  member.asked = kind;
}

void LiveEngine::forget_asked(Member& member) {
  if (member.asked) asked_.remove(*member.asked);
  member.asked.reset();
}

// PRE: the nodes are there.
void LiveEngine::count_asked_anew() {
  asked_.clear();
  for (auto& [uid, member] : members_) {
    member.asked.reset();
    note_asked(member);
  }
}

// Few changes are enough to make another list: the rest of what is asked is as it was.
void LiveEngine::learn_typical_pods() {
  if (!needs_typical_pods(policy_) || asked_.typical_pods() == state().typical_pods()) return;
  session_->apply(TypicalPodsChosen{asked_.typical_pods()});
}

}  // namespace berth
