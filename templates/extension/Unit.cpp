// $generated_comment
// Sources that are compiled together.  Torch's headers include the functions of all operators unless this is defined.
// Glue is compiled with less effort than what computes, whatever the build asks for beside it.
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1")
#endif
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif
$if bindings
// A build of one library for the operators and the functions of the Python package reads torch's headers once.
#ifdef OPGEN_WITH_BINDINGS
#include "$bindings"
#endif
$endif
// torch's clock needs one instruction, and includes a megabyte of vector instructions for it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __has_include(<x86gprintrin.h>)
#include <x86gprintrin.h>
#ifndef _X86INTRIN_H_INCLUDED
#define _X86INTRIN_H_INCLUDED
#include <c10/util/ApproximateClock.h>
#undef _X86INTRIN_H_INCLUDED
#endif
#endif

$for include in includes
#include "$include"
$endfor
