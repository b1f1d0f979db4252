# How kernel-builder is started: nix run .#build-and-copy
{
  description = "The kernel $kernel";

  inputs.kernel-builder.url = "github:huggingface/kernels";

  outputs = inputs: inputs.kernel-builder.lib.genKernelFlakeOutputs {
    self = inputs.self;
    path = ./.;
  };
}
