$# Makes LazyNonNativeIr.h: the classes of those nodes of a lazy backend that stand for no operator.
$#   lazy_non_native_ir_inc                      includes
$#   namespace_prologue, namespace_epilogue      the backend's namespaces, opened and closed
$#   non_native_ir_nodes                         the classes
#pragma once

${lazy_non_native_ir_inc}

${namespace_prologue}

${non_native_ir_nodes}

${namespace_epilogue}
