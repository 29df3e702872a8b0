#include "journal/chain.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"

namespace berth::chain_test {

void append(Bytes& file, const Bytes& bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); }

// A file in parts: headers and records, in their order.
struct Journal {
  std::vector<Bytes> parts;
  std::vector<std::size_t> headers;  // which of the parts

  Bytes file() const {
    Bytes bytes;
    for (const Bytes& part : parts) append(bytes, part);
    return bytes;
  }
};

Journal small_journal(std::uint32_t sections) {
  Journal journal;
  ChainWriter writer;
  for (std::uint32_t section = 0; section < sections; ++section) {
    journal.headers.push_back(journal.parts.size());
    journal.parts.push_back(writer.begin_section(section, sections));
    for (const JournalRecord& record :
         {JournalRecord(Event(RunConfigured{Seed{7}, PlacementPolicy::kFgd})),
          JournalRecord(Event(NodeFailed{NodeId(3)})), JournalRecord(RunClosed{section})}) {
      journal.parts.push_back(writer.append(encode(record)));
    }
  }
  return journal;
}

// The payloads, or what is wrong.
std::expected<std::vector<Bytes>, std::string> read(const Bytes& file) {
  ChainReader reader(file);
  std::vector<Bytes> payloads;
  while (true) {
    const auto payload = reader.next();
    if (!payload) return std::unexpected(payload.error());
    if (payload->empty()) return payloads;
    payloads.emplace_back(payload->begin(), payload->end());
  }
}

TEST(Sha256, IsThePublishedOne) {
  // FIPS 180-4's example "abc".
  const Bytes abc = {'a', 'b', 'c'};
  const Digest expected = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
                           0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
                           0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
  Sha256 sha;
  for (std::size_t split = 0; split <= 3; ++split) {
    EXPECT_EQ(sha.of(std::span(abc).first(split), std::span(abc).subspan(split)), expected);
  }
}

TEST(Chain, GivesBackWhatWasWritten) {
  for (const std::uint32_t sections : {1u, 3u}) {
    const auto payloads = read(small_journal(sections).file());
    ASSERT_TRUE(payloads.has_value()) << payloads.error();
    ASSERT_EQ(payloads->size(), 3u * sections);
    EXPECT_EQ(payloads->back(), encode(RunClosed{sections - 1}));
  }
}

TEST(Chain, FindsEveryFlippedBit) {
  const Bytes file = small_journal(2).file();
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = file;
      changed[at] = static_cast<std::uint8_t>(changed[at] ^ (1 << bit));
      ASSERT_FALSE(read(changed).has_value()) << "byte " << at << ", bit " << bit;
    }
  }
}

TEST(Chain, FindsEveryByteThatWentOrCame) {
  const Bytes file = small_journal(2).file();
  for (std::size_t at = 0; at < file.size(); ++at) {
    ASSERT_FALSE(read(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at))).has_value())
        << "cut to " << at;
    ASSERT_FALSE(read(Bytes(file.begin() + static_cast<std::ptrdiff_t>(at) + 1, file.end())).has_value())
        << "from " << at + 1;
    Bytes shorter = file;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at));
    ASSERT_FALSE(read(shorter).has_value()) << "without byte " << at;
    for (const std::uint8_t byte : {std::uint8_t{0}, std::uint8_t{0xff}, file[at]}) {
      Bytes longer = file;
      longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(at), byte);
      ASSERT_FALSE(read(longer).has_value()) << "one more at " << at;
    }
  }
  Bytes longer = file;
  longer.push_back(0);
  ASSERT_FALSE(read(longer).has_value()) << "one more at the end";
}

TEST(Chain, FindsPartsThatWereLeftOutDoubledOrSwapped) {
  const Journal journal = small_journal(3);
  const std::size_t parts = journal.parts.size();
  for (std::size_t a = 0; a < parts; ++a) {
    Journal without = journal;
    without.parts.erase(without.parts.begin() + static_cast<std::ptrdiff_t>(a));
    ASSERT_FALSE(read(without.file()).has_value()) << "without part " << a;
    Journal doubled = journal;
    doubled.parts.insert(doubled.parts.begin() + static_cast<std::ptrdiff_t>(a), journal.parts[a]);
    ASSERT_FALSE(read(doubled.file()).has_value()) << "part " << a << " twice";
    for (std::size_t b = a + 1; b < parts; ++b) {
      Journal swapped = journal;
      std::swap(swapped.parts[a], swapped.parts[b]);
      ASSERT_FALSE(read(swapped.file()).has_value()) << "parts " << a << " and " << b;
    }
  }
  const std::size_t section = parts / 3;
  for (std::size_t a = 0; a < 3; ++a) {
    Journal without = journal;
    const auto begin = without.parts.begin() + static_cast<std::ptrdiff_t>(a * section);
    without.parts.erase(begin, begin + static_cast<std::ptrdiff_t>(section));
    ASSERT_FALSE(read(without.file()).has_value()) << "without section " << a;
    for (std::size_t b = a + 1; b < 3; ++b) {
      Journal swapped = journal;
      for (std::size_t part = 0; part < section; ++part) {
        std::swap(swapped.parts[a * section + part], swapped.parts[b * section + part]);
      }
      ASSERT_FALSE(read(swapped.file()).has_value()) << "sections " << a << " and " << b;
    }
  }
}

