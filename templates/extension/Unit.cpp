// $generated_comment
// Sources that are compiled together.  Torch's headers include the functions of all operators unless this is defined.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif

$for include in includes
#include "$include"
$endfor
