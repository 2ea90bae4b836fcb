# SPDX-License-Identifier: Apache-2.0
# The module stepcast of Python: the package beside the file that is compiled for it. Made where Python's
# headers and pybind11 are there; pip install needs it and says so where they are not.
option(STEPCAST_PYTHON "Build the module of Python, if Python's headers and pybind11 are there" ON)
if(STEPCAST_PYTHON)
  find_package(Python3 QUIET COMPONENTS Interpreter Development.Module)
  find_package(pybind11 QUIET CONFIG)
endif()
if(NOT Python3_Development.Module_FOUND OR NOT pybind11_FOUND)
  return()
endif()
Python3_add_library(stepcast_python MODULE WITH_SOABI python/module.cpp python/arrow.cpp)
target_link_libraries(stepcast_python PRIVATE library pybind11::headers)
target_compile_options(stepcast_python PRIVATE ${STEPCAST_WARNINGS})
target_link_options(stepcast_python PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/python/exports.map)
set(STEPCAST_PYTHON_PACKAGE ${PROJECT_BINARY_DIR}/python)
set_target_properties(stepcast_python PROPERTIES OUTPUT_NAME _core
                      LIBRARY_OUTPUT_DIRECTORY ${STEPCAST_PYTHON_PACKAGE}/stepcast)
# A package that can be imported from the build: PYTHONPATH=build/python.
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/stepcast/* ${PROJECT_SOURCE_DIR}/tools/make_stubs.py)
set_property(TARGET stepcast_python APPEND PROPERTY LINK_DEPENDS "${python_sources}")
add_custom_command(TARGET stepcast_python POST_BUILD
                   COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/python/stepcast
                           ${STEPCAST_PYTHON_PACKAGE}/stepcast
                   COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${STEPCAST_PYTHON_PACKAGE} ${Python3_EXECUTABLE}
                           ${PROJECT_SOURCE_DIR}/tools/make_stubs.py
                           ${STEPCAST_PYTHON_PACKAGE}/stepcast/_results.pyi)
