$for x in generated_comment
$endfor
