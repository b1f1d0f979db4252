$# Makes decomposition_registry_util.cpp: what TorchScript's compiler reads in the place of operators that are made of
$# others.  $sources are pieces of one text, $mapping says which operator has which function in it.
// ${generated_comment}

#include <torch/csrc/jit/runtime/decomposition_registry_util.h>

#include <torch/csrc/jit/runtime/operator.h>

namespace torch::jit {

// The functions, in TorchScript.
const std::string& GetSerializedDecompositions() {
  static const std::string decompositions = $sources;
  return decompositions;
}

// The function of each operator.
const OperatorMap<std::string>& GetDecompositionMapping() {
  static const OperatorMap<std::string> mapping(std::initializer_list<std::pair<const char*, std::string>>{
    $mapping
  });
  return mapping;
}

} // namespace torch::jit
