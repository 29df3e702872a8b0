// What a control plane is doing just now, folded from the changes that its watches tell: who waits and why, who runs, how
// many GPUs each queue has, the latest events. A change costs what it touches, however much there is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/work.h"
#include "kube/mirror.h"

namespace berth {

enum class PictureKind : std::uint8_t { kJobs, kVolcanoJobs, kPods, kNodes, kQueues, kEvents };
inline constexpr std::array kPictureKinds = {PictureKind::kNodes,       PictureKind::kQueues, PictureKind::kJobs,
                                             PictureKind::kVolcanoJobs, PictureKind::kPods,   PictureKind::kEvents};
std::string_view qualified_of(PictureKind kind);
// Leaves of an object only what the picture reads, for MirrorOptions::slim.
void slim_for_picture(PictureKind kind, Value& object);

// A job, or a pod without one, that has not ended.
struct LiveWork {
  Work work;
  std::int64_t used_gpu_milli = 0;    // of its pods that have a place
  std::optional<Time> started;        // the first of its pods that run
  std::optional<Duration> run_limit;  // as declared
};

struct QueueUse {
  int pending = 0, running = 0;
  std::int64_t pending_gpu_milli = 0, used_gpu_milli = 0;
};

struct ShownEvent {
  Time at;
  bool warning = false;
  std::string about, reason, message;
};

class ClusterPicture {
 public:
  static constexpr std::size_t kEventsKept = 50;
  static constexpr std::size_t kSamplesKept = 600;
  // What the cluster looked like at one moment.
  struct Sample {
    int used_per_mille = 0;
    int pending = 0;
  };
  struct QueueRow {
    std::string label;  // its name, further to the right below its parent
    std::string name;
  };

  void take(PictureKind kind, const ObjectChange& change);
  // Works out what the changes since the last time mean; to be called before anything is asked.
  void settle();
  // Adds to the history.
  void sample();

  // By uid.
  const std::map<std::string, LiveWork>& live() const { return live_; }
  const QueueUse& whole() const { return whole_; }
  QueueUse use_of(const std::string& queue) const;
  std::vector<QueueRow> queues() const;
  std::int64_t gpu_milli() const { return gpu_milli_; }  // of all nodes
  std::size_t nodes() const { return nodes_.size(); }
  std::size_t nodes_ready() const { return nodes_ready_; }
  std::size_t ended() const { return ended_.size(); }  // jobs that are still there to be looked at
  std::size_t failed() const { return failed_; }
  std::vector<ShownEvent> events() const;  // the newest last
  const std::deque<Sample>& history() const { return history_; }

 private:
  // Of one Job (or one pod without): what is known of it.
  struct Known {
    ObjectPtr job;
    bool is_pod = false;  // no Job: the one pod is among `pods`
    std::map<std::string, ObjectPtr> pods;
  };
  struct NodeFact {
    std::int64_t gpu_milli = 0;
    bool ready = false;
    std::string gpu_model = {};
  };

  void take_pod(const ObjectChange& change);
  void take_job(const ObjectChange& change);
  void take_node(const ObjectChange& change);
  void take_event(const ObjectChange& change);
  void work_out(const std::string& uid);
  std::int64_t gpu_milli_held(const Value& pod) const;
  void count(const LiveWork& live, int sign);
  void note_end(const std::string& uid, bool failed);
  void forget_end(const std::string& uid);

  std::map<std::string, Known> known_;
  std::map<std::string, LiveWork> live_;
  std::set<std::string> changed_;      // uids to be worked out
  std::map<std::string, bool> ended_;  // by uid: whether it failed
  std::size_t failed_ = 0;
  QueueUse whole_;
  std::map<std::string, QueueUse> by_queue_;
  std::map<std::string, ObjectPtr> queues_;
  std::map<std::string, NodeFact> nodes_;
  std::size_t nodes_ready_ = 0;
  std::int64_t gpu_milli_ = 0;
  std::multimap<Time, std::pair<std::string, ShownEvent>> events_;  // with the uid
  std::deque<Sample> history_;
};

}  // namespace berth
