#include "controllers/namespace_controller.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "controllers/due_keys.h"
#include "controllers/namespace_plan.h"

namespace berth {
namespace {

// What ends slowly, as pods do, is looked for again; soon after one of its objects is told gone, many of which go together.
constexpr Duration kLookAgain = seconds(5);
constexpr Duration kEmptySoon{200};
constexpr const char* kLookedAt = "20";
constexpr const char* kNamesOnly = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

bool has_our_finalizer(const Value& name_space) {
  return std::ranges::any_of(name_space["spec"]["finalizers"].items(),
                             [](const Value& each) { return each.text() == "kubernetes"; });
}

// The kinds a namespace is full of. What has two views is emptied in one.
std::vector<const KindInfo*> kinds_to_empty() {
  std::vector<const KindInfo*> kinds;
  for (const KindInfo& kind : served_kinds()) {
    const bool deletable = kind.namespaced && kind.has_verb("deletecollection") && kind.has_verb("list");
    if (deletable && !kind.other_view) kinds.push_back(&kind);
  }
  return kinds;
}

class NamespaceController final : public Controller {
 public:
  NamespaceController(const Means& means, std::uint64_t seed)
      : means_(means), namespaces_(*find_served("", "v1", "namespaces")), kinds_(kinds_to_empty()), due_(Seed{seed}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    const Value& metadata = change.object()["metadata"];
    if (&kind == &namespaces_) {
      // Its own words about the namespace come back too: only the first time there is something to do at once.
      const bool begins =
          change.after && is_being_deleted(*change.after) && !(change.before && is_being_deleted(*change.before));
      if (begins) due_.add(std::string(metadata["name"].text()), means_.alarm.now());
    } else if (!change.after && kind.namespaced) {
      const std::string name(metadata["namespace"].text());
      const ObjectPtr in = means_.view.find("namespaces", "", name);
      if (in && is_being_deleted(*in)) due_.add(name, means_.alarm.now() + kEmptySoon);
    }
  }

  void work() override {
    while (const auto name = due_.take(means_.alarm.now())) look(*name);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  // One sweep through a namespace: everything is asked to go, then it is asked what is left.
  struct Sweep {
    ObjectPtr name_space;
    std::string name;
    std::size_t open = 0;  // calls
    Emptying emptying;
  };
  using SweepPtr = std::shared_ptr<Sweep>;

  void look(const std::string& name) {
    const ObjectPtr name_space = means_.view.find("namespaces", "", name);
    if (!name_space || !is_being_deleted(*name_space) || !has_our_finalizer(*name_space)) return due_.settle(name);
    const auto sweep = std::make_shared<Sweep>();
    sweep->name_space = name_space;
    sweep->name = name;
    sweep->open = kinds_.size();
    for (const KindInfo* const kind : kinds_) delete_all(*kind, sweep);
  }

  void delete_all(const KindInfo& kind, const SweepPtr& sweep) {
    ApiCall call;
    call.method = "DELETE";
    call.path = api_path(kind.qualified(), sweep->name) + "?propagationPolicy=Background";
    call.accept = kNamesOnly;  // what goes is listed in the answer
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, &kind, sweep](const ApiAnswer& answer) {
      if (!answer.ok()) sweep->emptying.failures.push_back(kind.qualified() + ": " + text_of_failure(answer));
      if (--sweep->open > 0) return;
      sweep->open = kinds_.size();
      for (const KindInfo* const each : kinds_) count_left(*each, sweep);
    });
  }

  void count_left(const KindInfo& kind, const SweepPtr& sweep) {
    ApiCall call;
    call.path = api_path(kind.qualified(), sweep->name) + "?limit=" + kLookedAt;
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, &kind, sweep](const ApiAnswer& answer) {
      if (answer.ok()) {
        note_left(kind, object_in(answer), *sweep);
      } else {
        sweep->emptying.failures.push_back(kind.qualified() + ": " + text_of_failure(answer));
      }
      if (--sweep->open == 0) conclude(sweep);
    });
  }

  static void note_left(const KindInfo& kind, const Value& list, Sweep& sweep) {
    const Value::List& items = list["items"].items();
    if (items.empty()) return;
    LeftOver left;
    left.kind = kind.qualified();
    left.count = static_cast<std::int64_t>(items.size()) + list["metadata"]["remainingItemCount"].integer();
    for (const Value& item : items) {
      for (const Value& each : item["metadata"]["finalizers"].items()) left.finalizers.emplace_back(each.text());
    }
    sweep.emptying.left.push_back(std::move(left));
  }

  void conclude(const SweepPtr& sweep) {
    const Value& name_space = *sweep->name_space;
    if (is_empty(sweep->emptying)) {
      return store(sweep, change_of(namespaces_, name_space, released_namespace(name_space)));
    }
    std::ranges::sort(sweep->emptying.left, {}, &LeftOver::kind);
    std::ranges::sort(sweep->emptying.failures);
    const Value change = emptying_status(name_space, sweep->emptying, means_.wall());
    if (change["status"]["conditions"] == name_space["status"]["conditions"]) return look_later(*sweep);
    store(sweep, change_of(namespaces_, name_space, change, "status"));
  }

  void store(const SweepPtr& sweep, ApiCall call) {
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, sweep](const ApiAnswer& answer) {
      if (!answer.ok() && answer.status != 404) {
        due_.fail(sweep->name, means_.alarm.now());
      } else if (is_empty(sweep->emptying)) {
        due_.settle(sweep->name);
      } else {
        // Its own words about it are no reason to look at once.
        look_later(*sweep);
      }
    });
  }

  void look_later(const Sweep& sweep) {
    due_.add(sweep.name, means_.alarm.now() + kLookAgain);
    due_.settle(sweep.name);
  }

  const Means& means_;
  const KindInfo& namespaces_;
  const std::vector<const KindInfo*> kinds_;
  DueKeys due_;  // names
};

}  // namespace

std::unique_ptr<Controller> make_namespace_controller(const Means& means, std::uint64_t seed) {
  return std::make_unique<NamespaceController>(means, seed);
}

}  // namespace berth
