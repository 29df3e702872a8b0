#include "service/live_scheduler.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kube/delays.h"
#include "kube/event_recorder.h"
#include "kube/leader_election.h"
#include "kube/mirror.h"
#include "kube/outbox.h"
#include "kube/strand.h"
#include "manifest/json.h"
#include "service/background.h"
#include "service/change_search.h"
#include "service/defragmentations.h"
#include "service/facts.h"
#include "service/forecaster.h"
#include "service/group_workloads.h"
#include "service/hyper_nodes.h"
#include "service/journal_folder.h"
#include "service/live_engine.h"
#include "service/namespaces.h"
#include "service/node_uses_writer.h"
#include "service/other_queues.h"
#include "service/pod_groups.h"
#include "service/predecessors.h"
#include "service/requests.h"
#include "service/told_standings.h"
#include "service/what_ifs.h"

namespace berth {
namespace {

constexpr std::uint64_t kJournalBytesMax = 64 << 20;  // of one file; then the engine begins anew
constexpr Duration kQueueStatusEvery = seconds(1);
constexpr Duration kRetryFirst{250};
constexpr Duration kRetryMax = seconds(30);
constexpr Duration kCircleAgain = seconds(1);
// While the changes are the same that would start somebody, their age is told this seldom.
constexpr Duration kRetellChanges = seconds(60);

// Kinds of Kueue, of Volcano, of operators and of Kubernetes' newest, which not every cluster has.
bool is_of_others(std::string_view qualified) {
  return qualified.ends_with(".x-k8s.io") || qualified.ends_with(".volcano.sh") ||
         std::ranges::count(pod_group_kinds(), qualified) > 0;
}

class RunningScheduler final : public LiveScheduler {
 public:
  RunningScheduler(Transport& transport, Alarm& alarm, LiveSchedulerOptions options, std::function<void()> lost)
      : transport_(transport),
        alarm_(alarm),
        options_(std::move(options)),
        lost_(std::move(lost)),
        strand_(std::make_shared<Strand>([this] { decide_if_due(); })),
        delays_(alarm, strand_),
        outbox_(transport, strand_, options_.in_flight_max),
        node_uses_(outbox_, delays_, uses_call),
        node_cuts_(outbox_, delays_, cut_call) {
    if (!options_.journal_folder.empty()) journal_.emplace(options_.journal_folder, options_.log);
    EventRecorderOptions events;
    events.controller = "berth.dev/scheduler";
    events.instance = options_.identity;
    events.name_seed = options_.events_seed;
    events_ = EventRecorder::start(transport_, alarm_, options_.now, events);
    strand_->post([this] { stand_for_election(); });
  }

  ~RunningScheduler() override {
    strand_->stop();
    forecaster_.reset();
    change_search_.reset();
    background_.reset();
    election_.reset();
    pods_.reset();
    jobs_.reset();
    namespace_mirror_.reset();
    group_mirrors_.clear();
    other_mirrors_.clear();
    what_if_mirror_.reset();
    defragmentation_mirror_.reset();
    reservations_.reset();
    circles_.reset();
    queues_.reset();
    budgets_.reset();
    flavors_.reset();
    hyper_node_mirror_.reset();
    nodes_.reset();
    delays_.clear();
    events_.reset();
  }

  SchedulerProgress progress() const override {
    return {.leading = leading_, .synced = synced_, .decisions = decisions_, .bound = bound_, .refused = refused_};
  }

 private:
  // On the strand, as everything that touches the election.
  void stand_for_election() {
    LeaderElectionOptions election;
    election.name = "berth-scheduler";
    election.identity = options_.identity;
    election_ = LeaderElection::start(
        transport_, alarm_, options_.now, election,
        {.on_started_leading = [this](std::int64_t epoch) { strand_->post([this, epoch] { begin(epoch); }); },
         .on_stopped_leading = [this](const std::string& why) { strand_->post([this, why] { stop_leading(why); }); }});
  }

