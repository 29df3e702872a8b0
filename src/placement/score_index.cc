#include "placement/score_index.h"

#include <algorithm>

#include "placement/filters.h"
#include "state/neighbour_check.h"

namespace berth {
namespace {

// Any of the fitting nodes, each as likely.
std::optional<NodeId> drawn_node(const ScoreTree& scores, Rng& rng) {
  std::uint64_t fitting = 0;
  for (std::size_t node = 0; node < scores.nodes(); ++node) fitting += scores[node] != ScoreTree::kUnfit ? 1 : 0;
  if (fitting == 0) return std::nullopt;
  auto skip = rng.below(fitting);
  for (std::size_t node = 0;; ++node) {
    if (scores[node] != ScoreTree::kUnfit && skip-- == 0) return NodeId(node);
  }
}

std::optional<NodeId> best_node(const ScoreTree& scores) {
  const auto best = scores.first_best();
  return best ? std::optional(NodeId(*best)) : std::nullopt;
}

// All that were ever added: one that fails does not make its type more sought after.
std::vector<std::int64_t> gpus_of_flavor(const State& state) {
  std::vector<std::int64_t> gpus(state.flavors().size(), 0);
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const Node& node = state.node(NodeId(i));
    if (node.gpus > 0) gpus[node.flavor.index()] += node.gpus;
  }
  return gpus;
}

// Of the nodes that are looked at, in the run's order: of those that are not avoided, if there is one, and that the pod likes best
// the first with the best score, or any, drawn evenly. Scores do not know who is around: what changes with every pod that comes would not be kept for long.
class Choice {
 public:
  Choice(const Ledger& ledger, const PodRequest& request, bool draws)
      : ledger_(ledger),
        likings_(ledger.matches().likings(request.constraints)),
        around_(ledger, request),
        draws_(draws) {}

  // Whether scores alone decide.
  bool is_open() const { return likings_.empty() && around_.is_needless(); }

  void look_at(NodeId node, Score score) {
    if (score == ScoreTree::kUnfit || !around_.allows(node)) return;
    const Liking liking{!ledger_.is_avoided(node), likings_.empty() ? 0 : likings_[node.index()], around_.liking(node)};
    if (best_.empty() || liking > liking_ || (liking == liking_ && !draws_ && score > score_)) {
      best_.assign(1, node);
      liking_ = liking;
      score_ = score;
    } else if (draws_ && liking == liking_) {
      best_.push_back(node);
    }
  }

  std::optional<NodeId> made(Rng& rng) const {
    if (best_.empty()) return std::nullopt;
    return draws_ ? best_[static_cast<std::size_t>(rng.below(best_.size()))] : best_.front();
  }

 private:
  struct Liking {
    bool is_sound = false;  // it has not failed again and again of late
    std::int64_t node = 0;
    NeighbourLiking around;

    friend auto operator<=>(const Liking&, const Liking&) = default;
  };

  const Ledger& ledger_;
  std::span<const std::int64_t> likings_;
  NeighbourCheck around_;
  bool draws_;
  std::vector<NodeId> best_;
  Liking liking_;
  Score score_ = 0;
};

}  // namespace

std::optional<PodPlacement> ScoreIndex::best(const State& state, RequestId request, Rng& rng) {
  const ScoreRow& policy = score_row(state.policy());
  const Row& row = fresh_row(state, request);
  Choice choice(state.ledger(), state.request(request), policy.draws_node);
  std::optional<NodeId> node;
  if (choice.is_open()) {
    node = policy.draws_node ? drawn_node(row.scores, rng) : best_node(row.scores);
  } else {
    for (std::size_t i = 0; i < row.scores.nodes(); ++i) choice.look_at(NodeId(i), row.scores[i]);
    node = choice.made(rng);
  }
  if (!node) node = best_of_avoided(state, request, state.ledger().avoided(), rng);
  return on_devices(state, request, node, rng);
}

std::optional<PodPlacement> ScoreIndex::best_among(const State& state, RequestId request, std::span<const NodeId> nodes,
                                                   Rng& rng) {
  const Row& row = fresh_row(state, request);
  Choice choice(state.ledger(), state.request(request), score_row(state.policy()).draws_node);
  for (const NodeId node : nodes) choice.look_at(node, row.scores[node.index()]);
  std::optional<NodeId> node = choice.made(rng);
  if (!node) node = best_of_avoided(state, request, nodes, rng);
  return on_devices(state, request, node, rng);
}

