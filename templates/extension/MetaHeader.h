// $generated_comment
#pragma once
$for include in includes
#include <$include>
$endfor
#include <ATen/TensorMeta.h>
#include <$namespace/MetaBase.h>
#include <$namespace/detail/Types.h>
$for include in type_includes
#include <$include>
$endfor

namespace $namespace::meta {

$for class in classes
$class

$endfor
} // namespace $namespace::meta
