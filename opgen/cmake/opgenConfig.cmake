# opgen for CMake: the C++ of an extension's operators, made when the build is configured.
#
#     find_package(opgen CONFIG REQUIRED)   # cmake -Dopgen_DIR="$(python -m opgen --cmake-dir)" …
#     opgen_extension(mylib
#       DEFINITIONS ops                     # ops/native/native_functions.yaml, and what goes with it
#       SOURCES src/kernels.cpp
#       CUDA_SOURCES src/kernels.cu)
#
# makes a shared library `mylib` (a target of that name) that `torch.ops.load_library` loads, and a Python package
# `mylib` (the target `mylib_python`) in <build>/python, which loads that library.
#
#     opgen_extension(<name>
#       DEFINITIONS <dir>                   folder of the definitions
#       [SOURCES <file>…]                   kernels that every build has
#       [CUDA_SOURCES <file>…] [HIP_SOURCES …] [MPS_SOURCES …] [XPU_SOURCES …]
#                                           kernels for builds that have the device
#       [INCLUDE_DIRECTORIES <dir>…]        where headers of yours are, such as ufunc/<operator>.h
#       [GENERATED_DIR <dir>]               where to write; default: <build>/generated/<name>
#       [FRAGMENT]                          the library is defined elsewhere too
#       [NO_PYTHON]                         make no Python package
#       [STABLE_ABI <version>]              one binary for this release of torch and newer ones, and for every Python
#       [AOTI_SHIMS]                        models that AOTInductor compiles call the operators without Python
#       [PYTHON_INSTALL_DIR <dir>]          where the package is installed, below the prefix; default: the prefix
#       [OPTIONS <flag>…])                  further flags of `opgen gen`
#
# It sets these in the caller's scope:
#     <name>_GENERATED_DIR                  where the generated files are
#     <name>_PYTHON_DIR                     the folder that the Python package is in, for PYTHONPATH
#
# A definition that changes makes the build configure itself anew.  opgen writes a file only if its text
# changes, so that a new operator recompiles what holds it and nothing else.

cmake_minimum_required(VERSION 3.18)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "How much is optimized" FORCE)
endif()

if(CMAKE_GENERATOR STREQUAL "Unix Makefiles")
  find_program(OPGEN_NINJA NAMES ninja ninja-build)
  mark_as_advanced(OPGEN_NINJA)
  if(OPGEN_NINJA)
    message(STATUS "opgen: Make compiles one source at a time unless told otherwise; for all cores, configure with: cmake -G Ninja")
  else()
    message(STATUS "opgen: Make compiles one source at a time unless told otherwise; Ninja uses all cores; install it with: python -m pip install ninja")
  endif()
endif()

