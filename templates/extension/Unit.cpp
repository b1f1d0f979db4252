// $generated_comment
// Sources that are compiled together.  Torch's headers include the functions of all operators unless this is defined.
// Glue is compiled with less effort than what computes, whatever the build asks for beside it.
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif

$for include in includes
#include "$include"
$endfor
