$# Functions and methods of Python (dest/python_methods.py).

$section binding
// $name
$head
{
  HANDLE_TH_ERRORS
$insert body
  END_HANDLE_TH_ERRORS
}

$section overridable
$# Where a method without arguments may be overridden with __torch_function__.
  if ($check(self_)) {
    return handle_torch_function(self_, "$name");
  }

$section parser
$insert opening
  static PythonArgParser parser({
$insert signatures
  }, /*traceable=*/$traceable);

  ParsedArgs<$most_arguments> parsed_args;
  auto _r = parser.parse($self_, args, kwargs, parsed_args);
  if(_r.has_torch_function()) {
    return $override;
  }
$if is_overloaded
  switch (_r.idx) {
$for overload in overloads
    case ${overload.index}: {
      ${overload.call}
    }
$endfor
  }
$else
$for overload in overloads
  ${overload.call}
$endfor
$endif
  Py_RETURN_NONE;

$section with_out
$# The call of a functional form, or of its out form if `out` is given.
if (_r.isNone($out_index)) {
  $functional
} else {
  $out
}

$section call
// $schema
$for init in inits
$init
$endfor
auto $name = [](${call.parameters}) -> ${call.return_type} {
  $unlock no_gil;
$if returns
  return ${call.target};
$else
  ${call.target};
$endif
};
$insert results

$section returns_none
$called;
Py_RETURN_NONE;

$section returns_list
$called;
PyObject* self_tensorlist = _r.args[0];
Py_INCREF(self_tensorlist);
return self_tensorlist;
