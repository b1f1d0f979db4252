// As much as torch's headers name, for CUDA toolkits that lack this library; real ones are found first.
#pragma once
typedef struct cublasContext* cublasHandle_t;
enum cublasStatus_t : int {};
