// As much of this library as torch's headers name. It isn't installed with them.
#pragma once
#include <string>

namespace nlohmann {
class json {
 public:
  template <typename T>
  json(const T& value);
  static json parse(const std::string& text);
  std::string dump() const;
  template <typename T>
  T get() const;
};
} // namespace nlohmann
