#include "rehearsal/plane.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "local_api/local_transport.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr Duration kNever = seconds(30 * 86'400);
constexpr Duration kStepMax = seconds(1);
constexpr std::chrono::microseconds kQuiet{150};
constexpr std::chrono::seconds kPatience{60};
// On a starved machine the hand-turned clock goes on for hours while a thread does its work: a watch of an hour would end.
constexpr const char* kWatchForS = "1000000000";

std::vector<Value> machines() { return nodes_from_text(Plane::kNodes).value(); }

}  // namespace

// ---- following -----------------------------------------------------------------------------------------------------

Follower::Follower(Transport& transport, const FaultyDisk& disk, const std::string& qualified, Revision after)
    : disk_(disk), began_after_(after), come_to_(after) {
  stream_ = transport.stream(
      {.path = api_path(qualified, "") + "?watch=true&timeoutSeconds=" + kWatchForS +
               "&resourceVersion=" + std::to_string(after)},
      [this](std::string_view line) { take(line); },
      [this](const ApiAnswer& answer) {
        const std::lock_guard lock(mutex_);
        refused_ = answer.status;
      });
}

void Follower::take(std::string_view line) {
  Seen seen{.writes = disk_.writes(), .revision = 0, .type = {}, .uid = {}};
  const Value event = parse_json(line).value();
  const Value& metadata = event["object"]["metadata"];
  const std::string_view revision = metadata["resourceVersion"].text();
  std::from_chars(revision.data(), revision.data() + revision.size(), seen.revision);
  seen.type = event["type"].text();
  seen.uid = metadata["uid"].text();
  const std::lock_guard lock(mutex_);
  if (seen.type == "ERROR") refused_ = static_cast<int>(event["object"]["code"].integer());
  come_to_ = std::max(come_to_, seen.revision);
  if (seen.type != "ERROR" && seen.type != "BOOKMARK") seen_.push_back(std::move(seen));
}

std::vector<Follower::Seen> Follower::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}
Revision Follower::come_to() const {
  const std::lock_guard lock(mutex_);
  return come_to_;
}
int Follower::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

// ---- beginning and ending ------------------------------------------------------------------------------------------

Plane::Plane(FaultyDisk& disk, PlaneOptions options)
    : disk_(disk), options_(std::move(options)), testimony_(disk, [this] { return now(); }) {
  open_server();
  mine_ = connect("admin", {kMasters, "system:authenticated"});
  of_controllers_ = connect("system:berth-controllers", {"system:authenticated"});
  of_scheduler_ = connect("system:berth-scheduler", {"system:authenticated"});
  of_nodes_ = connect("system:berth-node-agent", {"system:nodes", "system:authenticated"});
  if (!options_.followed.empty()) {
    const Revision after = options_.followed_after == 0 ? store_->revision() : options_.followed_after;
    follower_ = std::make_unique<Follower>(*mine_, disk_, options_.followed, after);
  }
  const auto life = static_cast<std::uint64_t>(options_.life);
  ControllerOptions of_controllers;
  of_controllers.now = [this] { return now(); };
  of_controllers.seed = life;
  of_controllers.node_grace = kNever;
  controllers_ = Controllers::start(*of_controllers_, alarm_, of_controllers);
  start_scheduler();
  SimulatedNodesOptions of_nodes;
  of_nodes.now = [this] { return now(); };
  of_nodes.seed = life;
  of_nodes.lease_renewal = kNever;
  nodes_ = SimulatedNodes::start(*of_nodes_, alarm_, machines(), of_nodes);
}

Plane::~Plane() { stop(); }

void Plane::open_server() {
  StoreOptions options;
  options.vfs = disk_.vfs();
  options.changes_kept_max = options_.changes_kept_max;
  auto store = Store::open(kFile, options);
  if (!store) throw DiskRefused(store.error().to_string());
  store_ = *std::move(store);
  begun_at_ = store_->revision();
  watching_ = store_->watch("", begun_at_, [this](const ChangePtr& change, Revision) {
    const std::lock_guard lock(history_mutex_);
    if (change) history_.push_back(change);
  });
  ApiServerOptions of_server;
  of_server.now = [this] { return now(); };
  of_server.seed = 20'261'121 + static_cast<std::uint64_t>(options_.life);
  auto server = ApiServer::make(*store_, of_server);
  if (!server) throw DiskRefused(server.error().to_string());
  server_ = *std::move(server);
}

