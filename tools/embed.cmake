# SPDX-License-Identifier: Apache-2.0
# embed(<variable>): writes one source file that carries every file of scenarios/catalog inside the
# program, declared in scenarios/catalog_files.hpp. The assembler reads the files (.incbin), so that
# compiling stays fast whatever their size. Paths are relative to the catalog and sorted.
function(embed variable)
  set(catalog ${PROJECT_SOURCE_DIR}/scenarios/catalog)
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS RELATIVE ${catalog} ${catalog}/*.yaml ${catalog}/*.csv
       ${catalog}/*.json)
  list(SORT paths COMPARE STRING)
  set(EMBED_ASSEMBLY "")
  set(EMBED_BOUNDS "")
  set(EMBED_FILES "")
  set(files "")
  set(number 0)
  foreach(path IN LISTS paths)
    set(name stepcast_catalog_${number})
    string(APPEND EMBED_ASSEMBLY "${name}: .incbin \"${catalog}/${path}\"\n${name}_end:\n")
    string(APPEND EMBED_BOUNDS "extern const char ${name}[], ${name}_end[];\n")
    string(APPEND EMBED_FILES "      {\"${path}\", between(${name}, ${name}_end)},\n")
    list(APPEND files ${catalog}/${path})
    math(EXPR number "${number} + 1")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/catalog_files.cpp)
  if(paths)
    configure_file(${PROJECT_SOURCE_DIR}/tools/catalog_files.cpp.in ${source} @ONLY)
  else()
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// SPDX-License-Identifier: Apache-2.0
#include \"scenarios/catalog_files.hpp\"
namespace scenarios {
std::span<const CatalogFile> catalog_files() { return {}; }
}  // namespace scenarios
")
  endif()
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}"
                                                   SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

# embed_page(<variable>): the same for the built page, declared in report/page/page_parts.hpp.
function(embed_page variable)
  set(EMBED_PAGE ${PROJECT_SOURCE_DIR}/report/page/template.html)
  set(source ${PROJECT_BINARY_DIR}/page_template.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/tools/page_template.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${EMBED_PAGE}
                                                   SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

# embed_intervals(<variable>): the error bars of scenarios/catalog/intervals.yaml as constants, declared
# in scenarios/intervals.hpp.
function(embed_intervals variable)
  set(table ${PROJECT_SOURCE_DIR}/scenarios/catalog/intervals.yaml)
  set(source ${PROJECT_BINARY_DIR}/catalog_intervals.cpp)
  add_executable(interval_constants ${PROJECT_SOURCE_DIR}/tools/interval_constants.cpp)
  target_compile_options(interval_constants PRIVATE ${STEPCAST_WARNINGS})
  target_link_libraries(interval_constants PRIVATE yaml-cpp)
  add_custom_command(OUTPUT ${source} COMMAND interval_constants ${source} ${table}
                     DEPENDS interval_constants ${table} VERBATIM)
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

# embed_rates(<variable>): the rate surfaces of scenarios/catalog/rates as constants, declared in
# topology/rate_surface.hpp. A small program of this build turns them into C++.
function(embed_rates variable)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenarios/catalog/rates/*.rates)
  list(SORT files COMPARE STRING)
  set(source ${PROJECT_BINARY_DIR}/measured_rates.cpp)
  add_executable(rate_constants ${PROJECT_SOURCE_DIR}/tools/rate_constants.cpp)
  target_compile_options(rate_constants PRIVATE ${STEPCAST_WARNINGS})
  add_custom_command(OUTPUT ${source} COMMAND rate_constants ${source} ${files}
                     DEPENDS rate_constants ${files} VERBATIM)
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

# embed_job_tables(<variable>): the same for the tables of arguments, declared in
# scenarios/jobs/table_files.hpp.
function(embed_job_tables variable)
  set(folder ${PROJECT_SOURCE_DIR}/scenarios/jobs/tables)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.csv ${folder}/*.yaml)
  list(SORT files COMPARE STRING)
  set(EMBED_ASSEMBLY "")
  set(EMBED_BOUNDS "")
  set(EMBED_FILES "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    set(symbol stepcast_job_table_${name})
    string(APPEND EMBED_ASSEMBLY "${symbol}: .incbin \"${file}\"\n${symbol}_end:\n")
    string(APPEND EMBED_BOUNDS "extern const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND EMBED_FILES "      {\"${name}\", table_between(${symbol}, ${symbol}_end)},\n")
  endforeach()
  set(source ${PROJECT_BINARY_DIR}/job_tables.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/tools/job_tables.cpp.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}"
                                                   SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()
