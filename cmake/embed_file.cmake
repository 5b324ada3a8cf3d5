# SPDX-License-Identifier: Apache-2.0
#
# steelyard_embed_file(target FILE symbol) compiles a text file into `target`, declared as
#
#   namespace steelyard { extern const std::string_view symbol; }
#
# The file is read again when it changes. This script is also the command that writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" content)
  # Compilers need not take a longer literal than 65,536 characters; adjacent literals are joined.
  set(literals "")
  string(LENGTH "${content}" length)
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${content}" ${begin} 16000 part)
    string(APPEND literals "R\"embedded(${part})embedded\"\n")
    math(EXPR begin "${begin} + 16000")
  endwhile()
  file(WRITE "${OUTPUT}"
       "#include <string_view>\nnamespace steelyard {\nextern const std::string_view ${SYMBOL};\n"
       "const std::string_view ${SYMBOL} =\n${literals};\n}\n")
  return()
endif()

set(STEELYARD_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(steelyard_embed_file target file symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc)
  cmake_path(ABSOLUTE_PATH file OUTPUT_VARIABLE input)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${input} -DOUTPUT=${output} -DSYMBOL=${symbol}
            -P ${STEELYARD_EMBED_SCRIPT}
    DEPENDS ${input} ${STEELYARD_EMBED_SCRIPT}
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
