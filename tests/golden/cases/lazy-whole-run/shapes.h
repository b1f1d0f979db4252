TORCH_API std::vector<torch::lazy::Shape> compute_shape_abs(const at::Tensor& self);
// Names of parameters and where lines end don't matter.
TORCH_API std::vector<torch::lazy::Shape> compute_shape_clip(
    const at::Tensor& x, const std::optional<at::Scalar>& least = {}, const std::optional<at::Scalar>& most = {});
TORCH_API std::vector<torch::lazy::Shape> compute_shape_best(const at::Tensor& self, std::string_view mode);
