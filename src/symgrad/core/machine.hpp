// Runs one tree's program over blocks of rows. One machine per thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "program.hpp"

namespace symgrad {

// Columns of the data. Dense: column j starts at data + j * stride, or at single + j * stride in
// float32. Sparse: its entries are single[k] in row[k], ascending, k from first[j] to first[j + 1].
template <class T>
struct Columns {
  const T* data;
  int64_t stride, rows, columns;
  const float* single = nullptr;
  const int64_t* first = nullptr;
  const int32_t* row = nullptr;
};

struct AlignedDelete {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
};

// Aligned scratch memory that only grows.
template <class T>
class Scratch {
 public:
  T* get(size_t size) {
    if (size > size_) {
      memory_.reset(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t(64))));
      size_ = size;
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<T, AlignedDelete> memory_;
  size_t size_ = 0;
};

inline int padded(int64_t rows) { return int((rows + kVector - 1) / kVector * kVector); }

// A block of a column that is not stored as T, one after the other.
template <class T>
const T* unpack(const Columns<T>& X, int32_t feature, int64_t row, int rows, T* pad) {
  const int whole = padded(rows);
  if (X.first) {
    std::fill(pad, pad + whole, T(0));
    const int32_t* end = X.row + X.first[feature + 1];
    const int32_t* at = std::lower_bound(X.row + X.first[feature], end, int32_t(row));
    for (; at != end && *at < row + rows; ++at) pad[*at - row] = T(X.single[at - X.row]);
    return pad;
  }
  const float* x = X.single + int64_t(feature) * X.stride + row;
  for (int i = 0; i < rows; ++i) pad[i] = T(x[i]);
  for (int i = rows; i < whole; ++i) pad[i] = pad[rows - 1];
  return pad;
}

// A block's column. Kernels run on to the next whole vector: past a column's end that is the next
// column, whose results nobody reads; at the end of the table the block is copied and padded.
template <class T>
const T* load(const Columns<T>& X, int32_t feature, int64_t row, int rows, T* pad) {
  if (!X.data) return unpack(X, feature, row, rows, pad);
  const int64_t first = int64_t(feature) * X.stride + row;
  const int whole = padded(rows);
  if (first + whole <= X.stride * X.columns) return X.data + first;
  std::memcpy(pad, X.data + first, size_t(rows) * sizeof(T));
  for (int i = rows; i < whole; ++i) pad[i] = pad[rows - 1];
  return pad;
}

template <class T>
class Machine {
 public:
  Machine(const Forest& forest, const Columns<T>& X, bool smooth)
      : forest_(forest),
        X_(X),
        kernels_(symgrad::kernels<T>()),
        smooth_(smooth ? 1 : 0),
        far_(X.data && X.stride * X.columns * int64_t(sizeof(T)) > kNear) {}

  void select(int64_t tree) {
    if (tree == tree_) return;
    select(forest_.tree(tree));
    tree_ = tree;
  }

  void select(const Postfix& tree) {
    lower(forest_, tree, &program_);
    tree_ = -1;
    // Registers, one block for each side's padded column, and one for the result.
    registers_ = memory_.get(size_t(program_.registers + 3) * kStride);
    scalars_.assign(program_.scalars.begin(), program_.scalars.end());
  }

  // Calls f(row, rows) for the blocks of a tree's rows until it returns false; for `run` to be
  // called there. Columns that come next are asked for meanwhile: those of the tree's next block,
  // at the last block those of the trees that follow.
  template <class F>
  void each_block(int64_t tree, int64_t begin, int64_t end, F f) {
    select(tree);
    for (int64_t row = begin; row < end; row += kBlock) {
      if (far_ && row + kBlock < end) expect(tree, tree, row + kBlock);
      if (far_ && row + kBlock >= end) expect(tree + 1, tree + kLead, begin);
      if (!f(row, int(end - row < kBlock ? end - row : kBlock))) return;
    }
  }

