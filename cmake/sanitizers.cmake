# SPDX-License-Identifier: Apache-2.0
#
# steelyard_sanitizers(target): builds `target` with STEELYARD_SANITIZE and STEELYARD_COVERAGE. The link
# options are part of the target's interface: who links a sanitized library needs the sanitizer too.
function(steelyard_sanitizers target)
  if(STEELYARD_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${STEELYARD_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${STEELYARD_SANITIZE})
  endif()
  if(STEELYARD_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage)
    target_link_options(${target} PUBLIC --coverage)
  endif()
endfunction()
