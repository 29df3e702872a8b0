#include "cli/viewing.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "cli/connection.h"
#include "client/asking.h"
#include "client/listing_stream.h"

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;

// Changes that come together are shown together: a job and its pods change within moments.
constexpr std::chrono::milliseconds kGatherFor{50};
// A look at a large cluster takes time; so many times as long is left to others.
constexpr int kRestPerLook = 4;

// A server that does not know it, or does not show it to everybody.
bool may_lack(const SeenKind& kind, const AskFailure& failure) {
  return kind.if_allowed && (failure.exit_code == kExitForbidden || failure.exit_code == kExitNotFound);
}

int show_once(Transport& server, const ListingView& view) {
  const Asked<SeenObjects> seen = see_once(server, view.kinds);
  if (!seen) return fail(seen.error());
  const Asked<Listing> listing = view.listing(*seen);
  if (!listing) return fail(listing.error());
  fmt::print("{}", listing->to_text(view.style));
  return listing->rows.empty() ? view.nothing() : kExitDone;
}

int show_for_ever(Transport& server, const ListingView& view) {
  std::vector<MirrorOptions> kinds;
  std::vector<std::size_t> places;  // of these among those of the view
  for (std::size_t place = 0; place < view.kinds.size(); ++place) {
    const SeenKind& kind = view.kinds[place];
    // A watch that may not be goes on trying; whoever may not begin one is told so at once.
    if (const auto may = may_list_objects(server, kind.qualified, kind.name_space); !may) {
      if (may_lack(kind, may.error())) continue;
      return fail(may.error());
    }
    places.push_back(place);
    MirrorOptions options;
    options.qualified = kind.qualified;
    options.name_space = kind.name_space;
    options.field_selector = kind.fields;
    kinds.push_back(std::move(options));
  }
  WatchedObjects watched(server, kinds);
  ListingStream stream(view.style);
  bool first = true;
  while (true) {
    watched.wait_until(Clock::now() + std::chrono::hours(1));
    if (!watched.all_synced()) continue;
    std::this_thread::sleep_for(kGatherFor);
    const auto begun = Clock::now();
    SeenObjects seen(view.kinds.size());
    SeenObjects objects = watched.objects();
    for (std::size_t i = 0; i < places.size(); ++i) seen[places[i]] = std::move(objects[i]);
    const Asked<Listing> listing = view.listing(seen);
    if (!listing && first) return fail(listing.error());
    if (listing && first && listing->rows.empty()) {
      if (const int exit_code = view.nothing(); exit_code != kExitDone) return exit_code;
    }
    first = false;
    fmt::print("{}", listing ? stream.next(*listing) : std::string());
    if (std::fflush(stdout) != 0) return kExitFailed;
    std::this_thread::sleep_for(kRestPerLook * (Clock::now() - begun));
  }
}

}  // namespace

Asked<SeenObjects> see_once(Transport& server, const std::vector<SeenKind>& kinds) {
  SeenObjects seen;
  for (const SeenKind& kind : kinds) {
    auto objects = list_objects(server, kind.qualified, kind.name_space, kind.fields);
    if (!objects && may_lack(kind, objects.error())) objects = std::vector<Value>();
    if (!objects) return std::unexpected(objects.error());
    seen.push_back(std::move(*objects));
  }
  return seen;
}

int show_view(Transport& server, const ListingView& view) {
  return view.watch ? show_for_ever(server, view) : show_once(server, view);
}

}  // namespace berth
