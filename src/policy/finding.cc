#include "policy/finding.h"

namespace berth {

std::string PolicyPlace::to_string() const {
  std::string out = at.file;
  if (at.line > 0) out += ":" + std::to_string(at.line);
  for (const std::string& part : {object, field}) {
    if (!part.empty()) out += (out.empty() ? "" : ": ") + part;
  }
  return out;
}

std::string PolicyFinding::text() const {
  std::string out = what;
  for (const std::string& part : {why, instead}) {
    if (!part.empty()) out += "; " + part;
  }
  return out;
}

std::string PolicyFinding::to_string() const {
  const std::string where = place.to_string();
  return (where.empty() ? "" : where + ": ") + std::string(name_of(severity)) + ": " + text() + " [" + rule + "]";
}

}  // namespace berth
