// $generated_comment
#pragma once
#include <c10/core/TensorOptions.h>
#include <$namespace/detail/Types.h>
$for include in type_includes
#include <$include>
$endfor

namespace $namespace::$backend {

$for declaration in declarations
$api $declaration;
$endfor

} // namespace $namespace::$backend
