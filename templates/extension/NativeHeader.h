// $generated_comment
#pragma once
$for include in includes
#include <$include>
$endfor
#include <$namespace/detail/Types.h>

$for block in blocks
namespace ${block.name} {
$for declaration in block.declarations
$declaration
$endfor
} // namespace ${block.name}

$endfor
