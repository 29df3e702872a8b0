// What keys and values of labels look like, and names of objects.
#pragma once

#include <string_view>

namespace berth {

bool is_label_key(std::string_view text);    // "app", "example.com/app"
bool is_label_value(std::string_view text);  // also nothing at all
bool is_object_name(std::string_view text);  // "train-0", "a.b": as names of pods and Jobs

}  // namespace berth
