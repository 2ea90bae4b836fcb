# SPDX-License-Identifier: Apache-2.0
# Checks that the test of folders can fail, on a small tree in SCRATCH.
cmake_minimum_required(VERSION 3.25)

# expect(<passes|fails> <most sources of a folder>): the folder room holds three sources, room/inner two.
function(expect outcome most)
  file(REMOVE_RECURSE ${SCRATCH})
  foreach(name a.hpp a.cpp b.cpp c.yaml inner/a.hpp inner/a.cpp)
    file(WRITE ${SCRATCH}/room/${name} "")
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDERS=room -DROOT=${SCRATCH} -DMOST=${most} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused at most ${most}: ${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "room holds 3 sources; at most ${most}")
    message(SEND_ERROR "let three sources pass, at most ${most}: ${said}")
  endif()
endfunction()

expect(passes 3)
expect(fails 2)
expect(fails 1)
