#include "client/top_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/wording.h"
#include "client/text_width.h"
#include "manifest/json.h"

namespace berth::top_test {

constexpr Time kNow{1'800'000'000'000};

ObjectPtr object(const std::string& json) { return std::make_shared<const Value>(parse_json(json).value()); }

ObjectPtr node(const std::string& name, int gpus, bool ready = true) {
  return object(R"({"metadata":{"name":")" + name + R"("},"status":{"allocatable":{"nvidia.com/gpu":")" +
                std::to_string(gpus) + R"("},"conditions":[{"type":"Ready","status":")" + (ready ? "True" : "False") +
                "\"}]}}");
}

ObjectPtr queue(const std::string& name, const std::string& parent = "") {
  return object(R"({"metadata":{"name":")" + name + R"("},"spec":{"parent":")" + parent + "\"}}");
}

ObjectPtr job(const std::string& name, int pods, int gpus, const std::string& condition = "") {
  const std::string status =
      condition.empty() ? "{}" : R"({"conditions":[{"type":")" + condition + R"(","status":"True"}]})";
  return object(R"({"metadata":{"name":")" + name + R"(","namespace":"team","uid":"job-)" + name +
                R"(","creationTimestamp":"2027-01-15T07:58:00Z","labels":{"berth.dev/queue":"research"}},)" +
                R"("spec":{"parallelism":)" + std::to_string(pods) + R"(,"completions":)" + std::to_string(pods) +
                R"(,"template":{"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":")" +
                std::to_string(gpus) + R"("}}}]}}},"status":)" + status + "}");
}

// A pod of that job: waits with a reason, or is in a phase on a node.
ObjectPtr pod(const std::string& of, int number, int gpus, const std::string& phase, const std::string& reason = "") {
  const bool placed = phase != "Pending";
  return object(R"({"metadata":{"name":")" + of + "-" + std::to_string(number) + R"(","namespace":"team","uid":"pod-)" +
                of + "-" + std::to_string(number) +
                R"(","annotations":{"berth.dev/run-for":"100s"},"ownerReferences":[{"controller":true,)" +
                R"("kind":"Job","name":")" + of + R"(","uid":"job-)" + of + R"("}]},"spec":{)" +
                (placed ? R"("nodeName":"n1",)" : "") + R"("containers":[{"resources":{"limits":{"nvidia.com/gpu":")" +
                std::to_string(gpus) + R"("}}}]},"status":{"phase":")" + phase + "\"" +
                (placed ? R"(,"startTime":"2027-01-15T07:59:20Z")"
                        : R"(,"conditions":[{"type":"PodScheduled","status":"False","message":")" + reason + "\"}]") +
                "}}");
}

void add(ClusterPicture& cluster, PictureKind kind, const ObjectPtr& what) {
  Value slimmed = *what;
  slim_for_picture(kind, slimmed);
  cluster.take(kind, {nullptr, std::make_shared<const Value>(std::move(slimmed))});
}

// Two nodes, one gang that runs, one job that waits.
ClusterPicture small_cluster() {
  ClusterPicture cluster;
  add(cluster, PictureKind::kNodes, node("n1", 8));
  add(cluster, PictureKind::kNodes, node("n2", 8, false));
  add(cluster, PictureKind::kQueues, queue("company"));
  add(cluster, PictureKind::kQueues, queue("research", "company"));
  add(cluster, PictureKind::kJobs, job("gang", 2, 4));
  add(cluster, PictureKind::kPods, pod("gang", 0, 4, "Running"));
  add(cluster, PictureKind::kPods, pod("gang", 1, 4, "Running"));
  add(cluster, PictureKind::kPods, pod("wide", 0, 8, "Pending", "Capacity: 0 of 2 nodes"));  // before its job is told
  add(cluster, PictureKind::kJobs, job("wide", 1, 8));
  add(cluster, PictureKind::kEvents,
      object(R"({"metadata":{"name":"e","uid":"e"},"type":"Warning","reason":"NodeNotReady","message":"is silent",)"
             R"("involvedObject":{"kind":"Node","name":"n2"},"lastTimestamp":"2027-01-15T07:59:50Z"})"));
  cluster.settle();
  cluster.sample();
  return cluster;
}

std::string joined(const TopPicture& picture) {
  std::string text;
  for (const std::string& line : picture.lines) text += line + "\n";
  return text;
}

