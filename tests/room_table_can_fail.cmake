# SPDX-License-Identifier: Apache-2.0
# Checks that the test of the table of rooms can fail, on a page in SCRATCH.
cmake_minimum_required(VERSION 3.25)

set(arrows "low=;middle/inner=;high=low,middle/inner")
set(right "| low |  | Is below [all]; really. |\n| middle/inner |  | Says a | b. |\n| high | low, middle/inner | Tops |\n")

# expect(<passes|fails> <rows>): a page whose table has these rows. The page passes once it is
# written.
function(expect outcome rows)
  set(page ${SCRATCH}/page.md)
  file(WRITE ${page} "# Page\n\n| room | uses | what |\n| --- | --- | --- |\n${rows}\nMore; [text].\n")
  execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=${arrows}" -DPAGE=${page} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused:\n${rows}${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "is not what CMakeLists.txt says|no table")
    message(SEND_ERROR "let pass:\n${rows}(${status}): ${said}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=${arrows}" -DPAGE=${page} -DWRITE=ON -P ${SCRIPT}
                  OUTPUT_QUIET ERROR_QUIET)
  file(READ ${page} text)
  if(outcome STREQUAL "passes" AND NOT text MATCHES "Is below .all.; really")
    message(SEND_ERROR "writing lost what stood there:\n${text}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=${arrows}" -DPAGE=${page} -P ${SCRIPT}
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "refused what it wrote:\n${text}")
  endif()
endfunction()

expect(passes "${right}")
string(REPLACE "| high | low, middle/inner |" "| high | low |" fewer "${right}")
expect(fails "${fewer}")
string(REPLACE "| low |  |" "| low | high |" more "${right}")
expect(fails "${more}")
string(REPLACE "| low |  | Is below [all]; really. |\n" "" missing "${right}")
expect(fails "${missing}")
string(REPEAT "line\n" 80 many)
file(WRITE ${SCRATCH}/page.md "# Page\n\n| room | uses | what |\n| --- | --- | --- |\n${right}\n${many}")
execute_process(COMMAND ${CMAKE_COMMAND} "-DARROWS=${arrows}" -DPAGE=${SCRATCH}/page.md -P ${SCRIPT}
                RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
if(NOT said MATCHES "has [0-9]+ lines")
  message(SEND_ERROR "let a long page pass (${status}): ${said}")
endif()
expect(fails "${right}| gone |  | Is no room. |\n")
