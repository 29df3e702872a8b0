// Whom pods wait for before they may start, in a live engine: Jobs and pods that have to end, be done or begin first. Until they have,
// the engine does not hear of who waits for them; it hears of him then in his old place. No threads, clocks or sockets.
//
// What counts is what there is: whom somebody waits for, and who is not there, is waited for. So a scheduler that is started anew
// finds the same. Who has begun once waits for nobody any more, also as another pod of the same Job: the Job says so.
#pragma once

#include <map>
#include <set>
#include <string>

#include "manifest/value.h"
#include "service/namespaces.h"

namespace berth {

class Predecessors {
 public:
  // PRE: it outlives this, and hears of pods from nobody else.
  explicit Predecessors(Namespaces& pods) : pods_(pods) {}

  void set_job(const Value& job);
  void remove_job(const Value& job);
  void set_pod(const PodFacts& pod);
  void remove_pod(const std::string& uid);
  // What has changed goes to the pods' own; before each decision.
  void settle();

  // Whether its Job has to be told that it has begun: it has a place, and waits for others or for so long at most when it is made
  // anew.
  bool has_to_say_that_it_began(const PodFacts& pod) const;

 private:
  struct Standing {
    std::string uid;
    bool begun = false, ended = false, done = false;

    friend bool operator==(const Standing&, const Standing&) = default;
  };

  void note(const std::string& key, Standing standing);
  void note_begun(const PodFacts& pod);
  void forget(const PodFacts& pod);
  PodFacts resolved(const PodFacts& pod) const;
  Obstacle obstacle_of(const PodFacts& pod) const;

  Namespaces& pods_;
  std::map<std::string, Standing> known_;                   // by "NAMESPACE/job/NAME"
  std::map<std::string, std::string> keys_;                 // of pods, by uid
  std::set<std::string> begun_jobs_;                        // uids: they say that they have begun
  std::map<std::string, PodFacts> following_;               // by uid: pods for whom it matters, as they say it
  std::map<std::string, std::set<std::string>> followers_;  // uids of those, by whom they wait for and by their Job
  std::map<std::string, std::pair<bool, Obstacle>> told_;   // of those, by uid
  std::set<std::string> changed_;                           // uids of those
};

}  // namespace berth