  // Mirrors are begun by the leader only, so that what it decides on is not older than its lease.
  void begin(std::int64_t epoch) {
    if (election_ == nullptr) return;  // it was lost before this was heard of
    options_.log("leads, epoch " + std::to_string(epoch) + "; places by " + std::string(name_of(options_.policy)));
    leading_ = true;
    began_ = options_.now();
    engine_.emplace(options_.seed, options_.policy,
                    journal_ ? LiveEngine::NewJournal([this] { return journal_->begin(); }) : nullptr, options_.scrubs);
    others_.emplace(*engine_);
    pod_groups_.emplace(*others_);
    namespaces_.emplace(*pod_groups_);
    predecessors_.emplace(*namespaces_);
    hyper_nodes_.emplace(*engine_);
    if (!options_.journal_folder.empty()) {
      forecaster_.emplace(
          options_.seed, options_.journal_folder,
          [this](std::function<void()> work) { strand_->post(std::move(work)); }, options_.log);
    }
    background_.emplace([this](std::function<void()> work) { strand_->post(std::move(work)); });
    if (options_.finds_changes) {
      change_search_.emplace([this](std::function<void()> work) { strand_->post(std::move(work)); },
                             [this](const std::vector<FoundChanges>& found) { tell_changes(found); });
    }
    nodes_ = watch(
        "nodes",
        [this](const ObjectChange& change) {
          return change.after
                     ? Fold([this, facts = read_node(*change.after)](LiveEngine&) { hyper_nodes_->set_node(facts); })
                     : Fold([this, name = name_in(change)](LiveEngine&) { hyper_nodes_->remove_node(name); });
        },
        [this] { begin_hyper_nodes(); });
    tell_queues();
  }
  void begin_hyper_nodes() {
    hyper_node_mirror_ = watch(
        std::string(kHyperNodes),
        [this](const ObjectChange& change) {
          return Fold([this, change](LiveEngine&) {
            change.after ? hyper_nodes_->set(*change.after) : hyper_nodes_->remove(name_in(change));
          });
        },
        [this] { begin_flavors(); });
  }
  void begin_flavors() {
    flavors_ = watch(
        "resourceflavors.berth.dev",
        [](const ObjectChange& change) {
          return change.after ? Fold([facts = read_flavor(*change.after)](LiveEngine& e) { e.set_flavor(facts); })
                              : Fold([name = name_in(change)](LiveEngine& e) { e.remove_flavor(name); });
        },
        [this] { begin_budgets(); });
  }
  void begin_budgets() {
    budgets_ = watch(
        "poddisruptionbudgets.policy",
        [](const ObjectChange& change) {
          const std::string name_space(change.object()["metadata"]["namespace"].text());
          return change.after
                     ? Fold([facts = read_budget(*change.after)](LiveEngine& e) { e.set_budget(facts); })
                     : Fold([name_space, name = name_in(change)](LiveEngine& e) { e.remove_budget(name_space, name); });
        },
        [this] { begin_queues(); });
  }
  void begin_queues() {
    queues_ = watch(
        "queues.berth.dev",
        [](const ObjectChange& change) {
          return change.after ? Fold([facts = read_queue(*change.after)](LiveEngine& e) { e.set_queue(facts); })
                              : Fold([name = name_in(change)](LiveEngine& e) { e.remove_queue(name); });
        },
        [this] { begin_circles(); });
  }
  void begin_circles() {
    circles_ = watch(
        "trustcircles.berth.dev",
        [](const ObjectChange& change) {
          return change.after ? Fold([facts = read_circle(*change.after)](LiveEngine& e) { e.set_circle(facts); })
                              : Fold([name = name_in(change)](LiveEngine& e) { e.remove_circle(name); });
        },
        [this] { begin_reservations(); });
  }
  void begin_reservations() {
    reservations_ = watch(
        "reservations.berth.dev",
        [](const ObjectChange& change) {
          return change.after
                     ? Fold([facts = read_reservation(*change.after)](LiveEngine& e) { e.set_reservation(facts); })
                     : Fold([name = name_in(change)](LiveEngine& e) { e.remove_reservation(name); });
        },
        [this] { begin_defragmentations(); });
  }
  // What operators ask by objects is no fact of the cluster: it is kept beside the engine.
  template <class Asked>
  std::unique_ptr<Mirror> watch_asked(std::string qualified, Asked& asked, std::function<void()> synced) {
    return watch(
        std::move(qualified),
        [&asked](const ObjectChange& change) {
          return Fold([&asked, change](LiveEngine&) {
            change.after ? asked.set(*change.after) : asked.remove(name_in(change));
          });
        },
        std::move(synced));
  }
  void begin_defragmentations() {
    defragmentation_mirror_ =
        watch_asked("defragmentations.berth.dev", defragmentations_, [this] { begin_what_ifs(); });
  }
  void begin_what_ifs() {
    what_if_mirror_ = watch_asked("whatifs.berth.dev", what_ifs_, [this] { begin_other_queues(); });
  }
  // Kind after kind, so that all are known before the first pod.
  void begin_other_queues() {
    if (other_mirrors_.size() == std::size(kOtherQueueKinds)) return begin_pod_groups();
    const std::string kind(kOtherQueueKinds[other_mirrors_.size()]);
    other_mirrors_.push_back(watch(
        kind,
        [this, kind](const ObjectChange& change) {
          return Fold([this, kind, change](LiveEngine&) {
            change.after ? others_->set(kind, *change.after) : others_->remove(kind, *change.before);
          });
        },
        [this] { begin_other_queues(); }));
  }
  void begin_pod_groups() {
    const std::vector<std::string_view> kinds = pod_group_kinds();
    if (group_mirrors_.size() == kinds.size()) return begin_namespaces();
    const std::string_view kind = kinds[group_mirrors_.size()];
    group_mirrors_.push_back(watch(
        std::string(kind),
        [this, kind](const ObjectChange& change) {
          return Fold([this, kind, change](LiveEngine&) {
            change.after ? pod_groups_->set(kind, *change.after) : pod_groups_->remove(kind, *change.before);
          });
        },
        [this] { begin_pod_groups(); }));
  }
  void begin_namespaces() {
    namespace_mirror_ = watch(
        "namespaces",
        [this](const ObjectChange& change) {
          return Fold([this, change](LiveEngine&) {
            change.after ? namespaces_->set(*change.after) : namespaces_->remove(name_in(change));
          });
        },
        [this] { begin_workloads(); });
  }
  void begin_workloads() {
    workload_mirror_ = watch(
        "workloads.berth.dev",
        [this](const ObjectChange& change) {
          return Fold([this, change](LiveEngine& engine) {
            change.after ? group_workloads_.set(*change.after) : group_workloads_.remove(*change.before, engine);
          });
        },
        [this] { begin_jobs(); });
  }
  void begin_jobs() {
    jobs_ = watch(
        "jobs.batch",
        [this](const ObjectChange& change) {
          return Fold([this, change](LiveEngine&) {
            change.after ? predecessors_->set_job(*change.after) : predecessors_->remove_job(*change.before);
          });
        },
        [this] { begin_pods(); });
  }
  void begin_pods() {
    pods_ = watch(
        "pods",
        [this, names = options_.scheduler_names](const ObjectChange& change) {
          if (!change.after) {
            const std::string uid(change.object()["metadata"]["uid"].text());
            return Fold([this, uid](LiveEngine&) {
              predecessors_->remove_pod(uid);
              refusals_.erase(uid);
            });
          }
          PodFacts facts = read_pod(*change.after);
          const std::string_view scheduler = (*change.after)["spec"]["schedulerName"].text();
          const bool ours = std::ranges::find(names, scheduler) != names.end();
          if (!ours && facts.stage == PodStage::kWaiting) facts.stage = PodStage::kGated;
          return Fold([this, facts = std::move(facts)](LiveEngine&) {
            if (facts.stage == PodStage::kBound && facts.told_changes) take_back_changes(facts);
            predecessors_->set_pod(facts);
            if (predecessors_->has_to_say_that_it_began(facts)) note_begun(facts, kRetryFirst);
          });
        },
        [this] {
          synced_ = true;
          options_.log("has seen all nodes, queues and pods");
        });
  }

