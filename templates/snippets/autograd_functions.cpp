$# Autograd's nodes: classes whose `apply` computes gradients (dest/autograd_functions.py).

$section declaration
$# The class `op`.  `released` are the statements that drop the saved values.
$if exports
#ifdef _WIN32
struct $op : public $base {
  $exports $op() = default;
#else
struct $exports $op : public $base {
#endif
$else
struct $op : public $base {
$endif
  using $base::$base;
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "$op"; }
  void release_variables() override {
$if released
    std::lock_guard<std::mutex> lock(mutex_);
$endif
$insert released
  }
$if retains
  bool retain_variables = true;
  void will_release_variables() override {
    retain_variables = false;
  }
$endif
  void compiled_args(CompiledNodeArgs& args) const override;
  variable_list apply_with_saved(const variable_list& inputs, SwapSavedVariables& saved) override;
$insert members
$for size in sizes
  size_t $size;
$endfor
};

$section definition
$# The member functions, and before them the functions that they call.
static variable_list ${op}_apply_functional(
  variable_list&& grads,
  std::array<bool,$count> needs_input_grad${values.parameters})
{
$insert places.ranges
  variable_list grad_inputs(gen.size());
$insert gradients
  return grad_inputs;
}
inline variable_list ${op}_apply_functional_ivalue(const variable_list& grads, const ivalue_list& args)
{
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
  auto packed_args = PackedArgs(args);
  auto needs_input_grad = packed_args.unpack<std::array<bool, $count>>();
$insert values.taken
  return ${op}_apply_functional(variable_list(grads), needs_input_grad${values.names});
#endif
}

variable_list $op::apply(variable_list&& grads) {
$if fills
  fill_gradients(grads, *this);
$endif
$if members.locks
  std::lock_guard<std::mutex> lock(mutex_);
$endif
$insert members.unpacked
$insert places.needs
  return ${op}_apply_functional(std::move(grads), needs_input_grad${values.names});
}

void $op::compiled_args(CompiledNodeArgs& args) const {
$insert members.collected
}
$if fills
variable_list $op::apply_with_saved(const variable_list& given, SwapSavedVariables& saved) {
$else
variable_list $op::apply_with_saved(const variable_list& grads, SwapSavedVariables& saved) {
$endif
#ifdef C10_MOBILE
  TORCH_INTERNAL_ASSERT(false, "compiled autograd doesn't work on mobile");
#else
$insert members.before

  static bool called = false;
  if (!called) {
    called = true;
    std::vector<at::TypePtr> schema = {
      torch::dynamo::autograd::IValuePacker<std::array<bool, $count>>::packed_type(),
$insert values.schema
    };
    const auto& pyinterface = torch::dynamo::autograd::getPyCompilerInterface();
    pyinterface->bind_function(saved.get_py_compiler(), name(), ${op}_apply_functional_ivalue, schema);
  }

  variable_list output_result;
$if fills
  variable_list grads(given);
  fill_gradients(grads, *this);
$endif

  PackedArgs packed_args;
$insert members.unpacked
$insert places.needs
  packed_args.pack(needs_input_grad);
$insert values.packed

  output_result = compiled_autograd_apply_functional(packed_args, next_edges(), saved, grads, name());

$insert members.after
  return output_result;
#endif
}

$section needs
  auto needs_input_grad = std::array<bool, $count>{
$for name in names
    task_should_compute_output({ ${name}_ix }),
$endfor
  };

$section gradient
$# The gradient of one argument.
  if (${guard}needs_input_grad[/*$name*/$place]) {
    auto grad_result = $formula;
    copy_range(grad_inputs, ${name}_ix, grad_result);
  }

$section gradient_of_list
$# The gradients of the tensors of one list.
  if (needs_input_grad[/*$name*/$place]) {
    std::vector<Tensor> grad_result;
    grad_result.reserve(grads.size());
    for (const auto & i : c10::irange(grads.size())) {
      if (grads[i].defined()) {
        grad_result.emplace_back($formula);
      } else {
        grad_result.emplace_back(Tensor());
      }
    }
    copy_range(grad_inputs, ${name}_ix, grad_result);
  }

$section gradients
$# The gradients of several arguments, from one formula that gives a tuple.
  if ($needed) {
$if has_mask
      auto grad_input_mask = std::array<bool, $count>{
$for need in needs
        $need,
$endfor
      };
$endif
    auto grad_result = $formula;
$insert copies
  }

$section gradients_of_lists
$# The gradients of the tensors of several lists.
  if ($needed) {
$if has_mask
      auto grad_input_mask = std::array<bool, $count>{
$for need in needs
        $need,
$endfor
      };
$endif
$for list in lists
    std::vector<Tensor> ${list.name}(grads.size());
$endfor
    for (const auto & i : c10::irange(grads.size())) {
      if (grads[i].defined()) {
        auto grad_result = $formula;
$for list in lists
        ${list.name}[i] = std::get<${list.index}>(grad_result);
$endfor
      }
    }
$insert copies
  }

$section copy
      if (needs_input_grad[/*$name*/$place]) {
        copy_range(grad_inputs, ${name}_ix, $gradient);
      }
