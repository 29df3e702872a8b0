// What `--watch` prints: everything once, then each row that has changed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/listing.h"

namespace berth {

class ListingStream {
 public:
  explicit ListingStream(OutputStyle style) : style_(style) {}

  // What is to be printed now that the listing is this one; empty if nothing changed. Rows change with their facts (a
  // growing age is none). Those that are there no more come once again, with the state "gone". As JSON each row is one
  // line, as YAML one document.
  std::string next(const Listing& listing);

 private:
  std::string text_of(const Listing& listing, const std::vector<ListingRow>& rows);

  OutputStyle style_;
  std::optional<TableLines> table_;         // once there was a row
  std::map<std::string, ListingRow> rows_;  // by namespace and name
};

}  // namespace berth
