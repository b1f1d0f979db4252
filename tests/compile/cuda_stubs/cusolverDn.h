// As much as torch's headers name, for CUDA toolkits that lack this library; real ones are found first.
#pragma once
#include <cusolver_common.h>
typedef struct cusolverDnContext* cusolverDnHandle_t;
