#include "sim/files.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>

namespace berth::files_test {

class Files : public testing::Test {
 protected:
  Files() : folder_(testing::TempDir() + "berth-files-" + std::to_string(::getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(Files, AreReadWhole) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {
    std::string text(size, 'x');
    if (size > 2) text[1] = '\0';
    std::ofstream(path("f"), std::ios::binary) << text;
    EXPECT_EQ(read_file(path("f")).value(), text);
  }
}

TEST_F(Files, ThatCannotBeReadAreComplaints) {
  EXPECT_EQ(read_file(path("none")).error().to_string(),
            path("none") + ": there is no such file; write the name of one that exists\n");
  EXPECT_EQ(read_file(path("")).error().to_string(),
            path("") + ": this is a directory; write the name of a file in it\n");
  EXPECT_FALSE(read_file("").has_value());
  EXPECT_FALSE(read_file(std::string("/dev/null\0x", 11)).has_value());
  EXPECT_EQ(read_file("/dev/null").value(), "");
}

TEST_F(Files, ThatAreTooLargeAreComplaintsAtOnce) {
  std::ofstream(path("large")) << "x";
  std::error_code error;
  std::filesystem::resize_file(path("large"), static_cast<std::uintmax_t>(kFileBytesMax) + 1, error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  EXPECT_EQ(read_file(path("large")).error().to_string(), path("large") + ": larger than 4294967296 bytes; split it\n");
}

}  // namespace berth::files_test
