#include "controllers/disruption_controller.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/due_keys.h"
#include "manifest/disruption_budget.h"
#include "manifest/selector.h"

namespace berth {
namespace {

constexpr std::string_view kBudgets = "poddisruptionbudgets.policy";
// The pods of a set come and go together: one look for all of them.
constexpr Duration kSoon{100};

std::string_view name_of(const Value& object) { return object["metadata"]["name"].text(); }
std::string_view namespace_of(const Value& object) { return object["metadata"]["namespace"].text(); }

class DisruptionController final : public Controller {
 public:
  DisruptionController(const Means& means, std::uint64_t seed)
      : means_(means), budgets_(*find_served("policy", "v1", "poddisruptionbudgets")), due_(Seed{seed}) {}

  void see(const KindInfo& kind, const ObjectChange& change) override {
    if (&kind == &budgets_) return see_budget(change);
    const auto here = watched_.find(namespace_of(change.object()));
    if (here == watched_.end()) return;
    if (is_of(kind, "pods")) {
      for (auto& [name, watched] : here->second) see_pod(change, name, watched);
    } else if (is_of(kind, "jobs.batch") || is_of(kind, "jobs.batch.volcano.sh")) {
      // How many pods it wants may have changed.
      for (const auto& [name, watched] : here->second) look_soon(here->first, name);
    }
  }

  void work() override {
    while (const auto key = due_.take(means_.alarm.now())) look(*key);
  }
  std::optional<Time> next() const override { return due_.next(); }

 private:
  struct Watched {
    Value selector;  // as the budget has it
    LabelSelector labels;
    std::map<std::string, ObjectPtr, std::less<>> pods;  // that it selects, by name
  };
  using Named = std::map<std::string, Watched, std::less<>>;

  void see_budget(const ObjectChange& change) {
    const Value& budget = change.object();
    const std::string name_space(namespace_of(budget));
    const std::string name(name_of(budget));
    if (!change.after) {
      const auto here = watched_.find(name_space);
      if (here == watched_.end()) return;
      here->second.erase(name);
      if (here->second.empty()) watched_.erase(here);
      return;
    }
    const auto [at, is_new] = watched_[name_space].try_emplace(name);
    const Value& selector = budget["spec"]["selector"];
    if (is_new || at->second.selector != selector) choose_pods(name_space, selector, at->second);
    look_soon(name_space, name);
  }

  void choose_pods(const std::string& name_space, const Value& selector, Watched& watched) {
    watched = {.selector = selector, .labels = {}, .pods = {}};
    // What the server would not have taken selects nothing.
    auto labels = LabelSelector::from_object(selector);
    watched.labels = labels ? *std::move(labels) : *LabelSelector::from_object(Value());
    means_.view.for_each("pods", [&](const Value& pod) {
      if (namespace_of(pod) != name_space || !watched.labels.matches(pod["metadata"]["labels"])) return;
      watched.pods[std::string(name_of(pod))] = means_.view.find("pods", name_space, name_of(pod));
    });
  }

  void see_pod(const ObjectChange& change, const std::string& budget, Watched& watched) {
    const Value& pod = change.object();
    const std::string name(name_of(pod));
    if (change.after && watched.labels.matches(pod["metadata"]["labels"])) {
      watched.pods[name] = change.after;
    } else if (watched.pods.erase(name) == 0) {
      return;
    }
    look_soon(namespace_of(pod), budget);
  }

  void look_soon(std::string_view name_space, std::string_view name) {
    due_.add(std::string(name_space) + "/" + std::string(name), means_.alarm.now() + kSoon);
  }

  BudgetCount count(const Value& budget, const Watched& watched) const {
    BudgetTally tally([&](const Value& owner) -> std::optional<std::int64_t> {
      const ClusterView::Entry* const entry = means_.view.by_uid(owner["uid"].text());
      return entry == nullptr ? std::nullopt : pods_wanted_by(*entry->object);
    });
    for (const auto& [name, pod] : watched.pods) tally.add(*pod);
    return tally.count(budget["spec"]);
  }

  void look(const std::string& key) {
    const std::size_t slash = key.find('/');
    const std::string name_space = key.substr(0, slash);
    const std::string name = key.substr(slash + 1);
    const ObjectPtr budget = means_.view.find(kBudgets, name_space, name);
    const auto here = watched_.find(name_space);
    if (!budget || here == watched_.end() || !here->second.contains(name)) return due_.settle(key);
    Value status = budget_status(*budget, count(*budget, here->second.at(name)), means_.wall());
    if (status == (*budget)["status"]) return due_.settle(key);
    ApiCall call = change_of(budgets_, *budget, Value::map_of({{"status", std::move(status)}}), "status");
    means_.outbox.send(Outbox::Urgency::kSecond, std::move(call), [this, key](const ApiAnswer& answer) {
      if (answer.ok()) means_.learn(budgets_, object_in(answer));
      if (answer.ok() || answer.status == 404) return due_.settle(key);
      due_.fail(key, means_.alarm.now());
    });
  }

  const Means& means_;
  const KindInfo& budgets_;
  std::map<std::string, Named, std::less<>> watched_;  // by namespace
  DueKeys due_;                                        // "NAMESPACE/NAME"
};

}  // namespace

std::unique_ptr<Controller> make_disruption_controller(const Means& means, std::uint64_t seed) {
  return std::make_unique<DisruptionController>(means, seed);
}

}  // namespace berth