  void note_begun(const PodFacts& pod, Duration retry) {
    if (!noting_begun_.insert(pod.owner.uid).second) return;
    const ApiCall call = begun_call(pod.name_space, pod.owner, options_.now());
    outbox_.send(Outbox::Urgency::kSecond, call, [this, pod, retry](const ApiAnswer& answer) {
      if (!is_passing(answer)) return;
      later(retry, [this, pod, retry] {
        noting_begun_.erase(pod.owner.uid);
        note_begun(pod, std::min(Duration{retry.ms * 2}, kRetryMax));
      });
    });
  }

  // Whoever has a place needs no advice.
  void take_back_changes(const PodFacts& pod) {
    outbox_.send(Outbox::Urgency::kTelling, no_changes_call({pod.uid, pod.name_space, pod.name}, options_.now()),
                 [](const ApiAnswer&) {});
  }

  using Fold = std::function<void(LiveEngine&)>;
  static std::string name_in(const ObjectChange& change) {
    return std::string(change.object()["metadata"]["name"].text());
  }
  // Objects are read on the mirror's thread, folded in and followed on the strand.
  std::unique_ptr<Mirror> watch(std::string qualified, std::function<Fold(const ObjectChange&)> read,
                                std::function<void()> synced) {
    MirrorOptions options;
    options.qualified = std::move(qualified);
    // Of Jobs it matters how they stand.
    if (options.qualified == "jobs.batch") {
      options.slim = [](Value& job) {
        job.erase("spec");
        job.at("metadata").erase("managedFields");
      };
    }
    if (is_of_others(options.qualified)) {
      options.on_not_served = [this, kind = options.qualified] {
        options_.log("the API server does not serve " + kind + ": there are none");
      };
    }
    return Mirror::start(
        transport_, alarm_, options,
        [this, read = std::move(read)](const ObjectChange& change) {
          strand_->post([this, fold = read(change)] {
            engine_->it_is(options_.now());
            fold(*engine_);
          });
        },
        [this, synced = std::move(synced)] { strand_->post(synced); });
  }

  // For good: who leads after it begins from what is true then, and from nothing that is here.
  void stop_leading(const std::string& why) {
    options_.log("leads no more: " + why);
    election_.reset();
    leading_ = false;
    synced_ = false;
    lost_();
  }

