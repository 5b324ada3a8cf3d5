# SPDX-License-Identifier: Apache-2.0
#
# steelyard_warnings(target): the warnings that all of our own code is built with.
function(steelyard_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wconversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual
    -Wextra-semi
    $<$<BOOL:${STEELYARD_WARNINGS_AS_ERRORS}>:-Werror>)
  if(STEELYARD_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The checks that a sanitizer inserts hide from GCC that a value is set on every path.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()