// A record of another journal does not fit, though it is sound there.
TEST(Chain, FindsARecordOfAnotherJournal) {
  Journal journal = small_journal(1);
  journal.parts[2] = small_journal(2).parts[2];
  EXPECT_FALSE(read(journal.file()).has_value());
}

TEST(Chain, SaysWhereItStopsBeingSound) {
  const Journal journal = small_journal(1);
  const std::size_t second = journal.parts[0].size() + journal.parts[1].size();
  const std::string where = "record 2, byte " + std::to_string(second) + ": ";
  Bytes changed = journal.file();
  changed[second + 5] ^= 1;
  EXPECT_EQ(read(changed).error(), where + "the record, or one before it, was changed: its hash does not match");
  const Bytes file = journal.file();
  const auto cut = [&](std::size_t to) { return Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(to)); };
  EXPECT_EQ(read(cut(second)).error(), where + "the journal is cut off here; up to here it is sound");
  EXPECT_EQ(read(cut(second + 9)).error(),
            where + "the record is damaged, or the journal is cut off; up to here it is sound");
  EXPECT_EQ(read(Bytes()).error(),
            "record 1, byte 0: this is not a Berth journal; name a file that --journal or berth snapshot wrote");
  Bytes newer = file;
  newer[8] = 18;
  EXPECT_EQ(read(newer).error(), "record 1, byte 0: written in format 18; this program reads formats 1 to 17");
}

constexpr const char* kFormatOne =
    "42455254484a4e4c010000000000000001000000"  // header: magic, format, section 0 of 1
    "0400000000ac0201"                          // seed 300, best-fit
    "90fa14ce34a752e28bd8946e8334a98722b193860986a2adb7dc0dadec0325c2"
    "0400000040018001"  // asked at -1 ms with effort 64
    "d5d21c2f01aa5d278a2c67623572015cb1a0622eeebf769c64b2992d92e24d94"
    "020000004201"  // closed with hash 1
    "2fa1b24a2ffaf479b3f2a7cd025c48c75b82c9a98c14ff9724c7c6149feb637e";

constexpr const char* kFormatTwo =
    "42455254484a4e4c020000000000000001000000"
    "0400000000ac0201"
    "8f8b66f23cbf67903ffe7455f58f08792304f1ab8d6997ba0192259ffa3a3dca"
    "0400000040018001"
    "7f3b3db0564cc49e537e7d3fd44a84b83e5b9d92805bb3a1077d20b716e85a11"
    "020000004201"
    "d7614b46cb39a8405d98189139df8125098295ee81fee9830f13aa2c06a56a4e";

constexpr const char* kFormatThree =
    "42455254484a4e4c030000000000000001000000"
    "0400000000ac0201"
    "95d964bd1f33dae0ee7d2c6c9801f92aa3dacd21118910176f221abe4ea9be0a"
    "0400000040018001"
    "47602406a200403c62dd8b33ab1335e22f15c225f8085432e19b8ce88865602e"
    "020000004201"
    "c5d0c855301ae9d185671b07673df7536b7561204ad96f50f88a282303c479b9";

constexpr const char* kFormatFour =
    "42455254484a4e4c040000000000000001000000"
    "0400000000ac0201"
    "3ea446170edc7751102a513e0f75569f14d2c43218e13995e3ce47d8d3644d53"
    "0400000040018001"
    "38073d4a5549acce5d49bdbec387e25e52442feb754dc5ba12686aaed249120e"
    "020000004201"
    "57036cf8de447862b9ca4c62e3f3251a4ba101e10f44e5bd74b96751ccc82d06";

