// ResourceQuotas: what each object uses, and the sums in their status, kept exact in the transactions that change them.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission_rules.h"
#include "apiserver/gang_holds.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "manifest/job_set_labels.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {

namespace {

constexpr std::string_view kQuotas = "resourcequotas";

Quantity one() { return *Quantity::parse("1"); }
Quantity zero() { return *Quantity::parse("0"); }

// The kinds that quotas counted by their bare names before there was count/KIND.
bool has_old_name(const KindInfo& kind) {
  return kind.group.empty() && (kind.plural == "configmaps" || kind.plural == "secrets" || kind.plural == kQuotas);
}

void add_pod_usage(const Value& pod, Amounts& usage) {
  if (pod_has_ended(pod)) return;
  usage.emplace("pods", one());
  for (const auto& [name, amount] : pod_amounts(pod["spec"], "requests")) {
    usage.emplace("requests." + name, amount);
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage") usage.emplace(name, amount);
  }
  for (const auto& [name, amount] : pod_amounts(pod["spec"], "limits")) usage.emplace("limits." + name, amount);
  // How large that is goes by the model, which nobody knows before it has one.
  if (gpu_need_of(pod["metadata"], pod["spec"]).need.slice) {
    usage.insert_or_assign("requests." + std::string(kGpuResource), one());
    return;
  }
  const GpuPart part = gpu_part_of(pod["metadata"], pod["spec"]).part;
  if (part.is_none() || part.is_replica()) return;
  // How much of a GPU so much memory is nobody knows before it has one.
  const std::int64_t milli = part.milli > 0 ? part.milli : kMilliPerGpu;
  usage.insert_or_assign("requests." + std::string(kGpuResource), *Quantity::parse(format_milli(milli)));
}

Amounts usage_of(const KindInfo& kind, const Value& object) {
  Amounts usage;
  if (object.is_null()) return usage;
  usage.emplace("count/" + kind.qualified(), one());
  if (has_old_name(kind)) usage.emplace(kind.plural, one());
  if (is_pod_kind(kind)) add_pod_usage(object, usage);
  return usage;
}

// What more is used after a change (or less: negative), without what stays the same.
Amounts growth(const Amounts& before, const Amounts& after) {
  Amounts grown = after;
  for (const auto& [name, amount] : before) grown.emplace(name, zero()).first->second -= amount;
  std::erase_if(grown, [](const auto& each) { return each.second.is_zero(); });
  return grown;
}

struct NamespaceQuota {
  std::string key;
  Value object;

  std::string_view name() const { return object["metadata"]["name"].text(); }
  const Value& hard() const { return object["spec"]["hard"]; }
};

std::vector<NamespaceQuota> quotas_of(const Transaction& transaction, std::string_view name_space) {
  std::vector<NamespaceQuota> quotas;
  transaction.for_each(object_key(kQuotas, name_space, ""),
                       [&](const RecordPtr& record) { quotas.push_back({record->key, object_of(record)}); });
  return quotas;
}

Value status_of(const Value& hard, const Amounts& usage) {
  Value status = Value::map_of({{"hard", hard.is_map() ? hard : Value::map()}});
  Value& used = status.set("used", Value::map());
  for (const Value::Member& limit : hard.members()) {
    const auto amount = usage.find(limit.key);
    used.edit_members().push_back({limit.key, (amount == usage.end() ? zero() : amount->second).to_string()});
  }
  return status;
}

// The sums that the quota's status says.
Amounts used_in(const NamespaceQuota& quota) {
  Amounts used;
  for (const Value::Member& member : quota.object["status"]["used"].members()) {
    if (const std::optional<Quantity> amount = quantity_of(member.value)) used.insert_or_assign(member.key, *amount);
  }
  return used;
}

// Puts the quota with that much more (or less) used.
void add_to_quota(Transaction& transaction, NamespaceQuota quota, const Amounts& grown) {
  const bool concerned =
      std::ranges::any_of(quota.hard().members(), [&](const auto& each) { return grown.contains(each.key); });
  if (!concerned) return;
  Amounts used = used_in(quota);
  add_amounts(used, grown);
  quota.object.set("status", status_of(quota.hard(), used));
  put_object(transaction, quota.key, std::move(quota.object));
}

// ---- gangs ------------------------------------------------------------------------------------------------------------

// A gang as it was and as it will be.
struct GangChange {
  std::string group;
  GangHold before, after;

