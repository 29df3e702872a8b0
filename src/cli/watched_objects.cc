#include "cli/watched_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace berth {
namespace {

// How often trouble with the server is looked for while nothing is heard of it.
constexpr std::chrono::seconds kLookEvery{1};

std::string key_of(const Value& object) {
  const Value& metadata = object["metadata"];
  return std::string(metadata["namespace"].text()) + "/" + std::string(metadata["name"].text());
}

}  // namespace

WatchedObjects::WatchedObjects(Transport& server, const std::vector<MirrorOptions>& kinds)
    : objects_(kinds.size()), synced_(kinds.size(), false), alarm_(Alarm::start()) {
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto take = [this, kind](const ObjectChange& change) {
      const std::scoped_lock lock(mutex_);
      const std::string key = key_of(change.object());
      if (change.after) {
        objects_[kind][key] = change.after;
      } else {
        objects_[kind].erase(key);
      }
      news_ = true;
      changed_.notify_all();
    };
    const auto synced = [this, kind] {
      const std::scoped_lock lock(mutex_);
      synced_[kind] = news_ = true;
      changed_.notify_all();
    };
    mirrors_.push_back(Mirror::start(server, *alarm_, kinds[kind], take, synced));
  }
}

void WatchedObjects::wait_until(std::chrono::steady_clock::time_point until) {
  bool news = false;
  while (!news && std::chrono::steady_clock::now() < until) {
    {
      std::unique_lock lock(mutex_);
      const auto next = std::min(until, std::chrono::steady_clock::now() + kLookEvery);
      changed_.wait_until(lock, next, [this] { return news_; });
      news = news_;
      news_ = false;
    }
    say_trouble();
  }
}

void WatchedObjects::say_trouble() {
  std::string trouble;
  for (const auto& mirror : mirrors_) {
    if (trouble.empty()) trouble = mirror->trouble();
  }
  if (trouble == trouble_) return;
  trouble_ = trouble;
  if (!trouble.empty()) fmt::print(stderr, "berth: cannot see what goes on: {}; trying again\n", trouble);
}

bool WatchedObjects::is_synced(std::size_t kind) const {
  const std::scoped_lock lock(mutex_);
  return synced_[kind];
}

bool WatchedObjects::all_synced() const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::find(synced_, false) == synced_.end();
}

SeenObjects WatchedObjects::objects() const {
  SeenObjects seen;
  const std::scoped_lock lock(mutex_);
  for (const auto& kind : objects_) {
    seen.emplace_back();
    for (const auto& [key, object] : kind) seen.back().push_back(*object);
  }
  return seen;
}

}  // namespace berth
