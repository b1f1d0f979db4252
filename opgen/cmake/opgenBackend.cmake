# A backend outside of torch: kernels that it has for torch's operators, registered as a backend YAML says.
#
#     opgen_backend(<name>
#       BACKEND <file>                      the backend YAML
#       SOURCES <file>…                     the kernels, and what the device needs besides
#       [CHECK <file>…]                     the sources that define the kernels; default: SOURCES.  Each kernel
#                                           that the YAML lists must be in one of them
#       [INCLUDE_DIRECTORIES <dir>…]        where headers of yours are
#       [GENERATED_DIR <dir>]               where to write; default: <build>/generated/<name>
#       [OPTIONS <flag>…])                  further flags of `opgen gen_backend_stubs`, such as --native-yaml;
#                                           without any, operators are those of the installed torch
#
# makes a shared library `<name>` that `torch.ops.load_library` loads, and sets <name>_GENERATED_DIR.

function(opgen_backend name)
  cmake_parse_arguments(ARG "" "BACKEND;GENERATED_DIR" "SOURCES;CHECK;INCLUDE_DIRECTORIES;OPTIONS" ${ARGN})
  _opgen_find_paths("opgen_backend(${name})" BACKEND "the backend YAML")
  if(NOT ARG_CHECK)
    set(ARG_CHECK ${ARG_SOURCES})
  endif()
  if(NOT ARG_OPTIONS)
    set(ARG_OPTIONS --from-torch)
  endif()
  _opgen_find_torch()
  _opgen_find_torch_devices(cuda hip xpu)

  set(checks)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
  foreach(source IN LISTS ARG_CHECK)
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND checks --impl-path "${source}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  endforeach()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${OPGEN_PYTHON_PATH}"
      "${Python_EXECUTABLE}" -m opgen.gen_backend_stubs
      --source-yaml "${input}" --output-dir "${output}" --include-prefix "" --per-operator-headers
      --output-list "${output}/files.txt" ${checks} ${ARG_OPTIONS}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "opgen can't make the backend '${name}' of '${input}'; see above")
  endif()
  string(REPLACE "\n" "; " said "${said}")
  message(STATUS "opgen ${name}: ${said}")
  file(STRINGS "${output}/files.txt" generated REGEX "\\.cpp$")

  add_library(${name} SHARED ${generated} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC "${output}" ${ARG_INCLUDE_DIRECTORIES})
  target_link_libraries(${name} PUBLIC opgen::torch)
  # Vectors are never handed from one library to another.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi>)
  set(${name}_GENERATED_DIR "${output}" PARENT_SCOPE)
endfunction()