  void decide_if_due() {
    if (!synced_ || election_ == nullptr || !election_->leads()) return;
    const Time now = options_.now();
    hyper_nodes_->settle();
    others_->settle();
    predecessors_->settle();
    namespaces_->settle();
    pod_groups_->settle();
    auto moves = defragmentations_.to_carry_out(now);
    const bool asks_for_moves = moves.has_value();
    if (moves) engine_->ask_for_moves(std::move(*moves));
    const Round round = engine_->decide(now);
    ++decisions_;
    if (asks_for_moves) defragmentations_.note_decided(round.moves_decided.value_or(MovesDecided()), now);
    for (const NodeUses& uses : round.uses) node_uses_.write(uses);
    for (const NodeCutNews& cut : round.cuts) tell(cut);
    for (const Binding& binding : round.bindings) {
      node_uses_.when_written(binding.node, [this, binding] { bind(binding, kRetryFirst); });
    }
    for (const PodEviction& eviction : round.evictions) evict(eviction, now);
    for (const RoomTaken& taken : round.taken) tell(taken);
    for (const PodNotice& notice : round.to_part) tell(notice);
    for (const LimitExtension& extension : round.extended) {
      record(extension.pod, EventRecorder::Type::kNormal, "LimitExtended", extension.text);
      outbox_.send(Outbox::Urgency::kSecond, extended_call(extension), [](const ApiAnswer&) {});
    }
    for (const RendezvousChanged& changed : round.elsewhere) {
      outbox_.send(Outbox::Urgency::kTelling, rendezvous_call(changed), [](const ApiAnswer&) {});
    }
    for (const GivenUp& given_up : round.given_up) give_up(given_up);
    for (const PodName& pod : round.best_effort) mark_best_effort(pod, kRetryFirst);
    for (const Rollback& rollback : round.rollbacks) take_back(rollback);
    for (const WaitingReason& reason : round.reasons) tell(reason, now);
    for (const WorkloadNews& news : round.workloads) tell(news, now);
    tell_circles();
    foretell(now);
    look_for_changes(now);
    plan_moves(now);
    answer_what_if(now);
    std::optional<Time> wake = round.again_at;
    if (const auto next = defragmentations_.next_moment(now); next && (!wake || *next < *wake)) wake = next;
    wake_at(wake, now);
    if (journal_ && journal_->bytes() > kJournalBytesMax) engine_->begin_anew();
  }

  // From what has just come to rest.
  void foretell(Time now) {
    std::vector<EndedRun> ended = engine_->take_ended_runs();
    for (const EndedRun& each : ended) run_times_.ended(each.run, each.took);
    if (!forecaster_) return;
    std::ranges::move(ended, std::back_inserter(ended_runs_));
    if (forecaster_->is_due(now))
      forecaster_->ask(engine_->state().fork(), engine_->who_waits(), std::exchange(ended_runs_, {}), now);
  }

  // From what has just come to rest, as all that is asked in the background.
  void plan_moves(Time now) {
    tell_answers("defragmentations.berth.dev", defragmentations_.statuses());
    const auto question = background_->is_idle() ? defragmentations_.due(now) : std::nullopt;
    if (!question) return;
    const auto state = std::make_shared<State>(engine_->state().fork());
    background_->ask([this, question = *question, state, pods = engine_->pods_of_runs(), now]() -> Background::Work {
      Value plan = defragmentation_plan(*state, pods, question.spec, now);
      return
          [this, question, plan = std::move(plan)] { defragmentations_.note_planned(question, plan, options_.now()); };
    });
  }

  void answer_what_if(Time now) {
    tell_answers("whatifs.berth.dev", what_ifs_.statuses());
    const auto question = background_->is_idle() ? what_ifs_.due() : std::nullopt;
    if (!question) return;
    NamesOfWork names = engine_->who_runs();
    for (auto& [id, name] : engine_->who_waits_in_words()) names[id] = name;
    const auto state = std::make_shared<State>(engine_->state().fork());
    background_->ask([this, background = &*background_, question = *question, state, names = std::move(names),
                      runs = run_times_, now]() -> Background::Work {
      const auto until = std::chrono::steady_clock::now() + WhatIfs::kTakesMax;
      const auto is_broken_off = [&] { return background->is_stopped() || std::chrono::steady_clock::now() > until; };
      Value status = what_if_answer(*state, names, runs, question.spec, now, is_broken_off);
      return [this, question, status = std::move(status)] { what_ifs_.note_answered(question, status); };
    });
  }

  // Once each: what has been written is seen soon, and what was refused waits until it is another.
  void tell_answers(const std::string& qualified, const std::vector<std::pair<std::string, Value>>& statuses) {
    std::map<std::string, Value>& told_of_kind = told_answers_[qualified];
    std::erase_if(told_of_kind, [&](const auto& each) {
      return std::ranges::find(statuses, each.first, [](const auto& status) { return status.first; }) == statuses.end();
    });
    for (const auto& [name, status] : statuses) {
      const std::string key = qualified + "/" + name;
      Value& told = told_of_kind[name];
      if (told == status || !telling_answers_.insert(key).second) continue;
      told = status;
      outbox_.send(Outbox::Urgency::kSecond, answer_call(qualified, name, status),
                   [this, qualified, who = name, key](const ApiAnswer& answer) {
                     telling_answers_.erase(key);
                     if (!is_passing(answer)) return;
                     later(kRetryMax, [this, qualified, who] { told_answers_[qualified].erase(who); });
                   });
    }
  }

  void look_for_changes(Time now) {
    if (!change_search_ || !change_search_->is_due(now)) return;
    ChangeSearch::Waiting waiting = engine_->first_pods_waiting();
    std::set<std::string> there;
    for (const auto& [id, pod] : waiting) there.insert(pod.uid);
    std::erase_if(told_changes_, [&](const auto& each) { return !there.contains(each.first); });
    change_search_->ask(engine_->state().fork(), std::move(waiting), engine_->who_runs(), now);
  }

