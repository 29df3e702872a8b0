#include "sim/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/time.h"
#include "model/gpu.h"
#include "sim/trace.h"

namespace berth {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
// The longest run. Also how far back the jobs that run at time 0 may have begun, so that none is missed.
constexpr std::int64_t kRunDaysMax = 14;
constexpr std::int64_t kRunMaxS = kRunDaysMax * 86'400;

// ---- Logarithms in integers: heavy tails are straight lines between their quantiles only on a logarithmic scale. ----

constexpr int kLogBits = 16;   // fraction bits of a logarithm to base 2
constexpr int kMantissa = 30;  // fraction bits of a number in [1, 2)

constexpr std::uint64_t integer_sqrt(std::uint64_t x) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit > 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= x) root |= bit;
  }
  return root;
}

// roots[k] = 2^(1/2^(k+1)).
constexpr std::array<std::uint64_t, kLogBits> roots_of_two() {
  std::array<std::uint64_t, kLogBits> roots{};
  std::uint64_t power = std::uint64_t{2} << kMantissa;
  for (std::uint64_t& root : roots) power = root = integer_sqrt(power << kMantissa);
  return roots;
}

// PRE: 0 < x < 2^31.
constexpr std::int64_t log2_of(std::int64_t x) {
  const int whole = 63 - std::countl_zero(static_cast<std::uint64_t>(x));
  std::uint64_t mantissa = static_cast<std::uint64_t>(x) << (kMantissa - whole);
  std::int64_t log = whole;
  for (int bit = 0; bit < kLogBits; ++bit) {
    mantissa = (mantissa * mantissa) >> kMantissa;
    log <<= 1;
    if (mantissa >> (kMantissa + 1) != 0) {
      mantissa >>= 1;
      log |= 1;
    }
  }
  return log;
}

// PRE: 0 <= log < 31 << kLogBits.
constexpr std::int64_t exp2_of(std::int64_t log) {
  constexpr std::array<std::uint64_t, kLogBits> kRoots = roots_of_two();
  std::uint64_t mantissa = std::uint64_t{1} << kMantissa;
  for (std::size_t bit = 0; bit < kLogBits; ++bit) {
    if ((log >> (kLogBits - 1 - bit) & 1) != 0) mantissa = (mantissa * kRoots[bit]) >> kMantissa;
  }
  return static_cast<std::int64_t>((mantissa << (log >> kLogBits)) >> kMantissa);
}

static_assert(exp2_of(log2_of(1)) == 1);
static_assert(exp2_of(log2_of(1'000'000'000)) > 999'900'000 && exp2_of(log2_of(1'000'000'000)) <= 1'000'000'000);

// A point of a distribution: so many of a thousand are at most `value`.
struct Quantile {
  std::int64_t per_mille;
  std::int64_t value;
};

// Inverse of the cumulative distribution, geometric between the points. PRE: points from 0 to 1000, values > 0, below 2^21.
std::int64_t draw(std::span<const Quantile> points, Rng& rng) {
  constexpr std::int64_t kFine = 1000;   // of a thousandth, so that a tail of 1 per mille is still a curve
  constexpr std::int64_t kScale = 1000;  // values too: seconds alone would make the short end a staircase
  const std::int64_t at = rng.between(0, 1000 * kFine - 1);
  std::size_t right = 1;
  while (points[right].per_mille * kFine <= at) ++right;
  const Quantile& low = points[right - 1];
  const Quantile& high = points[right];
  const std::int64_t low_log = log2_of(low.value * kScale);
  const std::int64_t high_log = log2_of(high.value * kScale);
  const std::int64_t into = at - low.per_mille * kFine;
  const std::int64_t width = (high.per_mille - low.per_mille) * kFine;
  const std::int64_t scaled = exp2_of(low_log + (high_log - low_log) * into / width);
  return std::max<std::int64_t>(1, (scaled + kScale / 2) / kScale);
}

// One of several by weight.
class WeightedDraw {
 public:
  void add(std::int64_t weight) { ends_.push_back((ends_.empty() ? 0 : ends_.back()) + weight); }

  // PRE: some weight > 0.
  std::size_t operator()(Rng& rng) const {
    const std::int64_t at = rng.between(0, ends_.back() - 1);
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, at) - ends_.begin());
  }

 private:
  std::vector<std::int64_t> ends_;
};

