# SPDX-License-Identifier: Apache-2.0
# Checks that the test type_sizes can fail, on a small type in SCRATCH, and counts the members of
# types that are hard to read.
cmake_minimum_required(VERSION 3.25)

function(run text)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/room/a.hpp "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDERS=room -DROOT=${SCRATCH} "-DEXCEPTIONS=${ARGN}"
                          -P ${SCRIPT} RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \t\r\n]+" " " said "${said}")
  set(status "${status}" PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()
function(passes text)
  run("${text}" ${ARGN})
  if(NOT status EQUAL 0)
    message(SEND_ERROR "refused '${text}': ${said}")
  endif()
endfunction()
function(fails text what)
  run("${text}" ${ARGN})
  if(NOT said MATCHES "${what}")
    message(SEND_ERROR "let '${text}' pass (${status}): ${said}")
  endif()
endfunction()
# counts(<text> <line of the reader, but for the file>)
function(counts text expected)
  file(WRITE ${SCRATCH}/one.hpp "${text}")
  string(REGEX REPLACE "cmake$" "awk" reader "${SCRIPT}")
  execute_process(COMMAND awk -f ${reader} one.hpp WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE said)
  if(NOT said STREQUAL "one.hpp ${expected}\n")
    message(SEND_ERROR "'${text}' is read as ${said}, not ${expected}")
  endif()
endfunction()

set(fifteen "")
set(thirty "")
foreach(i RANGE 1 15)
  string(APPEND fifteen "  int a${i}_;\n")
  string(APPEND thirty "  void f${i}();\n  int g${i}(int x) const { return x; }\n")
endforeach()
passes("class A {\n public:\n${thirty} private:\n${fifteen}};\n")
passes("struct A {\n${fifteen}  int one_more;\n};\n")
fails("class A {\n${fifteen}  int one_more;\n};\n" "room/a.hpp:A has 16 data members and 0 member functions")
fails("class A {\n public:\n${thirty}  void one_more();\n private:\n  int a_;\n};\n"
      "room/a.hpp:A has 1 data members and 31 member functions")
fails("struct Outer::Impl {\n${fifteen}  int one_more;\n};\n" "Outer::Impl has 16")
fails("class A {\n  class B {\n${fifteen}  int one_more;\n};\n};\n" "A.B has 16")
passes("class A {\n${fifteen}  int one_more;\n};\n" "room/a.hpp:A=one algorithm")
fails("class A {\n${fifteen}  int one_more;\n};\n" "needs a reason" "room/a.hpp:A")
fails("class A {\n${fifteen}};\n" "A needs no exception" "room/a.hpp:A=one algorithm")
fails("class A {\n${fifteen}};\n" "5 exceptions" "a:A=b" "a:B=b" "a:C=b" "a:D=b" "a:E=b")

counts("struct A {};\n" "A 0 0 plain")
counts("struct A {\n  int a, b = 2;\n  double c{3};\n};\n" "A 3 0 plain")
counts("struct A {\n  std::map<int, std::pair<int, int>> a;\n  std::function<int(int, int)> b = {};\n};\n"
       "A 2 0 plain")
counts("class A {\n  int a = f(1, 2);\n  // int no;\n  /* int\n  no; */ char b = ';';\n  std::string c{\"int d;\"};\n};\n"
       "A 3 0 invariant")
counts("class A : B<C> {\n public:\n  explicit A(int a) : a_{a}, b_(a) { f(); }\n  A(const A&) = delete;\n  ~A();\n private:\n  const int a_, b_;\n};\n"
       "A 2 2 invariant")
counts("class A {\n public:\n  static constexpr int no = 1;\n  using B = int;\n  enum class C { one, two };\n  friend bool operator==(const A&, const A&) = default;\n  bool operator<(const A& o) const { return a < o.a; }\n  template <class D>\n  void f(D d, int e = 1) const;\n};\n"
       "A 0 2 plain")
counts("class A {\n  struct B;\n  enum C { one } c = one;\n  int d = [] { return 1; }();\n  std::array<int, 2> e{{1, 2}};\n};\n"
       "A 3 0 invariant")
