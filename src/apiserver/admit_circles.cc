#include <cstddef>
#include <string>

#include "apiserver/admission_rules.h"
#include "model/circle.h"

namespace berth {

// Those that are being deleted count until they are gone.
Refusal check_circles(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  constexpr const char* kCircles = "trustcircles.berth.dev";
  const bool is_new = request.operation == Operation::kCreate && request.subresource.empty();
  if (!is_new || request.kind->qualified() != kCircles) return {};
  std::size_t circles = 0;
  transaction.for_each(std::string(kCircles) + "/", [&](const RecordPtr&) { ++circles; });
  if (circles < kCirclesMax) return {};
  return forbidden(
      *request.kind, (*request.object)["metadata"]["name"].text(),
      "there are 64 circles of trust, and no more may be; put queues into one circle that trust each other");
}

}  // namespace berth
