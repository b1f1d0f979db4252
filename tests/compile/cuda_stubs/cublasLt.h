// As much as torch's headers name, for CUDA toolkits that lack this library; real ones are found first.
#pragma once
typedef struct cublasLtContext* cublasLtHandle_t;
