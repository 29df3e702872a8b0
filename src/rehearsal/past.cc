#include "rehearsal/past.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <utility>

#include "base/assert.h"
#include "controllers/controller.h"
#include "manifest/json.h"
#include "manifest/labels.h"

namespace berth {
namespace {

void complain(Complaints& complaints, Revision at, const std::string& what) {
  complaints.add({}, "at revision " + std::to_string(at) + " " + what);
}

std::string uid_of(const RecordPtr& record) { return std::string(object_of_record(record)["metadata"]["uid"].text()); }

// "node/device" of each GPU that a pod holds.
std::set<std::string> devices_of(const Value& pod) {
  std::set<std::string> devices;
  if (pod.is_null() || has_ended(pod)) return devices;
  const std::string node(pod["spec"]["nodeName"].text());
  std::istringstream list{std::string(pod["metadata"]["annotations"][kGpusAnnotation].text())};
  for (std::string device; std::getline(list, device, ',');) devices.insert(node + "/" + device);
  return devices;
}

std::int64_t gpus_asked(const Value& pod) {
  std::int64_t gpus = 0;
  for (const Value& container : pod["spec"]["containers"].items()) {
    const Value& asked = container["resources"]["limits"][kGpuResource];
    gpus += asked.is_text() ? std::stoll(std::string(asked.text())) : asked.integer();
  }
  return gpus;
}

}  // namespace

Value object_of_record(const RecordPtr& record) {
  if (!record) return {};
  auto parsed = parse_json(record->bytes);
  return parsed ? *std::move(parsed) : Value();
}

Records records_in(const Store& store) {
  Records records;
  for (const RecordPtr& record : store.list("").records) records.emplace(record->key, record);
  return records;
}

void Past::add(const std::vector<ChangePtr>& changes) {
  for (const ChangePtr& change : changes) {
    BERTH_ASSERT(change->revision == end() + 1);
    Records next = states_.back();
    if (change->after) {
      next.insert_or_assign(change->key(), change->after);
    } else {
      next.erase(change->key());
      deletions_[uid_of(change->before)] = change->revision;
    }
    states_.push_back(std::move(next));
    changes_.push_back(change);
  }
}

Past Past::until(Revision last) const {
  Past past(states_.front(), begun_at_);
  past.add({changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(last - begun_at_)});
  return past;
}

Revision Past::deletion_of(const std::string& uid) const {
  const auto found = deletions_.find(uid);
  return found == deletions_.end() ? 0 : found->second;
}

Revision Past::last_of(const std::string& kind) const {
  const auto last = std::ranges::find_if(changes_.rbegin(), changes_.rend(), [&](const ChangePtr& change) {
    return change->key().starts_with(kind + "/");
  });
  return last == changes_.rend() ? 0 : (*last)->revision;
}

Revision Past::owed(const std::vector<Word>& words, std::int64_t writes) const {
  Revision owed = begun_at_;
  for (const Word& word : words) {
    if (word.writes > writes) continue;
    owed = std::max(owed, word.revision > 0 ? word.revision : deletion_of(word.uid));
  }
  return owed;
}

Complaints compare(const Records& found, const Records& expected) {
  Complaints complaints;
  for (const auto& [key, record] : expected) {
    const auto at = found.find(key);
    if (at == found.end()) {
      complain(complaints, record->revision, key + " was there, and is not");
    } else if (at->second->revision != record->revision || at->second->bytes != record->bytes) {
      complain(complaints, record->revision, key + " was otherwise: " + at->second->bytes);
    }
  }
  for (const auto& [key, record] : found) {
    if (!expected.contains(key)) complain(complaints, record->revision, key + " is there, and was not");
  }
  return complaints;
}

Complaints check_words(const Past& past, const std::vector<Word>& words) {
  Complaints complaints;
  for (const Word& word : words) {
    if (!word.acknowledged) continue;
    if (word.revision == 0) {
      if (past.deletion_of(word.uid) == 0) complain(complaints, past.end(), word.what + " was acknowledged in vain");
      continue;
    }
    if (word.revision <= past.begun_at()) continue;  // it changed nothing
    const bool known = word.revision <= past.end();
    const ChangePtr change =
        known ? past.changes()[static_cast<std::size_t>(word.revision - past.begun_at() - 1)] : nullptr;
    if (!change || uid_of(change->after ? change->after : change->before) != word.uid) {
      complain(complaints, word.revision, word.what + " was acknowledged in vain");
    }
  }
  return complaints;
}

Complaints check_places(const Past& past) {
  Complaints complaints;
  std::map<std::string, std::string> holders, places;  // uids by device, nodes by uid
  const auto see = [&](const RecordPtr& before, const RecordPtr& after, Revision at) {
    const Value was = object_of_record(before);
    const Value is = object_of_record(after);
    const std::string uid((is.is_null() ? was : is)["metadata"]["uid"].text());
    for (const std::string& device : devices_of(was)) {
      if (holders[device] == uid) holders.erase(device);
    }
    for (const std::string& device : devices_of(is)) {
      if (!holders.emplace(device, uid).second) complain(complaints, at, device + " is given to two pods");
    }
    if (is.is_null() || is["spec"]["nodeName"].is_empty()) return;
    const std::string node(is["spec"]["nodeName"].text());
    if (places.emplace(uid, node).first->second != node) complain(complaints, at, uid + " was bound twice");
  };
  for (const auto& [key, record] : past.at(past.begun_at())) {
    if (key.starts_with("pods/")) see(nullptr, record, past.begun_at());
  }
  for (const ChangePtr& change : past.changes()) {
    if (change->key().starts_with("pods/")) see(change->before, change->after, change->revision);
  }
  return complaints;
}

Complaints check_quotas(const Records& records) {
  Complaints complaints;
  for (const auto& [key, record] : records) {
    if (!key.starts_with("resourcequotas/")) continue;
    const Value quota = object_of_record(record);
    const std::string within = "/" + std::string(quota["metadata"]["namespace"].text()) + "/";
    std::map<std::string, std::int64_t> used;
    for (const auto& [other, each] : records) {
      if (other.starts_with("configmaps" + within)) ++used["configmaps"];
      if (!other.starts_with("pods" + within)) continue;
      const Value pod = object_of_record(each);
      if (has_ended(pod)) continue;
      ++used["pods"];
      used["requests.nvidia.com/gpu"] += gpus_asked(pod);
    }
    for (const Value::Member& said : quota["status"]["used"].members()) {
      const std::string counted = std::to_string(used[said.key]);
      if (said.value.text() != counted) {
        complain(complaints, record->revision,
                 key + " says " + said.key + "=" + std::string(said.value.text()) + ", there are " + counted);
      }
    }
  }
  return complaints;
}

Complaints check_followed(const Past& past, const std::string& kind, Revision after,
                          const std::vector<Follower::Seen>& seen) {
  Complaints complaints;
  std::size_t next = 0;
  for (const ChangePtr& change : past.changes()) {
    if (change->revision <= after || !change->key().starts_with(kind + "/")) continue;
    const char* const type = !change->before ? "ADDED" : change->after ? "MODIFIED" : "DELETED";
    if (next == seen.size() || seen[next].revision != change->revision || seen[next].type != type) {
      complain(complaints, change->revision, change->key() + " was not told once and in its turn");
      return complaints;
    }
    ++next;
  }
  if (next != seen.size()) complain(complaints, seen[next].revision, "something was told that never was");
  return complaints;
}

}  // namespace berth
