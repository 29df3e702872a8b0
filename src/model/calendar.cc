#include "model/calendar.h"

#include <algorithm>

namespace berth {
namespace {

void replace(AmountList& amounts, const AmountList& by) {
  for (const Amount& each : by) {
    const auto place = std::lower_bound(amounts.begin(), amounts.end(), each.dim,
                                        [](const Amount& amount, Dim dim) { return amount.dim < dim; });
    if (place != amounts.end() && place->dim == each.dim) {
      place->amount = each.amount;
    } else {
      amounts.insert(place, each);
    }
  }
}

}  // namespace

void Window::change(Quota& quota) const {
  replace(quota.guarantee, guarantee);
  replace(quota.limit, limit);
  replace(quota.borrowing_limit, borrowing_limit);
  replace(quota.lending_limit, lending_limit);
  quota.weight_milli = weight_milli.value_or(quota.weight_milli);
}

}  // namespace berth
