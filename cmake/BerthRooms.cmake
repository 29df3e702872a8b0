# berth_room(NAME [CORE] [DEPS room ...] [TEST_DEPS room ...] [LIBS target ...])
#
# src/NAME/*.cc -> static library berth_NAME; *_test.cc -> one program NAME_test; *_bench.cc -> one program NAME_bench;
# each *_fuzz.cc -> a program of its own, and where these are not built it is compiled all the same, so that a change
# that breaks it is seen at once. One test program per room: linking GoogleTest once per file would cost more
# than compiling it.
#
# Precompiled headers serve tests and shells only; trees built by clang have none at all (CMakePresets.json).

find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(STATUS "GoogleTest is not installed: this tree has no tests")
endif()
if(BERTH_BENCH)
  find_package(benchmark REQUIRED)
endif()

enable_testing()
add_custom_target(tests)
add_custom_target(benches)
add_custom_target(fuzzers)

# A target that only carries a precompiled header for others to reuse.
function(berth_pch name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS;HEADERS")
  set(source ${CMAKE_BINARY_DIR}/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Empty: carries a precompiled header.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

set(berth_std_headers
    <algorithm> <array> <charconv> <compare> <cstdint> <expected> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <utility> <variant> <vector>)

# The files of a room some at a time, each time as one that includes them: reading the headers is most of what compiling a file
# costs. By names below src, where CMake's own unity builds write absolute ones: so all checkouts share ccache's objects.
function(berth_batches out name sources)
  if(NOT BERTH_BATCH)
    set(${out} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(batches)
  set(includes "")
  set(count 0)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src)
    string(APPEND includes "#include \"${source}\"\n")
    math(EXPR count "${count} + 1")
    math(EXPR in_batch "${count} % ${BERTH_BATCH}")
    if(in_batch EQUAL 0)
      list(APPEND batches "${includes}")
      set(includes "")
    endif()
  endforeach()
  if(includes)
    list(APPEND batches "${includes}")
  endif()
  set(files)
  set(number 0)
  foreach(batch IN LISTS batches)
    math(EXPR number "${number} + 1")
    set(file ${CMAKE_BINARY_DIR}/batches/${name}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${batch}" @ONLY)
    list(APPEND files ${file})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# The core's properties would run for an hour where nothing is optimised. These four checks are more than a third of what compiling it
# so costs, and are left out (decision 0083); reading through a null pointer ends the program under AddressSanitizer too.
function(berth_optimise_sanitized target)
  if(BERTH_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -O1 -fno-sanitize=null,alignment,object-size,vptr)
  endif()
endfunction()

function(berth_use_pch target kind)
  if(NOT BERTH_PCH)
    return()
  endif()
  if(NOT TARGET berth_${kind}_pch)
    if(kind STREQUAL "test")
      berth_pch(berth_test_pch LIBS GTest::gtest fmt::fmt HEADERS ${berth_std_headers} <gtest/gtest.h>)
    else()
      berth_pch(berth_shell_pch LIBS fmt::fmt HEADERS ${berth_std_headers} <fmt/format.h>)
    endif()
  endif()
  # The definitions that came with the header must come with its users too.
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM berth_${kind}_pch)
endfunction()

# A program beside the room's library; built when its group (tests, benches, fuzzers) is.
function(berth_side_program name group)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${group})
  if(NOT group STREQUAL "tests")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_dependencies(${group} ${name})
endfunction()

function(berth_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CORE" "" "DEPS;TEST_DEPS;LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "berth_room(${name}): '${arg_UNPARSED_ARGUMENTS}' belongs to none of CORE, DEPS, TEST_DEPS, LIBS")
  endif()
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  if(NOT IS_DIRECTORY ${dir})
    message(FATAL_ERROR "berth_room(${name}): there is no src/${name}")
  endif()
  foreach(dep IN LISTS arg_DEPS arg_TEST_DEPS)
    if(NOT TARGET berth_${dep})
      message(FATAL_ERROR "berth_room(${name}): '${dep}' is no room, or stands further down")
    endif()
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${dir}/*_test.cc)
  file(GLOB benches CONFIGURE_DEPENDS ${dir}/*_bench.cc)
  file(GLOB fuzzers CONFIGURE_DEPENDS ${dir}/*_fuzz.cc)
  if(sources)
    list(REMOVE_ITEM sources ${tests} ${benches} ${fuzzers})
  endif()

  # A room that is empty, or has headers only, is a room.
  if(sources)
    berth_batches(batches ${name} "${sources}")
    add_library(berth_${name} STATIC ${batches})
    set(scope PUBLIC)
    if(arg_CORE)
      berth_optimise_sanitized(berth_${name})
    else()
      berth_use_pch(berth_${name} shell)
    endif()
  else()
    add_library(berth_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(berth_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM arg_DEPS PREPEND berth_ OUTPUT_VARIABLE dep_targets)
  list(TRANSFORM arg_TEST_DEPS PREPEND berth_ OUTPUT_VARIABLE test_dep_targets)
  target_link_libraries(berth_${name} ${scope} ${dep_targets} ${arg_LIBS})

  if(tests AND GTest_FOUND AND NOT BERTH_FUZZ)
    berth_batches(batches ${name}_test "${tests}")
    berth_side_program(${name}_test tests SOURCES ${batches} LIBS berth_${name} ${test_dep_targets} GTest::gtest_main)
    berth_use_pch(${name}_test test)
    if(arg_CORE)
      berth_optimise_sanitized(${name}_test)
    endif()
    # One process per room, not one per case; tools/test_summary.py counts the cases from the JSON.
    add_test(NAME ${name}_test
             COMMAND ${name}_test --gtest_brief=1 --gtest_output=json:${CMAKE_BINARY_DIR}/test-results/${name}_test.json
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  endif()
  if(benches AND BERTH_BENCH)
    # With the program's allocator: what is measured is what is shipped.
    berth_side_program(${name}_bench benches SOURCES ${benches}
                       LIBS berth_${name} ${test_dep_targets} benchmark::benchmark_main ${BERTH_ALLOCATOR})
  endif()
  if(BERTH_FUZZ)
    foreach(file IN LISTS fuzzers)
      cmake_path(GET file STEM fuzzer)
      berth_side_program(${fuzzer} fuzzers SOURCES ${file} LIBS berth_${name})
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    endforeach()
  elseif(fuzzers AND NOT BERTH_SANITIZE)
    add_library(${name}_fuzz_compiled OBJECT ${fuzzers})
    target_link_libraries(${name}_fuzz_compiled PRIVATE berth_${name})
  endif()
endfunction()

# berth_app(NAME DEPS room ...): apps/*.cc -> build/<preset>/NAME.
function(berth_app name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/apps/*.cc)
  list(TRANSFORM arg_DEPS PREPEND berth_ OUTPUT_VARIABLE dep_targets)
  if(NOT sources)
    message(STATUS "apps/ has no source: no program '${name}'")
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${dep_targets} ${BERTH_ALLOCATOR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# The checks of the tree itself, as tests. Once is enough: not in the sanitizer trees.
function(berth_lint_tests)
  if(BERTH_SANITIZE)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME layers COMMAND ${Python3_EXECUTABLE} tools/check_layers.py WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  add_test(NAME lint_fails_on_planted_violations COMMAND ${Python3_EXECUTABLE} tools/check_layers_test.py
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()

# berth_e2e_tests(PROGRAM): tests/e2e/*_test.py, each with the real program and, where they need it, the real kubectl. In
# the release tree only: what they try is not what a sanitizer or another compiler would find.
function(berth_e2e_tests program)
  if(BERTH_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/e2e/*_test.py)
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM name)
    add_test(NAME e2e_${name} COMMAND ${Python3_EXECUTABLE} ${script} --berth $<TARGET_FILE:${program}>
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    # 77: there is no kubectl here.
    set_tests_properties(e2e_${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
  endforeach()
  set_tests_properties(e2e_kills_test PROPERTIES COST 300)  # the longest of them begins first
endfunction()
