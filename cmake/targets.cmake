# SPDX-License-Identifier: Apache-2.0
#
# What every target of ours has in common.

# Builds `target`, C++20, with our warnings and sanitizers. Files include each other as
# "steelyard/op.h" (public) and "ops/registry.h" (within src).
function(steelyard_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  steelyard_warnings(${target})
  steelyard_sanitizers(${target})
endfunction()

# steelyard_library(NAME SOURCES file... [PUBLIC library...] [PRIVATE library...])
#
# One folder of src/ as the static library steelyard::NAME. PUBLIC names what its headers include,
# PRIVATE what only its sources do; both only to the left in the direction of dependency, which
# tools/check_layers.py knows.
function(steelyard_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;PUBLIC;PRIVATE")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "steelyard_library(${name}): not understood: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(target steelyard_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(steelyard::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  steelyard_target(${target})
  install(TARGETS ${target} EXPORT steelyard-targets)
endfunction()

# steelyard_test(FOLDER SOURCES file... [LIBRARIES library...])
#
# The tests of one folder of src/: one program, one ctest entry for each of its tests. Eight files are
# compiled as one and nothing is optimized: a test's time is the compiler's, which reads the same
# headers for every file.
function(steelyard_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBRARIES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "steelyard_test(${folder}): not understood: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(target ${folder}_test)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE steelyard::${folder} ${ARG_LIBRARIES} GTest::gmock
                                          GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE STEELYARD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  steelyard_target(${target})
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # A parameter's value is left out of the name: where it is a path, the name would be the machine's.
  gtest_discover_tests(${target} TEST_PREFIX unit.${folder}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS unit TIMEOUT 60)
endfunction()

# steelyard_fuzzer(NAME SOURCES file... LIBRARIES library...)
function(steelyard_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBRARIES")
  set(target fuzz_${name})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  steelyard_target(${target})
endfunction()
