#include "sim/csv.h"

#include <gtest/gtest.h>

namespace berth::csv_test {

using Rows = std::vector<std::vector<std::string>>;

struct Table {
  Rows rows;  // the header first
  std::string complaints;
};

Table read(std::string_view text) {
  Table table;
  Complaints complaints;
  CsvReader reader("t.csv", text, complaints);
  const auto keep = [&table](std::span<const CsvField> fields) {
    table.rows.emplace_back();
    for (const CsvField& field : fields) table.rows.back().emplace_back(field.text);
  };
  if (!reader.header().empty()) keep(reader.header());
  while (reader.next()) keep(reader.row());
  table.complaints = complaints.to_string();
  return table;
}

TEST(Csv, ReadsTables) {
  struct Case {
    std::string_view why;
    std::string_view text;
    Rows rows;
  };
  const Case cases[] = {
      {"plain", "a,b\n1,2\n3,4\n", {{"a", "b"}, {"1", "2"}, {"3", "4"}}},
      {"CRLF", "a,b\r\n1,2\r\n", {{"a", "b"}, {"1", "2"}}},
      {"byte order mark",
       "\xef\xbb\xbf"
       "a,b\n1,2\n",
       {{"a", "b"}, {"1", "2"}}},
      {"empty fields", "a,b\n,\n,2\n", {{"a", "b"}, {"", ""}, {"", "2"}}},
      {"empty lines at the end", "a,b\n1,2\n\n \n\r\n", {{"a", "b"}, {"1", "2"}}},
      {"blanks at the end", "a,b\n1,2\n ", {{"a", "b"}, {"1", "2"}}},
      {"quotes", "a,b\n\"1,5\",\"say \"\"no\"\"\"\n", {{"a", "b"}, {"1,5", "say \"no\""}}},
      {"a line end in quotes", "a,b\n\"1\n2\",3\n4,5\n", {{"a", "b"}, {"1\n2", "3"}, {"4", "5"}}},
      {"blanks around fields", "a , b\n 1,\t2 \n", {{"a", "b"}, {"1", "2"}}},
      {"blanks in quotes stay", "a,b\n\" 1 \" ,2\n", {{"a", "b"}, {" 1 ", "2"}}},
      {"quoted header", "\"a\"\"b\",c\n\"x\"\"y\",2\n\"z\"\"\",3\n", {{"a\"b", "c"}, {"x\"y", "2"}, {"z\"", "3"}}},
      {"UTF-8", "a\n\xc3\xa4\n", {{"a"}, {"\xc3\xa4"}}},
  };
  for (const Case& c : cases) {
    const Table table = read(c.text);
    EXPECT_EQ(table.rows, c.rows) << c.why;
    EXPECT_EQ(table.complaints, "") << c.why;
  }
}

TEST(Csv, ComplainsAboutWhatIsNoTable) {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view text;
    std::string_view complaints;
  };
  const std::string_view empty =
      "t.csv: the file is empty; write a header with the column names and a row for each entry\n";
  const Case cases[] = {
      {"", empty},
      {"\n\n", empty},
      {"\xef\xbb\xbf", empty},
      {"\na,b\n1,2\n", "t.csv:1:1: the first line is empty; write the column names there\n"},
      {"a,b\n", "t.csv:2: a header and no rows; write a row for each entry\n"},
      {"a,b", "t.csv:1: a header and no rows; write a row for each entry\n"},
      {"a,,b\n1,2,3\n", "t.csv:1:3: a column without a name; name it, or take the comma away\n"},
      {"a,b,a\n1,2,3\n", "t.csv:1:5: column 'a' is there twice; keep one of them\n"},
      {"a,b,c\n1,2,3\n4,5\n6,7,8\n",
       "t.csv:3:3: 2 fields where the header has 3 columns; the first missing one is 'c'; write every field, empty "
       "ones too\n"},
      {"a,b,c\n1,2,3\n4,5",
       "t.csv:3:3: the last line is cut: 2 fields where the header has 3 columns; the first missing one is 'c'; was "
       "the file "
       "written to its end?\n"},
      {"a,b\n1,2",
       "t.csv:2: the last line has no line end: was the file written to its end? If so, end it with a line end\n"},
      {"a,b\n1,\"2\n3\"",
       "t.csv:3: the last line has no line end: was the file written to its end? If so, end it with a line end\n"},
      {"a,b\n1,2,3\n",
       "t.csv:2:5: 3 fields where the header has 2 columns; quote fields that contain a comma, or take the rest "
       "away\n"},
      {"a,b\n1,2\n\n\n3,4\n",
       "t.csv:3:1: an empty line between rows; take it away, or write the row that is missing\n"},
      {"a,b\n1,\"2\n3,4\n",
       "t.csv:2:3: a quote is opened here and never closed; close it, or double the quotes inside a field\n"},
      {"a,b\n1,2\"3\n", "t.csv:2:4: a quote inside a field without quotes; write \"like \"\"this\"\"\"\n"},
      {"a,b\n\"1\"2,3\n",
       "t.csv:2:4: text after the closing quote of a field; write a comma there, or double the quotes inside the "
       "field\n"},
      {"a,b\n1,\0\0\0"sv, "t.csv:2:3: this is not text: byte '\\x00'; write the file as UTF-8 text\n"},
      {"a,b\n1,\xfc\n", "t.csv:2:3: this is not text: byte '\\xfc'; write the file as UTF-8 text\n"},
      {"a,b\r1,2\r", "t.csv:1:4: a carriage return without a line feed; end lines with \\n or \\r\\n\n"},
      {"a,b\n1\n2\n",
       "t.csv:2:1: 1 field where the header has 2 columns; the first missing one is 'b'; write every field, empty ones "
       "too\n"
       "t.csv:3:1: 1 field where the header has 2 columns; the first missing one is 'b'; write every field, empty ones "
       "too\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(read(c.text).complaints, c.complaints);
}

TEST(Csv, KnowsWhereFieldsBegin) {
  Complaints complaints;
  CsvReader reader("t.csv", "a,b,c\n 1 ,\"x\ny\", 2\n\"\", 4,5\n", complaints);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.place(reader.row()[0]), (Place{"t.csv", 2, 2}));
  EXPECT_EQ(reader.place(reader.row()[1]), (Place{"t.csv", 2, 5}));
  EXPECT_EQ(reader.place(reader.row()[2]), (Place{"t.csv", 3, 5}));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.place(reader.row()[0]), (Place{"t.csv", 4, 1}));
  EXPECT_EQ(reader.place(reader.row()[1]), (Place{"t.csv", 4, 5}));
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST(Csv, HeaderStaysAfterRows) {
  Complaints complaints;
  CsvReader reader("t.csv", "\"a \"\"name\"\" that is long\"\n\"and \"\"another\"\" one\"\n\"and \"\"a\"\" third\"\n",
                   complaints);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.row()[0].text, "and \"another\" one");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.row()[0].text, "and \"a\" third");
  EXPECT_EQ(reader.header()[0].text, "a \"name\" that is long");
}

TEST(Csv, CutAnywhereIsAComplaintOrWholeLines) {
  const std::string_view text = "name,gpus,note\njob-1,8,\"a, \"\"b\"\"\"\njob-2,16,c\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Table table = read(text.substr(0, size));
    EXPECT_EQ(table.complaints.empty(), size == text.find("job-2")) << size;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.rows[0].size()) << size;
  }
}

TEST(Csv, AMillionCommasAreOneComplaint) {
  const Table table = read("a,b\n" + std::string(1'000'000, ',') + "\n1,2\n");
  EXPECT_EQ(table.complaints, "t.csv:2:1001: more than 1000 fields in one row; is this a table?\n");
  EXPECT_EQ(table.rows, (Rows{{"a", "b"}, {"1", "2"}}));
}

}  // namespace berth::csv_test
