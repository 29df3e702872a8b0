// `berth top`: what a control plane is doing, on a full screen.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/inputs.h"
#include "cli/live_view.h"
#include "cli/lookup.h"
#include "cli/stop_signal.h"
#include "client/asking.h"
#include "kube/alarm.h"

namespace berth {
namespace {

constexpr Duration kCompleteWithin = seconds(30);
constexpr Duration kLoadEvery = seconds(1);
constexpr useconds_t kKeysEvery_us = 20'000;

struct TypedTop {
  ConnectionWish connection;
  bool once = false;
};

// Whether the jobs and pods are there to be seen: a mirror would ask again and again.
std::optional<AskFailure> refusal(Transport& server, const std::string& name_space) {
  for (const std::string_view kind : {"jobs.batch", "pods"}) {
    ApiCall call;
    call.path = api_path(kind, name_space) + "?limit=1";
    const ApiAnswer answer = send_and_wait(server, std::move(call));
    if (answer.ok()) continue;
    AskFailure failure = failure_of(answer, "list " + std::string(kind));
    if (failure.exit_code == kExitForbidden && name_space.empty()) {
      failure.text += "; -n NAMESPACE shows one namespace only";
    }
    return failure;
  }
  return name_space.empty() ? std::nullopt : missing_namespace(server, name_space);
}

int print_one(LiveView& view, const Alarm& clock, TopWish wish) {
  const Time until = clock.now() + kCompleteWithin;
  while (!view.complete() && clock.now() < until && !stop_was_asked()) usleep(kKeysEvery_us);
  if (!view.complete()) {
    fmt::print(stderr, "berth: the server did not tell everything within 30 s: {}\n", view.trouble());
    return kExitFailed;
  }
  wish.hints = false;
  view.sample();
  for (const std::string& line : view.draw(wish, terminal_size()).lines) fmt::print("{}\n", line);
  return kExitDone;
}

int top(const TypedTop& typed) {
  const auto server = connect(typed.connection);
  if (!server) return complain(server.error());
  // Only what was typed, not the context's: `top` is about the whole, as long as one may see it.
  const std::string& name_space = typed.connection.name_space;
  if (const auto failure = refusal(*server->transport, name_space)) return fail(*failure);
  note_stop_signals();
  const std::unique_ptr<Alarm> clock = Alarm::start();
  LiveView view(*server->transport, *clock, name_space);
  const TerminalManners manners = terminal_manners();
  TopWish wish{.colours = manners.colours,
               .unicode = manners.unicode,
               .title = "berth top" + (name_space.empty() ? "" : ", namespace " + name_space)};
  if (typed.once || !manners.full_screen) return print_one(view, *clock, std::move(wish));
  LiveScreen screen(std::move(wish));
  Time sample_at = clock->now() + kLoadEvery;
  while (!stop_was_asked() && screen.step(view)) {
    if (clock->now() < sample_at) continue;
    sample_at = clock->now() + kLoadEvery;
    view.sample();
  }
  return kExitDone;
}

}  // namespace

void add_top(CLI::App& berth, int& exit_code) {
  CLI::App& app = *berth.add_subcommand("top", "Watch GPUs, queues, jobs and events on a full screen");
  const auto typed = std::make_shared<TypedTop>();
  add_connection_options(app, typed->connection, Namespaced::kYes);
  app.add_flag("--once", typed->once, "Print one picture and end, as where there is no terminal");
  app.footer(
      "q leaves, ? shows the other keys: p, w, r (all, waiting, running), s (sort), arrows and page keys. All "
      "namespaces\n"
      "are shown unless -n names one. NO_COLOR is respected.\n"
      "\n"
      "Example:\n"
      "  berth top");
  app.callback([typed, &exit_code] { exit_code = top(*typed); });
}

}  // namespace berth
