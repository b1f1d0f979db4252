$for definition in view_func_definitions
$definition
