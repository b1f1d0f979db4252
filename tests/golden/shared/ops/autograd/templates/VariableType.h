// $generated_comment