bool has(const TopPicture& picture, std::string_view what) { return joined(picture).find(what) != std::string::npos; }

std::size_t columns_on_screen(std::string line) {
  while (true) {
    const std::size_t escape = line.find('\x1b');
    if (escape == std::string::npos) return columns_of(line);
    line.erase(escape, line.find('m', escape) - escape + 1);
  }
}

TEST(Top, ShowsWhoWaitsAndWhyWhoRunsAndHowFar) {
  const TopPicture picture = draw_top(small_cluster(), {.title = "berth top"}, {120, 30}, kNow);
  for (const char* each :
       {"berth top", "08:00:00 UTC", "8 of 16", "50.0 %", "1 wait (8 GPUs), 1 run, 0 ended", "1 of 2 nodes ready",
        "company", "  research", "team/gang", "running", "2/2", "████░░░░░░ 40s of 100s", "team/wide", "waiting",
        "Capacity: 0 of 2 nodes", "NodeNotReady", "node/n2: is silent", "1-2 of 2, all, by age"}) {
    EXPECT_TRUE(has(picture, each)) << each << "\n" << joined(picture);
  }
}

TEST(Top, FitsEveryScreenWithAndWithoutColoursAndUnicode) {
  ClusterPicture full = small_cluster();
  for (int i = 0; i < 300; ++i) {
    const std::string name = "a-very-long-name-of-a-job-which-does-not-fit-日本語-" + std::to_string(i);
    add(full, PictureKind::kJobs, job(name, 1, 1));
    add(full, PictureKind::kPods, pod(name, 0, 1, "Pending", "理由が長い " + std::string(200, 'x')));
    add(full, PictureKind::kQueues, queue("queue-" + std::to_string(i)));
  }
  full.settle();
  const ClusterPicture empty, some = small_cluster();
  for (const ClusterPicture* cluster : {&empty, &some, const_cast<const ClusterPicture*>(&full)}) {
    for (const ScreenSize size : {ScreenSize{1, 1}, {40, 10}, {80, 24}, {81, 25}, {120, 40}, {200, 60}, {30, 6}}) {
      for (const bool colours : {false, true}) {
        for (const bool help : {false, true}) {
          const TopWish wish{.help = help,
                             .colours = colours,
                             .unicode = !colours,
                             .title = std::string(300, 't'),
                             .banner = {"one line", "another"},
                             .trouble = help ? "no answer" : ""};
          const TopPicture picture = draw_top(*cluster, wish, size, kNow);
          EXPECT_LE(picture.lines.size(), size.rows);
          for (const std::string& line : picture.lines) {
            EXPECT_LE(columns_on_screen(line), std::max<std::size_t>(size.columns, 18)) << line;
            EXPECT_TRUE(colours || !has_control_characters(line)) << line;
          }
        }
      }
    }
  }
}

TEST(Top, WhatIsAskedOfGpusStandsApartFromThePods) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("annotations":{"gpu-fraction":"0.25","berth.dev/gpu-sharing":"mps"})", "0/1  0.25/mps"},
      {R"("annotations":{"gpu-memory":"20000"})", "0/1  20000Mi"},
      {R"("labels":{})", "0/1      -"},
  };
  for (const auto& [asked, cells] : cases) {
    ClusterPicture cluster;
    add(cluster, PictureKind::kPods,
        object(std::string(R"({"metadata":{"name":"p","namespace":"team","uid":"p",)") + asked +
               R"(},"spec":{"containers":[{}]},"status":{"phase":"Pending"}})"));
    cluster.settle();
    const TopPicture picture = draw_top(cluster, {}, {120, 20}, kNow);
    EXPECT_TRUE(has(picture, cells)) << cells << "\n" << joined(picture);
  }
}

TEST(Top, AnEmptyClusterSaysSo) {
  const TopPicture picture = draw_top({}, {}, {40, 10}, kNow);
  EXPECT_TRUE(has(picture, "0 wait, 0 run, 0 ended")) << joined(picture);
  EXPECT_TRUE(has(picture, "nothing waits or runs"));
  EXPECT_EQ(picture.lines.size(), 10U);
}

TEST(Top, WhatASeverSendsCannotCommandTheTerminal) {
  ClusterPicture cluster;
  add(cluster, PictureKind::kJobs, job("evil", 1, 1));
  add(cluster, PictureKind::kPods, pod("evil", 0, 1, "Pending", "\\u001b]0;pwned\\u0007 and \\u009b2J"));
  cluster.settle();
  for (const std::string& line : draw_top(cluster, {}, {120, 20}, kNow).lines) {
    EXPECT_FALSE(has_control_characters(line));
  }
}