  // The tree's values on rows row .. row + rows - 1; in `direct` if given and the block is whole.
  const T* run(int64_t row, int rows, T* direct = nullptr) {
    const int n = padded(rows);
    T* pads = registers_ + size_t(program_.registers) * kStride;
    if (n != rows) direct = nullptr;
    const size_t last = program_.code.size();
    for (size_t k = 0; k < last; ++k) {
      const Instruction& i = program_.code[k];
      const bool left = i.a.kind == Operand::kScalar, right = i.b.kind == Operand::kScalar;
      const T* a = operand(i.a, row, rows, pads);
      const T* b = operand(i.b, row, rows, pads + kStride);
      T* out = direct && k + 1 == last ? direct : registers_ + size_t(i.out) * kStride;
      if (primitive_table()[i.op].arity == 1 ? left : left && right) {
        if (left) a = spread(*a, n, pads);
        b = spread(*b, n, pads + kStride);
        kernels_.map[smooth_][i.op](a, b, out, n);
      } else if (primitive_table()[i.op].arity == 2 && left) {
        kernels_.scalar_left[smooth_][i.op].f(a, b, out, n, next(out));
      } else if (primitive_table()[i.op].arity == 2 && right) {
        kernels_.scalar_right[smooth_][i.op].f(a, b, out, n, next(out));
      } else {
        kernels_.map[smooth_][i.op].f(a, b, out, n, next(out));
      }
    }
    const Operand& r = program_.result;
    if (r.kind == Operand::kRegister)
      return direct ? direct : registers_ + size_t(r.index) * kStride;
    const T* value = operand(r, row, rows, pads);
    return r.kind == Operand::kScalar ? spread(*value, n, pads + 2 * kStride) : value;
  }

 private:
  static constexpr int64_t kNear = 1 << 21;  // bytes of a table that is in the cache anyway
  static constexpr int64_t kLead = 4;        // trees to look ahead

  // Columns of these trees, from a row on, are wanted next; those asked for are not asked again.
  void expect(int64_t first, int64_t last, int64_t row) {
    last = std::min(last, forest_.trees() - 1);
    const int32_t* begin = first > last ? end_ : forest_.tree(first).code;
    end_ = first > last ? end_ : forest_.tree(last).code + forest_.tree(last).size;
    if (row != ahead_ || cursor_ < begin || cursor_ > end_) cursor_ = begin;
    ahead_ = row;
  }
  const T* next(const T* otherwise) {
    while (cursor_ < end_) {
      const int32_t code = *cursor_++;
      if (code < 0 && code != kConstant) return X_.data + int64_t(~code) * X_.stride + ahead_;
    }
    return otherwise;
  }
  const T* operand(const Operand& o, int64_t row, int rows, T* pad) {
    if (o.kind == Operand::kRegister) return registers_ + size_t(o.index) * kStride;
    if (o.kind == Operand::kScalar) return &scalars_[size_t(o.index)];
    return load(X_, o.index, row, rows, pad);
  }
  static const T* spread(T value, int n, T* to) {
    for (int i = 0; i < n; ++i) to[i] = value;
    return to;
  }

  const Forest& forest_;
  const Columns<T> X_;
  const Kernels<T>& kernels_;
  const int smooth_;
  const bool far_;
  int64_t tree_ = -1, ahead_ = 0;
  const int32_t *cursor_ = nullptr, *end_ = nullptr;
  Program program_;
  std::vector<T> scalars_;
  Scratch<T> memory_;
  T* registers_ = nullptr;
};

// Items are (chunk of rows, group of trees), chunk by chunk, so that a chunk's columns stay in
// cache while all trees pass over it. The cut depends on the data alone, never on the threads.
struct Plan {
  static constexpr int64_t kChunk = 16 * kBlock, kMaxGroup = 16, kEnoughGroups = 64;
  int64_t rows, trees, chunks, group, groups;
  Plan(int64_t rows, int64_t trees)
      : rows(rows),
        trees(trees),
        chunks((rows + kChunk - 1) / kChunk),
        group(std::clamp<int64_t>(trees / kEnoughGroups, 1, kMaxGroup)),
        groups((trees + group - 1) / group) {}
  int64_t items() const { return chunks * groups; }

  // Calls f(tree, chunk, first row, one past the last row) for each tree of the item.
  template <class F>
  void each(int64_t item, F f) const {
    const int64_t chunk = item / groups, first = item % groups * group;
    const int64_t begin = chunk * kChunk, end = begin + kChunk < rows ? begin + kChunk : rows;
    for (int64_t t = first; t < first + group && t < trees; ++t) f(t, chunk, begin, end);
  }
};

}  // namespace symgrad
