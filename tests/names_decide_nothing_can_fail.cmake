# SPDX-License-Identifier: Apache-2.0
# Checks that the test names_decide_nothing can fail, in SCRATCH.
cmake_minimum_required(VERSION 3.25)

function(expect outcome line)
  file(REMOVE_RECURSE ${SCRATCH})
  file(WRITE ${SCRATCH}/room/a.cpp "${line}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DFOLDERS=room -DROOT=${SCRATCH} -P ${SCRIPT}
                  RESULT_VARIABLE status ERROR_QUIET OUTPUT_QUIET)
  if(outcome STREQUAL "passes" AND NOT status EQUAL 0)
    message(SEND_ERROR "refused '${line}'")
  elseif(outcome STREQUAL "fails" AND status EQUAL 0)
    message(SEND_ERROR "let '${line}' pass")
  endif()
endfunction()

expect(passes "Operator op{.name = \"router\", .role = Role::router};")
expect(passes "if (one.dataset == dataset.name) return;")
expect(fails "if (op.name == \"LM head\") op.parameters = 0;")
expect(fails "if (op->name != \"LM head\") return;")
expect(fails "return \"router\" == op.name;")
expect(fails "return op.name.starts_with(\"expert\");")
expect(fails "std::ranges::find(layer, name, &model::Operator::name);")
