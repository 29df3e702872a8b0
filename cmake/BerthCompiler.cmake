# How our code is compiled, in every tree. What differs between trees comes from CMakePresets.json through
# BERTH_SANITIZE and CMAKE_BUILD_TYPE.

set(BERTH_SANITIZE "" CACHE STRING "empty, address (with undefined), thread, or fuzzer (clang only)")
set_property(CACHE BERTH_SANITIZE PROPERTY STRINGS "" address thread fuzzer)
option(BERTH_BENCH "Configure the *_bench targets (needs Google Benchmark); built by the target 'benches' only" OFF)
option(BERTH_FUZZ "Configure the *_fuzz targets (clang only); built by the target 'fuzzers' only" OFF)
option(BERTH_PCH "Precompiled headers for tests and shells" ON)
set(BERTH_BATCH 0 CACHE STRING "So many files of a room are compiled as one; 0: each for itself")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(BERTH_FUZZ AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "BERTH_FUZZ needs clang (libFuzzer): use the preset 'fuzz'")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# No NDEBUG anywhere: our assertions are on in production. -g1: a stack trace with lines at a tenth of the size.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ splits functions into hot and cold parts, some of them empty, and lld keeps one unwind entry for an address: where
  # an empty part and the cold part of another function begin together, an exception finds no way and ends the program.
  add_compile_options(-fno-reorder-blocks-and-partition)
  # g++ 12 takes "text" + std::string for overlapping memory (GCC bug 105651), and a short std::string's own buffer for
  # one that is passed (105329); both fixed in 13.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  # The instrumented code hides initialisations and lengths from the optimiser; the uninstrumented tree has these on.
  if(BERTH_SANITIZE)
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow)
  endif()
else()
  # clang reports a deprecated call inside libstdc++ 12's own stable_sort; ours are found by g++.
  add_compile_options(-Wno-deprecated-declarations)
endif()

# __FILE__ in an assertion and the lines in a stack trace say src/base/..., wherever the tree lies. The second map is
# for ccache, which hands the compiler relative paths when two checkouts share one cache.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=../../=)

# -fPIE by hand rather than CMAKE_POSITION_INDEPENDENT_CODE: that gives libraries -fPIC and programs -fPIE, and g++
# refuses a precompiled header made with the other one. We build no shared libraries.
add_compile_options(-fPIE -fstack-protector-strong)
add_link_options(-pie -Wl,-z,relro,-z,now -Wl,--as-needed)

if(BERTH_SANITIZE STREQUAL "address")
  # Not optimised it finds the same, and compiles in less than half of the time that -O1 takes; for the core see BerthRooms.cmake.
  add_compile_options(-O0 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BERTH_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(BERTH_SANITIZE STREQUAL "fuzzer")
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(BERTH_SANITIZE)
  message(FATAL_ERROR "BERTH_SANITIZE: '${BERTH_SANITIZE}' is none of address, thread, fuzzer")
endif()

if(BERTH_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Index and iterator checks of the standard library, and our own that cost as much as what they check: a cycle hashes
  # the state before and after.
  add_compile_definitions(_GLIBCXX_ASSERTIONS BERTH_CHECKED)
else()
  # Needs optimisation, and gets in the sanitizers' way.
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()

# The server's threads free what others allocated, small and by the thousand: with glibc's allocator that is a quarter of
# the processor time of a busy control plane (docs/performance.md). The sanitizers bring their own.
if(NOT BERTH_SANITIZE)
  find_library(BERTH_ALLOCATOR jemalloc REQUIRED)
endif()

# lld links in a fraction of the time of GNU ld. Debian's lld-19 has no plain ld.lld on the path; g++ finds it by -B.
find_program(BERTH_LLD ld.lld HINTS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
if(BERTH_LLD)
  cmake_path(GET BERTH_LLD PARENT_PATH berth_lld_dir)
  add_link_options(-fuse-ld=lld -B${berth_lld_dir})
endif()

find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BERTH_CCACHE})
  # ccache's manual, "Precompiled headers"; the other half, CCACHE_SLOPPINESS, is set by ./dev.
  if(BERTH_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(BERTH_PCH)
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()
