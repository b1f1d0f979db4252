$# Makes enum_tag.h: the tags that operators may have.
$#   enum_of_valid_tags   their names, separated by commas
#pragma once
// ${generated_comment}

#include <torch/headeronly/macros/Macros.h>

HIDDEN_NAMESPACE_BEGIN(torch, headeronly)

// tags.yaml says what each means.
enum class Tag {
  $enum_of_valid_tags
};

HIDDEN_NAMESPACE_END(torch, headeronly)

namespace at {

using torch::headeronly::Tag;

} // namespace at
