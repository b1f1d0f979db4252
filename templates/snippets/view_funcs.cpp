$# Classes that replay views (dest/view_funcs.py).

$section declaration
#define $macro
struct $name : public torch::autograd::ViewFunc {
  $constructor
  {}
  virtual ~$name() override = default;
  virtual std::vector<c10::SymInt> get_symints() const override;
  virtual size_t num_symints() const override;
  virtual std::vector<at::Tensor> get_tensors() const override;
  virtual size_t num_tensors() const override;
  virtual at::Tensor operator()(const at::Tensor&) const override;
  virtual std::unique_ptr<ViewFunc> clone_and_set(
      std::optional<std::vector<c10::SymInt>> = ::std::nullopt,
      std::optional<std::vector<at::Tensor>> = ::std::nullopt) const override;

protected:
  virtual void set_symints(std::vector<c10::SymInt>) override;
  virtual void set_tensors(std::vector<at::Tensor>) override;

private:
$for member in members
  $member;
$endfor
};

$section definition
$for state in states
$insert state

$endfor
at::Tensor $name::operator()(const at::Tensor& input_base) const {
  return $call;
}

std::unique_ptr<ViewFunc> $name::clone_and_set(
    std::optional<std::vector<c10::SymInt>> symints,
    std::optional<std::vector<at::Tensor>> tensors) const {
  auto output = std::make_unique<$name>($members);
  if (symints.has_value()) {
    output->set_symints(std::move(*(symints)));
  }
  if (tensors.has_value()) {
    output->set_tensors(std::move(*(tensors)));
  }
  return output;
}

$section state
$# The functions that read, count and replace the members of one kind.
std::vector<$type> $name::get_$what() const {
  ::std::vector<$type> $what;
$if members
  $what.reserve($count);
$endif
$for member in members
  ${member.get}
$endfor
  return $what;
}

size_t $name::num_$what() const {
$if members
  return static_cast<size_t>($count);
$else
  return static_cast<size_t>(0);
$endif
}

void $name::set_$what(std::vector<$type> $what) {
  TORCH_INTERNAL_ASSERT($what.size() == num_$what());
$if members
  auto i = 0;
$endif
$for member in members
  ${member.set}
$if not member.is_last
  i += ${member.count};
$endif
$endfor
}
