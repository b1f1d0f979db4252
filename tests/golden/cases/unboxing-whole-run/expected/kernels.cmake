set(
kernels
    "out/RegisterCodegenUnboxedKernels_0.cpp"
    "out/UnboxingFunctions.h"
    "out/UnboxingFunctions_0.cpp"
)