$# Kernels of the dispatch key Autograd (dest/variable_type.py).

$section registrations
TORCH_LIBRARY_IMPL(aten, $key, m) {
$insert registrations
}

$section registration
m.impl("${piece.operator}",
       TORCH_FN(VariableType::${piece.name})
);

$section kernel
$returns $name($parameters) {
$insert unpacking
$insert recording
$insert checks.before
$insert call
$insert checks.after
$insert results
$insert refusal
$insert hooks
$insert reset
$insert returned
}

$section recording
$# What comes before the call.
  [[maybe_unused]] auto _any_requires_grad = compute_requires_grad( $names );
$narrowed
$insert flags
$insert inplace
$insert nodes

$section out_check
  if (compute_requires_grad( $names )) {
    throw_error_out_requires_grad("$base");
  }

$section call_in_block
  {
    $guard
    $call;
  }

$section call
  auto _tmp = ([&]() {
$if falls_back
    if (($is_tangent_defined)) {
      static c10::OperatorName full_name("aten::${name.name}", "${name.overload_name}");
      static ::std::optional<c10::OperatorHandle> opt_op = c10::Dispatcher::singleton().findSchema(full_name);
      return $run("${name.name}", *opt_op, ks, $arguments);
    } else {
      $guard
      return $call;
    }
$else
    $guard
    return $call;
$endif
  })();
$insert results
