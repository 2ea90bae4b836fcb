# SPDX-License-Identifier: Apache-2.0
# The arrows test is worth its name only if it can fail: tries it on small trees in SCRATCH.
cmake_minimum_required(VERSION 3.25)

# expect(<passes|fails> <include line in middle/a.hpp> [<what is said>]): the rooms are low, middle
# that uses low, and high that uses middle and so, by transitivity, low.
function(expect outcome line)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/low/a.hpp "#pragma once\n#include <vector>\n")
  file(WRITE ${SCRATCH}/middle/a.hpp "#pragma once\n${line}\n")
  file(WRITE ${SCRATCH}/high/a.cpp "#include \"low/a.hpp\"\n#include \"middle/a.hpp\"\n")
  execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=low=;middle=low;high=middle" -DROOT=${SCRATCH}
                          -P ${SCRIPT} RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused '${line}': ${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "${ARGN}")
    message(SEND_ERROR "let '${line}' pass (${status}): ${said}")
  endif()
endfunction()

expect(passes "#include \"low/a.hpp\"")
expect(passes "#include <boost/graph/adjacency_list.hpp>")
expect(fails "#include \"high/a.hpp\"" "room 'middle' may not use 'high'")
expect(fails "  # include <high/a.hpp>" "room 'middle' may not use 'high'")
expect(fails "#include \"../high/a.hpp\"" "includes start at a room")
