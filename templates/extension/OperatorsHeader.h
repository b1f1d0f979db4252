// $generated_comment
#pragma once
#include <$namespace/detail/Types.h>
$for include in type_includes
#include <$include>
$endfor

namespace $namespace::_ops {

$for op in operators
// ${op.origin}
struct $api ${op.struct_name} {
  using schema = ${op.type};
  using ptr_schema = schema*;
  static constexpr const char* name = "${op.qualified_name}";
  static constexpr const char* overload_name = "${op.overload_name}";
  static constexpr const char* schema_str = ${op.schema_literal};
  static ${op.returns} call(${op.parameters});
  static ${op.returns} redispatch(${op.redispatch_parameters});
};

$endfor
} // namespace $namespace::_ops
