$# Kernels of ufuncs for CPU and CUDA (dest/ufunc.py).

$section stub_declaration
using ${name}_fn = void(*)($types);
DECLARE_DISPATCH(${name}_fn, ${name}_stub)

$section impl
$head {
  $callee($arguments);
}

$section switch
$# In the statements of each case, `scalar_t` is its element type.
  AT_DISPATCH_SWITCH(iter.common_dtype(), "$name",
$for case in cases
    AT_DISPATCH_CASE(at::ScalarType::${case.dtype},
      [&]() {
        ${case.statements}
      }
    )
$endfor
  );

$section cpu
$insert stub_declaration
DEFINE_DISPATCH($stub);

$insert impl

$section cpu_loop
namespace {

$head {
$insert switch
}

} // anonymous namespace

$insert stub_declaration
REGISTER_DISPATCH($stub, &${name}_kernel)

$section cuda

$insert functors
$insert stub_declaration

$head {
$insert switch
}
REGISTER_DISPATCH(${name}_stub, &${name}_kernel)

$insert impl

$section functor
template <typename scalar_t>
struct $name {
  using opmath_t = at::opmath_type<scalar_t>;
$for parameter in parameters
  ${parameter.type} ${parameter.name}_;
$endfor
$if parameters
  $name($constructor) : $initializers {}
$endif
  __device__ scalar_t operator()($elements) const {
    return ufunc::$body($arguments);
  }
};

$section cuda_case
$# `if (false)`, so that all branches may begin with `else`.
using opmath_t = at::opmath_type<scalar_t>;
if (false) {}$branches

$section else_scalar
$# A branch for an operand on the CPU; operand 0 is the result.
 else if (iter.is_cpu_scalar($operand)) {
  $functor<scalar_t> ufunctor($constants);
  iter.remove_operand($operand);
  gpu_kernel(iter, ufunctor);
}

$section else_tensors
 else {
  gpu_kernel(iter, $call);
}
