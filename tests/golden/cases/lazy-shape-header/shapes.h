// TORCH_API std::vector<torch::lazy::Shape> compute_shape_abs(const at::Tensor& self);
TORCH_API std::vector<torch::lazy::Shape> compute_shape_clip(const at::Tensor& self, const at::Scalar& least);
TORCH_API std::vector<torch::lazy::Shape> compute_shape_best(const at::Tensor& self, c10::string_view mode);