std::unique_ptr<Transport> Plane::connect(const std::string& name, std::vector<std::string> groups) {
  return testimony_.listen_to(
      connect_locally(*server_, {.name = name, .uid = {}, .groups = std::move(groups), .extra = {}}));
}

void Plane::start_scheduler() {
  lease_is_lost_ = false;
  LiveSchedulerOptions options;
  options.now = [this] { return now(); };
  options.identity = "life-" + std::to_string(options_.life) + "-" + std::to_string(++schedulers_);
  options.events_seed = static_cast<std::uint64_t>(options_.life * 1'000 + schedulers_);
  options.journal_folder = options_.journal_folder;
  options.log = [](const std::string&) {};
  scheduler_ = LiveScheduler::start(*of_scheduler_, alarm_, std::move(options), [this] { lease_is_lost_ = true; });
}

void Plane::stop() {
  if (!store_) return;
  nodes_.reset();
  scheduler_.reset();
  controllers_.reset();
  // After what is on its way nothing is written any more.
  store_->drain();
  hear_everything();
  watching_.reset();
  if (follower_) follower_->end();
  server_.reset();
  store_.reset();
}

// What is durable is told, to the follower too; one who misses something is not waited for for ever.
void Plane::hear_everything() {
  const auto holds = [this] {
    const std::lock_guard lock(history_mutex_);
    const Revision known = history_.empty() ? begun_at_ : history_.back()->revision;
    if (known < store_->revision()) return false;
    if (!follower_ || follower_->refused() != 0) return true;
    const auto last = std::ranges::find_if(history_.rbegin(), history_.rend(), [this](const ChangePtr& change) {
      return change->key().starts_with(options_.followed + "/");
    });
    return follower_->come_to() >= (last == history_.rend() ? options_.followed_until : (*last)->revision);
  };
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!holds() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// ---- time ----------------------------------------------------------------------------------------------------------

Time Plane::now() const {
  static const Time kAlarmBegins = HandTurnedAlarm().now();
  return options_.begins + (alarm_.now() - kAlarmBegins);
}

// Whoever has something to do does it first.
void Plane::pass_time() {
  testimony_.listen_anew();  // what this story asked itself is no news
  if (testimony_.hears_something(kQuiet) || testimony_.open_calls() > 0) return;
  alarm_.advance(std::min(alarm_.until_next().value_or(kStepMax), kStepMax));
}

void Plane::until(const std::string& what, const std::function<bool()>& holds) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > give_up) throw Stuck("never: " + what);
    pass_time();
    look_after_trouble();
    if (lease_is_lost_) start_scheduler();
  }
}

void Plane::look_after_trouble() {
  const auto troubles = testimony_.troubles();
  if (troubles.size() == troubles_seen_) return;
  troubles_seen_ = troubles.size();
  // Room helps a full disk and nothing else.
  if (troubles.back().status != 503) throw DiskRefused(text_of_failure(troubles.back()));
  meet_trouble(text_of_failure(troubles.back()));
}

void Plane::meet_trouble(const std::string& what) {
  if (!options_.make_room) throw DiskRefused(what);
  options_.make_room();
}

// ---- calls ---------------------------------------------------------------------------------------------------------

ApiAnswer Plane::call(const std::string& method, const std::string& path, const std::string& body) {
  while (true) {
    ApiCall call{.method = method, .path = path, .body = body};
    if (method == "PATCH") call.content_type = "application/merge-patch+json";
    ApiAnswer answer = send_and_wait(*mine_, call);
    if (answer.status < 500) {
      // A log that is cut all the time must not be cut before those who watch have read it.
      hear_everything();
      return answer;
    }
    look_after_trouble();
  }
}

Value Plane::get(const std::string& path) {
  auto parsed = parse_json(call("GET", path).body);
  return parsed ? *std::move(parsed) : Value();
}

void Plane::create(const std::string& path, const std::string& body) {
  const ApiAnswer answer = call("POST", path, body);
  if (!answer.ok() && answer.status != 409) throw Stuck("POST " + path + ": " + answer.body);
}

void Plane::remove(const std::string& path, const std::string& options) {
  const ApiAnswer answer = call("DELETE", path, options);
  if (!answer.ok() && answer.status != 404) throw Stuck("DELETE " + path + ": " + answer.body);
}

}  // namespace berth