  // What is the same as before is told again for its age alone, and seldom.
  void tell_changes(const std::vector<FoundChanges>& found) {
    const Time now = options_.now();
    for (const FoundChanges& each : found) {
      const auto told = told_changes_.find(each.pod.uid);
      if (each.kept_aside && told == told_changes_.end()) continue;
      const SaidOfChanges news{each.told, each.kept_aside, now};
      const bool same =
          told != told_changes_.end() && told->second.told == news.told && told->second.kept_aside == news.kept_aside;
      if (same && now < told->second.at + kRetellChanges) continue;
      told_changes_.insert_or_assign(each.pod.uid, news);
      outbox_.send(Outbox::Urgency::kTelling, changes_call(each, now),
                   [this, uid = each.pod.uid](const ApiAnswer& answer) {
                     if (is_passing(answer)) told_changes_.erase(uid);
                   });
    }
  }

  void bind(const Binding& binding, Duration retry) {
    outbox_.send(Outbox::Urgency::kFirst, binding_call(binding), [this, binding, retry](const ApiAnswer& answer) {
      if (answer.ok()) {
        ++bound_;
        refusals_.erase(binding.pod.uid);
        record(binding.pod, EventRecorder::Type::kNormal, "Scheduled",
               "given a place on " + binding.node +
                   (binding.given.gpus.empty()       ? ""
                    : binding.given.milli > 0        ? ", part of a GPU "
                    : !binding.given.profile.empty() ? ", slice "
                                                     : ", GPUs ") +
                   format_given_gpus(binding.given) + (binding.coverage.empty() ? "" : "; " + binding.coverage));
      } else if (is_passing(answer)) {
        // Asked again with the same uid it cannot do harm: whoever was bound already is told so.
        later(retry, [this, binding, retry] { bind(binding, std::min(Duration{retry.ms * 2}, kRetryMax)); });
      } else if (answer.status == 409) {
        look_whether_bound(binding, answer, kRetryFirst);
      } else {
        refuse(binding, answer);
      }
    });
  }

  // It may be ours: an answer that was lost, and what we asked again. Then the watch will tell, however late, and until
  // then the place is not given away.
  void look_whether_bound(const Binding& binding, const ApiAnswer& conflict, Duration retry) {
    const ApiCall get{.method = "GET", .path = api_path("pods", binding.pod.name_space, binding.pod.name)};
    outbox_.send(Outbox::Urgency::kFirst, get, [this, binding, conflict, retry](const ApiAnswer& answer) {
      if (is_passing(answer)) {
        return later(retry, [this, binding, conflict, retry] {
          look_whether_bound(binding, conflict, std::min(Duration{retry.ms * 2}, kRetryMax));
        });
      }
      const auto pod = parse_json(answer.body);
      const bool bound = answer.ok() && pod && (*pod)["metadata"]["uid"].text() == binding.pod.uid &&
                         !(*pod)["spec"]["nodeName"].is_empty();
      if (!bound) refuse(binding, conflict);
    });
  }

  // The place stays its own while it waits to be refused, so that a server that keeps refusing is not asked in a loop; and
  // what was bound after all is seen meanwhile.
  void refuse(const Binding& binding, const ApiAnswer& answer) {
    ++refused_;
    const int times = std::min(refusals_[binding.pod.uid]++, 7);
    const Duration wait = answer.status == 404 ? Duration{0} : std::min(Duration{kRetryFirst.ms << times}, kRetryMax);
    later(wait, [this, uid = binding.pod.uid] {
      engine_->it_is(options_.now());
      engine_->refuse_binding(uid);
    });
    if (answer.status == 404) refusals_.erase(binding.pod.uid);
  }

  // It is told why first, and deleted when its time has come: the rest of its grace begins then.
  void evict(const PodEviction& eviction, Time now) {
    record(eviction.pod, EventRecorder::Type::kWarning, "Evicted", eviction.why);
    if (!eviction.owner.uid.empty()) {
      record(eviction.owner, eviction.pod.name_space, EventRecorder::Type::kWarning, "Evicted", eviction.why);
    }
    later(eviction.signal_at - now, [this, eviction] { give_notice(eviction, kRetryFirst); });
  }

  void give_notice(const PodEviction& eviction, Duration retry) {
    const ApiCall notice = eviction_notice_call(eviction, options_.now());
    outbox_.send(Outbox::Urgency::kSecond, notice, [this, eviction, retry](const ApiAnswer& answer) {
      if (!is_passing(answer)) return delete_evicted(eviction, kRetryFirst);
      later(retry, [this, eviction, retry] { give_notice(eviction, std::min(Duration{retry.ms * 2}, kRetryMax)); });
    });
  }

  void delete_evicted(const PodEviction& eviction, Duration retry) {
    const ApiCall deletion = eviction_call(eviction, options_.now());
    outbox_.send(Outbox::Urgency::kSecond, deletion, [this, eviction, retry](const ApiAnswer& answer) {
      if (!is_passing(answer)) return;
      later(retry, [this, eviction, retry] { delete_evicted(eviction, std::min(Duration{retry.ms * 2}, kRetryMax)); });
    });
  }

