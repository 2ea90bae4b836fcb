# SPDX-License-Identifier: Apache-2.0
# Checks that the test defined_once can fail, on small trees in SCRATCH.
cmake_minimum_required(VERSION 3.25)

# expect(<passes|fails> <text of b.cpp> [<what is said>]): beside a.hpp, which defines room::Price
# and room::inner::Kind.
function(expect outcome text)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/room/a.hpp
       "namespace room {\nstruct Price {\n  int of;\n};\nnamespace inner {\nenum class Kind { one };\n"
       "}  // namespace inner\n}  // namespace room\n")
  file(WRITE ${SCRATCH}/room/b.cpp "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDERS=room -DROOT=${SCRATCH} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused '${text}': ${said}")
  elseif(outcome STREQUAL "fails" AND NOT said MATCHES "${ARGN}")
    message(SEND_ERROR "let '${text}' pass (${status}): ${said}")
  endif()
endfunction()

expect(passes "namespace room {\nstruct Price;\nstruct Kind {};\n}  // namespace room\n")
expect(passes "namespace room {\nstruct Price::Impl {};\n}  // namespace room\n")
expect(passes "namespace room {\nnamespace {\nstruct Price {};\n}  // namespace\n}  // namespace room\n")
expect(passes "namespace other {\nstruct Price {};\n}  // namespace other\n")
expect(fails "namespace room {\nstruct Price {};\n}  // namespace room\n"
       "room::Price is defined in .*room/[ab].[hc]pp too")
expect(fails "namespace room {\nclass Price : Base {\n};\n}  // namespace room\n" "room::Price is")
expect(fails "namespace room {\nnamespace {\n}  // namespace\nunion Price {};\n}  // namespace room\n"
       "room::Price is")
expect(fails "namespace room::inner {\nenum class Kind : int {};\n}  // namespace room::inner\n"
       "room::inner::Kind is")
expect(fails "namespace room {\nstruct Price {};\n}\n" "room::Price is")
expect(fails "namespace room {\nstruct Other {};\nint x;\n}\n" "does not end with")
