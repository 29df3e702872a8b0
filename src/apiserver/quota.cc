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
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"

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

struct Quota {
  std::string key;
  Value object;

  std::string_view name() const { return object["metadata"]["name"].text(); }
  const Value& hard() const { return object["spec"]["hard"]; }
};

std::vector<Quota> quotas_of(const Transaction& transaction, std::string_view name_space) {
  std::vector<Quota> quotas;
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
Amounts used_in(const Quota& quota) {
  Amounts used;
  for (const Value::Member& member : quota.object["status"]["used"].members()) {
    if (const std::optional<Quantity> amount = quantity_of(member.value)) used.insert_or_assign(member.key, *amount);
  }
  return used;
}

// Puts the quota with that much more (or less) used.
void add_to_quota(Transaction& transaction, Quota quota, const Amounts& grown) {
  const bool concerned =
      std::ranges::any_of(quota.hard().members(), [&](const auto& each) { return grown.contains(each.key); });
  if (!concerned) return;
  Amounts used = used_in(quota);
  add_amounts(used, grown);
  quota.object.set("status", status_of(quota.hard(), used));
  put_object(transaction, quota.key, std::move(quota.object));
}

// ---- gangs: how many pods of a group there are, failed ones not counted; kept in namespaces that have quotas --------

std::string group_key(std::string_view name_space, std::string_view group) {
  return object_key("_groups", name_space, group);
}

bool counts_in_group(const Value& pod) { return !pod.is_null() && pod["status"]["phase"].text() != "Failed"; }

std::int64_t pods_in_group(const Transaction& transaction, std::string_view name_space, std::string_view group) {
  return find_object(transaction, group_key(name_space, group))["pods"].integer();
}

void write_group(Transaction& transaction, std::string_view name_space, const std::string& group, std::int64_t pods) {
  const std::string key = group_key(name_space, group);
  if (pods > 0) {
    put_object(transaction, key, Value::map_of({{"pods", pods}}));
  } else if (transaction.find(key)) {
    transaction.erase(key, "{}");
  }
}

void note_group_change(Transaction& transaction, const Value& before, const Value& after) {
  const Value& pod = after.is_null() ? before : after;
  const std::optional<PodGroup> group = pod_group_of(pod);
  const int change = static_cast<int>(counts_in_group(after)) - static_cast<int>(counts_in_group(before));
  if (!group || change == 0) return;
  const std::string_view name_space = pod["metadata"]["namespace"].text();
  write_group(transaction, name_space, group->name, pods_in_group(transaction, name_space, group->name) + change);
}

// How many pods like this one have to find room: all of its gang that are still to come, since half of them would only
// wait for the others (semantics 26). They are taken to be alike.
std::int64_t pods_to_come(const Transaction& transaction, const Value& pod) {
  const std::optional<PodGroup> group = pod_group_of(pod);
  if (!group) return 1;
  const std::int64_t there = pods_in_group(transaction, pod["metadata"]["namespace"].text(), group->name);
  return std::max<std::int64_t>(1, group->size - there);
}

// ---- checking -------------------------------------------------------------------------------------------------------

// A quota on cpu or memory can only be kept if every container says how much it takes.
Refusal check_says_amounts(const AdmissionRequest& request, const Quota& quota) {
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

Refusal check_within(const AdmissionRequest& request, const Quota& quota, const Amounts& grown, std::int64_t count) {
  const Amounts used = used_in(quota);
  Excess excess;
  for (const auto& [name, amount] : grown) {
    const std::optional<Quantity> most = quantity_of(quota.hard()[name]);
    if (!most || amount.is_negative()) continue;
    const auto present = used.find(name);
    const Quantity has = present == used.end() ? zero() : present->second;
    const Quantity wants = times(amount, count);
    Quantity after = has;
    after += wants;
    if (after > *most) excess.add(name, wants, has, *most);
  }
  if (excess.requested.empty()) return {};
  std::string why = "exceeded quota: " + std::string(quota.name()) + ", requested: " + excess.requested +
                    ", used: " + excess.used + ", limited: " + excess.limited;
  if (count > 1) {
    why += " (for the " + std::to_string(count) + " pods of the group \"" + pod_group_of(*request.object)->name +
           "\" that are still to come: they start together or not at all)";
  }
  return forbidden(*request.kind, (*request.object)["metadata"]["name"].text(), why);
}

// ---- counting anew --------------------------------------------------------------------------------------------------

struct Count {
  Amounts usage;
  std::map<std::string, std::int64_t> groups;
};

Count count_pods(const Transaction& transaction, std::string_view name_space) {
  Count count;
  const KindInfo& pods = *find_served("", "v1", "pods");
  transaction.for_each(object_key("pods", name_space, ""), [&](const RecordPtr& record) {
    const Value pod = object_of(record);
    add_amounts(count.usage, usage_of(pods, pod));
    const std::optional<PodGroup> group = pod_group_of(pod);
    if (group && counts_in_group(pod)) ++count.groups[group->name];
  });
  return count;
}

Count count_namespace(const Transaction& transaction, std::string_view name_space) {
  Count count = count_pods(transaction, name_space);
  for (const KindInfo& kind : served_kinds()) {
    // Events have two names and are counted by the one under which they are kept.
    if (!kind.namespaced || is_pod_kind(kind) || kind.qualified() == "events.events.k8s.io") continue;
    std::int64_t objects = 0;
    transaction.for_each(object_key(kind.qualified(), name_space, ""), [&](const RecordPtr&) { ++objects; });
    const Quantity amount = *Quantity::parse(std::to_string(objects));
    count.usage.emplace("count/" + kind.qualified(), amount);
    if (has_old_name(kind)) count.usage.emplace(kind.plural, amount);
  }
  return count;
}

void write_groups(Transaction& transaction, std::string_view name_space, const Count& count) {
  std::vector<std::string> stale;
  const std::string prefix = group_key(name_space, "");
  transaction.for_each(prefix, [&](const RecordPtr& record) {
    if (!count.groups.contains(record->key.substr(prefix.size()))) stale.push_back(record->key);
  });
  for (const std::string& key : stale) transaction.erase(key, "{}");
  for (const auto& [group, pods] : count.groups) {
    if (pods_in_group(transaction, name_space, group) != pods) write_group(transaction, name_space, group, pods);
  }
}

// The status of a quota is what is there, whatever anybody writes into it.
void count_for_quota(AdmissionRequest& request, Transaction& transaction) {
  Value& quota = *request.object;
  const std::string name_space(quota["metadata"]["namespace"].text());
  Count count = count_namespace(transaction, name_space);
  if (request.operation == Operation::kCreate) add_amounts(count.usage, usage_of(*request.kind, quota));
  quota.set("status", status_of(quota["spec"]["hard"], count.usage));
  write_groups(transaction, name_space, count);
}

// Which part of the usage of an object can change at all: a pod's when it ends; nothing else's while it is there.
bool may_change_usage(const AdmissionRequest& request) {
  if (request.operation == Operation::kCreate) return request.subresource.empty();
  return is_pod_kind(*request.kind) && request.before != nullptr &&
         pod_has_ended(*request.before) != pod_has_ended(*request.object);
}

}  // namespace

Refusal charge_quota(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  const KindInfo& kind = *request.kind;
  if (!kind.namespaced) return {};
  if (may_change_usage(request)) {
    const std::vector<Quota> quotas = quotas_of(transaction, (*request.object)["metadata"]["namespace"].text());
    const Value before = request.before == nullptr ? Value() : *request.before;
    const bool new_pod = is_pod_kind(kind) && before.is_null();
    const Amounts grown = growth(usage_of(kind, before), usage_of(kind, *request.object));
    const std::int64_t count = new_pod && !quotas.empty() ? pods_to_come(transaction, *request.object) : 1;
    for (const Quota& quota : quotas) {
      if (new_pod) {
        if (Refusal refusal = check_says_amounts(request, quota)) return refusal;
      }
      if (Refusal refusal = check_within(request, quota, grown, count)) return refusal;
    }
    for (const Quota& quota : quotas) add_to_quota(transaction, quota, grown);
    if (is_pod_kind(kind) && !quotas.empty()) note_group_change(transaction, before, *request.object);
  }
  if (kind.qualified() == kQuotas) count_for_quota(request, transaction);
  return {};
}

void give_back_quota(Transaction& transaction, const KindInfo& kind, const Value& erased) {
  const std::vector<Quota> quotas = quotas_of(transaction, erased["metadata"]["namespace"].text());
  const Amounts grown = growth(usage_of(kind, erased), {});
  for (const Quota& quota : quotas) add_to_quota(transaction, quota, grown);
  if (is_pod_kind(kind) && !quotas.empty()) note_group_change(transaction, erased, {});
}

void settle_quota(Transaction& transaction, std::string_view name_space, Time) {
  std::vector<Quota> quotas = quotas_of(transaction, name_space);
  if (quotas.empty()) return;
  const Count count = count_namespace(transaction, name_space);
  for (Quota& quota : quotas) {
    Value status = status_of(quota.hard(), count.usage);
    if (quota.object["status"] == status) continue;
    quota.object.set("status", std::move(status));
    put_object(transaction, quota.key, std::move(quota.object));
  }
  write_groups(transaction, name_space, count);
}

}  // namespace berth