  void tell(const RoomTaken& taken) {
    record(taken.pod, EventRecorder::Type::kNormal, "TakesRoom", taken.text);
    if (taken.owner.uid.empty()) return;
    record(taken.owner, taken.pod.name_space, EventRecorder::Type::kNormal, "TakesRoom", taken.text);
  }

  void tell(const PodNotice& notice) {
    record(notice.pod, EventRecorder::Type::kWarning, "ToPart", notice.text);
    if (notice.owner.uid.empty()) return;
    record(notice.owner, notice.pod.name_space, EventRecorder::Type::kWarning, "ToPart", notice.text);
  }

  // What is the same as before was refused, and waits: the circle is another soon, or it is tried again.
  void tell_circles() {
    const std::map<std::string, CircleStanding> circles = engine_->circle_standings();
    std::erase_if(told_circles_, [&](const auto& each) { return !circles.contains(each.first); });
    for (const auto& [name, standing] : circles) {
      const auto call = circle_call(standing);
      if (!call) told_circles_.erase(name);
      if (!call || told_circles_[name] == call->body || !telling_circles_.insert(name).second) continue;
      told_circles_[name] = call->body;
      outbox_.send(Outbox::Urgency::kFirst, *call, [this, name](const ApiAnswer& answer) {
        telling_circles_.erase(name);
        if (!answer.ok()) later(kCircleAgain, [this, name] { told_circles_.erase(name); });
      });
    }
  }

  // Once a second: where the places of one that is to come change often, each change is not worth a write.
  void tell_reservations(Time now) {
    const std::vector<ReservationStanding> standings = engine_->reservation_standings(now);
    const auto is_there = [&](const std::string& name) {
      return std::ranges::any_of(standings, [&](const auto& each) { return each.said.name == name; });
    };
    std::erase_if(told_reservations_, [&](const auto& each) { return !is_there(each.first); });
    for (const ReservationStanding& standing : standings) {
      const std::string& name = standing.said.name;
      const auto call = reservation_call(standing);
      if (!call) told_reservations_.erase(name);
      if (!call) continue;
      if (told_reservations_[name] == call->body || !telling_reservations_.insert(name).second) continue;
      told_reservations_[name] = call->body;
      outbox_.send(Outbox::Urgency::kSecond, *call, [this, name](const ApiAnswer& answer) {
        telling_reservations_.erase(name);
        if (is_passing(answer)) told_reservations_.erase(name);
      });
    }
  }

  void mark_best_effort(const PodName& pod, Duration retry) {
    outbox_.send(
        Outbox::Urgency::kSecond, best_effort_call(pod, options_.now()), [this, pod, retry](const ApiAnswer& answer) {
          if (!is_passing(answer)) return;
          later(retry, [this, pod, retry] { mark_best_effort(pod, std::min(Duration{retry.ms * 2}, kRetryMax)); });
        });
  }

  void give_up(const GivenUp& given_up) {
    record(given_up.pod, EventRecorder::Type::kWarning, given_up.reason.c_str(), given_up.text);
    if (!given_up.owner.uid.empty()) {
      record(given_up.owner, given_up.pod.name_space, EventRecorder::Type::kWarning, given_up.reason.c_str(),
             given_up.text);
    }
    send_end(given_up, kRetryFirst);
  }
  void send_end(const GivenUp& given_up, Duration retry) {
    outbox_.send(Outbox::Urgency::kSecond, give_up_call(given_up, options_.now()),
                 [this, given_up, retry](const ApiAnswer& answer) {
                   if (!is_passing(answer)) return;
                   later(retry,
                         [this, given_up, retry] { send_end(given_up, std::min(Duration{retry.ms * 2}, kRetryMax)); });
                 });
  }

  void take_back(const Rollback& rollback) {
    record(rollback.pod, EventRecorder::Type::kWarning, "GangRolledBack", rollback.why);
    outbox_.send(Outbox::Urgency::kSecond, rollback_call(rollback), [](const ApiAnswer&) {});
  }

  void tell(const WaitingReason& reason, Time now) {
    record(reason.pod, EventRecorder::Type::kWarning, "FailedScheduling", reason.text);
    // Whoever asks about the Job finds it there too, once for all of its pods.
    if (!reason.owner.uid.empty()) {
      record(reason.owner, reason.pod.name_space, EventRecorder::Type::kWarning, "FailedScheduling", reason.text);
    }
    outbox_.send(Outbox::Urgency::kTelling, waiting_call(reason, now),
                 [this, uid = reason.pod.uid](const ApiAnswer& answer) {
                   if (!is_passing(answer) && answer.status != 409) return engine_->note_told(uid);
                   // Of one that has changed the watch tells soon.
                   const Duration wait = answer.status == 409 ? kRetryFirst : kRetryMax;
                   later(wait, [this, uid] { engine_->note_not_told(uid); });
                 });
  }

