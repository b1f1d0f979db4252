$# Makes LazyIr.h: the classes of the nodes of a lazy backend's graph, one for each operator.
$#   lazy_ir_sysinc, lazy_ir_inc                 includes: torch's, then that of the nodes' base class
$#   namespace_prologue, namespace_epilogue      the backend's namespaces, opened and closed
$#   ir_declarations                             the classes
#pragma once

${lazy_ir_sysinc}
${lazy_ir_inc}

${namespace_prologue}
using at::operator<<;

// Stands for an operand that isn't given. It is hashed like any other, so that (nothing, x) and (x, nothing) differ.
static const torch::lazy::Value kNullValue = torch::lazy::Value();

${ir_declarations}

${namespace_epilogue}
