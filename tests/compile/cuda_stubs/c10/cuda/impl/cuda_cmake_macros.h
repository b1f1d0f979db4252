// How a torch with CUDA was built; one without CUDA doesn't install this.
#pragma once