  // The object is made where it is missing; one that is there already is made to say what the group is now.
  void tell(const WorkloadNews& news, Time now) {
    if (const auto correction = group_workloads_.correction(news)) {
      outbox_.send(Outbox::Urgency::kTelling, *correction,
                   [this, key = WorkloadKey(news.name_space, news.name)](const ApiAnswer& answer) {
                     if (is_passing(answer)) later(kRetryMax, [this, key] { engine_->tell_workload_anew(key); });
                   });
    }
    outbox_.send(
        Outbox::Urgency::kTelling, workload_status_call(news, now), [this, news, now](const ApiAnswer& answer) {
          const auto told = [this, group = news.group](const ApiAnswer&) { engine_->note_workload_told(group); };
          if (answer.status != 404) return told(answer);
          outbox_.send(Outbox::Urgency::kTelling, workload_creation_call(news),
                       [this, news, now, told](const ApiAnswer& made) {
                         if (!made.ok() && made.status != 409) return told(made);
                         outbox_.send(Outbox::Urgency::kTelling, workload_status_call(news, now), told);
                       });
        });
  }

  void delete_leftovers() {
    if (decisions_ == 0) return;
    for (const ApiCall& call : group_workloads_.leftovers(*engine_)) {
      outbox_.send(Outbox::Urgency::kTelling, call, [this](const ApiAnswer& answer) {
        if (is_passing(answer)) group_workloads_.note_not_deleted();
      });
    }
  }

  // A node's events name it by its name, as its kubelet does.
  void tell(const NodeCutNews& cut) {
    node_cuts_.write({cut.node, cut.record});
    const bool is_trouble = cut.reason == "RecutFailed";
    record({.api_version = "v1", .kind = "Node", .name = cut.node, .uid = cut.node}, "",
           is_trouble ? EventRecorder::Type::kWarning : EventRecorder::Type::kNormal, cut.reason.c_str(), cut.text);
  }

  void record(const PodName& pod, EventRecorder::Type type, const char* reason, const std::string& note) {
    record({.api_version = "v1", .kind = "Pod", .name = pod.name, .uid = pod.uid}, pod.name_space, type, reason, note);
  }
  void record(const OwnerFacts& about, const std::string& name_space, EventRecorder::Type type, const char* reason,
              const std::string& note) {
    const Value metadata = Value::map_of({{"namespace", name_space}, {"name", about.name}, {"uid", about.uid}});
    const Value object =
        Value::map_of({{"apiVersion", about.api_version}, {"kind", about.kind}, {"metadata", metadata}});
    events_->record(object, type, reason, "Scheduling", note);
  }

  // Why it does not decide yet: once each.
  void tell_trouble() {
    std::vector<const Mirror*> mirrors = {
        nodes_.get(),          hyper_node_mirror_.get(), flavors_.get(), budgets_.get(), queues_.get(),
        circles_.get(),        reservations_.get(),      jobs_.get(),    pods_.get(),    defragmentation_mirror_.get(),
        what_if_mirror_.get(), workload_mirror_.get()};
    for (const auto* const list : {&other_mirrors_, &group_mirrors_}) {
      for (const auto& each : *list) mirrors.push_back(each.get());
    }
    for (const Mirror* const each : mirrors) {
      const std::string trouble = each == nullptr ? "" : each->trouble();
      if (!trouble.empty() && told_trouble_.insert(trouble).second) options_.log("waits: " + trouble);
    }
  }

  void tell_queues() {
    later(kQueueStatusEvery, [this] {
      tell_queues();
      if (!synced_) return tell_trouble();
      const Time now = options_.now();
      engine_->it_is(now);
      tell_other_queues();
      tell_unused_nodes();
      tell_reservations(now);
      delete_leftovers();
      const std::map<std::string, QueueStanding> standings = engine_->queue_standings();
      told_.keep_only(standings);
      std::erase_if(warned_, [&](const auto& each) { return !standings.contains(each.first.first); });
      for (const auto& [queue, standing] : standings) {
        if (queue.find('/') != std::string::npos) continue;  // no Queue of berth.dev
        if (!told_.is_due(queue, standing, now)) continue;
        warn(queue, standing);
        outbox_.send(Outbox::Urgency::kTelling, queue_status_call(queue, standing),
                     [this, name = queue](const ApiAnswer& answer) { told_.note_told(name, !is_passing(answer)); });
      }
    });
  }

  // Each once, as long as it is the same.
  void tell_unused_nodes() {
    std::map<std::string, NodeNews> unused = engine_->nodes_left_out();
    for (const auto& [node, news] : unused) {
      const auto told = unused_nodes_.find(node);
      if (told != unused_nodes_.end() && told->second == news) continue;
      // A node's events name it by its name, as its kubelet does.
      record({.api_version = "v1", .kind = "Node", .name = node, .uid = node}, "", EventRecorder::Type::kWarning,
             news.reason.c_str(), news.text);
    }
    unused_nodes_ = std::move(unused);
  }

