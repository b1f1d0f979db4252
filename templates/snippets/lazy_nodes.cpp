$# Nodes of the graph of lazy backends (lazy/nodes.py).

$section class
class $name : public $base {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind($opkind);
  }

  $name($parameters)
      : $base_constructor$initializers
  {
$insert flags
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << $base::ToString();
$insert printed
    return $text;
  }

$insert methods

$insert members
};

$section never_reused
bool CanBeReused($arguments) const {
    return false;
  }

$section create
$head {
    return ReuseOrMakeNode<$node_class>($names);
  }

$section reused
$head {
    size_t i = 0;
    return $result;
  }

$section printed_optional
    if ($name.has_value()) {
      ss << ", $name=" << $shown;
    } else {
      ss << ", $name=null";
    }
