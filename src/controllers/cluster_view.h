// All objects as the controllers know them: what the mirrors told, and ahead of them what answers to the controllers' own
// calls said, so that nothing is done twice because a mirror lags. Who owns whom is known by uid.
// INVARIANT: no object goes back in time, and one that was told gone does not come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/mirror.h"
#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

class ClusterView {
 public:
  struct Entry {
    const KindInfo* kind = nullptr;
    ObjectPtr object;
    std::int64_t revision = 0;
    bool told = false;  // by the mirror; otherwise only an answer spoke of it
  };
  struct Change {
    const KindInfo* kind = nullptr;
    ObjectChange change;
  };

  // What is new in what a mirror told; nothing, if it was known.
  std::vector<Change> see(const KindInfo& kind, const ObjectChange& told);
  // The same of the object in an answer.
  std::vector<Change> learn(const KindInfo& kind, Value object, Time now);
  // What was learned long ago and never told although the mirror has come by: made and gone between two of its looks.
  // PRE: revision_of says how far the mirror of a kind has come.
  std::vector<Change> forget_untold(Time now, const std::function<std::int64_t(const KindInfo&)>& revision_of);

  ObjectPtr find(std::string_view qualified, std::string_view name_space, std::string_view name) const;
  const Entry* by_uid(std::string_view uid) const;
  std::vector<const Entry*> dependents_of(std::string_view uid) const;
  std::size_t count_dependents(std::string_view uid) const;
  // Each of a kind, by namespace and name.
  void for_each(std::string_view qualified, const std::function<void(const Value&)>& visit) const;

 private:
  using Entries = std::map<std::string, Entry, std::less<>>;
  struct Untold {
    std::string key, uid;
    Time since;
  };
  static constexpr std::size_t kGoneMax = 100'000;

  void replace(const std::string& key, Entry entry, std::vector<Change>& changes);
  void remove(Entries::iterator at, std::vector<Change>& changes);
  void note_owners(const Value& object, bool there);
  void note_gone(const std::string& uid);

  Entries entries_;                                                       // "pods/default/p1"
  std::map<std::string, const Entry*, std::less<>> by_uid_;               // into entries_
  std::map<std::string, std::set<std::string>, std::less<>> dependents_;  // uids by uid of the owner
  std::deque<Untold> untold_;
  std::set<std::string, std::less<>> gone_;  // uids; the last kGoneMax of them
  std::deque<std::string> gone_order_;
};

}  // namespace berth
