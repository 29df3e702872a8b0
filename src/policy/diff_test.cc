#include "policy/diff.h"

#include <gtest/gtest.h>

#include <string>

#include "policy/assemble.h"
#include "policy/read_objects.h"

namespace berth::diff_test {

std::string queue(const std::string& name, const std::string& spec) {
  return "---\napiVersion: berth.dev/v1alpha1\nkind: Queue\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n";
}

std::string changes(const std::string& before, const std::string& after) {
  std::string text;
  for (const PolicyChange& each : changes_between(assemble(*read_policy_text(before, "old.yaml")),
                                                  assemble(*read_policy_text(after, "new.yaml")))) {
    text += each.to_string() + "\n";
  }
  return text;
}

TEST(PolicyDiff, NamesWhatCameWentAndChanged) {
  struct Case {
    const char* what;
    std::string before, after;
    const char* says;
  };
  const std::string kueue =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\n"
      "spec: {namespaceSelector: {}, cohortName: c, stopPolicy: None}\n";
  std::string held = kueue;
  held.replace(held.find("None"), 4, "Hold");
  const Case cases[] = {
      {"the same, elsewhere", queue("a", "guarantee: {h100: 8}"), "\n\n" + queue("a", "guarantee: {h100: '8'}"), ""},
      {"an amount", queue("a", "guarantee: {h100: 8}"), queue("a", "guarantee: {h100: 16}, limit: {h100: 32}"),
       "queue a: guarantee h100: 8 -> 16\nqueue a: limit h100: - -> 32\n"},
      {"an amount that is no more", queue("a", "guarantee: {h100: 8}, lendingLimit: {h100: 2}"),
       queue("a", "guarantee: {h100: 8}"), "queue a: lendingLimit h100: 2 -> -\n"},
      {"policies", queue("a", "order: fifo"), queue("a", "order: sjf, weight: 2, patience: 30s, stop: hold"),
       "queue a: order: fifo -> sjf\nqueue a: weight: 1 -> 2\nqueue a: patience: 0s -> 30s\nqueue a: stop: none -> "
       "hold\nqueue a: backfill: easy -> -\n"},
      {"backfill", queue("a", "order: fifo"), queue("a", "order: fifo, backfill: none"),
       "queue a: backfill: easy -> none\n"},
      {"queues", queue("a", "") + queue("b", ""), queue("b", "") + queue("c", "parent: b, guarantee: {h100: 4}"),
       "queue a is gone\nqueue b: pool h100: - -> 0\nflavor h100 is new\n"
       "queue c is new: parent b, guarantee h100 4\n"},
      {"Kueue's", kueue, held, "queue a: stop: none -> hold\n"},
  };
  for (const Case& each : cases) EXPECT_EQ(changes(each.before, each.after), each.says) << each.what;
}

}  // namespace berth::diff_test
