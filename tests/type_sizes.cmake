# SPDX-License-Identifier: Apache-2.0
# Fails if a type with invariants, which has something private, has more than 15 data members or 30
# member functions: a description, what runs it and its result are types of their own. Plain values,
# all public, may have any number of members. ROOT is the source tree, FOLDERS its folders that are
# read. EXCEPTIONS are "FILE:TYPE=REASON", at most four; one that is not needed fails too.
cmake_minimum_required(VERSION 3.25)
set(most_data 15)
set(most_functions 30)

list(LENGTH EXCEPTIONS exceptions)
if(exceptions GREATER 4)
  message(SEND_ERROR "${exceptions} exceptions, at most 4")
endif()
set(excepted "")
foreach(entry IN LISTS EXCEPTIONS)
  if(NOT entry MATCHES "^([^=]+)=.")
    message(SEND_ERROR "an exception needs a reason: ${entry}")
  endif()
  string(REGEX REPLACE "=.*" "" type "${entry}")
  list(APPEND excepted "${type}")
endforeach()

foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  if(NOT files)
    continue()
  endif()
  execute_process(COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/type_sizes.awk ${files} WORKING_DIRECTORY ${ROOT}
                  OUTPUT_VARIABLE types COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+ invariant\n" types "${types}")
  foreach(line IN LISTS types)
    string(REGEX MATCH "^([^ ]+) ([^ ]+) ([0-9]+) ([0-9]+)" _ "${line}")
    set(type "${CMAKE_MATCH_1}:${CMAKE_MATCH_2}")
    if(CMAKE_MATCH_3 LESS_EQUAL most_data AND CMAKE_MATCH_4 LESS_EQUAL most_functions)
      continue()
    endif()
    if(type IN_LIST excepted)
      list(REMOVE_ITEM excepted "${type}")
    else()
      message(SEND_ERROR "${type} has ${CMAKE_MATCH_3} data members and ${CMAKE_MATCH_4} member "
                         "functions, at most ${most_data} and ${most_functions}")
    endif()
  endforeach()
endforeach()
foreach(type IN LISTS excepted)
  message(SEND_ERROR "${type} needs no exception")
endforeach()
