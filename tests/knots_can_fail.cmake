# SPDX-License-Identifier: Apache-2.0
# Checks that the test of knots can fail, on small trees in SCRATCH.
cmake_minimum_required(VERSION 3.25)

# expect(<passes|fails> <most files of a knot> <file> <file that it includes> [...]): a.hpp includes
# b.hpp, whose source includes c.hpp, which two.hpp includes as well; other/bottom.hpp is below all.
function(expect outcome most)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/room/a.hpp "#include \"room/b.hpp\"\n")
  file(WRITE ${SCRATCH}/room/b.hpp "#include <vector>\n#include \"other/bottom.hpp\"\n")
  file(WRITE ${SCRATCH}/room/b.cpp "#include \"room/b.hpp\"\n#include \"room/c.hpp\"\n")
  file(WRITE ${SCRATCH}/room/c.hpp "#include \"other/bottom.hpp\"\n")
  file(WRITE ${SCRATCH}/room/two.hpp "#include \"room/c.hpp\"\n")
  file(WRITE ${SCRATCH}/other/bottom.hpp "")
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs file included)
    file(APPEND ${SCRATCH}/${file} "#include \"${included}\"\n")
  endwhile()
  execute_process(COMMAND ${CMAKE_COMMAND} "-DFOLDERS=room;other" -DROOT=${SCRATCH} -DMOST=${most} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused '${ARGN}', at most ${most}: ${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "3 files include each other, at most ${most}: room/a room/b room/c")
    message(SEND_ERROR "let '${ARGN}' pass, at most ${most}: ${said}")
  endif()
endfunction()

expect(passes 1)
expect(fails 2 room/c.hpp room/a.hpp)
expect(passes 3 room/c.hpp room/a.hpp)
expect(fails 2 room/c.cpp room/a.hpp)  # a source that includes another's header closes the circle too
# Two circles, and the files between them, are no larger knot.
expect(fails 2 room/c.hpp room/a.hpp room/c.hpp other/up.hpp other/up.hpp other/bottom.hpp other/bottom.hpp other/last.hpp
       other/last.hpp other/bottom.hpp)
expect(passes 3 room/c.hpp room/a.hpp room/c.hpp other/up.hpp other/up.hpp other/bottom.hpp other/bottom.hpp other/last.hpp
       other/last.hpp other/bottom.hpp)
