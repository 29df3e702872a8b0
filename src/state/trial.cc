#include "state/trial.h"

namespace berth {

void Trial::keep_from_all(KeptRoom kept) {
  for (std::size_t at = kept_since_; !kept_.gpus.empty() && at < moves_.size(); ++at) {
    if (!moves_[at].keeps || moves_[at].move.direction == Move::Direction::kGive) continue;
    const Move give = inverse(moves_[at].move);
    ledger_.apply(give);
    moves_.push_back({give, true});
  }
  for (const NodeId node : closed_) ledger_.keep_no_more(node);
  closed_.clear();
  kept_ = std::move(kept);
  kept_since_ = moves_.size();
  for (const GpusOfNode& each : kept_.gpus) keep_what_is_free(each);
  for (const NodeId node : kept_.nodes) {
    if (!ledger_.node(node).open) continue;
    ledger_.keep_from_all(node);
    closed_.push_back(node);
  }
}

void Trial::lend_spares(std::vector<NodeId> spares) {
  for (const NodeId node : lent_) ledger_.set_open(node, false);
  std::erase_if(spares, [&](NodeId node) { return std::ranges::binary_search(kept_.nodes, node); });
  for (const NodeId node : spares) {
    BERTH_ASSERT(ledger_.node(node).spare && !ledger_.node(node).open);
    ledger_.set_open(node, true);
  }
  lent_ = std::move(spares);
}

void Trial::end_maintenance(std::vector<NodeId> nodes) {
  for (const NodeId node : opened_) {
    if (std::erase(closed_, node) > 0) ledger_.keep_no_more(node);
    ledger_.set_open(node, false);
  }
  std::erase_if(nodes, [&](NodeId node) { return std::ranges::binary_search(kept_.nodes, node); });
  for (const NodeId node : nodes) {
    BERTH_ASSERT(!ledger_.node(node).open);
    ledger_.set_open(node, true);
  }
  opened_ = std::move(nodes);
}

void Trial::end_rests(std::vector<Device> devices) {
  const auto let_rest = [&](Device device, bool rests) {
    GpuCut cut = *ledger_.cut_of(device.node, static_cast<std::size_t>(device.gpu));
    cut.rests = rests;
    ledger_.set_cut(device, cut);
  };
  for (const Device device : rested_) let_rest(device, true);
  for (const Device device : devices) let_rest(device, false);
  rested_ = std::move(devices);
}

void Trial::keep_what_is_free(const GpusOfNode& kept) {
  const NodeFree& node = ledger_.node(kept.node);
  if (node.sharing != Sharing::kExclusive || node.pods < 1) return;
  const auto milli = ledger_.gpu_milli(kept.node);
  std::uint64_t whole = 0;
  kept.gpus.for_each([&](int gpu) {
    if (milli[static_cast<std::size_t>(gpu)] == kMilliPerGpu) whole |= std::uint64_t{1} << gpu;
  });
  if (whole == 0) return;
  const GpuSet gpus = GpuSet::from_bits(whole);
  PodRequest request;
  request.gpus = gpus.size();
  request.gpu_milli = kMilliPerGpu;
  const Move take = move_of(request, {kept.node, gpus});
  ledger_.apply(take);
  moves_.push_back({take, true});
}

}  // namespace berth
