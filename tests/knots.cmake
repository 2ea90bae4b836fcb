# SPDX-License-Identifier: Apache-2.0
# Fails if more than four files of a room are a knot: each includes the others, directly or through
# others, so that none can be read, tested or changed alone. A header and its source count as one.
# ROOT is the source tree, FOLDERS the rooms that are read of it.
cmake_minimum_required(VERSION 3.25)
set(most 4)

foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  if(NOT files)
    continue()
  endif()
  execute_process(COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/knots.awk ${files} WORKING_DIRECTORY ${ROOT}
                  OUTPUT_VARIABLE knots COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" knots "${knots}")
  foreach(knot IN LISTS knots)
    string(REGEX MATCH "^([0-9]+) (.*)" _ "${knot}")
    if(CMAKE_MATCH_1 GREATER most)
      message(SEND_ERROR "${CMAKE_MATCH_1} files include each other, at most ${most}: ${CMAKE_MATCH_2}")
    endif()
  endforeach()
endforeach()
