# SPDX-License-Identifier: Apache-2.0
# Writes the commit that a build is made from: cmake -DSOURCE=… -DOUTPUT=commit.cpp -P
# tools/commit.cmake. Outside of a repository the commit is empty. The file stays as it is where
# nothing changed.
execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE wrong)
if(wrong)
  set(commit "")
endif()
set(text "// Made by tools/commit.cmake.\nnamespace app {\nextern const char* const commit;\nconst char* const commit = \"${commit}\";\n}  // namespace app\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
