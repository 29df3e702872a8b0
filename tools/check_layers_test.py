#!/usr/bin/env python3
"""A check that cannot fail checks nothing: plants one violation of each kind in a small tree and looks at the answer."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_layers

CLEAN = {
    "CMakeLists.txt": "# berth_room(ghost) in a comment is no room\n"
                      "berth_room(base CORE)\n"
                      "berth_room(model CORE DEPS base)\n"
                      "berth_room(state CORE DEPS model)\n"
                      "berth_room(journal CORE DEPS model LIBS OpenSSL::Crypto)\n"
                      "berth_room(sim DEPS state\n           LIBS fmt::fmt)\n"
                      "berth_app(berth DEPS sim)\n",
    "src/base/assert.cc": "#include <cstdio>\nvoid f() { std::fprintf(stderr, \"x\"); }\n",
    "src/base/time.h": "#pragma once\n#include <cstdint>\n",
    "src/model/node.h": '#include "base/time.h"\n#include "model/gpu.h"\n'
                        "// A double, std::hash and getenv in a comment are words.\n"
                        'const char* kText = "float 1.5 rand() // layers: no";  /* steady_clock */\n'
                        "constexpr long kMany = 1'000'000 + 0x1e5;  const char kQuote = '\"';  int next_printf_width;\n",
    "src/model/gpu.h": 'const char* kRaw = R"(double rand() ")";\nint operand(int);\nvoid f() { operand(1); }\n',
    "src/state/ledger.cc": '#include "base/time.h"\n#include "model/node.h"\n',
    "src/state/ledger_test.cc": "#include <chrono>\n#include <gtest/gtest.h>\nconst double kHalf = 0.5;\n",
    "src/state/world_test.cc": "auto x = f(Pair{rng.below(2), rng.below(3)}, 4);\nvoid g(Rng& rng, int) { h(rng, 1); }\n",
    "src/state/shown.h": "double percent();  // layers: allow double: printed by the report, decides nothing\n",
    "src/journal/chain.cc": "#include <openssl/evp.h>\n",
    "src/sim/report.cc": '#include <fmt/format.h>\n#include <thread>\n#include "model/node.h"\nconst double kShare = 0.5;\n',
    "apps/main.cc": '#include "sim/report.h"\n#include "base/time.h"\n',
}

# (what is planted, {file: text}, words that the answer must have)
PLANTED = [
    ("an arrow upwards", {"src/model/bad.h": '#include "state/ledger.h"\n'}, "src/model/bad.h:1: model may not include"),
    ("an arrow sideways", {"src/state/bad.cc": '\n#include "journal/chain.h"\n'}, "src/state/bad.cc:2: state may not include"),
    ("an arrow of a test", {"src/base/bad_test.cc": '#include "model/node.h"\n'}, "it may know: nothing"),
    ("an include without room", {"src/state/bad.cc": '#include "ledger.h"\n'}, 'write "state/ledger.h"'),
    ("an include of no room", {"src/state/bad.cc": '#include "nowhere/x.h"\n'}, "'nowhere' is no room"),
    ("a room as a library", {"src/state/bad.cc": "#include <journal/chain.h>\n"}, "as if it were a library"),
    ("apps above their arrows", {"CMakeLists.txt": CLEAN["CMakeLists.txt"].replace("berth DEPS sim", "berth DEPS base")},
     'apps may not include "sim/report.h"'),
    ("a folder without a line", {"src/attic/x.h": "\n"}, "src/attic is no room"),
    ("a line without a folder", {"CMakeLists.txt": CLEAN["CMakeLists.txt"] + "berth_room(cli DEPS sim)\n"},
     "CMakeLists.txt:9: room 'cli' has no folder"),
    ("an arrow to nowhere", {"CMakeLists.txt": CLEAN["CMakeLists.txt"].replace("DEPS state\n", "DEPS stat\n")},
     "depends on 'stat', which is no room"),
    ("a cycle", {"CMakeLists.txt": CLEAN["CMakeLists.txt"].replace("base CORE", "base CORE DEPS state")},
     "'base' depends on itself"),
    ("a core room on a shell", {"CMakeLists.txt": CLEAN["CMakeLists.txt"].replace("journal CORE DEPS model",
                                                                                 "journal CORE DEPS sim")},
     "core room 'journal' depends on shell 'sim'"),
    ("a source too deep", {"src/state/deep/x.cc": "\n"}, "src/state/deep/x.cc:1: is not built"),
    ("a source in no room", {"src/x.cc": "\n"}, "src/x.cc:1: stands in no room"),
    ("a library unknown to the room", {"src/state/bad.cc": "#include <openssl/evp.h>\n"}, "under LIBS"),
    ("fmt in the core", {"src/state/bad.cc": "#include <fmt/format.h>\n"}, "the core includes <fmt/format.h>"),
    ("fmt in quotes", {"src/state/bad.cc": '#include "fmt/format.h"\n'}, "'fmt' is no room"),
    ("an excuse without a reason", {"src/state/bad.h": "double x;  // layers: allow double:\n"}, "excuse without a reason"),
    ("an excuse without a token", {"src/state/bad.h": "double x;  // layers: allow\n"}, "excuse without a reason"),
    ("an excuse for something else", {"src/state/bad.h": "double x;  // layers: allow float: shown only\n"},
     "bad.h:1: the core uses 'double'"),
    ("an excuse for nothing", {"src/state/bad.h": "int x;  // layers: allow double: shown only\n"}, "remove the excuse"),
    ("two types of one name", {"src/state/row.h": "struct Row {\n};\n", "src/journal/row.h": "class Row final {\n};\n"},
     "names 'Row', as src/"),
    ("two constants of one name", {"src/state/bound.h": "inline constexpr int kBound = 1;\n",
                                   "src/journal/bound.h": "inline constexpr const char* kBound = nullptr;\n"},
     "names 'kBound', as src/"),
    ("a test's arrow in a library", {"CMakeLists.txt": CLEAN["CMakeLists.txt"].replace(
        "berth_room(sim DEPS state\n", "berth_room(sim DEPS state TEST_DEPS journal\n"),
        "src/sim/bad.cc": '#include "journal/chain.h"\n'}, "src/sim/bad.cc:1: sim may not include"),
    ("two draws in one call", {"src/state/bad_test.cc": "auto x = f(\n    rng.below(2), one_of(rng, {1, 2}));\n"},
     "src/state/bad_test.cc:1: two arguments of f() are drawn"),
    ("printing outside assert.cc", {"src/base/bad.cc": "void f() { std::fprintf(stderr, \"x\"); }\n"}, "'fprintf'"),
]
PLANTED += [(f"<{header}> in the core", {"src/state/bad.h": f"#include <{header}>\n"},
             f"src/state/bad.h:1: the core includes <{header}>")
            for header in "thread mutex shared_mutex condition_variable future atomic chrono ctime time.h random fstream "
                          "iostream filesystem cstdio unistd.h sys/stat.h unordered_map unordered_set cmath".split()]
PLANTED += [(f"'{token}' in the core", {"src/state/bad.cc": f"\n\n{line}\n"}, f"src/state/bad.cc:3: the core uses '{token}'")
            for token, line in [
                ("float", "float x;"), ("double", "long double x;"), ("0.5", "auto x = 0.5;"), ("1e9", "auto x = 1e9;"),
                ("getenv", "auto x = std::getenv(\"A\");"), ("rand", "int x = rand();"),
                ("std::hash", "std::hash<int> h;"), ("system_clock", "using c = std::chrono::system_clock;"),
                ("steady_clock", "using c = steady_clock;"), ("time", "auto t = std::time(nullptr);"),
                ("snprintf", "snprintf(b, 1, \"\");"), ("printf", "printf(\"x\");"), ("std::cerr", "std::cerr << 1;"),
                ("std::unordered_map", "std::unordered_map<int, int> m;"), ("std::mutex", "std::mutex m;"),
                ("thread_local", "thread_local int x;"), ("__DATE__", "const char* d = __DATE__;"),
                ("reinterpret_cast<std::uint64_t>", "auto x = reinterpret_cast<std::uint64_t>(p);"),
                ("std::sqrt", "auto x = std::sqrt(2);"),
            ]]


def run_on(files):
    """(exit code, output) of the check in a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = check_layers.main([folder])
        return code, output.getvalue()


