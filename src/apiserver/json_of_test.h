// JSON as tests write it down. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "manifest/json.h"

namespace berth {

inline Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().to_string());
  return value ? *value : Value();
}

}  // namespace berth
