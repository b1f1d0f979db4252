$# Makes <Key>NativeFunctions.h: the class whose static members are the kernels of a backend outside of torch.
$#   namespace_prologue, namespace_epilogue   open and close the C++ namespace of the class
$#   class_name                               the class
$#   dispatch_declarations                    its members
#pragma once
// ${generated_comment}
// clang-format off

#include <ATen/Tensor.h>

$namespace_prologue

struct $class_name {

$dispatch_declarations

};

$namespace_epilogue