  // For how many pods more, the new one included, room is asked.
  std::int64_t pods() const { return 1 + after.to_come() - before.to_come(); }
};

// How many pods all Jobs of its sort have at once.
std::int64_t pods_of_sort(const Value& pod, const Value& job) {
  const auto jobs = parse_integer(pod["metadata"]["labels"][kReplicasLabel].text(), 1, kPodGroupSizeMax);
  return std::clamp<std::int64_t>(jobs.value_or(1) * pods_wanted(job), 1, kPodGroupSizeMax);
}

std::optional<GangChange> gang_change(const Transaction& transaction, const Value& before, const Value& after) {
  const Value& pod = after.is_null() ? before : after;
  const std::optional<PodGroup> group = pod_group_of(pod);
  if (!group) return std::nullopt;
  GangChange change{.group = group->name, .before = {}, .after = {}};
  change.before = read_gang(transaction, pod["metadata"]["namespace"].text(), group->name);
  if (before.is_null()) {
    const Amounts usage = usage_of(*find_served("", "v1", "pods"), pod);
    const Value job = job_of_pod(transaction, pod);
    // Its Jobs come and go together, and none of them alone says how many pods there will be.
    change.after = group->sort.empty() ? with_pod(change.before, usage, group->size, job)
                                       : with_pod(change.before, usage, pods_of_sort(pod, job), {});
  } else if (after.is_null()) {
    change.after = without_pod(change.before, before);
  } else {
    change.after = with_end(change.before, after);
  }
  return change;
}

std::optional<GangChange> gang_change_by_job(const Transaction& transaction, const Value& job, bool erased) {
  const Value& metadata = job["metadata"];
  GangChange change{.group = std::string(metadata["name"].text()), .before = {}, .after = {}};
  change.before = read_gang(transaction, metadata["namespace"].text(), change.group);
  change.after = with_job(change.before, job, erased);
  if (change.after.hold == change.before.hold) return std::nullopt;
  return change;
}

// Without what tells it from others of its label, which has no '@'.
std::string shown_name_of(const std::string& group) { return group.substr(0, group.find('@')); }

// ---- checking -------------------------------------------------------------------------------------------------------

// A quota on cpu or memory can only be kept if every container says how much it takes.
Refusal check_says_amounts(const AdmissionRequest& request, const NamespaceQuota& quota) {
  const Value& pod = *request.object;
  std::string missing;
  for (const std::string_view name :
       {"limits.cpu", "limits.memory", "requests.cpu", "requests.memory", "cpu", "memory"}) {
    if (quota.hard().find(name) == nullptr) continue;
    const std::string_view which = name.starts_with("limits.") ? "limits" : "requests";
    const std::string_view resource = name.substr(name.rfind('.') + 1);
    std::string silent;
    for (const char* const list : {"containers", "initContainers"}) {
      for (const Value& container : pod["spec"][list].items()) {
        if (!container["resources"][which][resource].is_null()) continue;
        silent.append(silent.empty() ? "" : ",").append(container["name"].text());
      }
    }
    if (!silent.empty()) missing.append(missing.empty() ? "" : "; ").append(name).append(" for: ").append(silent);
  }
  if (missing.empty()) return {};
  return forbidden(*request.kind, pod["metadata"]["name"].text(),
                   "failed quota: " + std::string(quota.name()) + ": must specify " + missing);
}

struct Excess {
  std::string requested, used, limited;

