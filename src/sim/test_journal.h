// For tests: the journal of a scenario.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "journal/chain.h"
#include "sim/scenario_run.h"

namespace berth {

inline Bytes journal_of_scenario(const std::string& name, const std::string& text) {
  ChainWriter chain;
  Bytes file;
  const auto append = [&](const Bytes& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  append(chain.begin_section(0, 1));
  const auto end = end_of_scenario(name, text, [&](const Bytes& payload) { append(chain.append(payload)); });
  EXPECT_TRUE(end.has_value()) << (end ? "" : end.error().to_string());
  return file;
}

}  // namespace berth
