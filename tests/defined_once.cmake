# SPDX-License-Identifier: Apache-2.0
# Fails if two files define a type of one name in one namespace: that is undefined behaviour when
# both are in one program, and no compiler sees it unless it reads them together. Types of anonymous
# namespaces belong to their file. ROOT is the source tree, FOLDERS its folders that are read.
# clang-format puts namespaces, and the types right inside them, at the beginning of a line, where
# this test looks for them.
cmake_minimum_required(VERSION 3.25)

foreach(folder IN LISTS FOLDERS)
  file(GLOB_RECURSE files ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    # A namespace of one line ends without a comment.
    string(REGEX REPLACE "(\nnamespace [a-z0-9_:]* ?{\n[^\n]*\n})\n" "\\1  // namespace\n" text "\n${text}")
    string(REGEX MATCHALL "\n((inline )?namespace [a-z0-9_:]* ?{|}  // namespace|(struct|class|union|enum class|enum) [A-Za-z0-9_]+( final)?( : [^;\n]*)? {)"
           lines "${text}")
    set(spaces "")  # open here, the innermost last; "-" where it has no name
    foreach(line IN LISTS lines)
      if(line MATCHES "^\n(inline )?namespace ([a-z0-9_:]*)")
        if(CMAKE_MATCH_2)
          list(APPEND spaces "${CMAKE_MATCH_2}")
        else()
          list(APPEND spaces "-")
        endif()
      elseif(line MATCHES "^\n}")
        if(NOT spaces)
          message(SEND_ERROR "${file}: a namespace ends that begins no line")
          break()
        endif()
        list(POP_BACK spaces)
      elseif(NOT "-" IN_LIST spaces)
        string(REGEX MATCH "^\n(struct|class|union|enum class|enum) ([A-Za-z0-9_]+)" _ "${line}")
        list(JOIN spaces "::" name)
        string(APPEND name "::${CMAKE_MATCH_2}")
        if(DEFINED "first_${name}")
          message(SEND_ERROR "${file}: ${name} is defined in ${first_${name}} too: "
                             "name one of them otherwise, or put it into an anonymous namespace")
        else()
          set("first_${name}" ${file})
        endif()
      endif()
    endforeach()
    if(spaces)
      message(SEND_ERROR "${file}: namespace '${spaces}' does not end with \"}  // namespace\"")
    endif()
  endforeach()
endforeach()
