// $generated_comment
#include <torch/library.h>
$if newer_tags

namespace $namespace::detail::register_schema {
namespace {

// Tags that not every torch has: one that isn't there is left out.
$for tag in newer_tags
template <class T>
auto add_$tag(std::vector<T>& tags, int) -> decltype(T::$tag, void()) {
  tags.push_back(T::$tag);
}
template <class T>
void add_$tag(std::vector<T>&, long) {}

$endfor
} // namespace
} // namespace $namespace::detail::register_schema
$endif

$macro($namespace, m) {
$for group in tag_groups
  const std::vector<at::Tag> ${group.name} = [] {
    std::vector<at::Tag> tags{${group.tags}};
$for tag in group.newer
    ::$namespace::detail::register_schema::add_$tag(tags, 0);
$endfor
    return tags;
  }();
$endfor
$for definition in definitions
  m.def(${definition.schema}, ${definition.tags});
$endfor
}
