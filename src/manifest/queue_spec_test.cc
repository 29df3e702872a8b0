#include "manifest/queue_spec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manifest/yaml.h"

namespace berth::queue_spec_test {

QueueSpecReading read(const std::string& yaml) {
  const auto documents = parse_yaml(yaml);
  EXPECT_TRUE(documents && documents->size() == 1) << yaml;
  return read_queue_spec(documents->at(0));
}

std::vector<std::string> mistakes(const std::string& yaml) {
  std::vector<std::string> found;
  for (const SpecMistake& each : read(yaml).mistakes) found.push_back(each.field + ": " + each.text);
  return found;
}

TEST(QueueSpec, SaysWhatTheQueueIsMeantToBe) {
  const QueueSpecReading reading = read(
      "{stop: drain, userLimit: {h100: 4}, users: fair, halfLife: 7d,\n"
      " windows: [{days: mon-fri, from: '20:00', to: '08:00', zone: Europe/Berlin, guarantee: {h100: 24}, limit: "
      "{h100.cpu: "
      "8}, borrowingLimit: {h100: 3}, lendingLimit: {h100: 1}, weight: 500m}, {from: '00:00', to: '24:00', weight: "
      "2}],\n"
      " budget: {gpuHours: 100, end: best-effort, grants: [{gpuHours: '0.5', until: '2026-12-01T00:00:00Z'}]}}");
  ASSERT_TRUE(reading.mistakes.empty()) << reading.mistakes[0].field << ": " << reading.mistakes[0].text;
  const QueueSpec& spec = reading.spec;
  EXPECT_EQ(spec.stop, QueueStop::kDrain);
  EXPECT_EQ(spec.user_limit, (std::vector<FlavorAmount>{{"h100", Resource::kGpu, 4000}}));
  EXPECT_EQ(spec.policies.users, UserOrder::kFair);
  EXPECT_EQ(spec.policies.half_life.ms, std::int64_t{7} * 86'400'000);
  ASSERT_EQ(spec.windows.size(), 2u);
  EXPECT_EQ(spec.windows[0].times, *WindowTimes::read("mon-fri", "20:00-08:00", "Europe/Berlin"));
  EXPECT_EQ(spec.windows[0].guarantee, (std::vector<FlavorAmount>{{"h100", Resource::kGpu, 24'000}}));
  EXPECT_EQ(spec.windows[0].limit, (std::vector<FlavorAmount>{{"h100", Resource::kCpu, 8000}}));
  EXPECT_EQ(spec.windows[0].borrowing_limit, (std::vector<FlavorAmount>{{"h100", Resource::kGpu, 3000}}));
  EXPECT_EQ(spec.windows[0].lending_limit, (std::vector<FlavorAmount>{{"h100", Resource::kGpu, 1000}}));
  EXPECT_EQ(spec.windows[0].weight_milli, 500);
  EXPECT_EQ(spec.windows[1].times, *WindowTimes::read("daily", "00:00-24:00", "UTC"));
  EXPECT_EQ(spec.policies.budget_gpu_us, std::int64_t{360'000'000'000});
  EXPECT_EQ(spec.policies.budget_end, BudgetEnd::kBestEffort);
  EXPECT_EQ(spec.grants, (std::vector<GrantSpec>{{1'800'000'000, Time{1'796'083'200'000}}}));
}

TEST(QueueSpec, SaysAllThatIsWrongAtOnceAndWhatToWriteInstead) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      mistakes("{hold: true, stop: halt, order: lifo, users: all, halfLife: 10s}"),
      (Texts{"spec.hold: hold: true is written stop: hold; leave hold out", "spec.stop: write none, hold or drain",
             "spec.order: write fifo, fifo-skip or sjf", "spec.users: write none or fair",
             "spec.halfLife: write one minute to ten years, such as 7d; 0s: the past does not count"}));
  EXPECT_EQ(mistakes("{dedicated: [{value: r1}, {key: rack, value: r1}, {key: rack, value: r1}]}"),
            (Texts{"spec.dedicated[0].key: write a label of nodes, such as topology.kubernetes.io/rack, or node",
                   "spec.dedicated[2]: stands here twice; write it once"}));
  EXPECT_EQ(
      mistakes("{guarantee: {h100: 16, h100.cpu: 8}, cells: [{flavor: h100, level: rack, count: 0},"
               " {flavor: a100, level: rack, count: 1}, {flavor: H100, level: rack, count: 1},"
               " {flavor: h100, level: rack, count: 2}, {flavor: h100, count: 1}, {level: node, count: 1}]}"),
      (Texts{"spec.cells[0].count: write how many of these domains, 1 to 1,000,000",
             "spec.cells[1].flavor: is of no guarantee, and a floor comes in whole domains; write the GPUs of these "
             "under guarantee",
             "spec.cells[3].level: stands here twice; write it once",
             "spec.cells[4].level: write a label of nodes, such as topology.kubernetes.io/rack, or node",
             "spec.cells[5].flavor: write a flavor, such as h100"}));
  EXPECT_EQ(
      mistakes("{windows: [{days: weekdays, from: '8', to: '25:00', zone: Mars, guarantee: {h100: -1}, weight: 0},"
               " {from: '08:00', to: '08:00', weight: 1}, {from: '08:00', to: '10:00'}, {to: '00:00', weight: 1}]}"),
      (Texts{"spec.windows[0].zone: zone: 'Mars' is no time zone; write one such as Europe/Berlin, or leave it out",
             "spec.windows[0].days: 'weekdays' are no days; write daily, mon-fri or sat,sun",
             "spec.windows[0].from: write a time such as 20:00; a day begins at 00:00",
             "spec.windows[0].to: write a time such as 20:00, or 24:00 for the end of the day",
             "spec.windows[0].guarantee[h100]: " + parse_milli("-1").error(),
             "spec.windows[0].weight: write a weight of 0.001 to 1000, such as 2 or 500m",
             "spec.windows[1].to: '08:00-08:00' is nothing or a whole day; write 00:00-24:00 for whole days",
             "spec.windows[2]: changes nothing; give it guarantee, limit, borrowingLimit, lendingLimit or weight",
             "spec.windows[3].from: write a time such as 20:00; a day begins at 00:00"}));
  EXPECT_EQ(mistakes("{budget: {gpuHours: lots, end: never, grants: [{gpuHours: 0, until: soon}]}}"),
            (Texts{"spec.budget.gpuHours: " + parse_milli("lots").error(), "spec.budget.end: write stop or best-effort",
                   "spec.budget.grants[0].gpuHours: nothing is given; write how many GPU-hours, such as 50",
                   "spec.budget.grants[0].until: write when it is void, such as 2026-12-01T00:00:00Z"}));
  EXPECT_EQ(
      mistakes("{budget: {gpuHours: 1, grants: [{gpuHours: 1, until: '2026-12-01T00:00:00Z'}, {gpuHours: 2, until: "
               "'2026-12-01T01:00:00+01:00'}]}}"),
      (Texts{"spec.budget.grants[1].until: another grant ends then; write one with the sum of both"}));
  EXPECT_EQ(mistakes("{budget: {}}").size(), 1u) << "a budget of nothing is written 0";
  std::string many = "{windows: [";
  for (int i = 0; i < 65; ++i) many += "{from: '08:00', to: '10:00', weight: 2},";
  EXPECT_EQ(mistakes(many + "]}"),
            (Texts{"spec.windows: are more than the 64 windows that there may be in a cluster; take fewer"}));
}

TEST(QueueSpec, NamesSlicesByTheirProfile) {
  const QueueSpecReading reading = read("{guarantee: {h100: 8, H100.mig-3g.40gb: 4}, limit: {h100.mig-1g.10gb.me: 7}}");
  EXPECT_TRUE(reading.mistakes.empty());
  EXPECT_EQ(reading.spec.guarantee,
            (std::vector<FlavorAmount>{{"h100", Resource::kGpu, 8000}, {"h100", Resource::kSlice, 4, "3g.40gb"}}));
  EXPECT_EQ(reading.spec.limit, (std::vector<FlavorAmount>{{"h100", Resource::kSlice, 7, "1g.10gb+me"}}));
  EXPECT_EQ(name_of(reading.spec.limit[0]), "h100.mig-1g.10gb.me");
  EXPECT_EQ(flavor_amount_named("h100.mig-1g.10gb.me").profile, "1g.10gb+me");
  EXPECT_EQ(format_amount(Resource::kSlice, 7), "7");
  using Texts = std::vector<std::string>;
  EXPECT_EQ(
      mistakes("{guarantee: {h100.mig-3g.40gb: 500m, h100.mig-3g.40gbs: 1}, lendingLimit: {h100.mig-3g.40gb: 1}}"),
      (Texts{"spec.guarantee[h100.mig-3g.40gb]: " + parse_integer("500m", 0, kAmountMax).error(),
             "spec.guarantee[h100.mig-3g.40gbs]: no GPU model that is known can be cut into it; of H100 there are "
             "1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb",
             "spec.lendingLimit[h100.mig-3g.40gb]: a floor in slices is lent whole; leave it out, or keep GPUs"}));
  EXPECT_EQ(mistakes("{limit: {fast.mig-3g.40gbs: 1}}"),
            (Texts{"spec.limit[fast.mig-3g.40gbs]: no GPU model that is known can be cut into it; did you mean "
                   "nvidia.com/mig-3g.40gb?"}));
  EXPECT_EQ(read("{limit: {h100.mig-9g.90gb: 1}}").mistakes.front().value, Value("9g.90gb"));
}

TEST(QueueSpec, WritesGpuHoursAsPeopleDo) {
  struct Case {
    const char* text;
    std::optional<std::int64_t> gpu_us;
    const char* written;
  };
  const Case cases[] = {{"100", 360'000'000'000, "100"},
                        {"0.5", 1'800'000'000, "0.5"},
                        {"250m", 900'000'000, "0.25"},
                        {"0", 0, "0"},
                        {"1G", kGpuTimeMax, "1000000000"},
                        {"1000000001", {}, ""},
                        {"-1", {}, ""},
                        {"many", {}, ""}};
  for (const Case& c : cases) {
    const auto read = parse_gpu_hours(c.text);
    EXPECT_EQ(read ? std::optional(*read) : std::nullopt, c.gpu_us) << c.text;
    if (c.gpu_us) {
      EXPECT_EQ(format_gpu_hours(*c.gpu_us), c.written) << c.text;
    }
  }
  EXPECT_EQ(format_gpu_hours(1), "0.001") << "rounded up, so that nothing that was used is lost";
  EXPECT_EQ(format_gpu_hours(-3'600'000'001), "-1");
}

}  // namespace berth::queue_spec_test
