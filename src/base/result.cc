#include "base/result.h"

namespace berth {

std::string Complaint::to_string() const {
  std::string out = place.file;
  if (place.line > 0) out += ":" + std::to_string(place.line);
  if (place.column > 0) out += ":" + std::to_string(place.column);
  if (!out.empty()) out += ": ";
  return out + text;
}

void Complaints::add(Place place, std::string text) {
  ++count_;
  if (kept_.size() < kKeptMax) kept_.push_back({std::move(place), std::move(text)});
}

void Complaints::add_all(const Complaints& others) {
  for (const Complaint& complaint : others.kept_) {
    if (kept_.size() < kKeptMax) kept_.push_back(complaint);
  }
  count_ += others.count_;
}

std::string Complaints::to_string() const {
  std::string out;
  for (const Complaint& complaint : kept_) out += complaint.to_string() + "\n";
  if (count_ > kept_.size()) out += "... and " + std::to_string(count_ - kept_.size()) + " more\n";
  return out;
}

}  // namespace berth
