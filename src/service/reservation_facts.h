// A Reservation object as facts: what is promised, and what the last scheduler wrote down in its status.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/reservation_spec.h"
#include "manifest/value.h"
#include "model/node.h"
#include "service/facts.h"

namespace berth {

// By this a reservation tells that it has less than was promised; that it is one, by what circles of trust tell it by.
inline constexpr const char* kShortCondition = "Short";

// GPUs of a node, by its name.
struct NamedGpus {
  std::string node;
  GpuSet gpus;

  friend bool operator==(const NamedGpus&, const NamedGpus&) = default;
};

struct ReservationFacts {
  std::string name, uid;
  Time created;
  ReservationSpec spec = {};
  std::string problem = {};  // of its spec; empty: none
  bool leaving = false;      // it is being deleted: it is none any more
  // Its status: what it had the time that began then, and what else is to be known of it.
  std::optional<Time> held_from = {};
  std::vector<NamedGpus> held = {};
  std::vector<QueueCondition> conditions = {};
  Value status = {};  // as it is written

  // But for the status.
  bool is_same(const ReservationFacts& other) const {
    return uid == other.uid && created == other.created && spec == other.spec && problem == other.problem &&
           leaving == other.leaving;
  }
};

ReservationFacts read_reservation(const Value& reservation);

// Of the words that somebody is told who leaves for one (LiveEngine::reservation_in_words); empty: it is for none.
std::string reservation_named_in(std::string_view why);

// What a reservation's object should say.
struct ReservationStanding {
  ReservationFacts said;  // by it now
  Value status;           // but for its conditions; null: nothing is to be said yet
  std::vector<QueueCondition> conditions = {};
};

}  // namespace berth