// Rows have no scores of these: as long as another node will do, they cost nothing.
std::optional<NodeId> ScoreIndex::best_of_avoided(const State& state, RequestId id, std::span<const NodeId> nodes,
                                                  Rng& rng) const {
  const Ledger& ledger = state.ledger();
  if (ledger.avoided().empty()) return std::nullopt;
  const ScoreRow& policy = score_row(state.policy());
  const PodRequest& request = state.request(id);
  Choice choice(ledger, request, policy.draws_node);
  for (const NodeId node : nodes) {
    if (!ledger.is_avoided(node)) continue;
    choice.look_at(node, policy.score_if_fits(NodeView(ledger, node), request, *usual_));
  }
  return choice.made(rng);
}

std::optional<PodPlacement> ScoreIndex::on_devices(const State& state, RequestId request, std::optional<NodeId> node,
                                                   Rng& rng) const {
  if (!node) return std::nullopt;
  const NodeView view(state.ledger(), *node);
  return place_on(score_row(state.policy()), *node, view, state.request(request), *usual_, rng);
}

std::optional<PodPlacement> ScoreIndex::best_by_scan(const State& state, const PodRequest& request, Rng& rng) {
  const ScoreRow& policy = score_row(state.policy());
  const UsualDemand usual(state.typical_pods(), gpus_of_flavor(state));
  Choice choice(state.ledger(), request, policy.draws_node);
  for (std::size_t i = 0; i < state.ledger().nodes(); ++i) {
    choice.look_at(NodeId(i), policy.score_if_fits(NodeView(state.ledger(), NodeId(i)), request, usual));
  }
  const std::optional<NodeId> best = choice.made(rng);
  if (!best) return std::nullopt;
  return place_on(policy, *best, NodeView(state.ledger(), *best), request, usual, rng);
}

const UsualDemand& ScoreIndex::usual(const State& state) {
  const bool same_pods = usual_ && usual_version_ == state.typical_pods_version();
  const bool same_flavors = usual_flavors_ == state.flavors().size();
  if (same_pods && same_flavors && usual_nodes_ == state.nodes()) return *usual_;
  const std::vector<std::int64_t> gpus = gpus_of_flavor(state);
  if (same_pods && same_flavors) {
    usual_->balance = Balance(state.typical_pods(), gpus);
  } else {
    usual_.emplace(state.typical_pods(), gpus);
  }
  usual_version_ = state.typical_pods_version();
  usual_flavors_ = state.flavors().size();
  usual_nodes_ = state.nodes();
  rows_.clear();
  rows_held_ = 0;
  return *usual_;
}

ScoreIndex::Row& ScoreIndex::fresh_row(const State& state, RequestId id) {
  const UsualDemand& measure = usual(state);
  const ScoreRow& policy = score_row(state.policy());
  const PodRequest& request = state.request(id);
  const Ledger& ledger = state.ledger();
  if (rows_.size() <= id.index()) rows_.resize(state.requests());
  if (!rows_[id.index()]) {
    make_space(ledger.nodes());
    rows_[id.index()] = std::make_unique<Row>();
    ++rows_held_;
  }
  Row& row = *rows_[id.index()];
  row.last_used = ++uses_;
  const auto score_of = [&](std::size_t node) {
    if (ledger.is_avoided(NodeId(node))) return ScoreTree::kUnfit;
    const NodeView view(ledger, NodeId(node));
    return policy.score_if_fits(view, request, measure);
  };
  if (row.scores.nodes() != ledger.nodes()) {
    row.scores.assign(ledger.nodes(), score_of);
  } else {
    ledger.for_each_changed_since(row.next_change,
                                  [&](NodeId node) { row.scores.set(node.index(), score_of(node.index())); });
  }
  row.next_change = ledger.next_change();
  return row;
}

void ScoreIndex::make_space(std::size_t nodes) {
  const std::size_t rows_max = std::max<std::size_t>(16, bytes_max_ / ((nodes + 1) * sizeof(Score)));
  while (rows_held_ >= rows_max) {
    std::unique_ptr<Row>* oldest = nullptr;
    for (std::unique_ptr<Row>& row : rows_) {
      if (row && (oldest == nullptr || row->last_used < (*oldest)->last_used)) oldest = &row;
    }
    oldest->reset();
    --rows_held_;
  }
}

}  // namespace berth
