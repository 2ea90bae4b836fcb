# SPDX-License-Identifier: Apache-2.0
# Fails if a folder holds more than MOST sources (.cpp, .hpp), without those of folders inside of
# it. ROOT is the source tree, FOLDERS its folders that are read.
cmake_minimum_required(VERSION 3.25)

foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  list(TRANSFORM files REPLACE "/[^/]*$" "")
  set(folders ${files})
  list(REMOVE_DUPLICATES folders)
  foreach(one IN LISTS folders)
    set(inside ${files})
    list(FILTER inside INCLUDE REGEX "^${one}$")
    list(LENGTH inside number)
    if(number GREATER MOST)
      message(SEND_ERROR "${one} holds ${number} sources; at most ${MOST}: divide it into sub-rooms")
    endif()
  endforeach()
endforeach()
