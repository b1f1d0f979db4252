// Calls kernels as TorchScript's interpreter does, on behalf of a test: by the name that they are registered under.

#include <ATen/UnboxingFunctionsEverything.cpp>

#include <ATen/RegisterCodegenUnboxedKernelsEverything.cpp>

#include <torch/library.h>

namespace {

// The operator of that name which stands in the interpreter's own registry, not in the dispatcher's.
const torch::jit::Operator& find(const std::string& full_name) {
  const auto name = full_name.substr(0, full_name.find('.'));
  const auto overload = name == full_name ? "" : full_name.substr(name.size() + 1);
  for (const auto& op : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
    if (!op->isC10Op() && op->schema().overload_name() == overload) {
      return *op;
    }
  }
  TORCH_CHECK(false, full_name, " is not registered");
}

void call(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  const auto arguments = torch::jit::pop(*stack).toList();
  const auto name = torch::jit::pop(*stack).toStringRef();
  torch::jit::Stack inner(arguments.begin(), arguments.end());
  find(name).getOperation()(inner);
  c10::impl::GenericList results(c10::AnyType::get());
  for (auto& value : inner) {
    results.push_back(std::move(value));
  }
  stack->emplace_back(std::move(results));
}

// A name and a default for each argument; for none, the text "required".
void describe(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  c10::impl::GenericList results(c10::AnyType::get());
  for (const auto& argument : find(torch::jit::pop(*stack).toStringRef()).schema().arguments()) {
    results.push_back(c10::IValue(argument.name()));
    results.push_back(argument.default_value().value_or(c10::IValue("required")));
  }
  stack->emplace_back(std::move(results));
}

} // namespace

TORCH_LIBRARY(unboxing_check, m) {
  m.def("call(str name, Any[] arguments) -> Any[]", torch::CppFunction::makeFromBoxedFunction<&call>());
  m.def("describe(str name) -> Any[]", torch::CppFunction::makeFromBoxedFunction<&describe>());
}
