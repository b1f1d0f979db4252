// $generated_comment
#pragma once
$for include in includes
#include <$include>
$endfor
