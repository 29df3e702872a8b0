#include "manifest/circle_spec.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "manifest/json.h"
#include "manifest/yaml.h"

namespace berth::circle_spec_test {

CircleSpecReading read(const std::string& text) {
  const auto documents = parse_yaml(text);
  EXPECT_TRUE(documents && documents->size() == 1) << text;
  return read_circle_spec(documents->at(0));
}

TEST(CircleSpec, NamesQueuesAsReasonsDo) {
  const CircleSpecReading made =
      read("{queues: [research, clusterqueue/b, cohort/all.of-us, volcano/c, a], within: 90s}");
  EXPECT_TRUE(made.mistakes.empty());
  EXPECT_EQ(made.spec.queues,
            (std::vector<std::string>{"a", "clusterqueue/b", "cohort/all.of-us", "research", "volcano/c"}));
  EXPECT_EQ(made.spec.within, seconds(90));
  EXPECT_EQ(read("{queues: [a]}").spec.within, seconds(600));
  EXPECT_EQ(read("{queues: [a], within: 0s}").spec.within, Duration{0});
}

TEST(CircleSpec, SaysHowFarStrangersAreKeptAway) {
  const CircleSpecReading made =
      read("{apart: {exclusive: kubernetes.io/hostname, mig: nvidia.com/gpu.clique}, within: 1m}");
  EXPECT_TRUE(made.mistakes.empty());
  EXPECT_TRUE(made.spec.queues.empty()) << "it is of all";
  EXPECT_EQ(made.spec.apart, (Apart{"node", "nvidia.com/gpu.clique", "", ""}));
  EXPECT_EQ(to_json(apart_value(made.spec.apart)),
            R"({"exclusive":"kubernetes.io/hostname","mig":"nvidia.com/gpu.clique"})");
}

TEST(CircleSpec, SaysAllThatIsWrongAtOnce) {
  const std::string name =
      "write the name of a queue as reasons do: NAME, clusterqueue/NAME, cohort/NAME or volcano/NAME";
  const struct {
    const char* spec;
    std::vector<std::pair<std::string, std::string>> mistakes;
  } cases[] = {
      {"{}", {{"spec.queues", "names nobody; write the queues that trust each other"}}},
      {"{queues: []}", {{"spec.queues", "names nobody; write the queues that trust each other"}}},
      {"{queues: [a, a]}", {{"spec.queues[1]", "stands here twice; write it once"}}},
      {"{queues: ['', A, a/b, 'cohort/', '-a', a, localqueue/ns/q]}",
       {{"spec.queues[0]", name},
        {"spec.queues[1]", name},
        {"spec.queues[2]", name},
        {"spec.queues[3]", name},
        {"spec.queues[4]", name},
        {"spec.queues[6]", "a LocalQueue is only a door; name the queue behind it: clusterqueue/NAME"}}},
      {"{queues: [B], within: soon}", {{"spec.queues[0]", name}, {"spec.within", ""}}},
      {"{queues: [b], apart: {whole: rack}}",
       {{"spec.apart.whole", "is no mode of GPUs; write exclusive, mig, mps, timeslice or vgpu"}}},
      {"{apart: {mig: ''}}",
       {{"spec.apart.mig", "names no label; write kubernetes.io/hostname for nodes, or the label of a wider domain"}}},
      {"{queues: [b], within: 3651d}", {{"spec.within", "is longer than 3650d; write less"}}},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.spec);
    const CircleSpecReading made = read(each.spec);
    ASSERT_EQ(made.mistakes.size(), each.mistakes.size());
    for (std::size_t i = 0; i < each.mistakes.size(); ++i) {
      EXPECT_EQ(made.mistakes[i].field, each.mistakes[i].first);
      const std::string expected = each.mistakes[i].second;
      EXPECT_EQ(made.mistakes[i].text, expected.empty() ? made.mistakes[i].text : expected);
      EXPECT_FALSE(made.mistakes[i].text.empty());
    }
  }
  std::string many = "{queues: [q0";
  for (int i = 1; i <= 1000; ++i) many += ", q" + std::to_string(i);
  const CircleSpecReading made = read(many + "]}");
  ASSERT_EQ(made.mistakes.size(), 1U);
  EXPECT_EQ(made.mistakes[0].text, "are more than 1,000 queues; name the queues above them");
}

}  // namespace berth::circle_spec_test
