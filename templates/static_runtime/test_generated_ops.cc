$# Makes test_generated_ops.cc: a test for each operator of generated_ops.cpp.  It is built where torch's own tests
$# are, whose test_utils.h has testStaticRuntime().
// ${generated_comment}
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/static/impl.h>
#include <torch/torch.h>

#include "test_utils.h"

using namespace caffe2;
using namespace torch;
using namespace torch::jit;
using namespace torch::jit::test;
using c10::IValue;

$tests
