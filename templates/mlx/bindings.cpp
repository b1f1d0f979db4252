// $generated_comment
// The Python module `$name._ext`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "$name/ops.h"

namespace nb = nanobind;
namespace mx = mlx::core;
using namespace nb::literals;

namespace nanobind::detail {

template <>
struct type_caster<mx::Shape> : list_caster<mx::Shape, int> {};

} // namespace nanobind::detail

NB_MODULE(_ext, m) {
  nb::module_::import_("mlx.core");
  if (!nb::type<mx::array>().is_valid()) {
    throw nb::import_error(
        "$name was built with a nanobind that doesn't match the one of mlx; "
        "'opgen gen_mlx --check-nanobind' says which one does");
  }
  m.doc() = ${doc_literal};
$for op in operators
  m.def(
      "${op.python_name}",
      &${name}::${op.name},
      ${op.binding_arguments}
      ${op.doc_literal});
$endfor
}
