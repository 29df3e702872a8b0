// The report of a run: one HTML file that asks nothing of the network, reads on a phone, on paper and in the dark, and
// stays readable where scripts are off.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/chart.h"

namespace berth {

struct ReportTable {
  struct Column {
    std::string name;
    bool is_number = false;  // set to the right
  };
  std::string title;
  std::string description;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // INVARIANT: each as long as `columns`
};

struct Report {
  std::string title;
  std::string subtitle;
  std::vector<std::pair<std::string, std::string>> facts;  // the headline: label, value
  std::vector<Figure> figures;
  std::vector<ReportTable> tables;
  std::string command;  // what makes this report again
};

// The whole file. Every text of the report is escaped: names come from users.
std::string render_html(const Report& report);

}  // namespace berth
