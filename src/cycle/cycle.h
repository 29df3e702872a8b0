// One scheduling cycle on its way: what all of its phases see, and what they have decided so far.
#pragma once

#include <optional>
#include <vector>

#include "cycle/engine.h"
#include "cycle/reserved.h"
#include "cycle/shadows.h"
#include "cycle/vacating.h"
#include "fairness/rights.h"
#include "model/plan.h"
#include "state/trial.h"

namespace berth {

// INVARIANT: the trial is as the plan would leave things.
struct OneCycle {
  Engine& engine;
  Trial& trial;
  Effort effort;
  Plan& plan;
  Vacating vacating;
  Reserved& reserved;
  Shadows shadows;
  std::optional<RightsAtAGlance> rights = {};  // as things are held now; none: not looked at since they changed
  bool leads_to_another = false;               // cycle, though in this one all who wait have had their turn
  // What comes free by itself, and who waits for it rather than that a GPU is cut for him: for others behind him it is not there.
  std::vector<Start> waited_for = {};
};

}  // namespace berth