constexpr const char* kFormatFive =
    "42455254484a4e4c050000000000000001000000"
    "0400000000ac0201"
    "f194479afe7143f243f91be7ff1175cde525c46ec1af0dc0cd2c87166ffc296b"
    "0400000040018001"
    "c00b5a85f06199b339282635918dc56759cfd372d2c9e1ee0b9f99da74b77fbd"
    "020000004201"
    "6b9a7cf2ac510ea91bed7eacdfa30461f3b5b0c9d60e01788a5947881a53bf05";

constexpr const char* kFormatSix =
    "42455254484a4e4c060000000000000001000000"
    "0400000000ac0201"
    "e924550a868f6513a769193ed4719677447cd7659feebbddc52ff0ed273da1bf"
    "0400000040018001"
    "a81adee227236a6af1a7223a3cc7c288bfcd101e3c2d49b59961f8a8ed266ff1"
    "020000004201"
    "c74d3dea96b296fa8ecd8f5a60f75c53074bd5df2993dba6e45768cc80ea9f4c";

constexpr const char* kFormatSeven =
    "42455254484a4e4c070000000000000001000000"
    "0400000000ac0201"
    "80c174c5506dfa72ce8f929e01f796461b213e17676a557c11bdc0b24c3bb072"
    "0400000040018001"
    "778d28d7e28b277e53f99dda4aa830a65ef7dbc215de71b38a10a435917a305a"
    "020000004201"
    "f35222a58c03a65071138e1fdac9dfd8de6f6cb030c7baa3fab03dd8e45e6b81";

constexpr const char* kFormatEight =
    "42455254484a4e4c080000000000000001000000"
    "0400000000ac0201"
    "da234ed8c47e725afe51618c46cd5800aff32fa0b78a874c93ff4b5541ab0da5"
    "0400000040018001"
    "7de73281ccde6957c64d0f1233caaef2af03244cbed62ecd028cb93382fae0b1"
    "020000004201"
    "867052478acfc12a33adaf0e693efe6344b639440740da6607627660b6683f82";

constexpr const char* kFormatNine =
    "42455254484a4e4c090000000000000001000000"
    "0400000000ac0201"
    "9557021cbc7c80331ac1e1a9f5a29d5f6debc4148186979d87e7672101a6ab58"
    "0400000040018001"
    "6c84a437035779fe060ed71bbb638cd1be94cbdcb28a3ab976fb49682ccb98b0"
    "020000004201"
    "8e8d2d0277c29ae0173140ce54fa1fdc7c7bc68040bcc586a9eae8ec5e50fd08";

constexpr const char* kFormatTen =
    "42455254484a4e4c0a0000000000000001000000"
    "0400000000ac0201"
    "4fb068e6d46b4cc7d665cdc8b2344e3e25bdb780fdcb0ebe32e20937c82cfd82"
    "0400000040018001"
    "faddd8999f7061669651957664807e2f2f0e0a94e6123ed1cb0860ccd88cb996"
    "020000004201"
    "4d810a366e448a6f805dabcea81202127422b08db8717111539037b57654a221";

constexpr const char* kFormatEleven =
    "42455254484a4e4c0b0000000000000001000000"
    "0400000000ac0201"
    "252c6447876b7375bc1002ee565f8a0d64792abfd8fe3e25a7c4667521ef99f7"
    "0400000040018001"
    "9c92f39004ed709a51f00776e5138ed24e1bb921c7277922e6ec4fd802ba7459"
    "020000004201"
    "ba2b9ae6ad3b8a9016338cf2c6932a9cd31a217cc3df126959c2a1e62904c44c";

constexpr const char* kFormatTwelve =
    "42455254484a4e4c0c0000000000000001000000"
    "0400000000ac0201"
    "4e5c5672c610c76786e2c183e876b9c1f52b192cd7b3405d71eaf599aae86cc2"
    "0400000040018001"
    "3ae4fc96eb87c59f09753ed3b16439606e82074c7f39c44ea90b3ab2844d0b6f"
    "020000004201"
    "f578c6faa0d7b347fc97dba882f0de2d6c0e506891dbe7477b678f026617142a";

constexpr const char* kFormatThirteen =
    "42455254484a4e4c0d0000000000000001000000"
    "0400000000ac0201"
    "279289fcda86167b506e5bb05630352181ed5228cd65a0798a4a4ad9e09afb75"
    "0400000040018001"
    "ebe5d11c7301964a37f47e1048dbc49aefd0fae73728d890f51512d8333f2da5"
    "020000004201"
    "68cd1aeb671199f507088045049774eed7deac25221a25c1150c98c489c20ea8";

