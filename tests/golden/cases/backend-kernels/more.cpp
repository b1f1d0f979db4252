std::vector<at::Tensor> my::Mine::each_abs(at::TensorList self) {
  return self.vec();
}
std::vector<at::Tensor> my::Mine::each_abs(at::TensorList self, int more) {
  return self.vec();
}
