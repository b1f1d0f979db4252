$# Makes VariableType.h: what autograd's kernels share with other sources.
$# It takes no variables of its own.
#pragma once
// ${generated_comment}

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/Export.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>

namespace at {
struct Quantizer;
} // namespace at

namespace torch::autograd {

using at::Context;
using at::Device;
using at::Generator;
using at::IntArrayRef;
using at::MemoryFormat;
using at::QScheme;
using at::Quantizer;
using at::Scalar;
using at::ScalarType;
using at::Storage;
using at::Tensor;
using at::TensorList;
using at::TensorOptions;
using std::optional;
using Variable = at::Tensor;

namespace VariableType {

// The types that tensors of a kind of device may have.
TORCH_API std::vector<at::DeprecatedTypeProperties*> allCPUTypes();
TORCH_API std::vector<at::DeprecatedTypeProperties*> allCUDATypes();
TORCH_API std::vector<at::DeprecatedTypeProperties*> allPrivateUser1Types();
TORCH_API std::vector<at::DeprecatedTypeProperties*> allXPUTypes();

// An argument, refused if it isn't there; `name` and `pos` are for the message.
at::Tensor& unpack(Tensor& t, const char* name, int pos);
const at::Tensor& unpack(const Tensor& t, const char* name, int pos);
std::vector<at::Tensor> unpack(const at::ITensorListRef& tl, const char* name, int pos);
at::Tensor unpack_opt(const Tensor& t, const char* name, int pos);

} // namespace VariableType
} // namespace torch::autograd
