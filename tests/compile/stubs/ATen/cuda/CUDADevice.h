// Needs the CUDA toolkit; generated code takes no names from it.
#pragma once
