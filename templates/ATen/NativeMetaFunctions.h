$# Makes NativeMetaFunctions.h: the classes whose `meta` says what shape results have.
$#   NativeMetaFunctions_includes      the operators' own headers, if they have such
$#   NativeMetaFunctions_declarations  or else all classes
#pragma once
// ${generated_comment}

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
$if NativeMetaFunctions_includes

$NativeMetaFunctions_includes
$endif
$if NativeMetaFunctions_declarations

namespace at::meta {
$for declaration in NativeMetaFunctions_declarations

$declaration
$endfor

} // namespace at::meta
$endif
