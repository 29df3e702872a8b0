// A whole control plane in one process: API server, controllers, scheduler and simulated machines, on a disk that fails
// when it is told to and a clock that is turned whenever nobody has anything to do. Crash-only, as the real one: ending
// is dying, and a new one on the same disk goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "agent/simulated_nodes.h"
#include "apiserver/api_server.h"
#include "base/time.h"
#include "controllers/controllers.h"
#include "kube/hand_turned_alarm.h"
#include "kube/transport.h"
#include "manifest/value.h"
#include "rehearsal/testimony.h"
#include "service/live_scheduler.h"
#include "store/faulty_disk.h"
#include "store/store.h"

namespace berth {

// The server can do no more: what it said.
struct DiskRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// What a story waits for does not come.
struct Stuck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Follows all objects of a kind through a server's watch, from a revision on.
class Follower {
 public:
  struct Seen {
    std::int64_t writes = 0;  // to the disk when it came
    Revision revision = 0;
    std::string type, uid;  // "ADDED"
  };

  Follower(Transport& transport, const FaultyDisk& disk, const std::string& qualified, Revision after);
  Revision began_after() const { return began_after_; }
  std::vector<Seen> seen() const;
  Revision come_to() const;
  int refused() const;  // with what HTTP status it ended; 0: it did not
  void end() { stream_.reset(); }

 private:
  void take(std::string_view line);

  const FaultyDisk& disk_;
  const Revision began_after_;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
  Revision come_to_;
  int refused_ = 0;
  std::unique_ptr<ApiStream> stream_;  // last: its callbacks use the others
};

inline constexpr Time kStoriesBegin{1'795'244'400'000};  // 2026-11-21T07:00:00Z

struct PlaneOptions {
  std::int64_t life = 1;  // how many there were before on this disk, and one: for names that nobody had
  Time begins = kStoriesBegin;
  std::int64_t changes_kept_max = 100'000;
  std::string journal_folder = {};
  std::string followed = {};    // a kind, "pods"; empty: none
  Revision followed_after = 0;  // 0: from now on
  Revision followed_until = 0;  // the last that is to be told of what was before
  // What somebody does about a full disk. Otherwise trouble of the server's ends the story.
  std::function<void()> make_room = {};
};

class Plane {
 public:
  static constexpr const char* kFile = "objects.db";
  static constexpr const char* kNodes = "4xH100x2";

  // Throws DiskRefused.
  Plane(FaultyDisk& disk, PlaneOptions options);
  ~Plane();
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  // As an administrator. A PATCH merges. Tries again what a full disk refused; throws DiskRefused.
  ApiAnswer call(const std::string& method, const std::string& path, const std::string& body = {});
  Value get(const std::string& path);
  bool is_there(const std::string& path) { return call("GET", path).status == 200; }
  // Makes what may be there already, because an answer was lost with a life before. Throws Stuck when it is refused.
  void create(const std::string& path, const std::string& body);
  void remove(const std::string& path, const std::string& options = {});
  // Lets time pass until it holds. Throws Stuck and DiskRefused.
  void until(const std::string& what, const std::function<bool()>& holds);
  // Somebody was refused by the disk: makes room if that is what helps, otherwise throws DiskRefused.
  void meet_trouble(const std::string& what);

  FaultyDisk& disk() { return disk_; }
  Store& store() { return *store_; }

  // The parts end, one after the other, the store last.
  void stop();
  // After stop(): every change of this life, in order, and what was said.
  const std::vector<ChangePtr>& history() const { return history_; }
  const Testimony& testimony() const { return testimony_; }
  const Follower* follower() const { return follower_.get(); }
  Revision begun_at() const { return begun_at_; }

 private:
  void open_server();
  void start_scheduler();
  std::unique_ptr<Transport> connect(const std::string& name, std::vector<std::string> groups);
  void look_after_trouble();
  void hear_everything();
  void pass_time();
  Time now() const;

  FaultyDisk& disk_;
  const PlaneOptions options_;
  HandTurnedAlarm alarm_;
  Testimony testimony_;
  std::mutex history_mutex_;
  std::vector<ChangePtr> history_;
  Revision begun_at_ = 0;
  std::unique_ptr<Store> store_;
  // Answers go through them until the server has ended.
  std::unique_ptr<Transport> mine_, of_controllers_, of_scheduler_, of_nodes_;
  std::unique_ptr<ApiServer> server_;
  std::shared_ptr<Watching> watching_;
  std::unique_ptr<Controllers> controllers_;
  std::unique_ptr<LiveScheduler> scheduler_;
  std::unique_ptr<SimulatedNodes> nodes_;
  std::unique_ptr<Follower> follower_;
  std::size_t troubles_seen_ = 0;
  int schedulers_ = 0;
  std::atomic<bool> lease_is_lost_ = false;
};

}  // namespace berth
