# SPDX-License-Identifier: Apache-2.0
# Fails where a room compares the name of an operator or tensor: names are for people. An operator
# does what its model::Role says. ROOT is the source tree, FOLDERS its rooms.
cmake_minimum_required(VERSION 3.25)

foreach(room IN LISTS FOLDERS)
  file(GLOB_RECURSE files ${ROOT}/${room}/*.hpp ${ROOT}/${room}/*.cpp)
  foreach(file IN LISTS files)
    file(STRINGS ${file} lines REGEX "[.>]name *[=!]= *\"|\" *[=!]= *[a-z_]+[.]name|(Operator|Kept)::name|[.>]name[.](starts|ends)_with")
    foreach(line IN LISTS lines)
      message(SEND_ERROR "${file}: a name decides: ${line}")
    endforeach()
  endforeach()
endforeach()
