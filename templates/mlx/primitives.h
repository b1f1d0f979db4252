// $generated_comment
// The primitives of the operators of `$name`, and their gradients.
#pragma once

#include "$name/ops.h"
#include "$name/runtime.h"

namespace $name {

$for op in flattened
// The arguments of `${op.name}` that are no arrays, and how many arrays there are.
struct ${op.params} {
$for member in op.members
  ${member.type} ${member.name};
$endfor

  bool operator==(const ${op.params}&) const = default;
};

// The arguments of `${op.name}` that are arrays.
struct ${op.arrays} {
$for array in op.array_members
  ${array.type} ${array.name};
$endfor

  static ${op.arrays} unpack(const std::vector<mx::array>& inputs, const ${op.params}& params);
};

$if op.gradients
std::vector<mx::array> ${op.name}_vjp(
    const std::vector<mx::array>& primals,
    const std::vector<mx::array>& cotangents,
    const std::vector<int>& argnums,
    const std::vector<mx::array>& outputs,
    const ${op.params}& params,
    mx::StreamOrDevice s = {});

$endif
$endfor
$for op in kernels
class ${op.primitive} final : public mx::Primitive {
 public:
  ${op.primitive}(mx::Stream stream, ${op.params} params) : mx::Primitive(stream), params_(std::move(params)) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  void eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
$if op.gradients
  std::vector<mx::array> vjp(
      const std::vector<mx::array>& primals,
      const std::vector<mx::array>& cotangents,
      const std::vector<int>& argnums,
      const std::vector<mx::array>& outputs) override;
  std::vector<mx::array> jvp(
      const std::vector<mx::array>& primals,
      const std::vector<mx::array>& tangents,
      const std::vector<int>& argnums) override;
$endif
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(
      const std::vector<mx::array>& inputs, const std::vector<int>& axes) override;
  const char* name() const override {
    return "${op.primitive}";
  }
  bool is_equivalent(const mx::Primitive& other) const override;
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override;

 private:
  ${op.params} params_;
};

$endfor
} // namespace $name
