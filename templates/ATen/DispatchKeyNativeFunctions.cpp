$# Makes <Key>NativeFunctions.cpp: the kernels of a lazy backend that are generated.
$#   includes, native_functions_include          includes
$#   helper_fns                                  functions that several kernels call
$#   namespace_prologue, namespace_epilogue      the backend's namespaces, opened and closed
$#   native_function_definitions                 the kernels
// ${generated_comment}
${includes}
${native_functions_include}

namespace {
${helper_fns}
} // namespace

${namespace_prologue}

${native_function_definitions}

${namespace_epilogue}
