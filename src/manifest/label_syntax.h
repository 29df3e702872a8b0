// What keys and values of labels look like.
#pragma once

#include <string_view>

namespace berth {

bool is_label_key(std::string_view text);    // "app", "example.com/app"
bool is_label_value(std::string_view text);  // also nothing at all

}  // namespace berth
