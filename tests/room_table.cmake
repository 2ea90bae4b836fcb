# SPDX-License-Identifier: Apache-2.0
# The table of rooms in PAGE, a Markdown file: "| room | uses | what it is |", one row for each room of
# ARROWS ("sim=units,topology"), in their order. Fails if the first two columns are not what ARROWS say;
# with -DWRITE=ON it writes them, and leaves what people wrote into the third.
cmake_minimum_required(VERSION 3.25)

file(READ ${PAGE} page)
string(REGEX MATCH "\n[|] room [|] uses [|][^\n]*\n[|] --- [|][^\n]*\n([|][^\n]*\n)*" table "${page}")
string(REGEX MATCH "^\n[^\n]*\n[^\n]*\n" made "${table}")
if(NOT made)
  message(FATAL_ERROR "${PAGE}: no table that begins with '| room | uses |'")
endif()
foreach(entry IN LISTS ARROWS)
  string(REGEX MATCH "^([^=]+)=(.*)$" _ "${entry}")
  set(room "${CMAKE_MATCH_1}")
  string(REPLACE "," ", " uses "${CMAKE_MATCH_2}")
  set(is "")
  if(table MATCHES "\n[|] ${room} [|][^|\n]*[|] ([^\n]*) [|]\n")
    set(is "${CMAKE_MATCH_1} ")
  endif()
  string(APPEND made "| ${room} | ${uses} | ${is}|\n")
endforeach()
if(made STREQUAL table)
  return()
endif()
if(WRITE)
  string(REPLACE "${table}" "${made}" page "${page}")
  file(WRITE ${PAGE} "${page}")
else()
  message(SEND_ERROR "${PAGE}: the table of rooms is not what CMakeLists.txt says; "
                     "'cmake --build build --target room_table' writes:\n${made}")
endif()
