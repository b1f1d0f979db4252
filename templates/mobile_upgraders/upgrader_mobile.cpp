$# Makes upgrader_mobile.cpp: what the mobile interpreter runs in the place of operators that have changed since a
$# model was saved.  $versions has the upgraders of each operator, $upgraders their byte code.
// ${generated_comment}

#include <caffe2/serialize/versions.h>
#include <torch/csrc/jit/mobile/type_parser.h>
#include <torch/csrc/jit/mobile/upgrader_mobile.h>

namespace torch {
namespace jit {

// For each operator, which versions of a model need which upgrader, by its place in the list below.
const std::unordered_map<std::string, std::vector<Upgrader>>
getOperatorVersionMapForMobile() {
  static std::unordered_map<std::string, std::vector<Upgrader>> operatorVersionMapForMobile({
    $versions
  });
  return operatorVersionMapForMobile;
}

const std::vector<ByteCodeFunctionWithOperator>& getUpgraderBytecodeList() {
  auto generate_upgrader_bytecode_list = []() {
    std::vector<ByteCodeFunctionWithOperator> upgrader_function_list({
      $upgraders
    });
    for (const auto& upgrader_function : upgrader_function_list) {
      for (const auto& op : upgrader_function.operators) {
        upgrader_function.function.append_operator(op.name, op.overload_name, op.num_specified_args);
      }
    }
    return upgrader_function_list;
  };
  // Made once, when it is first asked for.
  static std::vector<ByteCodeFunctionWithOperator> upgraderBytecodeList = generate_upgrader_bytecode_list();
  return upgraderBytecodeList;
}

} // namespace jit
} // namespace torch
