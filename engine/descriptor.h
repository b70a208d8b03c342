// An open file, closed at the end of its scope.
#pragma once

#include <utility>

#include <unistd.h>

namespace nocturne {

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number_(number) {} // negative: none
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.number_, -1));
    return *this;
  }

  int get() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0)
      ::close(number_);
    number_ = number;
  }

private:
  int number_;
};

} // namespace nocturne
