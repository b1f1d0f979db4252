// As much of metal-cpp as the headers of mlx and the generated code name: enough to check the syntax without Metal.
#pragma once

#include <cstddef>

namespace NS {
using UInteger = unsigned long;
enum StringEncoding { UTF8StringEncoding };
template <typename T>
struct SharedPtr {
  T* get() const;
};
struct AutoreleasePool {};
struct String {
  static String* string(const char*, StringEncoding);
  const char* utf8String() const;
};
} // namespace NS

namespace MTL {
enum DataType {};
struct Size {
  NS::UInteger width, height, depth;
  Size(NS::UInteger, NS::UInteger, NS::UInteger);
};
struct Allocation {};
struct Resource : Allocation {};
struct Buffer : Resource {};
struct Heap {};
struct ResidencySet {};
struct Fence {};
struct Device {};
struct Library {};
struct Function {};
struct LinkedFunctions {};
struct CommandQueue {};
struct CommandBuffer {};
struct ComputePipelineState {
  NS::UInteger maxTotalThreadsPerThreadgroup() const;
};
struct ComputeCommandEncoder {
  void setComputePipelineState(ComputePipelineState*);
  void setBytes(const void*, std::size_t, int);
  void setThreadgroupMemoryLength(std::size_t, int);
};
} // namespace MTL
