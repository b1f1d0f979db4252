$# Kernels for TorchScript's interpreter (dest/unboxing.py).

$section definition

// $schema
TORCH_API void $name(Stack & stack) {
$for statement in statements
  $statement
$endfor
}

$section registration

// $schema
OperatorGenerator(
    $operator,
    $overload,
    $arguments,
    $returns,
    [](Stack & stack) {
      RECORD_FUNCTION($recorded, std::vector<c10::IValue>());
      at::unboxing::$name(stack);
    },
    aliasAnalysisFromSchema()
),
