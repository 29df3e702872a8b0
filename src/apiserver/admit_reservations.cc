#include <cstddef>
#include <string>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "manifest/defragmentation_spec.h"
#include "manifest/reservation_spec.h"
#include "model/reservation.h"

namespace berth {

// Those that are over are only there to be read.
Refusal check_reservations(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  constexpr const char* kReservations = "reservations.berth.dev";
  const bool is_new = request.operation == Operation::kCreate && request.subresource.empty();
  if (!is_new || request.kind->qualified() != kReservations) return {};
  std::size_t reservations = 0;
  transaction.for_each(std::string(kReservations) + "/", [&](const RecordPtr& record) {
    const bool is_over = read_reservation_spec(object_of(record)["spec"]).spec.is_over(request.now);
    if (!is_over) ++reservations;
  });
  if (reservations < kReservationsMax) return {};
  return forbidden(*request.kind, (*request.object)["metadata"]["name"].text(),
                   "there are 100 reservations that are not over, and no more may be; delete some, or let one come "
                   "again");
}

// Each costs the scheduler an answer.
Refusal check_questions(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  constexpr const char* kDefragmentations = "defragmentations.berth.dev";
  const bool is_new = request.operation == Operation::kCreate && request.subresource.empty();
  constexpr const char* kWhatIfs = "whatifs.berth.dev";
  const std::string kind = request.kind->qualified();
  if (!is_new || (kind != kDefragmentations && kind != kWhatIfs)) return {};
  std::size_t there = 0;
  transaction.for_each(kind + "/", [&](const RecordPtr&) { ++there; });
  if (there < kQuestionsMax) return {};
  return forbidden(*request.kind, (*request.object)["metadata"]["name"].text(),
                   "there are 100 of this kind, and no more may be; delete some that nobody reads any more");
}

}  // namespace berth