TEST(Top, TablesAlignWithWideCharacters) {
  EXPECT_EQ(columns_of("日本語"), 6U);
  EXPECT_EQ(columns_of("e\u0301"), 1U);
  EXPECT_EQ(fitted("日本語", 5, "…"), "日本…");
  EXPECT_EQ(fitted("日本語", 4, "…"), "日… ");
  EXPECT_EQ(fitted_right("ab", 4, "…"), "  ab");
  EXPECT_EQ(columns_of(fitted("日本語", 2, "...")), 2U);
}

TEST(Top, TheListIsFilteredSortedAndScrolled) {
  ClusterPicture cluster = small_cluster();
  for (int i = 0; i < 50; ++i) {
    add(cluster, PictureKind::kJobs, job("w" + std::to_string(10 + i), 1, i));
    add(cluster, PictureKind::kPods, pod("w" + std::to_string(10 + i), 0, i, "Pending", "why"));
  }
  cluster.settle();
  TopWish wish;
  TopPicture picture = draw_top(cluster, wish, {80, 16}, kNow);
  EXPECT_EQ(picture.listed, 52U);
  const auto press = [&](KeyPress key) {
    const bool stay = obey(key, picture, wish);
    picture = draw_top(cluster, wish, {80, 16}, kNow);
    return stay;
  };
  EXPECT_TRUE(press({Key::kLetter, 'r'}));
  EXPECT_EQ(picture.listed, 1U);
  EXPECT_TRUE(has(picture, "gang"));
  EXPECT_TRUE(press({Key::kLetter, 'w'}));
  EXPECT_EQ(picture.listed, 51U);
  EXPECT_FALSE(has(picture, "gang"));
  EXPECT_TRUE(press({Key::kLetter, 's'}));
  EXPECT_TRUE(has(picture, "w59")) << "most GPUs first: " << joined(picture);
  EXPECT_TRUE(press({Key::kEnd}));
  EXPECT_EQ(picture.first, 51 - picture.listed_shown);
  EXPECT_TRUE(has(picture, "w10"));
  EXPECT_TRUE(press({Key::kDown}));
  EXPECT_EQ(picture.first, 51 - picture.listed_shown) << "not beyond its end";
  EXPECT_TRUE(press({Key::kPageUp}));
  EXPECT_EQ(picture.first, 51 - 2 * picture.listed_shown + 1);
  EXPECT_TRUE(press({Key::kHome}));
  EXPECT_TRUE(press({Key::kUp}));
  EXPECT_EQ(picture.first, 0U);
  EXPECT_TRUE(press({Key::kLetter, '?'}));
  EXPECT_TRUE(has(picture, "scroll the list"));
  EXPECT_TRUE(press({Key::kEscape}));
  EXPECT_FALSE(wish.help);
  EXPECT_FALSE(press({Key::kLetter, 'q'}));
  EXPECT_FALSE(press({Key::kInterrupt}));
}

