// $generated_comment
// The Metal kernels of `$name`: one thread for each element of the first result.
#include <metal_stdlib>

using namespace metal;

#include "kernels_metal.h"

$for op in operators
template <typename T>
[[kernel]] void ${op.name}_kernel(
    ${op.buffers}
    uint index_ [[thread_position_in_grid]]) {
  ${op.metal_stores}
}

$for case in op.metal_cases
template [[host_name("${op.name}_${case.dtype}")]] [[kernel]] decltype(${op.name}_kernel<${case.type}>)
    ${op.name}_kernel<${case.type}>;
$endfor

$endfor
