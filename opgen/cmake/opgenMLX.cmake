# Operators of MLX, as a Python package.
#
#     find_package(opgen CONFIG REQUIRED)   # cmake -Dopgen_DIR="$(python -m opgen --cmake-dir)" …
#     opgen_mlx_extension(mylib
#       DEFINITIONS ops                     # ops/mlx_ops.yaml
#       INCLUDE_DIRECTORIES src)            # src/kernels.h
#
# makes the package `mylib` in <build>/python: its module `_ext` (the target `mylib`), and stubs of that.
#
#     opgen_mlx_extension(<name>
#       DEFINITIONS <dir>                   folder of mlx_ops.yaml
#       [SOURCES <file>…]                   functions of composite operators, and what kernels need besides
#       [INCLUDE_DIRECTORIES <dir>…]        where kernels.h and kernels_metal.h are
#       [GENERATED_DIR <dir>]               where to write; default: <build>/generated/<name>
#       [NO_STUBS]                          make no stubs for type checkers
#       [OPTIONS <flag>…])                  further flags of `opgen gen_mlx`
#
# It sets these in the caller's scope:
#     <name>_GENERATED_DIR                  where the generated files are
#     <name>_PYTHON_DIR                     the folder that the Python package is in, for PYTHONPATH
#
# mlx and nanobind are those of the Python that runs opgen. They have to match, or arrays couldn't be passed to the
# module: if they don't, this stops and says which nanobind to install. With CMAKE_LIBRARY_OUTPUT_DIRECTORY, which
# setup.py sets (opgen.mlx_extension), the package is made in that folder.

# Asks a Python module where its CMake package is.
function(_opgen_ask_python result module flag)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m "${module}" "${flag}"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${Python_EXECUTABLE} has no ${module}:\n${said}")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Runs opgen if anything that it reads has changed.
function(_opgen_generate_mlx name definitions output flags)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${definitions}/mlx_ops.yaml")
  set(paths "${OPGEN_PYTHON_PATH}")
  if(DEFINED ENV{PYTHONPATH} AND NOT WIN32)
    string(PREPEND paths "$ENV{PYTHONPATH}:") # mlx and nanobind may be there
  endif()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${paths}"
      "${Python_EXECUTABLE}" -m opgen.gen_mlx --check-nanobind
      --source-path "${definitions}" --install-dir "${output}" --namespace "${name}"
      --depfile "${output}/depfile" --stamp "${output}/stamp" ${flags}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "opgen can't make the operators '${name}' of '${definitions}'; see above")
  endif()
  message(STATUS "opgen ${name}: ${said}")
  _opgen_depend_on("${output}/depfile" "${definitions}")
endfunction()

# The kernels of Metal: a library beside the module, and the code that runs it.
function(_opgen_add_metal name output package includes)
  if(NOT MLX_BUILD_METAL OR NOT EXISTS "${output}/metal.cpp")
    return()
  endif()
  target_sources(${name} PRIVATE "${output}/metal.cpp")
  target_compile_definitions(${name} PRIVATE OPGEN_MLX_METAL)
  mlx_build_metallib(
    TARGET ${name}_metal
    TITLE ${name}
    SOURCES "${output}/kernels.metal"
    INCLUDE_DIRS "${output}" ${includes} ${MLX_INCLUDE_DIRS}
    OUTPUT_DIRECTORY "${package}")
  add_dependencies(${name} ${name}_metal)
endfunction()

function(opgen_mlx_extension name)
  cmake_parse_arguments(ARG "NO_STUBS" "DEFINITIONS;GENERATED_DIR" "SOURCES;INCLUDE_DIRECTORIES;OPTIONS" ${ARGN})
  _opgen_find_paths("opgen_mlx_extension(${name})" DEFINITIONS "the folder of mlx_ops.yaml")
  if(CMAKE_LIBRARY_OUTPUT_DIRECTORY)
    get_filename_component(package "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  else()
    set(package "${CMAKE_CURRENT_BINARY_DIR}/python/${name}")
  endif()
  set(includes)
  foreach(folder IN LISTS ARG_INCLUDE_DIRECTORIES)
    get_filename_component(folder "${folder}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND includes "${folder}")
  endforeach()
  _opgen_generate_mlx("${name}" "${input}" "${output}" "${ARG_OPTIONS}")

  _opgen_find_python(Interpreter Development.Module)
  _opgen_ask_python(nanobind_ROOT nanobind --cmake_dir)
  _opgen_ask_python(MLX_ROOT mlx --cmake-dir)
  find_package(nanobind CONFIG REQUIRED)
  find_package(MLX CONFIG REQUIRED)

  nanobind_add_module(${name} NB_STATIC STABLE_ABI NOMINSIZE NB_DOMAIN mlx
    "${output}/ops.cpp" "${output}/bindings.cpp" ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE mlx)
  target_include_directories(${name} PRIVATE "${output}" ${includes})
  set_target_properties(${name} PROPERTIES
    OUTPUT_NAME _ext CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON LIBRARY_OUTPUT_DIRECTORY "$<1:${package}>"
    BUILD_RPATH "$<TARGET_FILE_DIR:mlx>;${OPGEN_HERE}/../mlx/lib" INSTALL_RPATH "${OPGEN_HERE}/../mlx/lib")
  _opgen_add_metal("${name}" "${output}" "${package}" "${includes}")

  file(GLOB files "${output}/python/*")
  foreach(path IN LISTS files)
    get_filename_component(file "${path}" NAME)
    configure_file("${path}" "${package}/${file}" COPYONLY)
  endforeach()
  if(NOT ARG_NO_STUBS)
    nanobind_add_stub(${name}_stubs
      MODULE _ext OUTPUT "${package}/_ext.pyi" PYTHON_PATH "${package}" DEPENDS ${name})
  endif()
  set(${name}_GENERATED_DIR "${output}" PARENT_SCOPE)
  get_filename_component(folder "${package}" DIRECTORY)
  set(${name}_PYTHON_DIR "${folder}" PARENT_SCOPE)
endfunction()