  void add(const std::string& name, const Quantity& wants, const Quantity& has, const Quantity& most) {
    const auto append = [&](std::string& to, const Quantity& amount) {
      to.append(to.empty() ? "" : ",").append(name).append("=").append(amount.to_string());
    };
    append(requested, wants);
    append(used, has);
    append(limited, most);
  }
};

Refusal check_within(const AdmissionRequest& request, const NamespaceQuota& quota, const Amounts& grown,
                     const std::optional<GangChange>& gang) {
  const Amounts used = used_in(quota);
  Excess excess;
  for (const auto& [name, amount] : grown) {
    const std::optional<Quantity> most = quantity_of(quota.hard()[name]);
    if (!most || amount.is_negative()) continue;
    const auto present = used.find(name);
    const Quantity has = present == used.end() ? zero() : present->second;
    Quantity after = has;
    after += amount;
    if (after > *most) excess.add(name, amount, has, *most);
  }
  if (excess.requested.empty()) return {};
  std::string why = "exceeded quota: " + std::string(quota.name()) + ", requested: " + excess.requested +
                    ", used: " + excess.used + ", limited: " + excess.limited;
  if (gang && gang->pods() > 1) {
    why += " (for the " + std::to_string(gang->pods()) + " pods of the group \"" + shown_name_of(gang->group) +
           "\" that are still to come: they start together or not at all)";
  }
  return forbidden(*request.kind, (*request.object)["metadata"]["name"].text(), why);
}

// ---- counting anew --------------------------------------------------------------------------------------------------

struct Count {
  Amounts usage;
  std::map<std::string, GangHold> gangs;
};

Count count_pods(const Transaction& transaction, std::string_view name_space) {
  Count count;
  const KindInfo& pods = *find_served("", "v1", "pods");
  transaction.for_each(object_key("pods", name_space, ""), [&](const RecordPtr& record) {
    const Value pod = object_of(record);
    add_amounts(count.usage, usage_of(pods, pod));
    const std::optional<PodGroup> group = pod_group_of(pod);
    if (!group) return;
    GangHold& gang = count.gangs[group->name];
    ++gang.there;
    if (!pod_has_ended(pod)) ++gang.live;
    if (pod["status"]["phase"].text() != "Failed") ++gang.unfailed;
  });
  count.gangs = settled_gangs(transaction, name_space, std::move(count.gangs));
  for (const auto& [group, gang] : count.gangs) add_amounts(count.usage, gang.reserved());
  return count;
}

Count count_namespace(const Transaction& transaction, std::string_view name_space) {
  Count count = count_pods(transaction, name_space);
  for (const KindInfo& kind : served_kinds()) {
    // What has two views is counted by the one in which it is kept.
    if (!kind.namespaced || is_pod_kind(kind) || kind.other_view) continue;
    std::int64_t objects = 0;
    transaction.for_each(object_key(kind.qualified(), name_space, ""), [&](const RecordPtr&) { ++objects; });
    const Quantity amount = *Quantity::parse(std::to_string(objects));
    count.usage.emplace("count/" + kind.qualified(), amount);
    if (has_old_name(kind)) count.usage.emplace(kind.plural, amount);
  }
  return count;
}

// The status of a quota is what is there, whatever anybody writes into it.
void count_for_quota(AdmissionRequest& request, Transaction& transaction) {
  Value& quota = *request.object;
  const std::string name_space(quota["metadata"]["namespace"].text());
  Count count = count_namespace(transaction, name_space);
  if (request.operation == Operation::kCreate) add_amounts(count.usage, usage_of(*request.kind, quota));
  quota.set("status", status_of(quota["spec"]["hard"], count.usage));
  write_gangs(transaction, name_space, count.gangs);
}

// Which part of the usage of an object can change at all: a pod's when it ends, what a Job holds when it has less to do;
// nothing else's while it is there.
bool may_change_usage(const AdmissionRequest& request) {
  if (request.operation == Operation::kCreate) return request.subresource.empty();
  if (request.before == nullptr) return false;
  if (is_job_kind(*request.kind)) return pods_wanted(*request.before) > pods_wanted(*request.object);
  return is_pod_kind(*request.kind) && pod_has_ended(*request.before) != pod_has_ended(*request.object);
}

void add_reserved(Amounts& grown, const std::optional<GangChange>& gang) {
  if (!gang) return;
  add_amounts(grown, growth(gang->before.reserved(), gang->after.reserved()));
  std::erase_if(grown, [](const auto& each) { return each.second.is_zero(); });
}

Refusal charge_object(AdmissionRequest& request, Transaction& transaction) {
  if (!may_change_usage(request)) return {};
  const KindInfo& kind = *request.kind;
  const std::string_view name_space = (*request.object)["metadata"]["namespace"].text();
  const std::vector<NamespaceQuota> quotas = quotas_of(transaction, name_space);
  if (quotas.empty()) return {};
  const Value before = request.before == nullptr ? Value() : *request.before;
  const bool new_pod = is_pod_kind(kind) && before.is_null();
  std::optional<GangChange> gang;
  if (is_pod_kind(kind)) gang = gang_change(transaction, before, *request.object);
  if (is_job_kind(kind) && !before.is_null()) gang = gang_change_by_job(transaction, *request.object, false);
  Amounts grown = growth(usage_of(kind, before), usage_of(kind, *request.object));
  add_reserved(grown, gang);
  for (const NamespaceQuota& quota : quotas) {
    if (new_pod) {
      if (Refusal refusal = check_says_amounts(request, quota)) return refusal;
    }
    if (Refusal refusal = check_within(request, quota, grown, gang)) return refusal;
  }
  for (const NamespaceQuota& quota : quotas) add_to_quota(transaction, quota, grown);
  if (gang) write_gang(transaction, name_space, gang->group, gang->after);
  return {};
}

}  // namespace

Refusal charge_quota(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  const KindInfo& kind = *request.kind;
  if (!kind.namespaced) return {};
  if (Refusal refusal = charge_object(request, transaction)) return refusal;
  if (kind.qualified() == kQuotas) count_for_quota(request, transaction);
  return {};
}

void give_back_quota(Transaction& transaction, const KindInfo& kind, const Value& erased) {
  const std::string_view name_space = erased["metadata"]["namespace"].text();
  const std::vector<NamespaceQuota> quotas = quotas_of(transaction, name_space);
  if (quotas.empty()) return;
  std::optional<GangChange> gang;
  if (is_pod_kind(kind)) gang = gang_change(transaction, erased, {});
  if (is_job_kind(kind)) gang = gang_change_by_job(transaction, erased, true);
  Amounts grown = growth(usage_of(kind, erased), {});
  add_reserved(grown, gang);
  for (const NamespaceQuota& quota : quotas) add_to_quota(transaction, quota, grown);
  if (gang) write_gang(transaction, name_space, gang->group, gang->after);
}

void settle_quota(Transaction& transaction, std::string_view name_space, Time) {
  std::vector<NamespaceQuota> quotas = quotas_of(transaction, name_space);
  if (quotas.empty()) return;
  const Count count = count_namespace(transaction, name_space);
  for (NamespaceQuota& quota : quotas) {
    Value status = status_of(quota.hard(), count.usage);
    if (quota.object["status"] == status) continue;
    quota.object.set("status", std::move(status));
    put_object(transaction, quota.key, std::move(quota.object));
  }
  write_gangs(transaction, name_space, count.gangs);
}

}  // namespace berth
