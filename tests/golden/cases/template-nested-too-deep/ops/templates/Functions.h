$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
$if x
deep
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
$endif
