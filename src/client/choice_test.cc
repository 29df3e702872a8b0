// Which work is shown in which order, and what a watch prints of it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/listing.h"
#include "client/listing_stream.h"
#include "client/work_choice.h"
#include "manifest/yaml.h"

namespace berth::choice_test {

Work work(const std::string& name, WorkState state, std::int64_t gpus, std::int64_t created, const std::string& queue,
          const std::string& labels) {
  Work each;
  each.name.name = name;
  each.state = state;
  each.gpu_milli_per_pod = gpus * 1000;
  each.created = Time{created};
  each.queue = queue;
  each.labels = parse_yaml(labels).value().front();
  return each;
}

TEST(WorkChoice, PicksAndSorts) {
  const std::vector<Work> all = {
      work("b", WorkState::kRunning, 8, 1, "x", "{team: v}"), work("c", WorkState::kWaiting, 1, 2, "y", "{team: v}"),
      work("a", WorkState::kFailed, 4, 3, "x", "{team: w, jobset.sigs.k8s.io/jobset-name: s}"),
      work("d", WorkState::kWaiting, 2, 4, "x", "{}")};
  struct Case {
    const char* what;
    WorkWish wish;
    std::string names;
  };
  const Case cases[] = {
      {"everything", {}, "bcad"},
      {"names", {.names = {"d", "job/b"}}, "bd"},
      {"a pod of that name", {.names = {"pod/b"}}, ""},
      {"the Jobs of a JobSet", {.names = {"jobset/s"}}, "a"},
      {"a queue", {.queue = "x"}, "bad"},
      {"states", {.states = "waiting,failed"}, "cad"},
      {"labels", {.labels = "team=v"}, "bc"},
      {"labels that are not", {.labels = "team!=v"}, "ad"},
      {"by name", {.sort_by = "name"}, "abcd"},
      {"by name, reversed", {.sort_by = "name", .reverse = true}, "dcba"},
      {"oldest first", {.sort_by = "age"}, "bcad"},
      {"youngest first", {.sort_by = "age", .reverse = true}, "dacb"},
      {"most GPUs first", {.sort_by = "gpus"}, "badc"},
      {"by state", {.sort_by = "state"}, "cdba"},
      {"by queue, of equals the older", {.sort_by = "queue"}, "badc"},
      {"who waits longest first", {.sort_by = "wait"}, "cdba"},
      {"several wishes", {.queue = "x", .states = "waiting,running", .sort_by = "gpus"}, "bd"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const auto choice = parse_work_wish(each.wish);
    ASSERT_TRUE(choice);
    std::string names;
    for (const Work& one : choice->of(all)) names += one.name.name;
    EXPECT_EQ(names, each.names);
  }
  const auto choice = parse_work_wish({.names = {"d", "z"}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->missing_from(all), std::vector<WorkName>{{.name = "z"}});
}

TEST(WorkChoice, SaysAllThatIsWrong) {
  struct Case {
    WorkWish wish;
    std::string complaint;
  };
  const Case cases[] = {
      {{.names = {"node/x"}}, "job/NAME or pod/NAME"},
      {{.states = "wating"}, "--state: 'wating' is no state; did you mean waiting? There are waiting, suspended"},
      {{.states = "waiting,,"}, "--state: ''"},
      {{.states = "xyz"}, "write waiting, suspended, starting, running, ending, succeeded or failed"},
      {{.labels = "a in b"}, "-l: "},
      {{.sort_by = "gpu"}, "--sort-by: 'gpu' is no order; did you mean gpus?"},
      {{.states = "x", .sort_by = "y"}, "--sort-by: "},
  };
  for (const Case& each : cases) {
    const auto choice = parse_work_wish(each.wish);
    ASSERT_FALSE(choice);
    EXPECT_NE(choice.error().to_string().find(each.complaint), std::string::npos) << choice.error().to_string();
  }
}

ListingRow row(const std::string& name, const std::string& state, const std::string& age) {
  return {
      .name = "job/" + name, .cells = {name, state, age}, .facts = Value::map_of({{"name", name}, {"state", state}})};
}

Listing listing(std::vector<ListingRow> rows) {
  return {.columns = {{"NAME"}, {"STATE", ShownIn::kBoth, true}, {"AGE"}}, .rows = std::move(rows)};
}

TEST(ListingStream, SaysEverythingOnceAndThenWhatHasChanged) {
  ListingStream table{OutputFormat::kTable}, json{OutputFormat::kJson}, yaml{OutputFormat::kYaml},
      names{OutputFormat::kName};
  EXPECT_EQ(table.next(listing({})), "");
  const Listing first = listing({row("a", "waiting", "1s"), row("b", "running", "2s")});
  EXPECT_EQ(table.next(first),
            "NAME   STATE     AGE\n"
            "a      waiting   1s\n"
            "b      running   2s\n");
  EXPECT_EQ(json.next(first), "{\"name\":\"a\",\"state\":\"waiting\"}\n{\"name\":\"b\",\"state\":\"running\"}\n");
  EXPECT_EQ(yaml.next(first), "---\nname: a\nstate: waiting\n---\nname: b\nstate: running\n");
  EXPECT_EQ(names.next(first), "job/a\njob/b\n");
  // Only older: nothing is said.
  EXPECT_EQ(table.next(listing({row("a", "waiting", "9s"), row("b", "running", "9s")})), "");
  // A wider name moves the columns of what comes; what is gone comes last.
  const Listing then = listing({row("a", "running", "1m"), row("longer", "waiting", "0s")});
  EXPECT_EQ(table.next(then),
            "a        running   1m\n"
            "longer   waiting   0s\n"
            "b        gone      9s\n");
  EXPECT_EQ(json.next(listing({row("a", "waiting", "1s")})), "{\"name\":\"b\",\"state\":\"gone\"}\n");
  EXPECT_EQ(names.next(listing({})), "job/a\njob/b\n");
}

TEST(Listing, ColoursStatesOnlyAndKeepsTheColumns) {
  const Listing shown = listing({row("a", "failed", "1s"), row("b", "strange", "2s")});
  EXPECT_EQ(shown.to_text({OutputFormat::kTable, true}),
            "NAME   STATE     AGE\n"
            "a      \x1b[31mfailed\x1b[0m    1s\n"
            "b      strange   2s\n");
  EXPECT_EQ(shown.to_text({OutputFormat::kName, true}), "job/a\njob/b\n");
  EXPECT_EQ(colored_state("ready"), "\x1b[32mready\x1b[0m");
  EXPECT_EQ(colored_state("ready,cordoned"), "\x1b[33mready,cordoned\x1b[0m");
}

TEST(Listing, WideCharactersTakeTheirTwoColumns) {
  const Listing shown = listing({row("\xe6\x97\xa5\xe6\x9c\xac", "ok", "1s"), row("ab", "ok", "2s")});
  EXPECT_EQ(shown.to_text(OutputFormat::kTable),
            "NAME   STATE   AGE\n"
            "\xe6\x97\xa5\xe6\x9c\xac   ok      1s\n"
            "ab     ok      2s\n");
}

}  // namespace berth::choice_test
