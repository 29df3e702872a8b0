#include "policy/lint_queues.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "manifest/queue_spec.h"
#include "model/gpu_hardware.h"
#include "model/slice_packing.h"
#include "model/topology.h"
#include "policy/lint.h"
#include "state/quota_tree.h"

namespace berth {
namespace {

std::optional<std::int64_t> given(const AmountList& amounts, Dim dim) {
  const auto found = std::ranges::lower_bound(amounts, dim, {}, &Amount::dim);
  return found != amounts.end() && found->dim == dim ? std::optional(found->amount) : std::nullopt;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// By how much what is promised, or lent, of a queue is more than it may be; of none: of all at the top together.
struct Excess {
  QueueId of;
  Dim dim;
  std::int64_t amount = 0;
};

class TreeLinter {
 public:
  // The queues as they are at some hours, or always.
  TreeLinter(const Policy& policy, std::vector<Queue> queues)
      : policy_(policy),
        queues_(std::move(queues)),
        named_(policy.named_profiles()),
        dims_(named_.dims()),
        tree_(queues_, AmountsByDim(dims_, kNoBound), named_),
        capacity_(policy.fleet ? capacity_of(policy) : AmountsByDim()) {}

  // What windows cannot change.
  std::vector<FoundAtHours> look_at_the_rest() && {
    if (policy_.fleet) look_at_all_cells();
    for (std::size_t i = 0; i < policy_.queues.size(); ++i) {
      look_at_own_nodes(QueueId(i));
      look_at_levels(QueueId(i));
      look_at_submitters(QueueId(i));
    }
    for (const Priority& priority : policy_.priorities) look_at(priority);
    for (const PolicyTrust& trust : policy_.trust) look_at(trust);
    return std::move(findings_);
  }

  std::vector<FoundAtHours> look_at_amounts() && {
    look_at_sums(QueueId());
    if (policy_.fleet) look_at_capacity();
    if (policy_.fleet) look_at_packing();
    for (std::size_t i = 0; i < policy_.queues.size(); ++i) {
      const QueueId queue(i);
      look_at_limits(queue);
      look_at_lending(queue);
      look_at_flavors(queue);
      look_at_protection(queue);
      look_at_own_promise(queue);
      look_at_cells(queue);
    }
    return std::move(findings_);
  }

 private:
  const PolicyQueue& at(QueueId queue) const { return policy_.queues[queue.index()]; }
  const Quota& quota(QueueId queue) const { return queues_[queue.index()].quota; }
  const std::string& name(QueueId queue) const { return policy_.name_of(queue); }
  std::int64_t guarantee(QueueId queue, Dim dim) const { return tree_.guarantee(queue)[dim.index()]; }
  // What a bound is compared with.
  std::int64_t promised_of(QueueId queue, Dim bound) const {
    if (bound != kGpusOfAllFlavors) return guarantee(queue, bound);
    const auto promised = tree_.guarantee(queue);
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < promised.size(); ++at) {
      sum += Dim::at(at).resource() == Resource::kGpu ? promised[at] : 0;
    }
    return sum;
  }
  std::string text(std::int64_t amount, Dim dim) const { return policy_.text_of(amount, dim); }
  std::string number(std::int64_t amount, Dim dim) const { return format_amount(dim.resource(), amount); }

  void find(Severity severity, const char* rule, const PolicyPlace& place, std::vector<std::string> queues,
            std::string what, std::string why, std::string instead, std::optional<Excess> excess = {}) {
    FoundAtHours::Subject subject{rule, "", what};
    if (excess) {
      subject = {rule, excess->of.is_none() ? "" : name(excess->of), policy_.name_of(excess->dim)};
    } else {
      for (const std::string& queue : queues) std::get<1>(subject) += queue + " ";
    }
    findings_.push_back(
        {{severity, rule, place, std::move(queues), std::move(what), std::move(why), std::move(instead)},
         std::move(subject),
         excess ? excess->amount : 0});
  }

  // The promised sum of the children, and who they are.
  std::pair<std::int64_t, std::vector<std::string>> promised_below(QueueId parent, Dim dim) const {
    std::pair<std::int64_t, std::vector<std::string>> found;
    for (const QueueId child : tree_.children(parent)) {
      if (guarantee(child, dim) == 0) continue;
      found.first += guarantee(child, dim);
      found.second.push_back(name(child));
    }
    return found;
  }

  void look_at_sums(QueueId parent) {
    if (!parent.is_none()) {
      for (const Amount& own : quota(parent).guarantee) {
        auto [sum, names] = promised_below(parent, own.dim);
        if (sum <= own.amount) continue;
        names.insert(names.begin(), name(parent));
        find(Severity::kError, "sum-above-parent", at(parent).place_of(AmountKind::kGuarantee, own.dim),
             std::move(names),
             "the children of " + name(parent) + " are promised " + text(sum, own.dim) +
                 ", more than its guarantee of " + number(own.amount, own.dim),
             "each of their floors is cut in proportion, so that nobody has what was promised",
             "give " + name(parent) + " at least " + number(sum, own.dim) + ", or its children less",
             Excess{parent, own.dim, sum - own.amount});
      }
    }
    for (const QueueId child : tree_.children(parent)) look_at_sums(child);
  }

  void look_at_capacity() {
    for (std::size_t index = 0; index < dims_; ++index) {
      const Dim dim = Dim::at(index);
      auto [sum, names] = promised_below(QueueId(), dim);
      // A kind of GPU that no node has is told of each queue that names it.
      if (sum <= capacity_[index] || is_missing(dim)) continue;
      QueueId largest = tree_.children(QueueId()).front();
      for (const QueueId top : tree_.children(QueueId())) {
        if (guarantee(top, dim) > guarantee(largest, dim)) largest = top;
      }
      const bool one = names.size() == 1;
      find(Severity::kError, "sum-above-capacity", at(largest).place_of(AmountKind::kGuarantee, dim), std::move(names),
           (one ? name(largest) + " is" : "the queues at the top are") + " promised " + text(sum, dim) +
               ", more than the " + number(capacity_[index], dim) + " that the nodes have",
           one ? "the floor is cut to what is there"
               : "each floor is cut in proportion, so that nobody has what was promised",
           "promise at most " + number(capacity_[index], dim) + ", or add nodes",
           Excess{QueueId(), dim, sum - capacity_[index]});
    }
  }

  bool is_missing(Dim dim) const {
    if (!policy_.fleet || dim.flavor().is_none()) return false;
    return capacity_[Dim(dim.flavor(), Resource::kGpu).index()] == 0;
  }

  // ---- one queue ------------------------------------------------------------------------------------------------

  void look_at_submitters(QueueId queue) {
    if (at(queue).origin == Origin::kKueue && at(queue).submitters.who == Submitters::Who::kNobody) {
      find(Severity::kWarning, "selects-no-namespace", at(queue).place, {name(queue)},
           name(queue) + " has no namespaceSelector, which selects no namespace at all",
           "nothing that is submitted to it is ever admitted",
           "write namespaceSelector: {} for all namespaces, or name them by kubernetes.io/metadata.name");
    }
  }

  void look_at_limits(QueueId queue) {
    for (const Amount& limit : quota(queue).limit) {
      const std::int64_t promised = promised_of(queue, limit.dim);
      const bool own = std::ranges::any_of(quota(queue).guarantee, [&](const Amount& each) {
        return each.dim == limit.dim || (limit.dim == kGpusOfAllFlavors && each.dim.resource() == Resource::kGpu);
      });
      const PolicyPlace& place = at(queue).place_of(AmountKind::kLimit, limit.dim);
      // Closed for its children: told of each child.
      const bool closed = limit.amount == 0 && !own;
      if (limit.amount < promised && !closed) {
        std::vector<std::string> names = own ? std::vector<std::string>() : promised_below(queue, limit.dim).second;
        names.insert(names.begin(), name(queue));
        find(Severity::kError, "limit-below-guarantee", place, std::move(names),
             "the limit of " + name(queue) + ", " + text(limit.amount, limit.dim) + ", is below " +
                 (own ? "its guarantee of " : "the guarantees of its children, together ") +
                 number(promised, limit.dim),
             "what is above the limit is promised and can never be used",
             "raise the limit to at least " + number(promised, limit.dim) + ", or lower the guarantee",
             Excess{queue, limit.dim, promised - limit.amount});
      }
      const auto borrowing = given(quota(queue).borrowing_limit, limit.dim);
      if (borrowing && promised + *borrowing != limit.amount && limit.amount >= promised) {
        const std::int64_t end = promised + *borrowing;
        find(Severity::kWarning, "limit-and-borrowing-limit", place, {name(queue)},
             "limit and borrowing limit of " + name(queue) + " contradict each other: it may hold " +
                 text(limit.amount, limit.dim) + " by the one and " + number(end, limit.dim) + " by the other",
             "the smaller holds, " + number(std::min(end, limit.amount), limit.dim),
             "write one of the two, or a limit of " + number(end, limit.dim), Excess{queue, limit.dim});
      }
    }
  }

  bool some_node_says(const Label& label) const {
    return std::ranges::any_of(*policy_.fleet, [&](const PolicyNodes& each) {
      return std::ranges::find(each.node.labels, label) != each.node.labels.end();
    });
  }

  // Of nodes that are only counted nobody knows what they are called.
  void look_at_named_node(QueueId queue, const std::string& node) {
    std::vector<std::string_view> known;
    for (const PolicyNodes& each : *policy_.fleet) {
      if (each.node.name.empty() || each.node.name == node) return;
      known.push_back(each.node.name);
    }
    const std::string_view near = nearest_word(node, known);
    find(Severity::kWarning, "dedicated-to-no-node", at(queue).place, {name(queue)},
         "there is no node " + quote(node) + ", of which " + name(queue) + " is to have its own",
         "it does not have it, and its floor is kept on nodes that others use, too",
         near.empty() ? "name a node that there is" : "name a node that there is, such as " + std::string(near));
  }

  void look_at_own_nodes(QueueId queue) {
    const std::vector<Label>& own = quota(queue).dedicated;
    if (own.empty()) return;
    for (const Label& label : own) {
      for (std::size_t i = 0; i < queue.index(); ++i) {
        const QueueId other(i);
        const auto& theirs = quota(other).dedicated;
        if (is_above(other, queue) || std::ranges::find(theirs, label) == theirs.end()) continue;
        const std::string nodes = "the nodes with " + label.key + "=" + label.value;
        find(Severity::kError, "dedicated-twice", at(queue).place, {name(other), name(queue)},
             nodes + " are kept for " + name(other) + " and for " + name(queue) +
                 ", of which neither is above the other",
             "no work may go there at all", "name them for one of the two, or for a queue above both");
      }
      if (!policy_.fleet) continue;
      if (label.key == kNodeLevel) {
        look_at_named_node(queue, label.value);
      } else if (!some_node_says(label)) {
        find(Severity::kWarning, "dedicated-to-no-node", at(queue).place, {name(queue)},
             "no node says " + label.key + "=" + label.value + ", of which " + name(queue) + " is to have its own",
             "it has none, and its floor is kept on nodes that others use, too",
             "label the nodes, or name a label that they have");
      }
    }
  }

  void look_at_own_promise(QueueId queue) {
    if (quota(queue).dedicated.empty()) return;
    const auto promised = tree_.guarantee(queue);
    if (std::ranges::all_of(promised, [](std::int64_t amount) { return amount == 0; })) {
      find(Severity::kWarning, "dedicated-without-guarantee", at(queue).place, {name(queue)},
           name(queue) + " has nodes of its own, and is promised nothing",
           "guarantees of others count on these nodes, where their work cannot go",
           "give it a guarantee of what its nodes have");
    }
  }

  void look_at(const PolicyTrust& trust) {
    const auto says = [&](const PolicyNodes& each) {
      return std::ranges::find(each.node.labels, trust.level, &Label::key) != each.node.labels.end();
    };
    if (!policy_.fleet || trust.level == kNodeLevel || std::ranges::any_of(*policy_.fleet, says)) return;
    find(Severity::kWarning, "trust-over-no-domain", trust.place, {},
         "strangers are to be kept apart over a whole " + trust.level + ", and no node says of which it is",
         "they are kept apart node by node, and no further", "label the nodes, or name a label that they have");
  }

  // ---- whole domains ----------------------------------------------------------------------------------------------

  // Of one level and flavor: GPUs of the largest, and how many are as large.
  struct WholeDomains {
    std::int64_t gpus = 0;
    std::int64_t count = 0;
  };

  WholeDomains whole_domains(FlavorId flavor, const std::string& level) const {
    std::map<std::string, std::int64_t> by_label;
    std::map<std::int64_t, std::int64_t> domains_by_size;
    for (const PolicyNodes& each : *policy_.fleet) {
      const Node& node = each.node;
      if (node.gpus == 0 || node.flavor != flavor || node.sharing != Sharing::kExclusive || node.spare) continue;
      if (level == kNodeLevel) {
        domains_by_size[node.gpus] += each.count;
        continue;
      }
      const auto label = std::ranges::find(node.labels, level, &Label::key);
      if (label != node.labels.end()) by_label[label->value] += each.count * node.gpus;
    }
    for (const auto& [name, gpus] : by_label) ++domains_by_size[gpus];
    if (domains_by_size.empty()) return {};
    return {domains_by_size.rbegin()->first, domains_by_size.rbegin()->second};
  }

  std::string domains_of(const std::string& level) const {
    return level == kNodeLevel ? "whole nodes" : "whole domains of " + quote(level);
  }

  void look_at_levels(QueueId queue) {
    if (!policy_.fleet) return;
    for (const FloorCells& each : quota(queue).cells) {
      if (whole_domains(each.flavor, each.level).count > 0) continue;
      find(Severity::kError, "cells-of-no-level",
           at(queue).place_of(AmountKind::kGuarantee, Dim(each.flavor, Resource::kGpu)), {name(queue)},
           "no node with " + policy_.name_of(each.flavor) + " GPUs that are given whole says of which " +
               quote(each.level) + " it is",
           "the floor of " + name(queue) + " comes in domains that there are not, so that it is kept in GPUs alone",
           "label the nodes, or name a level that they have");
    }
  }

  void look_at_cells(QueueId queue) {
    if (!policy_.fleet) return;
    std::map<FlavorId, std::int64_t> gpus;
    for (const FloorCells& each : quota(queue).cells) {
      gpus[each.flavor] += each.count * whole_domains(each.flavor, each.level).gpus;
    }
    for (const auto& [flavor, milli] : gpus) {
      const Dim dim(flavor, Resource::kGpu);
      if (milli * kMilliPerGpu <= guarantee(queue, dim)) continue;
      find(Severity::kError, "cells-above-guarantee", at(queue).place_of(AmountKind::kGuarantee, dim), {name(queue)},
           "the whole domains of " + name(queue) + " have " + text(milli * kMilliPerGpu, dim) +
               ", more than its guarantee of " + number(guarantee(queue, dim), dim),
           "only as many are kept as the guarantee pays for",
           "guarantee at least " + number(milli * kMilliPerGpu, dim) + ", or fewer domains",
           Excess{queue, dim, milli * kMilliPerGpu - guarantee(queue, dim)});
    }
  }

  // What a queue gives out below itself it has, too.
  std::int64_t cells_of(QueueId queue, FlavorId flavor, const std::string& level) const {
    std::int64_t own = 0;
    for (const FloorCells& each : quota(queue).cells)
      own += each.flavor == flavor && each.level == level ? each.count : 0;
    std::int64_t below = 0;
    for (const QueueId child : tree_.children(queue)) below += cells_of(child, flavor, level);
    return std::max(own, below);
  }

  void look_at_all_cells() {
    std::set<std::pair<FlavorId, std::string>> kinds;
    for (const PolicyQueue& each : policy_.queues) {
      for (const FloorCells& cells : each.queue.quota.cells) kinds.emplace(cells.flavor, cells.level);
    }
    for (const auto& [flavor, level] : kinds) {
      const WholeDomains whole = whole_domains(flavor, level);
      std::int64_t promised = 0;
      std::vector<std::string> names;
      const PolicyPlace* place = nullptr;
      for (const QueueId top : tree_.children(QueueId())) {
        const std::int64_t of_it = cells_of(top, flavor, level);
        if (of_it == 0) continue;
        promised += of_it;
        names.push_back(name(top));
        if (place == nullptr) place = &at(top).place_of(AmountKind::kGuarantee, Dim(flavor, Resource::kGpu));
      }
      if (whole.count == 0 || promised <= whole.count) continue;
      find(Severity::kError, "cells-above-nodes", *place, std::move(names),
           "the floors come in " + std::to_string(promised) + " " + domains_of(level) + " with " +
               policy_.name_of(flavor) + " GPUs, and the nodes have " + std::to_string(whole.count) + " of " +
               std::to_string(whole.gpus) + " GPUs",
           "somebody never gets all of his",
           "promise at most " + std::to_string(whole.count) + ", or add nodes; a smaller domain counts for none");
    }
  }

  // ---- slices ---------------------------------------------------------------------------------------------------

  // GPUs of a flavor: those that are cut, or may be, and what is promised of the others in thousandths.
  struct Cuttable {
    std::vector<AlikeDevices> devices;
    std::int64_t gpus = 0;
    std::int64_t others_milli = 0;
  };
  Cuttable cuttable(FlavorId flavor) const {
    Cuttable found;
    for (const PolicyNodes& each : *policy_.fleet) {
      if (each.node.flavor != flavor || each.node.gpus == 0) continue;
      const std::int64_t gpus = each.count * each.node.gpus;
      if (each.node.may_be(Sharing::kMig)) {
        found.devices.push_back({.layout = {}, .fixed = each.node.lasting_slices(), .count = gpus});
        found.gpus += gpus;
      } else {
        found.others_milli += gpus * milli_to_promise(each.node, policy_.flavors[flavor.index()].flavor);
      }
    }
    return found;
  }

  // GPUs that are promised whole, and for which the others do not suffice, are none to cut.
  static std::int64_t take_whole_gpus(std::vector<AlikeDevices>& devices, std::int64_t milli) {
    const std::int64_t gpus = (std::max<std::int64_t>(0, milli) + kMilliPerGpu - 1) / kMilliPerGpu;
    std::int64_t left = gpus;
    for (AlikeDevices& each : devices) {
      const std::int64_t taken = each.fixed.empty() ? std::min(left, each.count) : 0;
      each.count -= taken;
      left -= taken;
    }
    return gpus;
  }

  void look_at_packing() {
    for (std::size_t flavor = 0; flavor < policy_.flavors.size(); ++flavor) look_at_packing(FlavorId(flavor));
  }

  // What is promised of one profile alone is compared with the capacity.
  void look_at_packing(FlavorId flavor) {
    const MigGeometry* const mig = mig_of(policy_.flavors[flavor.index()].flavor);
    SliceCounts wanted{};
    std::vector<std::string> names;
    std::string promised;
    const PolicyPlace* place = nullptr;
    for (const NamedProfile& each : named_.profiles) {
      if (mig == nullptr || each.dim.flavor() != flavor) continue;
      const auto [sum, of] = promised_below(QueueId(), each.dim);
      if (sum > capacity_[each.dim.index()]) return;
      if (sum == 0) continue;
      wanted[each.dim.shape()] = sum;
      promised += (promised.empty() ? "" : " and ") + text(sum, each.dim);
      for (const std::string& queue : of) {
        if (std::ranges::find(names, queue) == names.end()) names.push_back(queue);
      }
      for (const QueueId top : tree_.children(QueueId())) {
        const bool is_its = place == nullptr && guarantee(top, each.dim) > 0;
        if (is_its) place = &at(top).place_of(AmountKind::kGuarantee, each.dim);
      }
    }
    if (promised.empty()) return;
    Cuttable there = cuttable(flavor);
    const Dim gpus(flavor, Resource::kGpu);
    const std::int64_t whole =
        take_whole_gpus(there.devices, promised_below(QueueId(), gpus).first - there.others_milli);
    const SlicePacking packing = pack(*mig, there.devices, wanted);
    if (sum_of(packing.left_out) == 0) return;
    std::string left;
    for (std::size_t shape = 0; shape < wanted.size(); ++shape) {
      if (packing.left_out[shape] == 0) continue;
      left += (left.empty() ? "" : " and ") + text(packing.left_out[shape], Dim::of_slices(flavor, shape));
    }
    find(packing.is_proven ? Severity::kError : Severity::kWarning, "slices-do-not-pack", *place, std::move(names),
         "the floors are " + promised +
             (whole > 0 ? ", and " + text(whole * kMilliPerGpu, gpus) + " beside them" : "") + ", and the " +
             std::to_string(there.gpus) + " GPUs that can be cut do not hold them together",
         left + (packing.is_proven ? " have no place when the others have theirs"
                                   : " have no place when the others have theirs, as far as was looked for one"),
         "promise fewer, or add nodes that are cut", Excess{QueueId(), gpus, sum_of(packing.left_out)});
  }

  void look_at_lending(QueueId queue) {
    for (const Amount& lending : quota(queue).lending_limit) {
      const std::int64_t promised = guarantee(queue, lending.dim);
      if (lending.amount <= promised) continue;
      const bool kueue = at(queue).origin == Origin::kKueue;
      find(kueue ? Severity::kError : Severity::kWarning, "lending-above-guarantee",
           at(queue).place_of(AmountKind::kLendingLimit, lending.dim), {name(queue)},
           name(queue) + " lends up to " + text(lending.amount, lending.dim) + ", more than its guarantee of " +
               number(promised, lending.dim),
           kueue ? "Kueue refuses it" : "only what was promised can be lent, so that the limit bounds nothing",
           "write at most " + number(promised, lending.dim) + ", or leave it out to lend all",
           Excess{queue, lending.dim, lending.amount - promised});
    }
  }

  // Of each flavor one finding.
  void look_at_flavors(QueueId queue) {
    std::set<std::size_t> told;
    for (const AmountKind kind : {AmountKind::kGuarantee, AmountKind::kLimit, AmountKind::kBorrowingLimit}) {
      for (const Amount& amount : amounts_of(quota(queue), kind)) {
        const FlavorId flavor = amount.dim.flavor();
        if (flavor.is_none() || amount.amount == 0 || told.contains(flavor.index())) continue;
        if (look_at_flavor(queue, kind, amount)) told.insert(flavor.index());
      }
    }
  }

  bool look_at_flavor(QueueId queue, AmountKind kind, const Amount& amount) {
    const PolicyPlace& place = at(queue).place_of(kind, amount.dim);
    const std::string flavor = quote(policy_.name_of(amount.dim.flavor()));
    const Severity severity = kind == AmountKind::kGuarantee ? Severity::kError : Severity::kWarning;
    const std::string promise = std::string(berth::name_of(kind)) + " of " + text(amount.amount, amount.dim);
    bool closed = false;
    const Dim gpus(amount.dim.flavor(), Resource::kGpu);
    for (QueueId above = at(queue).queue.parent; !above.is_none(); above = at(above).queue.parent) {
      for (const Dim dim : {amount.dim, gpus}) {
        if (given(quota(above).limit, dim) != 0) continue;
        find(severity, "unreachable-flavor", place, {name(queue), name(above)},
             name(above) + ", above " + name(queue) + ", has a limit of 0 " + policy_.name_of(dim),
             "the " + promise + " of " + name(queue) + " can never be used",
             "raise that limit, or leave the flavor out here");
        closed = true;
        break;
      }
    }
    if (is_missing(amount.dim)) {
      find(severity, "unreachable-flavor", place, {name(queue)}, "no node has GPUs of the flavor " + flavor,
           "the " + promise + " of " + name(queue) + " can never be used",
           "add such nodes, or name a flavor that they have");
      return true;
    }
    const bool any_declared = std::ranges::any_of(policy_.flavors, &PolicyFlavor::declared);
    if (any_declared && !policy_.flavors[amount.dim.flavor().index()].declared) {
      find(Severity::kError, "unreachable-flavor", place, {name(queue)}, "there is no flavor " + flavor,
           "nobody knows which nodes are meant by the " + promise + " of " + name(queue),
           "declare it as a ResourceFlavor, or name one that there is");
      return true;
    }
    return closed;
  }

  // A minimum run time holds against others only inside a floor; on borrowed capacity for no longer than the lender's
  // clock (rule 16).
  void look_at_protection(QueueId queue) {
    const Duration own = quota(queue).min_runtime;
    if (own.ms == 0) return;
    QueueId lender;
    for (std::size_t i = 0; i < policy_.queues.size(); ++i) {
      const QueueId other(i);
      if (!tree_.has_floor(other) || is_above(other, queue) || is_above(queue, other)) continue;
      if (quota(other).reclaim_within >= own) continue;
      if (lender.is_none() || quota(other).reclaim_within < quota(lender).reclaim_within) lender = other;
    }
    if (lender.is_none()) return;
    bool floor = false;
    for (QueueId each = queue; !each.is_none(); each = at(each).queue.parent) floor = floor || tree_.has_floor(each);
    find(floor ? Severity::kNote : Severity::kWarning, "protection-undone", at(queue).place,
         {name(queue), name(lender)},
         "the minimum run time of " + name(queue) + ", " + format_length(own) + ", holds for " +
             format_length(quota(lender).reclaim_within) + " against " + name(lender),
         floor ? "on borrowed capacity the lender's reclaim_within goes before it; inside the floor it holds"
               : name(queue) +
                     " has no guarantee, so that all that it runs is borrowed, and the lender's "
                     "reclaim_within goes before it",
         floor ? "" : "give " + name(queue) + " a guarantee, or the lender a longer reclaim_within");
  }

  bool is_above(QueueId queue, QueueId below) const {
    for (; !below.is_none(); below = at(below).queue.parent) {
      if (below == queue) return true;
    }
    return false;
  }

  static std::string format_length(Duration length) {
    constexpr std::pair<std::int64_t, const char*> kUnits[] = {{3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}};
    for (const auto& [ms, unit] : kUnits) {
      if (length.ms % ms == 0) return std::to_string(length.ms / ms) + unit;
    }
    return std::to_string(length.ms) + "ms";
  }

  // ---- priorities -----------------------------------------------------------------------------------------------

  void look_at(const Priority& priority) {
    if (priority.preempts) return;
    const std::string words = lower_case(priority.name + " " + priority.description);
    constexpr std::array<std::string_view, 7> kMeantToProtect = {"non-preempt",  "nonpreempt", "not preempt", "protect",
                                                                 "be preempted", "evict",      "interrupt"};
    const bool misread =
        std::ranges::any_of(kMeantToProtect, [&](std::string_view word) { return words.contains(word); });
    find(misread ? Severity::kWarning : Severity::kNote, "preempts-never", priority.place, {priority.name},
         "preemptionPolicy: Never means that work of " + priority.name + " takes nothing from lower priorities",
         "it does not protect it: it is taken like any other",
         misread ? "for protection give its queue a guarantee, or the work a disruption budget" : "");
  }

  const Policy& policy_;
  std::vector<Queue> queues_;
  std::vector<FoundAtHours> findings_;
  NamedProfiles named_;
  std::size_t dims_;
  QuotaTree tree_;
  AmountsByDim capacity_;
};

}  // namespace

std::vector<std::int64_t> capacity_of(const Policy& policy) {
  AmountsByDim capacity(policy.named_profiles().dims(), 0);
  for (const PolicyNodes& each : *policy.fleet) {
    if (each.node.spare) continue;
    const FlavorId flavor = each.node.flavor;
    if (each.node.gpus > 0) {
      const std::int64_t of_each = milli_to_promise(each.node, policy.flavors[flavor.index()].flavor);
      capacity[Dim(flavor, Resource::kGpu).index()] += each.count * each.node.gpus * of_each;
      const MigGeometry* const mig =
          each.node.may_be(Sharing::kMig) ? mig_of(policy.flavors[flavor.index()].flavor) : nullptr;
      for (std::size_t shape = 0; mig != nullptr && shape < mig->shapes().size(); ++shape) {
        const std::size_t dim = Dim::of_slices(flavor, shape).index();
        // As many as there could be if all were cut so.
        if (dim < capacity.size()) capacity[dim] += each.count * each.node.gpus * most_slices(each.node, *mig, shape);
      }
    }
    capacity[Dim(flavor, Resource::kCpu).index()] += each.count * each.node.cpu_milli;
    capacity[Dim(flavor, Resource::kMemory).index()] += each.count * (each.node.memory_bytes >> 20);
  }
  return capacity;
}
std::vector<FoundAtHours> look_at_amounts(const Policy& policy, std::vector<Queue> queues) {
  return TreeLinter(policy, std::move(queues)).look_at_amounts();
}

std::vector<PolicyFinding> look_at_queues(const Policy& policy) {
  std::vector<PolicyFinding> findings;
  for (FoundAtHours& each : TreeLinter(policy, policy.plain_queues()).look_at_the_rest()) {
    findings.push_back(std::move(each.finding));
  }
  return findings;
}

}  // namespace berth
