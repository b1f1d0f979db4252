// $generated_comment
#pragma once
#include <c10/macros/Export.h>

// What the library hands to others.  CMake defines ${namespace}_EXPORTS while it builds the library.
#if defined(_WIN32) && !defined(${namespace}_EXPORTS)
#define ${prefix}_API C10_IMPORT
#else
#define ${prefix}_API C10_EXPORT
#endif