  void tell_other_queues() {
    std::vector<OtherStatus> statuses = others_->statuses(options_.now());
    std::ranges::move(hyper_nodes_->statuses(options_.now()), std::back_inserter(statuses));
    std::ranges::move(pod_groups_->statuses(options_.now()), std::back_inserter(statuses));
    std::set<std::pair<std::string, std::string>> there;
    for (const OtherStatus& each : statuses) there.emplace(each.qualified, each.name_space + "/" + each.name);
    std::erase_if(told_others_, [&](const auto& each) { return !there.contains(each.first); });
    for (const OtherStatus& status : statuses) {
      OtherStatus& told = told_others_[{status.qualified, status.name_space + "/" + status.name}];
      if (same_standing(told, status) || !telling_others_.insert(key_of(status)).second) continue;
      told = status;
      outbox_.send(Outbox::Urgency::kTelling, other_status_call(status), [this, status](const ApiAnswer& answer) {
        telling_others_.erase(key_of(status));
        if (is_passing(answer)) told_others_.erase({status.qualified, status.name_space + "/" + status.name});
      });
    }
  }
  static std::string key_of(const OtherStatus& status) {
    return status.qualified + "/" + status.name_space + "/" + status.name;
  }

  // Once each time it becomes so.
  void warn(const std::string& queue, const QueueStanding& standing) {
    for (const QueueCondition& each : standing.conditions) {
      const bool is_warning = each.type == kBudgetCondition || each.type == kNotFollowedCondition;
      if (!is_warning || !each.holds || each.since < began_) continue;
      if (std::exchange(warned_[{queue, each.type}], each.since) == each.since) continue;
      record({.api_version = "berth.dev/v1alpha1", .kind = "Queue", .name = queue, .uid = standing.uid}, "",
             EventRecorder::Type::kWarning, each.type.c_str(), each.message);
    }
  }

  // One alarm for the next moment at which time alone makes a difference.
  void wake_at(std::optional<Time> moment, Time now) {
    if (wakes_at_ == moment) return;
    if (wakes_at_) delays_.cancel(alarm_number_);
    wakes_at_ = moment;
    if (moment) alarm_number_ = delays_.after(*moment - now, [this] { wakes_at_.reset(); });
  }

  // Runs on the strand after a while, followed by a decision.
  void later(Duration delay, std::function<void()> run) { delays_.after(delay, std::move(run)); }

  Transport& transport_;
  Alarm& alarm_;
  LiveSchedulerOptions options_;
  std::function<void()> lost_;
  std::optional<JournalFolder> journal_;
  std::optional<LiveEngine> engine_;
  std::optional<Forecaster> forecaster_;
  std::optional<ChangeSearch> change_search_;
  std::optional<Background> background_;
  Defragmentations defragmentations_;
  WhatIfs what_ifs_;
  std::map<std::string, std::map<std::string, Value>> told_answers_;  // by kind and name: what was written last
  std::set<std::string> telling_answers_;
  RunTimes run_times_;                // of all who have ended
  std::vector<EndedRun> ended_runs_;  // that the forecaster has not been told of
  std::optional<OtherQueues> others_;
  std::optional<PodGroups> pod_groups_;
  std::optional<Namespaces> namespaces_;
  std::optional<Predecessors> predecessors_;
  std::optional<HyperNodes> hyper_nodes_;
  GroupWorkloads group_workloads_;
  std::map<std::string, int> refusals_;  // by pod
  std::map<std::pair<std::string, std::string>, OtherStatus> told_others_;
  ToldStandings told_;
  std::map<std::pair<std::string, std::string>, Time> warned_;  // by queue and condition: since when
  std::map<std::string, std::string> told_circles_;             // by name: what was written last
  std::map<std::string, std::string> told_reservations_;        // the same
  struct SaidOfChanges {
    ToldChanges told;
    bool kept_aside = false;
    Time at;
  };
  std::map<std::string, SaidOfChanges> told_changes_;  // by uid of the pod
  std::map<std::string, NodeNews> unused_nodes_;       // that were told so
  Time began_;
  std::optional<Time> wakes_at_;
  std::uint64_t alarm_number_ = 0;
  std::set<std::string> noting_begun_;  // uids of Jobs
  std::set<std::string> telling_others_, telling_circles_, telling_reservations_, told_trouble_;
  std::atomic<bool> leading_ = false, synced_ = false;
  std::atomic<std::int64_t> decisions_ = 0, bound_ = 0, refused_ = 0;
  std::shared_ptr<Strand> strand_;
  Delays delays_;
  Outbox outbox_;
  NodeUsesWriter node_uses_;
  NodeUsesWriter node_cuts_;
  std::unique_ptr<EventRecorder> events_;
  std::unique_ptr<LeaderElection> election_;
  std::unique_ptr<Mirror> nodes_, hyper_node_mirror_, flavors_, budgets_, queues_, circles_, reservations_,
      defragmentation_mirror_, what_if_mirror_, namespace_mirror_, workload_mirror_, jobs_, pods_;
  std::vector<std::unique_ptr<Mirror>> other_mirrors_, group_mirrors_;
};

}  // namespace

std::unique_ptr<LiveScheduler> LiveScheduler::start(Transport& transport, Alarm& alarm, LiveSchedulerOptions options,
                                                    std::function<void()> lost) {
  return std::make_unique<RunningScheduler>(transport, alarm, std::move(options), std::move(lost));
}

}  // namespace berth
