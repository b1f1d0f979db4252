$# Makes ViewMetaClasses.h: a class for each view, whose objects remember how one was taken.
$#   view_meta_declarations   the classes
#pragma once
// ${generated_comment}

#include <ATen/FunctionalStorageImpl.h>

namespace at::functionalization {
$for declaration in view_meta_declarations

$declaration
$endfor

} // namespace at::functionalization
