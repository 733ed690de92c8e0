// A batch of trees as flat postfix arrays, checked once so that nothing later can go astray.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace symgrad {

constexpr int32_t kConstant = std::numeric_limits<int32_t>::min();
constexpr int32_t kFirstComposed = 64;

struct Postfix {
  const int32_t* code;
  const double* value;
  int64_t size;
};

class Forest {
 public:
  // Throws std::invalid_argument when the arrays are not well-formed trees.
  Forest(std::vector<int32_t> code, std::vector<double> value, std::vector<int64_t> offset,
         std::vector<int32_t> body_code, std::vector<double> body_value,
         std::vector<int64_t> body_offset, std::vector<int32_t> body_arity);

  int64_t trees() const { return int64_t(offset_.size()) - 1; }
  int64_t nodes() const { return offset_.back(); }
  int64_t features() const { return features_; }  // one more than the largest index in use
  int64_t first_node(int64_t t) const { return offset_[t]; }
  Postfix tree(int64_t t) const {
    return {&code_[offset_[t]], &value_[offset_[t]], offset_[t + 1] - offset_[t]};
  }
  Postfix body(int32_t code) const {
    const int64_t k = code - kFirstComposed;
    return {&body_code_[body_offset_[k]], &body_value_[body_offset_[k]],
            body_offset_[k + 1] - body_offset_[k]};
  }
  int arity(int32_t code) const;  // 0 for leaves, -1 for a code that does not exist

 private:
  int64_t check(const Postfix& tree, int64_t variables, int32_t composed) const;
  std::vector<int32_t> code_;
  std::vector<double> value_;
  std::vector<int64_t> offset_;
  std::vector<int32_t> body_code_;
  std::vector<double> body_value_;
  std::vector<int64_t> body_offset_;
  std::vector<int32_t> body_arity_;
  int64_t features_ = 0;
};

}  // namespace symgrad
