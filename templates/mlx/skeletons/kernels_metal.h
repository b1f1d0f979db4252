// $generated_comment
// What the Metal kernels of `$name` do for each element: copy this to kernels_metal.h, in a folder that
// INCLUDE_DIRECTORIES names, and fill it in. `index_` is the place of the element in the first result.
#pragma once

$for op in metal_kernels
template <typename T>
${op.metal_returns} ${op.metal}(${op.metal_parameters}) {
  // …
}

$endfor
