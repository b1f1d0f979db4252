$# Kernels of the dispatch key Tracer (dest/trace_type.py).

$section registration
m.impl("$operator",
       TORCH_FN(TraceType::$kernel)
);

$section kernel
$head {
$insert before
  $call;
$insert after
$insert returned
}

$section recorded_inputs
  torch::jit::Node* node = nullptr;
  std::shared_ptr<jit::tracer::TracingState> tracer_state;
  if (jit::tracer::isTracing()) {
    tracer_state = jit::tracer::getTracingState();
    at::Symbol op_name;
$insert op_name
    node = tracer_state->createNode(op_name, /*num_outputs=*/0);
    jit::tracer::recordSourceLocation(node);
$insert inputs
    tracer_state->insertNode(node);
$insert unique
    jit::tracer::setTracingState(nullptr);
  }

$section if_outplace
    if (tracer_state->force_outplace) {
$insert then
    } else {
$insert otherwise
    }

$section recorded_outputs
  if (tracer_state) {
    jit::tracer::setTracingState(std::move(tracer_state));
$insert outputs
  }
