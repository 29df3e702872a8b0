// What a LiveEngine says of shares and turns: of what a queue's share is made, who is next, what an eviction costs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "cycle/turn_text.h"
#include "fairness/lending.h"
#include "fairness/share.h"
#include "fairness/share_account.h"
#include "fairness/who_is_next.h"
#include "manifest/queue_spec.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// So many of a line are named.
constexpr std::size_t kWaitingNamedMax = 10;
// And so many of those who lend.
constexpr std::int64_t kLendersNamedMax = 10;

}  // namespace

std::string LiveEngine::key_of(Dim dim) const {
  const std::string flavor = dim.flavor().is_none() ? "(no GPUs)" : state().flavors()[dim.flavor().index()].name;
  return name_of(FlavorAmount{flavor, dim.resource(), 0, profile_named(dim)});
}

Value LiveEngine::share_parts_of(QueueId queue) const {
  Value parts = Value::list();
  for (const ShareOfResource& each : account_of_share(state().quotas(), state().flavors(), queue).resources) {
    Value above = Value::map(), capacity = Value::map(), weights = Value::map();
    for (const SharePart& part : each.parts) {
      const std::string key = key_of(part.dim);
      above.set(key, format_amount(each.resource, part.above));
      capacity.set(key, format_amount(each.resource, part.capacity));
      if (part.weight != 1) weights.set(key, part.weight);
    }
    Value made = Value::map_of({{"resource", name_of(each.resource)},
                                {"share", to_text(each.share)},
                                {"above", std::move(above)},
                                {"capacity", std::move(capacity)}});
    if (!weights.members().empty()) made.set("flavorWeights", std::move(weights));
    parts.push_back(std::move(made));
  }
  return parts;
}

std::optional<std::int64_t> LiveEngine::share_milli(const std::string& queue) const {
  const auto id = queue_ids_.find(queue);
  if (id == queue_ids_.end() || !state().quotas().tree().has_floors()) return std::nullopt;
  const Fraction share = share_of(state().quotas(), state().flavors(), id->second);
  return narrow(share.part() * 1000 / share.whole());
}

// Between siblings: what one borrows comes out of what others of them lend, as far as it is of any floor.
void LiveEngine::note_lending(std::map<std::string, QueueStanding>& standings) const {
  const QuotaLedger& quotas = state().quotas();
  if (!quotas.tree().has_floors()) return;
  const std::vector<AmountsByDim> lent = lent_by_each(quotas);
  std::map<QueueId, std::vector<QueueId>> lenders;  // by parent
  for (const auto& [name, id] : queue_ids_) {
    bool lends = false;
    for (std::size_t at = 0; at < lent[id.index()].size(); ++at) {
      if (lent[id.index()][at] <= 0) continue;
      standings[name].lent[key_of(Dim::at(at))] = format_amount(Dim::at(at).resource(), lent[id.index()][at]);
      lends = true;
    }
    if (lends) lenders[quotas.tree().parent(id)].push_back(id);
  }
  // Siblings that borrow of the same dimensions have the same lenders.
  std::map<std::pair<QueueId, std::vector<Dim>>, Lenders> known;
  for (const auto& [name, id] : queue_ids_) {
    const auto beside = lenders.find(quotas.tree().parent(id));
    if (beside == lenders.end()) continue;
    std::vector<Dim> dims;
    const AmountsByDim borrowed = borrowed_by(quotas, id);
    for (std::size_t at = 0; at < borrowed.size(); ++at) {
      if (borrowed[at] > 0) dims.push_back(Dim::at(at));
    }
    const auto [of_them, is_new] = known.try_emplace({beside->first, dims});
    if (is_new) of_them->second = lenders_of(dims, beside->second, lent);
    standings[name].lenders = of_them->second.named;
    standings[name].more_lenders = of_them->second.more;
  }
}

// The first few of them who lend any of these, who lends most of the first before the others.
LiveEngine::Lenders LiveEngine::lenders_of(const std::vector<Dim>& dims, std::vector<QueueId> lenders,
                                           const std::vector<AmountsByDim>& lent) const {
  const auto amounts_of = [&](QueueId lender) {
    std::vector<std::int64_t> amounts;
    for (const Dim dim : dims) amounts.push_back(lent[lender.index()][dim.index()]);
    return amounts;
  };
  std::erase_if(lenders, [&](QueueId lender) {
    return std::ranges::all_of(amounts_of(lender), [](std::int64_t amount) { return amount <= 0; });
  });
  std::ranges::stable_sort(lenders, std::greater(), amounts_of);
  Lenders made;
  made.more = std::max<std::int64_t>(0, std::ssize(lenders) - kLendersNamedMax);
  lenders.resize(lenders.size() - static_cast<std::size_t>(made.more));
  for (const QueueId lender : lenders) {
    std::string& text = made.named[state().queues()[lender.index()].name];
    for (const Dim dim : dims) {
      const std::int64_t amount = lent[lender.index()][dim.index()];
      if (amount <= 0) continue;
      text += (text.empty() ? "" : ",") + key_of(dim) + ":" + format_amount(dim.resource(), amount);
    }
  }
  return made;
}

