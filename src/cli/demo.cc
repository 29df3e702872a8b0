// `berth demo`: an afternoon of four teams, played on a live control plane on this machine.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/afternoon_report.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/demo_folder.h"
#include "cli/inputs.h"
#include "cli/live_view.h"
#include "cli/local_plane.h"
#include "cli/shared_options.h"
#include "cli/shell.h"
#include "cli/stop_signal.h"
#include "client/asking.h"
#include "cycle/explain.h"
#include "demo/objects.h"
#include "demo/player.h"
#include "kube/alarm.h"
#include "manifest/json.h"
#include "manifest/timestamp.h"
#include "sim/files.h"
#include "sim/generate.h"

namespace berth {
namespace {

constexpr std::int64_t kDemoNodesMax = 20'000;  // of a simulating agent
constexpr useconds_t kTick_us = 50'000;
constexpr Duration kTellEvery = seconds(5), kSampleEvery = seconds(1), kLookForEndEvery = seconds(1);

struct TypedDemo {
  std::string data = "berth-demo";
  std::string listen = "127.0.0.1:0";
  std::int64_t nodes = 1000;
  std::int64_t seed = 7;
  std::int64_t speed = 60;
  double minutes = 5;
  bool fresh = false;
  bool keep = false;
  std::vector<const CLI::Option*> of_afternoon = {};  // those that say which afternoon it is
};

std::string command_of(const AfternoonSpec& spec) {
  return shell_command("berth demo", {{"--nodes", std::to_string(spec.nodes)},
                                      {"--seed", std::to_string(spec.seed.value)},
                                      {"--minutes", fmt::format("{}", static_cast<double>(spec.length.ms) / 60'000)},
                                      {"--speed", std::to_string(spec.speed)}});
}

Result<AfternoonSpec> spec_of(const TypedDemo& typed) {
  const AfternoonSpec spec{.nodes = typed.nodes,
                           .seed = Seed{static_cast<std::uint64_t>(typed.seed)},
                           .length = {std::llround(typed.minutes * 60'000)},
                           .speed = typed.speed};
  const Duration afternoon{spec.length.ms * spec.speed};
  if (afternoon < kAfternoonMin || afternoon > kAfternoonMax) {
    return Complaints({"--minutes"},
                      fmt::format("{} times {} minutes is no afternoon; --minutes times --speed must be 1 to 600",
                                  spec.speed, typed.minutes));
  }
  return spec;
}

bool was_typed(const TypedDemo& typed) {
  for (const CLI::Option* each : typed.of_afternoon) {
    if (each->count() > 0) return true;
  }
  return false;
}

void say(const std::string& text) { fmt::print(stderr, "berth demo: {}\n", text); }

// Everything that plays, once the control plane answers.
class Playing {
 public:
  Playing(LocalPlane& plane, Alarm& clock, Transport& transport, KeptAfternoon kept, Trace trace)
      : plane_(plane),
        clock_(clock),
        transport_(transport),
        spec_(kept.spec),
        trace_(std::move(trace)),
        view_(transport, clock, ""),
        player_(Player::start(transport, spec_, trace_.jobs, std::move(kept.played))) {}

  // Until all has ended (true), somebody leaves, or the server says no for good.
  Result<bool> play() {
    const TerminalManners manners = terminal_manners();
    if (manners.full_screen) {
      screen_ = std::make_unique<LiveScreen>(
          TopWish{.colours = manners.colours, .unicode = manners.unicode, .title = "berth demo: " + look_around()});
    }
    const Result<bool> ended = play_on();
    screen_.reset();
    return ended;
  }

  Result<std::string> report(const std::string& directory) {
    const auto outcome = look_at_all();
    if (!outcome) return outcome.error();
    const ClusterRun run = outcome->run(trace_, player_->played(), spec_.speed);
    const AfternoonTold told{spec_, trace_, run, outcome->failed(), trace_.jobs.size() - outcome->found()};
    const auto written = write_afternoon_report(directory, told, command_of(spec_));
    if (!written) return written.error();
    player_->finish(system_wall_clock()());
    return fmt::format("{}\nReport: {}\n", afternoon_as_table(told), std::filesystem::absolute(*written).string());
  }

  // The control plane goes on, for whoever wants to look around.
  void keep_up() {
    while (!stop_was_asked()) {
      look_after();
      usleep(kTick_us);
    }
  }

  std::string look_around() const {
    return "export KUBECONFIG=" +
           shell_quoted(std::filesystem::absolute(plane_.folder().kubeconfig()).lexically_normal().string());
  }
  Time afternoon_time() const { return player_->afternoon_time(); }

 private:
  Result<bool> play_on() {
    while (!stop_was_asked()) {
      look_after();
      const bool fleet_is_up =
          view_.look([&](const ClusterPicture& seen) { return seen.nodes_ready() >= trace_.nodes.size(); });
      begun_ = begun_ || fleet_is_up;
      if (begun_) {
        if (Complaints refused = player_->step(system_wall_clock()()); !refused.empty()) return refused;
      }
      const auto ended = has_ended();
      if (!ended) return ended.error();
      if (*ended) return true;
      if (!show()) return false;
    }
    return false;
  }

  void look_after() {
    plane_.look_after(clock_.now(), [this](const std::string& text) {
      if (!screen_) say(text);
    });
  }

  // False: somebody leaves.
  bool show() {
    const Time now = clock_.now();
    if (now >= sample_at_) {
      view_.sample();
      sample_at_ = now + kSampleEvery;
    }
    if (screen_) {
      screen_->set_banner({progress(true)});
      return screen_->step(view_);
    }
    if (now >= tell_at_) {
      fmt::print("{}\n", progress(false));
      std::fflush(stdout);
      tell_at_ = now + std::min(kTellEvery, Duration{spec_.length.ms / 10});
    }
    usleep(kTick_us);
    return true;
  }

  // A line of how far it is; what the screen shows anyway is left out there.
  std::string progress(bool on_screen) {
    if (!begun_) return "the nodes come up";
    std::string text = fmt::format("{}, {} of {} jobs submitted", clock_text(player_->afternoon_time()),
                                   with_separators(static_cast<std::int64_t>(player_->sent())),
                                   with_separators(static_cast<std::int64_t>(trace_.jobs.size())));
    if (on_screen) return text + fmt::format(", {} times as fast as life", spec_.speed);
    return text + view_.look([](const ClusterPicture& seen) {
      return fmt::format(", {} wait, {} run, {} ended, {} of {} GPUs in use", with_separators(seen.whole().pending),
                         with_separators(seen.whole().running),
                         with_separators(static_cast<std::int64_t>(seen.ended())),
                         with_separators(seen.whole().used_gpu_milli / kMilliPerGpu),
                         with_separators(seen.gpu_milli() / kMilliPerGpu));
    });
  }

  // The view hears of jobs a moment later than they are there, so its word is only a sign to look at all of them.
  Result<bool> has_ended() {
    const Time now = clock_.now();
    if (now < look_at_ || player_->played().submitted < trace_.jobs.size()) return false;
    look_at_ = now + kLookForEndEvery;
    const bool some_live = view_.look([](const ClusterPicture& seen) {
      return std::ranges::any_of(seen.live(), [](const auto& each) {
        return each.second.work.name.kind == "job" &&
               std::ranges::find(kTeams, each.second.work.name_space) != kTeams.end();
      });
    });
    if (some_live) return false;
    const auto outcome = look_at_all();
    if (!outcome) return outcome.error();
    return outcome->open() == 0;
  }

  Result<Outcome> look_at_all() {
    Outcome outcome(trace_.jobs);
    for (const std::string_view team : kTeams) {
      const auto jobs = for_each_object(transport_, "jobs.batch", team, [&](Value& job) { outcome.take_job(job); });
      if (!jobs) return Complaints(jobs.error().text);
      const auto pods = for_each_object(transport_, "pods", team, [&](Value& pod) { outcome.take_pod(pod); });
      if (!pods) return Complaints(pods.error().text);
    }
    return outcome;
  }

  LocalPlane& plane_;
  Alarm& clock_;
  Transport& transport_;
  const AfternoonSpec spec_;
  const Trace trace_;
  LiveView view_;
  std::unique_ptr<Player> player_;
  std::unique_ptr<LiveScreen> screen_;  // none: lines instead
  bool begun_ = false;                  // the nodes were there
  Time sample_at_, tell_at_, look_at_;
};

// What is kept in the folder, unless another afternoon was wished for.
Result<KeptAfternoon> afternoon_in(Transport& transport, const TypedDemo& typed, const AfternoonSpec& wished) {
  auto kept = open_afternoon(transport, wished);
  if (!kept || kept->spec == wished || !was_typed(typed)) return kept;
  return Complaints({typed.data}, "another afternoon is played in this folder (" + command_of(kept->spec) +
                                      "); leave such options out to go on with it, or begin anew with --fresh");
}

int play(const TypedDemo& typed) {
  const auto wished = spec_of(typed);
  if (!wished) return complain(wished.error());
  const auto listen = parse_listen_address(typed.listen);
  if (!listen) return complain(listen.error());
  if (const Complaints mine = claim_demo_folder(typed.data); !mine.empty()) return complain(mine);
  note_stop_signals();
  const std::unique_ptr<Alarm> clock = Alarm::start();
  LocalPlane plane(typed.data, *listen);
  if (const Complaints taken = plane.take_folder(); !taken.empty()) return failed(taken);
  if (typed.fresh) {
    say("what an earlier afternoon left is removed");
    if (const Complaints left = clear_demo_folder(typed.data); !left.empty()) return failed(left);
    if (const auto made = plane.folder().make(); !made) return failed(made.error());
  }
  const auto begun = plane.begin_server(*clock);
  if (!begun) return failed(begun.error());
  if (!*begun) return kExitDone;
  const auto server = connect({.kubeconfig = plane.folder().kubeconfig()});
  if (!server) return failed(server.error());
  Transport& transport = *server->transport;
  auto kept = afternoon_in(transport, typed, *wished);
  if (!kept) return failed(kept.error());

  Trace trace = make_afternoon(kept->spec);
  const std::string nodes_file = plane.folder().path("nodes.json");
  if (const auto written = write_private_file(nodes_file, to_json(nodes_of(trace))); !written)
    return failed(written.error());
  if (const Complaints others = plane.begin_others(nodes_file); !others.empty()) return failed(others);
  const bool again = !kept->played.lives.empty();
  const bool was_over = kept->played.over;
  Playing playing(plane, *clock, transport, std::move(*kept), std::move(trace));
  fmt::print("{} In another terminal:\n\n  {}\n  kubectl get queues; kubectl get jobs,pods -A; berth top\n\n",
             was_over ? "The afternoon is over."
             : again  ? "The afternoon goes on."
                      : "The afternoon begins.",
             playing.look_around());
  std::fflush(stdout);
  const Result<bool> ended = was_over ? true : playing.play();
  if (!ended) return failed(ended.error());
  if (!*ended) {
    fmt::print("Stopped at {}. The same command goes on from there, --fresh begins anew.\n",
               clock_text(playing.afternoon_time()));
    return kExitDone;
  }
  const auto told = playing.report(plane.folder().path("report"));
  if (!told) return failed(told.error());
  fmt::print("{}", *told);
  std::fflush(stdout);
  if (typed.keep) {
    fmt::print("The control plane stays up until ctrl-C: {}\n", playing.look_around());
    std::fflush(stdout);
    playing.keep_up();
  }
  return kExitDone;
}

}  // namespace

void add_demo(CLI::App& berth, int& exit_code) {
  CLI::App& app =
      *berth.add_subcommand("demo", "Play an afternoon of four teams on a live control plane here, and report");
  const auto typed = std::make_shared<TypedDemo>();
  app.add_option("--data", typed->data, "Folder of everything it keeps; the report is in its folder report")
      ->capture_default_str()
      ->check(not_empty());
  app.add_option("--listen", typed->listen, "Address and port of the API; port 0 picks a free one")
      ->capture_default_str();
  typed->of_afternoon = {app.add_option("--nodes", typed->nodes, "Simulated nodes")
                             ->capture_default_str()
                             ->check(CLI::Range(kFleetNodesMin, kDemoNodesMax)),
                         app.add_option("--minutes", typed->minutes, "How long the afternoon takes")
                             ->capture_default_str()
                             ->check(CLI::Range(0.001, 600.0)),
                         app.add_option("--speed", typed->speed, "Times as fast as life")
                             ->capture_default_str()
                             ->check(CLI::Range(std::int64_t{1}, kAfternoonSpeedMax)),
                         app.add_option("--seed", typed->seed, "The same seed makes the same afternoon")
                             ->capture_default_str()
                             ->check(CLI::NonNegativeNumber)};
  app.add_flag("--fresh", typed->fresh, "Begin anew: what an earlier demo left in the folder is removed");
  app.add_flag("--keep", typed->keep, "Leave the control plane up at the end, until ctrl-C");
  app.footer(
      "Stopped, however it was stopped, the same command goes on where the afternoon stood.\n"
      "\n"
      "Examples:\n"
      "  berth demo\n"
      "  berth demo --fresh --nodes 100 --minutes 1 --seed 3");
  app.callback([typed, &exit_code] { exit_code = play(*typed); });
}

}  // namespace berth
