${generated_comment.lenght}
