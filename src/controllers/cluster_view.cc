#include "controllers/cluster_view.h"

#include <charconv>
#include <memory>
#include <utility>

namespace berth {
namespace {

constexpr Duration kUntoldMax = seconds(30);

std::string key_of(std::string_view qualified, std::string_view name_space, std::string_view name) {
  std::string key(qualified);
  key.append("/").append(name_space).append("/").append(name);
  return key;
}
std::string key_of(const KindInfo& kind, const Value& object) {
  return key_of(kind.qualified(), object["metadata"]["namespace"].text(), object["metadata"]["name"].text());
}

std::string uid_of(const Value& object) { return std::string(object["metadata"]["uid"].text()); }

std::int64_t revision_of(const Value& object) {
  const std::string_view text = object["metadata"]["resourceVersion"].text();
  std::int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

}  // namespace

std::vector<ClusterView::Change> ClusterView::see(const KindInfo& kind, const ObjectChange& told) {
  std::vector<Change> changes;
  const std::string key = key_of(kind, told.object());
  const auto known = entries_.find(key);
  const std::string uid = uid_of(told.object());
  if (!told.after) {
    note_gone(uid);
    if (known != entries_.end() && uid_of(*known->second.object) == uid) remove(known, changes);
    return changes;
  }
  const std::int64_t revision = revision_of(*told.after);
  if (known != entries_.end() && known->second.revision >= revision) {
    if (uid_of(*known->second.object) == uid) known->second.told = true;
    return changes;
  }
  replace(key, {.kind = &kind, .object = told.after, .revision = revision, .told = true}, changes);
  return changes;
}

std::vector<ClusterView::Change> ClusterView::learn(const KindInfo& kind, Value object, Time now) {
  std::vector<Change> changes;
  const std::string uid = uid_of(object);
  const std::int64_t revision = revision_of(object);
  if (uid.empty() || gone_.contains(uid)) return changes;
  const std::string key = key_of(kind, object);
  const auto known = entries_.find(key);
  if (known != entries_.end() && known->second.revision >= revision) return changes;
  const bool told = known != entries_.end() && known->second.told && uid_of(*known->second.object) == uid;
  if (!told) untold_.push_back({.key = key, .uid = uid, .since = now});
  object.at("metadata").erase("managedFields");
  replace(
      key,
      {.kind = &kind, .object = std::make_shared<const Value>(std::move(object)), .revision = revision, .told = told},
      changes);
  return changes;
}

std::vector<ClusterView::Change> ClusterView::forget_untold(
    Time now, const std::function<std::int64_t(const KindInfo&)>& revision_of) {
  std::vector<Change> changes;
  std::deque<Untold> still;
  for (; !untold_.empty() && untold_.front().since + kUntoldMax <= now; untold_.pop_front()) {
    const auto at = entries_.find(untold_.front().key);
    if (at == entries_.end() || at->second.told || uid_of(*at->second.object) != untold_.front().uid) continue;
    if (revision_of(*at->second.kind) >= at->second.revision) {
      remove(at, changes);
    } else {
      still.push_back({.key = untold_.front().key, .uid = untold_.front().uid, .since = now});
    }
  }
  for (Untold& each : still) untold_.push_back(std::move(each));
  return changes;
}

ObjectPtr ClusterView::find(std::string_view qualified, std::string_view name_space, std::string_view name) const {
  const auto found = entries_.find(key_of(qualified, name_space, name));
  return found == entries_.end() ? nullptr : found->second.object;
}

const ClusterView::Entry* ClusterView::by_uid(std::string_view uid) const {
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? nullptr : found->second;
}

std::vector<const ClusterView::Entry*> ClusterView::dependents_of(std::string_view uid) const {
  std::vector<const Entry*> dependents;
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return dependents;
  for (const std::string& each : found->second) {
    if (const Entry* const entry = by_uid(each)) dependents.push_back(entry);
  }
  return dependents;
}

std::size_t ClusterView::count_dependents(std::string_view uid) const {
  const auto found = dependents_.find(uid);
  return found == dependents_.end() ? 0 : found->second.size();
}

void ClusterView::for_each(std::string_view qualified, const std::function<void(const Value&)>& visit) const {
  const std::string prefix = std::string(qualified) + "/";
  for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix); ++at) {
    visit(*at->second.object);
  }
}

void ClusterView::replace(const std::string& key, Entry entry, std::vector<Change>& changes) {
  auto at = entries_.find(key);
  const std::string uid = uid_of(*entry.object);
  if (at != entries_.end() && uid_of(*at->second.object) != uid) {
    remove(at, changes);
    at = entries_.end();
  }
  ObjectPtr before;
  if (at != entries_.end()) {
    before = at->second.object;
    note_owners(*before, false);
    at->second = std::move(entry);
  } else {
    at = entries_.emplace(key, std::move(entry)).first;
  }
  by_uid_[uid] = &at->second;
  note_owners(*at->second.object, true);
  changes.push_back({.kind = at->second.kind, .change = {.before = std::move(before), .after = at->second.object}});
}

void ClusterView::remove(Entries::iterator at, std::vector<Change>& changes) {
  const Entry entry = at->second;
  const std::string uid = uid_of(*entry.object);
  note_owners(*entry.object, false);
  by_uid_.erase(uid);
  entries_.erase(at);
  note_gone(uid);
  changes.push_back({.kind = entry.kind, .change = {.before = entry.object, .after = nullptr}});
}

void ClusterView::note_owners(const Value& object, bool there) {
  const std::string uid = uid_of(object);
  for (const Value& owner : object["metadata"]["ownerReferences"].items()) {
    const std::string of(owner["uid"].text());
    if (there) {
      dependents_[of].insert(uid);
      continue;
    }
    const auto found = dependents_.find(of);
    if (found == dependents_.end()) continue;
    found->second.erase(uid);
    if (found->second.empty()) dependents_.erase(found);
  }
}

void ClusterView::note_gone(const std::string& uid) {
  if (!gone_.insert(uid).second) return;
  gone_order_.push_back(uid);
  if (gone_order_.size() <= kGoneMax) return;
  gone_.erase(gone_order_.front());
  gone_order_.pop_front();
}

}  // namespace berth
