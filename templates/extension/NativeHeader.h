// $generated_comment
#pragma once
$for include in includes
#include <$include>
$endfor
#include <$namespace/detail/Types.h>
$for include in type_includes
#include <$include>
$endfor

$for block in blocks
namespace ${block.name} {
$for declaration in block.declarations
$declaration
$endfor
} // namespace ${block.name}

$endfor
