$if
$endif