# Vectors are never handed from one library to another.  GCC's collector takes a sixth of the time, and finds little:
# below a gigabyte it may rest.
set(OPGEN_GNU_OPTIONS
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi>" "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>")

get_filename_component(OPGEN_PYTHON_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

# Finds Python. CMake asks it for `distutils` several times, for which setuptools would load itself each time.
macro(_opgen_find_python)
  set(OPGEN_DISTUTILS "$ENV{SETUPTOOLS_USE_DISTUTILS}")
  set(ENV{SETUPTOOLS_USE_DISTUTILS} stdlib)
  find_package(Python 3.10 COMPONENTS ${ARGN} REQUIRED)
  set(ENV{SETUPTOOLS_USE_DISTUTILS} "${OPGEN_DISTUTILS}")
endmacro()

# The Python that runs opgen and has torch or mlx; a setup.py (opgen.mlx_extension) names its own.
if(NOT TARGET Python::Interpreter)
  if(NOT Python_EXECUTABLE AND DEFINED ENV{OPGEN_PYTHON})
    set(Python_EXECUTABLE "$ENV{OPGEN_PYTHON}")
  endif()
  _opgen_find_python(Interpreter)
endif()

# The folder of a library, for the paths in it that the loader searches.
if(APPLE)
  set(OPGEN_HERE "@loader_path")
else()
  set(OPGEN_HERE "$ORIGIN")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/opgenTorch.cmake") # _opgen_find_torch(), _opgen_has_device(…)

# Checks the arguments of a function with this signature, and sets in its scope `input`, the path that <keyword> names,
# and `output`, the folder to write to.
macro(_opgen_find_paths signature keyword what)
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${signature}: unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_${keyword})
    message(FATAL_ERROR "${signature}: ${keyword} must name ${what}")
  endif()
  get_filename_component(input "${ARG_${keyword}}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/generated/${name}")
  if(ARG_GENERATED_DIR)
    get_filename_component(output "${ARG_GENERATED_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  file(MAKE_DIRECTORY "${output}")
endmacro()

# Runs opgen if anything that it reads has changed; the lists of what it wrote go to <lists>.
function(_opgen_generate name definitions output lists flags)
  set(stamp "${output}/stamp")
  set(depfile "${output}/depfile")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${OPGEN_PYTHON_PATH}"
      "${Python_EXECUTABLE}" -m opgen.gen
      --source-path "${definitions}" --install-dir "${output}" --extension
      --output-dependencies "${lists}" --depfile "${depfile}" --stamp "${stamp}" ${flags}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    # A fix of the definitions has to run this again, even if nothing in them could be read.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${definitions}/native/native_functions.yaml")
    message(FATAL_ERROR "opgen can't make the extension '${name}' of '${definitions}'; see above")
  endif()
  message(STATUS "opgen ${name}: ${said}")
  _opgen_depend_on("${depfile}" "${definitions}")
endfunction()

# Makes the build configure itself anew when a file changes that opgen read.
function(_opgen_depend_on depfile definitions)
  file(READ "${depfile}" text)
  string(REPLACE "\\\n" "" text "${text}")
  string(REGEX REPLACE "^[^\n]*: " "" text "${text}")
  # A space within a path is escaped; the others are between paths.
  string(ASCII 1 space)
  string(REPLACE "\\ " "${space}" text "${text}")
  string(REGEX REPLACE "[ \n]+" ";" paths "${text}")
  foreach(path IN LISTS paths)
    string(REPLACE "${space}" " " path "${path}")
    if(path AND EXISTS "${path}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    endif()
  endforeach()
  foreach(folder . native autograd)
    if(IS_DIRECTORY "${definitions}/${folder}")
      # A file that wasn't there before changes its folder.
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${definitions}/${folder}")
    endif()
  endforeach()
endfunction()

# Compiles registrations and bindings with less optimization than kernels, and without debug information.
function(_opgen_compile_as_glue)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "/(Unit_[0-9]+|Register[A-Za-z0-9]*|Python[A-Za-z]+)\\.cpp$")
      set(optimized "$<AND:$<CXX_COMPILER_ID:GNU,Clang,AppleClang>,$<NOT:$<CONFIG:Debug>>>")
      set(gnu "$<CXX_COMPILER_ID:GNU,Clang,AppleClang>")
      set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "$<${optimized}:-O1>;$<${gnu}:-g0>")
    endif()
  endforeach()
endfunction()

# Keeps libraries that a target calls nothing of.
function(_opgen_link_all target)
  if(UNIX AND NOT APPLE)
    target_link_options(${target} PRIVATE "LINKER:--no-as-needed")
  endif()
endfunction()

# Lays out the package in <folder>, of the files in opgen_python, and builds its module of opgen_python_sources.
function(_opgen_python_package name folder package stable_abi)
  _opgen_find_python(Interpreter Development.Module)
  if(NOT stable_abi AND NOT OPGEN_TORCH_PYTHON_LIBRARY)
    message(FATAL_ERROR "opgen_extension(${name}): this torch has no libtorch_python; write NO_PYTHON to do without")
  endif()
  file(GLOB old RELATIVE "${folder}" "${folder}/*.py" "${folder}/*.pyi")
  foreach(path IN LISTS opgen_python)
    get_filename_component(file "${path}" NAME)
    list(REMOVE_ITEM old "${file}")
  endforeach()
  foreach(file IN LISTS old)
    file(REMOVE "${folder}/${file}") # a former run's
  endforeach()
  # file(COPY) would leave a file that was changed twice within a second.
  foreach(path IN LISTS opgen_python)
    get_filename_component(file "${path}" NAME)
    configure_file("${path}" "${folder}/${file}" COPYONLY)
  endforeach()

  if(stable_abi)
    python_add_library(${name}_python MODULE ${opgen_python_sources})
    if(NOT WIN32)
      set_target_properties(${name}_python PROPERTIES SUFFIX ".abi3.so")
    endif()
  else()
    python_add_library(${name}_python MODULE WITH_SOABI ${opgen_python_sources})
  endif()
  set_target_properties(${name}_python PROPERTIES
    OUTPUT_NAME _C CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY "$<1:${folder}>" INSTALL_RPATH "${OPGEN_HERE}")
  target_link_libraries(${name}_python PRIVATE ${name})
  if(stable_abi)
    # The module calls nothing of the library, which it is to load.
    _opgen_link_all(${name}_python)
  else()
    target_link_libraries(${name}_python PRIVATE "${OPGEN_TORCH_PYTHON_LIBRARY}")
  endif()
  target_compile_options(${name}_python PRIVATE ${OPGEN_GNU_OPTIONS})

  # An installed package has the library beside the module.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${OPGEN_HERE}")
  install(FILES ${opgen_python} DESTINATION "${package}" COMPONENT python)
  install(TARGETS ${name} ${name}_python
    LIBRARY DESTINATION "${package}" COMPONENT python
    RUNTIME DESTINATION "${package}" COMPONENT python)
endfunction()

function(opgen_extension name)
  cmake_parse_arguments(
    ARG "FRAGMENT;NO_PYTHON;AOTI_SHIMS" "DEFINITIONS;GENERATED_DIR;PYTHON_INSTALL_DIR;STABLE_ABI"
    "SOURCES;CUDA_SOURCES;HIP_SOURCES;MPS_SOURCES;XPU_SOURCES;INCLUDE_DIRECTORIES;OPTIONS" ${ARGN})
  _opgen_find_paths("opgen_extension(${name})" DEFINITIONS "the folder of the definitions")
  _opgen_find_torch()
  set(flags ${ARG_OPTIONS})
  if(ARG_FRAGMENT)
    list(APPEND flags --fragment)
  endif()
  if(ARG_NO_PYTHON)
    list(APPEND flags --no-python)
  endif()
  if(ARG_STABLE_ABI)
    list(APPEND flags --stable-abi "${ARG_STABLE_ABI}")
  endif()
  if(ARG_AOTI_SHIMS)
    list(APPEND flags --aoti-install-dir "${output}")
  endif()
  set(lists "${output}/sources.cmake")
  _opgen_generate("${name}" "${input}" "${output}" "${lists}" "${flags}")
  include("${lists}")
  _opgen_find_torch_devices(${opgen_devices})

  # Your sources come first: schemas that name a TorchBind class are registered after the class.
  set(sources ${ARG_SOURCES} ${opgen_sources})
  foreach(device IN LISTS opgen_devices)
    _opgen_has_device("${device}" found)
    if(found)
      string(TOUPPER "${device}" DEVICE)
      list(APPEND sources ${opgen_${device}_sources} ${ARG_${DEVICE}_SOURCES})
      if(device STREQUAL "cuda")
        enable_language(CUDA)
      elseif(device STREQUAL "mps")
        enable_language(OBJCXX)
      endif()
    endif()
  endforeach()

  _opgen_compile_as_glue(${opgen_sources} ${opgen_python_sources})
  add_library(${name} SHARED ${sources})
  set_target_properties(${name} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CUDA_STANDARD 20 POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC "${output}" ${ARG_INCLUDE_DIRECTORIES})
  target_compile_definitions(${name} PUBLIC ${opgen_definitions})
  if(ARG_STABLE_ABI)
    set_target_properties(${name} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_link_libraries(${name} PUBLIC opgen::stable_torch)
    # Its registrations name their sources, which say nothing to the users of a binary, and differ in each build.
    foreach(folder "${CMAKE_CURRENT_SOURCE_DIR}" "${output}" "${OPGEN_TORCH_ROOT}/include")
      target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-fmacro-prefix-map=${folder}/=>)
    endforeach()
    foreach(device IN LISTS opgen_devices)
      if(OPGEN_LIBRARY_torch_${device})
        target_link_libraries(${name} PRIVATE "${OPGEN_LIBRARY_torch_${device}}")
      endif()
    endforeach()
    _opgen_link_all(${name})
  else()
    target_link_libraries(${name} PUBLIC opgen::torch)
  endif()
  if(UNIX AND NOT APPLE)
    # A kernel that is defined otherwise than it is declared fails when the library is linked, not when it is loaded.
    target_link_options(${name} PRIVATE "LINKER:-z,defs")
    set_property(TARGET ${name} PROPERTY CXX_LINKER_LAUNCHER
      ${CMAKE_CXX_LINKER_LAUNCHER}
      "${CMAKE_COMMAND}" -E env "PYTHONPATH=${OPGEN_PYTHON_PATH}"
      "${Python_EXECUTABLE}" -m opgen.undefined_kernels "${output}")
  endif()
  target_compile_options(${name} PRIVATE ${OPGEN_GNU_OPTIONS})
  if(opgen_python_sources)
    # CMake 3.31 warns about "./name", which it used to keep as it is.
    set(package "${name}")
    if(ARG_PYTHON_INSTALL_DIR AND NOT ARG_PYTHON_INSTALL_DIR STREQUAL ".")
      set(package "${ARG_PYTHON_INSTALL_DIR}/${name}")
    endif()
    _opgen_python_package(
      "${name}" "${CMAKE_CURRENT_BINARY_DIR}/python/${name}" "${package}" "${ARG_STABLE_ABI}")
    set(${name}_PYTHON_DIR "${CMAKE_CURRENT_BINARY_DIR}/python" PARENT_SCOPE)
  endif()
  set(${name}_GENERATED_DIR "${output}" PARENT_SCOPE)
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/opgenBackend.cmake") # opgen_backend(…), for backends outside of torch
include("${CMAKE_CURRENT_LIST_DIR}/opgenMLX.cmake") # opgen_mlx_extension(…), for operators of MLX