void LiveEngine::note_turns(std::map<std::string, QueueStanding>& standings) const {
  const WhoIsNext who(state(), state().clock());
  for (const auto& [name, id] : queue_ids_) {
    QueueStanding& standing = standings[name];
    standing.turn = turn_text(state(), who, id);
    // Also of who holds nothing: nothing is a share.
    if (state().quotas().tree().has_floors() && standing.share.empty()) standing.share = to_text(Fraction());
    if (standing.pending == 0) continue;
    for (const WorkloadId workload : first_in_line(state(), state().line_of(id), kWaitingNamedMax)) {
      standing.waiting.push_back(pending_name(workload));
    }
  }
}

// "default/train"; empty if it does not wait.
std::string LiveEngine::pending_name(WorkloadId id) const {
  const auto group = pending_groups_.find(id);
  if (group == pending_groups_.end()) return "";
  return name_in_words(members_.at(groups_.at(group->second).submitted.front()).facts);
}

// Who wants room: he waits, or is a gang that has lost some of its pods.
std::string LiveEngine::claimant_name(WorkloadId id) const {
  const auto run = runs_.find(id);
  if (run == runs_.end() || run->second.uids.empty()) return pending_name(id);
  return name_in_words(members_.at(run->second.uids.front()).facts);
}

// One of those for whom it is; none: they are not there yet.
const PodFacts* LiveEngine::claimant_pod(WorkloadId id) const {
  if (const auto group = pending_groups_.find(id); group != pending_groups_.end()) {
    return &members_.at(groups_.at(group->second).submitted.front()).facts;
  }
  if (!lacking_.contains(id)) return nullptr;
  for (const Vacancy& each : runs_.at(id).vacancies) {
    if (!each.heir.empty()) return &members_.at(each.heir).facts;
  }
  return nullptr;
}

std::map<WorkloadId, std::string> LiveEngine::who_waits_in_words() const {
  std::map<WorkloadId, std::string> names;
  for (const auto& [id, group] : pending_groups_) names.emplace_hint(names.end(), id, pending_name(id));
  return names;
}

std::string LiveEngine::name_in_words(const PodFacts& first) const {
  return first.name_space + "/" + (first.group_name.empty() ? first.name : first.group_name);
}

// "; since its start it has worked 80 GPU-seconds, lost unless it saves them"; empty where there is nothing to lose.
std::string LiveEngine::loss_in_words(WorkloadId id, Time now) const {
  const Workload& workload = state().workload(id);
  const Time safe = std::max(workload.started, workload.checkpoint);
  const auto gpu_s =
      static_cast<std::int64_t>(Wide{workload.gpu_milli} * std::max<std::int64_t>((now - safe).ms, 0) / 1'000'000);
  if (gpu_s == 0) return "";
  const std::string amount = gpu_s < 3600 ? std::to_string(gpu_s) + (gpu_s == 1 ? " GPU-second" : " GPU-seconds")
                                          : decimal_of_milli(gpu_s * 10 / 36) + " GPU-hours";
  return "; since its " + std::string(workload.checkpoint >= workload.started ? "checkpoint" : "start") +
         " it has worked " + amount + ", lost unless it saves them";
}

// Said of whom the room goes to; nothing where it goes to nobody.
std::optional<RoomTaken> LiveEngine::room_taken(const Eviction& eviction) const {
  const PodFacts* const claimant = claimant_pod(eviction.claimant);
  if (claimant == nullptr) return std::nullopt;
  const Workload& victim = state().workload(eviction.workload);
  const std::int64_t gpu_milli = victim.gpu_milli;
  const std::vector<std::string>& uids = runs_.at(eviction.workload).uids;
  const PodFacts& first = members_.at(uids.front()).facts;
  const std::string slice = first.asks_slice() ? profile_on(members_.at(uids.front()).node, first) : first.vgpu;
  const std::string gpus = !slice.empty()  ? ", " + std::to_string(uids.size()) + " x " + slice
                           : gpu_milli > 0 ? ", " + decimal_of_milli(gpu_milli) + (gpu_milli > 1000 ? " GPUs" : " GPU")
                                           : std::string();
  return RoomTaken{.pod = {claimant->uid, claimant->name_space, claimant->name},
                   .owner = claimant->owner,
                   .text = std::string(name_of(eviction.rule)) + ": takes the room of " + name_in_words(first) +
                           " of queue " + state().queues()[victim.queue.index()].name + gpus + ", which stops by " +
                           format_timestamp(eviction.stop_by)};
}

}  // namespace berth