class CheckLayers(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        code, output = run_on(CLEAN)
        self.assertEqual(code, 0, output)
        self.assertIn("clean", output)

    def test_each_planted_violation_is_found(self):
        for what, files, words in PLANTED:
            with self.subTest(what):
                code, output = run_on(CLEAN | files)
                self.assertEqual(code, 1, output)
                for word in (words, "why:", "instead:"):
                    self.assertIn(word, output)

    def test_all_are_reported_at_once(self):
        _, output = run_on(CLEAN | {"src/state/bad.h": "#include <chrono>\n#include <thread>\ndouble x;\n"})
        self.assertIn("3 violations", output)

    def test_a_shell_and_a_test_may_do_what_the_core_may_not(self):
        impure = "#include <chrono>\n#include <unordered_map>\ndouble x = 0.5;\n"
        code, output = run_on(CLEAN | {"src/sim/clock.cc": impure, "src/state/x_test.cc": impure})
        self.assertEqual(code, 0, output)

    def test_what_tests_share_may_include_what_they_may(self):
        room = CLEAN["CMakeLists.txt"].replace("DEPS state\n", "DEPS base TEST_DEPS state\n")
        shared = '#include "state/shown.h"\n'
        bare = {name: text for name, text in CLEAN.items() if not name.startswith(("src/sim/", "apps/"))}
        code, output = run_on(bare | {"CMakeLists.txt": room, "src/sim/stage_test.h": shared})
        self.assertEqual(code, 0, output)
        code, output = run_on(bare | {"CMakeLists.txt": room, "src/sim/stage.h": shared})
        self.assertNotEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
