$# Makes core/aten_interned_strings.h: the names that have a symbol at compile time.
$#   aten_symbols, attr_symbols   the bodies of macros: names of operators, and of arguments
#pragma once
// ${generated_comment}

#if defined(TORCH_ASSERT_NO_OPERATORS) || defined(TORCH_ASSERT_ONLY_METHOD_OPERATORS)
#error "This header changes with every operator. For the class Symbol alone, include <ATen/core/symbol.h>."
#endif

// Each applies a macro of a namespace and a name to all names: operators, without their overloads …
#define FORALL_ATEN_BASE_SYMBOLS(_) \
  $aten_symbols

// … and arguments.
#define FORALL_ATTR_BASE_SYMBOLS(_) \
  $attr_symbols