TEST(Top, KeysComeInPiecesAndUnknownOnesAreSwallowed) {
  KeyReader reader;
  EXPECT_EQ(reader.take("q\x1b[A"), (std::vector<KeyPress>{{Key::kLetter, 'q'}, {Key::kUp}}));
  EXPECT_TRUE(reader.take("\x1b[").empty());
  EXPECT_EQ(reader.take("6~w"), (std::vector<KeyPress>{{Key::kPageDown}, {Key::kLetter, 'w'}}));
  EXPECT_EQ(reader.take("\x1b[38;5;7m\x01\x03"), (std::vector<KeyPress>{{Key::kInterrupt}}));
  EXPECT_TRUE(reader.take("\x1b").empty());
  EXPECT_EQ(reader.settle(), (std::vector<KeyPress>{{Key::kEscape}}));
  EXPECT_TRUE(reader.settle().empty());
  std::string endless = "\x1b[";
  EXPECT_TRUE(reader.take(endless.append(10'000, '1')).size() < 10'000);
}

TEST(Top, BarsAndSparklinesKeepTheirWidth) {
  EXPECT_EQ(bar_of(500, 4, true), "██░░");
  EXPECT_EQ(bar_of(1, 4, false), "#...");
  EXPECT_EQ(bar_of(999, 4, false), "###.");
  EXPECT_EQ(bar_of(0, 0, true), "");
  EXPECT_EQ(sparkline_of({0, 1, 4, 8}, 8, 3, true), "▁▄█");
  EXPECT_EQ(sparkline_of({}, 8, 3, true), "");
}

TEST(Top, ASliceIsItsPartOfAGpu) {
  ClusterPicture cluster;
  add(cluster, PictureKind::kNodes,
      object(R"({"metadata":{"name":"n1","labels":{"nvidia.com/gpu.product":"H100","berth.dev/gpu-mode":"mig",)"
             R"("nvidia.com/gpu.count":"2"}},"status":{"allocatable":{}}})"));
  add(cluster, PictureKind::kPods,
      object(R"({"metadata":{"name":"p","namespace":"team","uid":"u"},"spec":{"nodeName":"n1","containers":)"
             R"([{"resources":{"limits":{"nvidia.com/mig-3g.40gb":"1"}}}]},"status":{"phase":"Running"}})"));
  cluster.settle();
  EXPECT_EQ(cluster.gpu_milli(), 2'000);
  EXPECT_EQ(cluster.whole().used_gpu_milli, 454);
  EXPECT_NE(joined(draw_top(cluster, {}, {100, 30}, kNow)).find("3g.40gb"), std::string::npos);
}

TEST(Top, AReplicaIsWhatItWasGiven) {
  ClusterPicture cluster;
  add(cluster, PictureKind::kNodes,
      object(R"({"metadata":{"name":"n1","labels":{"nvidia.com/gpu.product":"T4","berth.dev/gpu-mode":"timeslice",)"
             R"("nvidia.com/gpu.count":"2","nvidia.com/gpu.replicas":"4"}},"status":{"allocatable":{}}})"));
  add(cluster, PictureKind::kPods,
      object(R"({"metadata":{"name":"p","namespace":"team","uid":"u","annotations":{"berth.dev/gpus":"1:0.25",)"
             R"("berth.dev/coverage":"best-effort"}},"spec":{"nodeName":"n1","containers":)"
             R"([{"resources":{"limits":{"nvidia.com/gpu.shared":"1"}}}]},"status":{"phase":"Running"}})"));
  cluster.settle();
  EXPECT_EQ(cluster.gpu_milli(), 2'000);
  EXPECT_EQ(cluster.whole().used_gpu_milli, 250);
  EXPECT_NE(joined(draw_top(cluster, {}, {100, 30}, kNow)).find("shared"), std::string::npos);
}

// What a picture says must not depend on the order in which things were told, nor on what came and went.
TEST(Top, PropertyAPictureIsThatOfWhatIsThere) {
  ClusterPicture cluster = small_cluster();
  const std::string before = joined(draw_top(cluster, {}, {100, 30}, kNow));
  const ObjectPtr other = job("other", 2, 8), first = pod("other", 0, 8, "Running");
  add(cluster, PictureKind::kPods, first);
  cluster.settle();
  add(cluster, PictureKind::kJobs, other);
  cluster.settle();
  EXPECT_EQ(cluster.whole().used_gpu_milli, 16'000);
  cluster.take(PictureKind::kJobs, {other, nullptr});
  cluster.settle();
  cluster.take(PictureKind::kPods, {first, nullptr});
  cluster.settle();
  EXPECT_EQ(joined(draw_top(cluster, {}, {100, 30}, kNow)), before);

  const ObjectPtr gang = job("gang", 2, 4), done = job("gang", 2, 4, "Complete");
  for (const int number : {0, 1}) {
    cluster.take(PictureKind::kPods, {pod("gang", number, 4, "Running"), pod("gang", number, 4, "Succeeded")});
  }
  cluster.take(PictureKind::kJobs, {gang, done});
  cluster.settle();
  EXPECT_EQ(cluster.ended(), 1U);
  EXPECT_EQ(cluster.whole().used_gpu_milli, 0);
  cluster.take(PictureKind::kPods, {pod("gang", 0, 4, "Succeeded"), nullptr});
  cluster.take(PictureKind::kJobs, {done, nullptr});
  cluster.settle();
  EXPECT_EQ(cluster.ended(), 0U);
  EXPECT_EQ(cluster.live().size(), 1U);
}

}  // namespace berth::top_test