constexpr const char* kFormatFourteen =
    "42455254484a4e4c0e0000000000000001000000"
    "0400000000ac0201"
    "6e34b2222179ebceb498d9f361c18720ba163ddc168241896f3f3241fa2b4842"
    "0400000040018001"
    "0fc530ff93763a865bb10b586f668b61735b67a28a4a91bb0d106a41451e63e5"
    "020000004201"
    "6b445ec0097e404b73af117ab638e90745a37f0e88f0ee7d0d898504c2e0274b";

constexpr const char* kFormatFifteen =
    "42455254484a4e4c0f0000000000000001000000"
    "0400000000ac0201"
    "884ef66a9edeed6f74eca04a832a6cbd6fe8b7506ae15c3de837a31ebbb2f0eb"
    "0400000040018001"
    "1039b6d57b785711a77034a984f43d677c7cbae778e695b6b055e4223faa0cd0"
    "020000004201"
    "51286279a6b009cc548b160764135c07c6b5be395a32c5beb93df3b3e2754fbd";

constexpr const char* kFormatSixteen =
    "42455254484a4e4c100000000000000001000000"
    "0400000000ac0201"
    "70ccfe3f898451e29878b6b861e0c84ca74e2504882e70b73d98b10c6362e886"
    "0400000040018001"
    "d6261d6cd8336ffc023caa1af7076a1edbaf136f84d4d283db2bc1c40fddff09"
    "020000004201"
    "c9fcb3b0aa3bfac889eb351eaa8dd7d3bcace804a7739699a2b3eaad7558fccf";

// For good: that nobody has changed it can be proven of an old journal, too.
TEST(Chain, AJournalOfAnEarlierFormatIsStillRead) {
  std::uint32_t version = 0;
  for (const char* const hex : {kFormatOne, kFormatTwo, kFormatThree, kFormatFour, kFormatFive, kFormatSix,
                                kFormatSeven, kFormatEight, kFormatNine, kFormatTen, kFormatEleven, kFormatTwelve,
                                kFormatThirteen, kFormatFourteen, kFormatFifteen, kFormatSixteen}) {
    Bytes file;
    for (const char* at = hex; *at != 0; at += 2) {
      const char digits[] = {at[0], at[1], 0};
      file.push_back(static_cast<std::uint8_t>(std::strtol(digits, nullptr, 16)));
    }
    ChainReader reader(file);
    while (true) {
      const auto payload = reader.next();
      ASSERT_TRUE(payload.has_value()) << payload.error();
      if (payload->empty()) break;
    }
    EXPECT_EQ(reader.records(), 3u);
    EXPECT_EQ(reader.version(), ++version);
  }
}

// Format version 17, for good: later versions go on reading it.
TEST(Chain, AJournalOfFormatSeventeenHasTheseBytes) {
  ChainWriter writer;
  Bytes file = writer.begin_section(0, 1);
  append(file, writer.append(encode(Event(RunConfigured{Seed{300}, PlacementPolicy::kBestFit}))));
  append(file, writer.append(encode(CycleAsked{Time{-1}, Effort{64}})));
  append(file, writer.append(encode(RunClosed{1})));
  std::string hex;
  for (const std::uint8_t byte : file) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  EXPECT_EQ(hex,
            "42455254484a4e4c110000000000000001000000"  // header: magic, format, section 0 of 1
            "0400000000ac0201"                          // seed 300, best-fit
            "3e406657f675c8ae05ffd061a9ccfb9dc814b977bbc7653673be50c8a4feaa76"
            "0400000040018001"  // asked at -1 ms with effort 64
            "386df9dc701884d5c33e8eef34623eeb7a73e4e0a508b87475a799ac10b3257e"
            "020000004201"  // closed with hash 1
            "32ee687eab6001e4564e64df1d1b6fefe5eea53b2f882784d9580e9c55d303d7");
}

TEST(ChainProperty, RandomDamageIsFound) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const Bytes file = small_journal(static_cast<std::uint32_t>(rng.between(1, 4))).file();
    Bytes changed = file;
    for (std::int64_t changes = rng.between(1, 4); changes > 0; --changes) {
      changed[static_cast<std::size_t>(rng.below(changed.size()))] = static_cast<std::uint8_t>(rng.below(256));
    }
    ASSERT_TRUE(changed == file || !read(changed).has_value());
  }
}

}  // namespace berth::chain_test
