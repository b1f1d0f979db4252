$if x
$elif y
$endif
