// Writes on nodes what the next scheduler has to know of them, such as who has been on which of their GPUs: of each node one after the other, the latest counts. Whoever is to be given
// a place there waits until it is written. Everything happens on the outbox's strand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kube/delays.h"
#include "kube/outbox.h"
#include "service/live_engine.h"

namespace berth {

class NodeUsesWriter {
 public:
  using Call = ApiCall (*)(const NodeUses&);
  // PRE: both outlive it.
  NodeUsesWriter(Outbox& outbox, Delays& delays, Call call) : outbox_(outbox), delays_(delays), call_(call) {}

  void write(const NodeUses& uses);
  // At once, if nothing is to be written of the node; a node that there is no more keeps nobody waiting.
  void when_written(const std::string& node, std::function<void()> go_on);

 private:
  struct Pages {
    NodeUses latest;
    std::uint64_t version = 0, written = 0;
    bool sending = false;
    std::vector<std::pair<std::uint64_t, std::function<void()>>> waiting;  // ascending
  };
  void send(const std::string& node);
  void note(const std::string& node, std::uint64_t version);

  Outbox& outbox_;
  Delays& delays_;
  Call call_;
  std::map<std::string, Pages> pages_;  // only of nodes of which something is yet to be written
};

}  // namespace berth