// ---- Run times, in seconds. ----

// Philly: quantiles of the published trace's jobs with 1, with 2 and 4, with 8, and with more GPUs (Jeon et al., "Analysis of
// Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC'19; msr-fiddle/philly-traces, CC-BY-4.0),
// cut at two weeks.
constexpr Quantile kPhillyOneGpu[] = {{0, 10},       {10, 30},       {50, 52},       {100, 62},
                                      {250, 122},    {500, 1'117},   {750, 2'716},   {900, 8'512},
                                      {950, 19'137}, {990, 135'404}, {999, 868'927}, {1000, kRunMaxS}};
constexpr Quantile kPhillySomeGpus[] = {{0, 3},         {50, 11},        {100, 15},      {250, 21},
                                        {500, 367},     {750, 45'476},   {900, 166'199}, {950, 233'725},
                                        {990, 748'678}, {1000, kRunMaxS}};
constexpr Quantile kPhillyEightGpus[] = {{0, 20},          {50, 125},       {100, 216},     {250, 1'871},
                                         {500, 23'683},    {750, 173'288},  {900, 352'409}, {950, 525'631},
                                         {990, 1'066'894}, {1000, kRunMaxS}};
constexpr Quantile kPhillyManyGpus[] = {{0, 2},           {50, 35},        {100, 69},      {250, 566},
                                        {500, 21'137},    {750, 104'218},  {900, 252'560}, {950, 446'126},
                                        {990, 1'152'387}, {1000, kRunMaxS}};
// Helios: half of the GPU jobs end within 206 s, the mean is 6,652 s (Hu et al., "Characterization and Prediction of Deep
// Learning Workloads in Large-Scale GPU Datacenters", SC'21); the points between are ours.
constexpr Quantile kHelios[] = {{0, 5},       {100, 20},     {250, 60},      {500, 206},     {750, 900},
                                {900, 7'000}, {950, 22'000}, {990, 130'000}, {1000, 604'800}};
// PAI: half of the task instances end within 23 minutes, nine in ten within 4.5 hours (Weng et al., "MLaaS in the Wild",
// NSDI'22); the ends are ours.
constexpr Quantile kPai[] = {{0, 30}, {100, 180}, {500, 1'380}, {900, 16'200}, {990, 86'400}, {1000, 259'200}};
// Ours, for want of published quantiles: a sitting at a notebook lasts a morning or a day, a deployment until the next, data
// preparation is many short jobs and some nightly ones.
constexpr Quantile kSitting[] = {{0, 120}, {100, 600}, {500, 7'200}, {900, 25'200}, {1000, 36'000}};
constexpr Quantile kDeployment[] = {{0, 3'600}, {100, 21'600}, {500, 259'200}, {900, 1'036'800}, {1000, kRunMaxS}};
constexpr Quantile kPreparation[] = {{0, 5}, {500, 120}, {900, 3'600}, {990, 28'800}, {1000, 86'400}};

// Members of a hyper-parameter sweep. Ours: 5 to 50.
constexpr Quantile kSweepJobs[] = {{0, 5}, {500, 12}, {900, 30}, {1000, 50}};

// ---- When people submit. ----

// Weight of each hour of a day: two humps with a dip at noon, a third small one in the evening (the shape that Helios' authors
// describe, SC'21, section 3; the weights are ours).
using Rhythm = std::array<std::int64_t, 24>;
constexpr Rhythm kOfficeDay = {40, 30, 25,  20,  20, 20, 25, 35, 60, 90, 100, 95,
                               70, 85, 100, 100, 95, 85, 65, 55, 60, 60, 55,  50};
constexpr Rhythm kOfficeHours = {0, 0, 0, 0, 0, 0, 0, 5, 50, 95, 100, 85, 50, 80, 100, 90, 70, 40, 10, 0, 0, 0, 0, 0};
constexpr Rhythm kNightBatch = {100, 100, 100, 90, 80, 70, 50, 40, 50, 60, 70, 70,
                                60,  60,  70,  70, 70, 60, 50, 50, 60, 70, 90, 100};
// A weekend day's submissions over a working day's: 52 % in Philly's published trace.
constexpr std::int64_t kWeekendPct = 52;

bool is_weekend(std::int64_t day) { return ((day % 7) + 7) % 7 >= 5; }

// ---- What is asked for. ----

// Identical members, what each of them asks, and how many of a thousand jobs of the kind ask so.
struct Size {
  std::int64_t weight;
  std::int64_t pods;
  int gpus;
  int gpu_milli;
  std::int64_t cpus;
  std::int64_t memory_gib;
};

constexpr Size kOneGpuSizes[] = {{650, 1, 1, kMilliPerGpu, 8, 64}, {350, 1, 1, kMilliPerGpu, 14, 112}};
constexpr Size kEvaluationSizes[] = {{600, 1, 1, kMilliPerGpu, 8, 64}, {400, 1, 1, 500, 4, 32}};
constexpr Size kSweepSizes[] = {{750, 1, 1, kMilliPerGpu, 8, 64}, {250, 1, 1, 500, 4, 32}};
// Philly's published trace has as many jobs with 2 GPUs as with 4.
constexpr Size kSomeGpusSizes[] = {{490, 1, 2, kMilliPerGpu, 24, 192}, {510, 1, 4, kMilliPerGpu, 48, 384}};
constexpr Size kEightGpusSizes[] = {{1000, 1, 8, kMilliPerGpu, 96, 768}};
// Half the weight for twice the size, roughly: Philly's and Helios' counts fall so (most gangs have 16 GPUs; Helios up to 2,048).
constexpr Size kGangSizes[] = {{430, 2, 8, kMilliPerGpu, 96, 768}, {260, 4, 8, kMilliPerGpu, 96, 768},
                               {160, 8, 8, kMilliPerGpu, 96, 768}, {90, 16, 8, kMilliPerGpu, 96, 768},
                               {42, 32, 8, kMilliPerGpu, 96, 768}, {18, 64, 8, kMilliPerGpu, 96, 768}};
// The fractions of openb's pods (Weng et al., "Beware of Fragmentation", USENIX ATC'23; Alibaba's openb trace), each rounded
// to the nearest size on offer: of a thousand 10 ask up to 110m, 90 up to 230m, 128 up to 370m, 340 up to 590m, 432 more.
constexpr Size kInferenceSizes[] = {{10, 1, 1, 100, 2, 8},
                                    {90, 1, 1, 200, 2, 16},
                                    {128, 1, 1, 300, 4, 24},
                                    {340, 1, 1, 500, 6, 32},
                                    {432, 1, 1, 750, 8, 48}};
constexpr Size kNotebookSizes[] = {{350, 1, 1, kMilliPerGpu, 8, 64}, {400, 1, 1, 500, 4, 32}, {250, 1, 1, 200, 2, 16}};
constexpr Size kPreparationSizes[] = {{400, 1, 0, 0, 4, 16},
                                      {300, 1, 0, 0, 8, 32},
                                      {150, 1, 0, 0, 32, 128},
                                      {100, 4, 0, 0, 16, 64},
                                      {50, 16, 0, 0, 16, 64}};

// Which GPU models will do. Ours: who trains large insists on what is fast, most others take what there is.
struct ModelChoice {
  std::int64_t weight;
  std::array<std::string_view, 2> models;  // empty ones do not count; none = any
};
constexpr ModelChoice kTrainingModels[] = {
    {380, {"H100"}}, {340, {"H100", "A100-80GB"}}, {150, {"A100-80GB"}}, {130, {}}};
constexpr ModelChoice kSmallTrainingModels[] = {{150, {"H100"}}, {250, {"H100", "A100-80GB"}}, {600, {}}};
constexpr ModelChoice kEvaluationModels[] = {{250, {"H100", "A100-80GB"}}, {750, {}}};
constexpr ModelChoice kInferenceModels[] = {{100, {"H100"}}, {350, {"L40S"}}, {550, {}}};
constexpr ModelChoice kAnyModel[] = {{1000, {}}};

// A team's business; each has its own mix.
enum Business : std::size_t { kResearch, kFoundationModels, kProduct, kData, kBusinesses };

// INVARIANT: shares of all kinds add up to 1000.
struct Kind {
  std::string_view name;
  std::int64_t share;  // jobs of a thousand
  bool sweep;          // comes many at once
  std::span<const Quantile> run_s;
  std::span<const Size> sizes;
  std::span<const ModelChoice> models;
  Rhythm rhythm;
  std::array<std::int64_t, kBusinesses> appetite;  // how much more one business does of it than another
};

// Shares of jobs: 13.3 % without GPU as in openb. One-GPU work is the bulk everywhere (Philly 93 % of GPU jobs, openb 99 %); the
// few large ones take most of the GPU time (Hu et al., "Characterization of Large Language Model Development in the Datacenter",
// NSDI'24). The share of `gang` is set so that 30,000 jobs a day fill 6,250 nodes.
constexpr Kind kKinds[] = {
    {"experiment", 238, false, kPhillyOneGpu, kOneGpuSizes, kSmallTrainingModels, kOfficeDay, {8, 2, 2, 1}},
    {"eval", 210, false, kHelios, kEvaluationSizes, kEvaluationModels, kOfficeDay, {4, 8, 3, 1}},
    {"sweep", 170, true, kPai, kSweepSizes, kSmallTrainingModels, kOfficeDay, {8, 1, 2, 1}},
    {"multi", 22, false, kPhillySomeGpus, kSomeGpusSizes, kSmallTrainingModels, kOfficeDay, {6, 4, 2, 1}},
    {"eight", 30, false, kPhillyEightGpus, kEightGpusSizes, kTrainingModels, kOfficeDay, {4, 6, 1, 1}},
    {"gang", 17, false, kPhillyManyGpus, kGangSizes, kTrainingModels, kOfficeDay, {2, 12, 1, 0}},
    {"serve", 60, false, kDeployment, kInferenceSizes, kInferenceModels, kOfficeDay, {1, 1, 12, 2}},
    {"notebook", 120, false, kSitting, kNotebookSizes, kAnyModel, kOfficeHours, {6, 3, 3, 4}},
    {"prepare", 133, false, kPreparation, kPreparationSizes, kAnyModel, kNightBatch, {2, 2, 2, 12}},
};

constexpr std::int64_t share_total() {
  std::int64_t total = 0;
  for (const Kind& kind : kKinds) total += kind.share;
  return total;
}
static_assert(share_total() == 1000);

// ---- The fleet. ----

// Two-socket machines as sold: hardware threads and memory of the usual configuration.
struct NodeType {
  std::string_view name;
  std::int64_t per_mille;  // of the nodes; the first type takes what rounding leaves
  int gpus;
  std::string_view model;
  std::int64_t cpus;
  std::int64_t memory_gib;
};
constexpr NodeType kNodeTypes[] = {{"h100", 440, 8, "H100", 192, 2048},
                                   {"a100", 320, 8, "A100-80GB", 128, 1024},
                                   {"l40s", 140, 8, "L40S", 128, 1024},
                                   {"l40s-4x", 60, 4, "L40S", 64, 512},
                                   {"cpu", 40, 0, "", 128, 512}};

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::vector<TraceNode> make_nodes(std::int64_t count) {
  std::array<std::int64_t, std::size(kNodeTypes)> counts{};
  std::int64_t left = count;
  for (std::size_t type = 1; type < std::size(kNodeTypes); ++type) {
    counts[type] = std::max<std::int64_t>(1, count * kNodeTypes[type].per_mille / 1000);
    left -= counts[type];
  }
  counts[0] = left;

  std::vector<TraceNode> nodes;
  nodes.reserve(static_cast<std::size_t>(count));
  for (std::size_t type = 0; type < std::size(kNodeTypes); ++type) {
    const NodeType& made = kNodeTypes[type];
    for (std::int64_t number = 1; number <= counts[type]; ++number) {
      nodes.push_back({.name = std::string(made.name) + "-" + padded(number, 6),
                       .cpu_milli = made.cpus * 1000,
                       .memory_bytes = made.memory_gib * kGiB,
                       .gpus = made.gpus,
                       .gpu_model = std::string(made.model)});
    }
  }
  return nodes;
}

// ---- Teams and users. ----

struct Team {
  std::string queue;
  std::int64_t users = 0;
  Business business = kResearch;
};

constexpr std::int64_t kZipfOne = 1'000'000;  // weight of the first; the n-th has 1/n of it
constexpr std::int64_t kUsersMax = 30;

int default_teams(std::int64_t nodes) {
  return static_cast<int>(std::min<std::int64_t>(300, 4 + (nodes - 10) * 296 / 6240));
}

// The first team is the largest. Every business has one of the first four, so that the smallest fleet has all kinds of work.
std::vector<Team> make_teams(int count, Rng& rng) {
  std::vector<Team> teams;
  for (int number = 1; number <= count; ++number) {
    const std::uint64_t business = number <= 4 ? static_cast<std::uint64_t>(number - 1) : rng.below(kBusinesses);
    teams.push_back({.queue = "team-" + padded(number, 3),
                     .users = rng.between(5, kUsersMax),
                     .business = static_cast<Business>(business)});
  }
  return teams;
}

// ---- Drawing jobs. ----

// Jobs that one person submits at once: one, or a sweep.
struct Submission {
  const Kind* kind = nullptr;
  TraceJob job;  // of each member, but for name and run time
  std::vector<Duration> runs;
};

// Draws from the whole mix. INVARIANT: what it returns fits the empty fleet.
class Mix {
 public:
  Mix(const std::vector<TraceNode>& nodes, std::vector<Team> teams) : teams_(std::move(teams)) {
    for (const TraceNode& node : nodes) {
      for (std::size_t type = 0; type < std::size(kNodeTypes); ++type) {
        if (node.gpus == kNodeTypes[type].gpus && node.gpu_model == kNodeTypes[type].model) ++nodes_of_type_[type];
      }
    }
    for (const Kind& kind : kKinds) {
      // A sweep is drawn once for all its members.
      by_kind_.add(kind.sweep ? kind.share * kScale / kSweepJobsMean : kind.share * kScale);
      Choices choices;
      for (const Size& size : kind.sizes) choices.size.add(size.weight);
      for (const ModelChoice& choice : kind.models) choices.models.add(choice.weight);
      for (std::size_t rank = 0; rank < teams_.size(); ++rank) {
        choices.team.add(kZipfOne / static_cast<std::int64_t>(rank + 1) * kind.appetite[teams_[rank].business]);
      }
      choices_.push_back(std::move(choices));
    }
    for (std::int64_t users = 1; users <= kUsersMax; ++users) {
      WeightedDraw draw_user;
      for (std::int64_t rank = 1; rank <= users; ++rank) draw_user.add(kZipfOne / rank);
      by_user_.push_back(std::move(draw_user));
    }
  }

  // Without a time of submission.
  Submission draw_submission(Rng& rng) const {
    const std::size_t kind_index = by_kind_(rng);
    const Kind& kind = kKinds[kind_index];
    const Choices& choices = choices_[kind_index];
    const Size& size = kind.sizes[choices.size(rng)];
    const ModelChoice& models = kind.models[choices.models(rng)];
    const Team& team = teams_[choices.team(rng)];
    const std::size_t user = by_user_[static_cast<std::size_t>(team.users - 1)](rng);

    Submission made;
    made.kind = &kind;
    made.job = {.name = {},
                .queue = team.queue,
                .user = team.queue + "-user-" + padded(static_cast<std::int64_t>(user) + 1, 2),
                .submit = {},
                .run = {},
                .pods = std::min(size.pods, pods_max(size, models)),
                .cpu_milli = size.cpus * 1000,
                .memory_bytes = size.memory_gib * kGiB,
                .gpus = size.gpus,
                .gpu_milli = size.gpu_milli,
                .gpu_models = {}};
    for (const std::string_view model : models.models) {
      if (!model.empty()) made.job.gpu_models.emplace_back(model);
    }
    const std::int64_t run_s = draw(kind.run_s, rng);
    if (!kind.sweep) {
      made.runs.push_back(seconds(run_s));
      return made;
    }
    // The same program with other parameters: the run times of a sweep are alike.
    const std::int64_t members = draw(kSweepJobs, rng);
    for (std::int64_t member = 0; member < members; ++member) {
      made.runs.push_back(seconds(std::clamp<std::int64_t>(run_s * rng.between(80, 125) / 100, 1, kRunMaxS)));
    }
    return made;
  }

 private:
  static constexpr std::int64_t kScale = 1000;
  static constexpr std::int64_t kSweepJobsMean = 15;  // of kSweepJobs

  struct Choices {
    WeightedDraw size;
    WeightedDraw models;
    WeightedDraw team;
  };

  // A quarter of the nodes that could take a member, so that no single job fills a small fleet.
  std::int64_t pods_max(const Size& size, const ModelChoice& choice) const {
    std::int64_t matching = 0;
    const bool any = std::ranges::all_of(choice.models, &std::string_view::empty);
    for (std::size_t type = 0; type < std::size(kNodeTypes); ++type) {
      const NodeType& node = kNodeTypes[type];
      const bool model_will_do = any || std::ranges::find(choice.models, node.model) != choice.models.end();
      if (model_will_do && node.gpus >= size.gpus) matching += nodes_of_type_[type];
    }
    return std::max<std::int64_t>(1, matching / 4);
  }

  std::vector<Team> teams_;
  std::array<std::int64_t, std::size(kNodeTypes)> nodes_of_type_{};
  WeightedDraw by_kind_;
  std::vector<Choices> choices_;       // as kKinds
  std::vector<WeightedDraw> by_user_;  // [number of users - 1]
};

// When jobs are submitted between two midnights.
class Calendar {
 public:
  Calendar(std::int64_t first_day, std::int64_t days) : first_day_(first_day) {
    for (const Kind& kind : kKinds) {
      WeightedDraw hours;
      for (std::int64_t day = first_day; day < first_day + days; ++day) {
        for (const std::int64_t weight : kind.rhythm) hours.add(weight * (is_weekend(day) ? kWeekendPct : 100));
      }
      hours_.push_back(std::move(hours));
    }
  }

  // Never exactly on an hour, so that time 0 is left to what has been running before.
  Time draw_submit(const Kind& kind, Rng& rng) const {
    const std::size_t hour = hours_[static_cast<std::size_t>(&kind - kKinds)](rng);
    return {first_day_ * kDayMs + static_cast<std::int64_t>(hour) * kHourMs + rng.between(1, kHourMs - 1)};
  }

 private:
  std::int64_t first_day_;
  std::vector<WeightedDraw> hours_;  // as kKinds
};

// An amount to be asked for as nearly as whole jobs allow.
class Demand {
 public:
  explicit Demand(std::int64_t target) : left_(target) {}

  // False, and nothing is taken, once stopping comes nearer to the target than going on.
  bool take(std::int64_t amount) {
    if (left_ <= 0 || amount > 2 * left_) return false;
    left_ -= amount;
    return true;
  }

 private:
  std::int64_t left_;
};

struct Draft {
  const Kind* kind;
  TraceJob job;
};

// What was submitted in the two weeks before and still runs at time 0, until so many GPUs are in use or so many jobs drawn.
std::vector<Draft> draw_running(const Mix& mix, std::int64_t gpu_milli_max, std::optional<std::int64_t> draws,
                                Rng& rng) {
  const Calendar calendar(-kRunDaysMax, kRunDaysMax);
  std::vector<Draft> running;
  Demand demand(gpu_milli_max);
  std::int64_t drawn = 0;
  while (!draws || drawn < *draws) {
    const Submission submission = mix.draw_submission(rng);
    const Time submit = calendar.draw_submit(*submission.kind, rng);
    for (const Duration run : submission.runs) {
      ++drawn;
      const Time end = submit + run;
      if (end <= Time{}) continue;
      if (!demand.take(gpu_milli_of(submission.job))) return running;
      running.push_back({submission.kind, submission.job});
      running.back().job.run = end - Time{};
    }
  }
  return running;
}

// GPU time that a job would use before the horizon if it started at once.
std::int64_t gpu_time_within(const TraceJob& job, std::int64_t horizon_ms) {
  // Milli-GPU-seconds: a year of the largest fleet stays below 2^63 / 100.
  return gpu_milli_of(job) * (std::min(job.run.ms, horizon_ms - job.submit.ms) / 1000);
}

std::vector<Draft> draw_arrivals(const Mix& mix, int days, std::optional<std::int64_t> count, std::int64_t gpu_time,
                                 Rng& rng) {
  const Calendar calendar(0, days);
  std::vector<Draft> arrivals;
  Demand demand(gpu_time);
  for (;;) {
    const Submission submission = mix.draw_submission(rng);
    const Time submit = calendar.draw_submit(*submission.kind, rng);
    for (const Duration run : submission.runs) {
      TraceJob job = submission.job;
      job.submit = submit;
      job.run = run;
      const bool wanted = count ? static_cast<std::int64_t>(arrivals.size()) < *count
                                : demand.take(gpu_time_within(job, days * kDayMs));
      if (!wanted) return arrivals;
      arrivals.push_back({submission.kind, std::move(job)});
    }
  }
}

}  // namespace

Trace generate_fleet(const FleetSpec& spec) {
  BERTH_ASSERT(spec.nodes >= kFleetNodesMin && spec.nodes <= kFleetNodesMax);
  BERTH_ASSERT(spec.days >= 1 && spec.days <= 366);
  BERTH_ASSERT(spec.jobs_per_day >= 0 && spec.jobs_per_day <= 10'000'000);
  BERTH_ASSERT(spec.load_pct >= 0 && spec.load_pct <= 1000);
  BERTH_ASSERT(spec.teams >= 0 && spec.teams <= 10'000);

  // A stream each, so that a change to one does not shift the others.
  Rng teams_rng(spec.seed, 1);
  Rng running_rng(spec.seed, 2);
  Rng arrivals_rng(spec.seed, 3);

  Trace trace;
  trace.nodes = make_nodes(spec.nodes);
  const Mix mix(trace.nodes, make_teams(spec.teams > 0 ? spec.teams : default_teams(spec.nodes), teams_rng));

  std::int64_t fleet_milli = 0;
  for (const TraceNode& node : trace.nodes) fleet_milli += node.gpus * std::int64_t{kMilliPerGpu};

  // The horizon begins as it goes on: as many in use as are asked for on average, or as the given rate would have left.
  std::optional<std::int64_t> draws;
  std::optional<std::int64_t> count;
  std::int64_t running_pct = std::min(spec.load_pct, 100);
  if (spec.jobs_per_day > 0) {
    draws = spec.jobs_per_day * kRunDaysMax;
    count = spec.jobs_per_day * spec.days;
    running_pct = 100;
  }
  std::vector<Draft> drafts = draw_running(mix, fleet_milli * running_pct / 100, draws, running_rng);

  const std::int64_t horizon_ms = spec.days * kDayMs;
  std::int64_t gpu_time = fleet_milli * (horizon_ms / 1000) / 100 * spec.load_pct;
  for (const Draft& draft : drafts) gpu_time -= gpu_time_within(draft.job, horizon_ms);
  std::ranges::move(draw_arrivals(mix, spec.days, count, gpu_time, arrivals_rng), std::back_inserter(drafts));

  // Jobs of one moment stay in the order drawn, which is the seed's.
  std::vector<std::size_t> order(drafts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::less{}, [&](std::size_t draft) { return std::pair(drafts[draft].job.submit, draft); });
  trace.jobs.reserve(drafts.size());
  for (const std::size_t draft : order) {
    trace.jobs.push_back(std::move(drafts[draft].job));
    trace.jobs.back().name = std::string(drafts[draft].kind->name) + "-" + std::to_string(trace.jobs.size());
  }
  return trace;
}

}  // namespace berth
