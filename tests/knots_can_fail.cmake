# SPDX-License-Identifier: Apache-2.0
# The test knots is worth its name only if it can fail: tries it on rings of files in SCRATCH.
cmake_minimum_required(VERSION 3.25)

# expect(<passes|fails> <number of files> [<last>]): a/1 includes a/2, and so on; the last one,
# header or source, the first.
function(expect outcome number)
  file(REMOVE_RECURSE ${SCRATCH})
  foreach(i RANGE 1 ${number})
    math(EXPR next "${i} % ${number} + 1")
    if(next EQUAL 1 AND ARGN)
      file(WRITE ${SCRATCH}/a/${i}.cpp "#include \"a/${i}.hpp\"\n${ARGN}\n")
      file(WRITE ${SCRATCH}/a/${i}.hpp "#include <vector>\n")
    else()
      file(WRITE ${SCRATCH}/a/${i}.hpp "#pragma once\n#include \"a/${next}.hpp\"\n")
    endif()
  endforeach()
  file(WRITE ${SCRATCH}/b/1.hpp "#include \"a/1.hpp\"\n")
  execute_process(COMMAND ${CMAKE_COMMAND} "-DFOLDERS=a;b" -DROOT=${SCRATCH} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused ${number} files, '${ARGN}': ${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "${number} files include each other.*a/1 ")
    message(SEND_ERROR "let ${number} files pass, '${ARGN}' (${status}): ${said}")
  endif()
endfunction()

expect(passes 4)
expect(fails 5)
expect(fails 6 "#include \"a/1.hpp\"")
expect(fails 6 "  # include \"a/1.hpp\"")
expect(passes 6 "#include \"b/1.hpp\"")
expect(passes 6 "// nothing")
