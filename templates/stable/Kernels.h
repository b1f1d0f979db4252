// $generated_comment
// The kernels of the library `$namespace`, which runs with torch $release and newer.
#pragma once

#ifndef $macro
#error "compile with -D$macro=$target, as opgen's CMake function and opgen.cpp_extension do"
#endif

$for include in includes
#include <$include>
$endfor
$for block in blocks

namespace ${block.name} {

$for declaration in block.declarations
$declaration
$endfor

} // namespace ${block.name}
$endfor
