// $generated_comment
#pragma once
// The kinds of nodes of autograd's graph that the library has; its Python package makes a class of each.
#include <$namespace/Macros.h>
#include <typeinfo>
#include <vector>

namespace $namespace::detail {

struct NodeKind {
  const std::type_info* type;
  const char* name;
};

// All kinds, once the library is loaded.
${prefix}_API std::vector<NodeKind>& node_kinds();

} // namespace $namespace::detail
