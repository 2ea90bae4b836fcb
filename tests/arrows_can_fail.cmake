# SPDX-License-Identifier: Apache-2.0
# Checks that the arrows test can fail, on small trees in SCRATCH.
cmake_minimum_required(VERSION 3.25)

# expect(<passes|fails> <file> <include line in it> [<what is said>]): the rooms are low,
# middle/inner, middle that uses both, and high that uses middle and so, by transitivity, the
# others.
function(expect outcome file line)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/low/a.hpp "#pragma once\n#include <vector>\n")
  file(WRITE ${SCRATCH}/middle/inner/a.hpp "#pragma once\n")
  file(WRITE ${SCRATCH}/middle/a.hpp "#include \"low/a.hpp\"\n#include \"middle/inner/a.hpp\"\n")
  file(WRITE ${SCRATCH}/high/a.cpp "#include \"low/a.hpp\"\n#include \"middle/a.hpp\"\n")
  file(APPEND ${SCRATCH}/${file} "${line}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=low=;middle/inner=;middle=low,middle/inner;high=middle"
                          -DROOT=${SCRATCH} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused '${line}': ${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "${ARGN}")
    message(SEND_ERROR "let '${line}' pass (${status}): ${said}")
  endif()
endfunction()

expect(passes middle/b.hpp "#include \"low/a.hpp\"")
expect(passes middle/b.hpp "#include <boost/graph/adjacency_list.hpp>")
expect(passes high/b.hpp "#include \"middle/inner/a.hpp\"")
expect(passes middle/data/b.hpp "#include \"middle/a.hpp\"")
expect(fails middle/b.hpp "#include \"high/a.hpp\"" "room 'middle' may not use 'high'")
expect(fails middle/b.hpp "  # include <high/a.hpp>" "room 'middle' may not use 'high'")
expect(fails middle/b.hpp "#include \"../high/a.hpp\"" "includes start at a room")
expect(fails middle/b.hpp "#include \"low/../high/a.hpp\"" "includes start at a room")
# A sub-room has arrows of its own, whatever its room may use.
expect(fails middle/inner/b.cpp "#include \"low/a.hpp\"" "room 'middle/inner' may not use 'low'")
expect(fails middle/inner/b.cpp "#include \"middle/a.hpp\"" "room 'middle/inner' may not use 'middle'")
expect(fails low/b.cpp "#include \"middle/inner/a.hpp\"" "room 'low' may not use 'middle/inner'")

file(WRITE ${SCRATCH}/high/a.cpp "#include \"low/a.hpp\"\n")
execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=low=;middle/inner=;middle=low,middle/inner;high=low,middle"
                        -DROOT=${SCRATCH} -P ${SCRIPT} ERROR_VARIABLE said OUTPUT_QUIET)
if(NOT said MATCHES "room 'high' names 'middle'")
  message(SEND_ERROR "let an arrow pass that nothing uses: ${said}")
endif()
