$# Makes <Key>Functions.h, through which programs get at one backend's functions.
$#   inline_headers   the include of <Key>Functions_inl.h
#pragma once
// ${generated_comment}

// Default arguments may be tensors, so the class comes first.
#include <ATen/core/TensorBody.h>

$inline_headers
