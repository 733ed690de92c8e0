#include "program.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace symgrad {

static void fail(const std::string& what) {
  throw std::invalid_argument("corrupt forest: " + what);
}

static void check_offsets(const std::vector<int64_t>& offset, size_t size, const char* what) {
  if (offset.empty() || offset.front() != 0 || offset.back() != int64_t(size))
    fail(std::string(what) + " do not span the code array");
  for (size_t i = 1; i < offset.size(); ++i)
    if (offset[i] <= offset[i - 1]) fail(std::string(what) + " are not increasing");
}

Forest::Forest(std::vector<int32_t> code, std::vector<double> value, std::vector<int64_t> offset,
               std::vector<int32_t> body_code, std::vector<double> body_value,
               std::vector<int64_t> body_offset, std::vector<int32_t> body_arity)
    : code_(std::move(code)),
      value_(std::move(value)),
      offset_(std::move(offset)),
      body_code_(std::move(body_code)),
      body_value_(std::move(body_value)),
      body_offset_(std::move(body_offset)),
      body_arity_(std::move(body_arity)) {
  if (value_.size() != code_.size() || body_value_.size() != body_code_.size())
    fail("code and value differ in length");
  check_offsets(body_offset_, body_code_.size(), "body offsets");
  if (body_arity_.size() + 1 != body_offset_.size()) fail("bodies and arities differ in number");
  for (size_t k = 0; k < body_arity_.size(); ++k) {
    if (body_arity_[k] < 1 || body_arity_[k] > 2)
      fail("a composed primitive takes 1 or 2 arguments");
    check(body(kFirstComposed + int32_t(k)), body_arity_[k], int32_t(k));
  }
  check_offsets(offset_, code_.size(), "offsets");
  for (int64_t t = 0; t < trees(); ++t) {
    const int64_t used = check(tree(t), int64_t(1) << 31, int32_t(body_arity_.size()));
    if (used > features_) features_ = used;
  }
}

int Forest::arity(int32_t code) const {
  if (code < 0) return 0;
  if (code < kPrimitives) return primitive_table()[code].arity;
  const int64_t k = int64_t(code) - kFirstComposed;
  return k >= 0 && k < int64_t(body_arity_.size()) ? body_arity_[k] : -1;
}

// Only composed primitives before `composed` may occur, so definitions cannot be circular.
int64_t Forest::check(const Postfix& tree, int64_t variables, int32_t composed) const {
  int64_t depth = 0, used = 0;
  for (int64_t i = 0; i < tree.size; ++i) {
    const int32_t c = tree.code[i];
    const int n = arity(c);
    if (n < 0 || (c >= kFirstComposed && c - kFirstComposed >= composed))
      fail("unknown code " + std::to_string(c));
    if (c < 0 && c != kConstant) {
      const int64_t j = ~c;
      if (j >= variables) fail("argument index out of range");
      if (j + 1 > used) used = j + 1;
    }
    if (depth < n) fail("a function lacks arguments");
    depth += 1 - n;
  }
  if (depth != 1) fail("a tree leaves " + std::to_string(depth) + " values instead of one");
  return used;
}

namespace {

// Stack machine shared by both lowerings: `Emit` says what leaves and functions become.
template <class Emit>
typename Emit::Value walk(const Forest& forest, const Postfix& tree,
                          const typename Emit::Value* args, Emit& emit, bool outer) {
  std::vector<typename Emit::Value> stack;
  stack.reserve(size_t(tree.size));
  for (int64_t i = 0; i < tree.size; ++i) {
    const int32_t c = tree.code[i];
    if (c == kConstant) {
      stack.push_back(emit.constant(tree.value[i], outer));
    } else if (c < 0) {
      stack.push_back(args ? emit.borrow(args[~c]) : emit.feature(~c));
    } else {
      const int n = forest.arity(c);
      typename Emit::Value operand[2] = {stack[stack.size() - n], stack.back()};
      stack.resize(stack.size() - n);
      if (c < kFirstComposed) {
        stack.push_back(emit.apply(c, n, operand[0], operand[1], outer));
      } else {
        auto result = walk(forest, forest.body(c), operand, emit, false);
        stack.push_back(emit.finish(result, operand, n, outer));
      }
    }
  }
  return stack.back();
}

struct EmitProgram {
  struct Value {
    Operand operand;
    bool owned;  // whether consuming it frees its register
  };
  Program* program;
  std::vector<int32_t> free;

  Value constant(double v, bool) {
    program->scalars.push_back(v);
    return {{Operand::kScalar, int32_t(program->scalars.size()) - 1}, false};
  }
  Value feature(int32_t j) { return {{Operand::kFeature, j}, false}; }
  Value borrow(Value v) { return {v.operand, false}; }
  void release(const Value& v) {
    if (v.owned && v.operand.kind == Operand::kRegister) free.push_back(v.operand.index);
  }
  Value apply(int32_t op, int n, const Value& a, const Value& b, bool) {
    release(a);
    if (n == 2) release(b);
    int32_t out;
    if (free.empty()) {
      out = program->registers++;
    } else {
      out = free.back();
      free.pop_back();
    }
    program->code.push_back({op, out, a.operand, b.operand});
    return {{Operand::kRegister, out}, true};
  }
  Value finish(Value result, const Value* args, int n, bool) {
    for (int k = 0; k < n; ++k) {
      const bool same = result.operand.kind == Operand::kRegister &&
                        args[k].operand.kind == Operand::kRegister &&
                        result.operand.index == args[k].operand.index;
      if (same) {
        result.owned = args[k].owned;
      } else {
        release(args[k]);
      }
    }
    return result;
  }
};

// Outer nodes take the slots 0, 1, 2, ... in postfix order; steps inside bodies come after them.
struct EmitTape {
  using Value = int32_t;
  Tape* tape;
  int32_t outer_next = 0;

  int32_t slot(bool outer) {
    if (outer) return outer_next++;
    tape->leaves.push_back({Operand::kScalar, 0});
    tape->written.push_back(false);
    return tape->slots++;
  }
  Value leaf(Operand operand, bool outer) {
    const int32_t s = slot(outer);
    tape->leaves[s] = operand;
    return s;
  }
  Value constant(double v, bool outer) {
    tape->scalars.push_back(v);
    return leaf({Operand::kScalar, int32_t(tape->scalars.size()) - 1}, outer);
  }
  Value feature(int32_t j) { return leaf({Operand::kFeature, j}, true); }
  Value borrow(Value v) { return v; }
  Value apply(int32_t op, int, Value a, Value b, bool outer) {
    const int32_t s = slot(outer);
    tape->written[s] = true;
    tape->code.push_back({op, s, a, b});
    return s;
  }
  Value finish(Value result, const Value*, int, bool outer) {
    if (!outer) return result;
    // The node that calls the primitive is a slot of its own: the result times one.
    const Value one = constant(1.0, false);
    return apply(k_mul, 2, result, one, true);
  }
};

}  // namespace

void lower(const Forest& forest, const Postfix& postfix, Program* program) {
  program->code.clear();
  program->scalars.clear();
  program->registers = 0;
  EmitProgram emit{program, {}};
  program->result = walk(forest, postfix, nullptr, emit, true).operand;
}

void record(const Forest& forest, const Postfix& postfix, Tape* tape) {
  tape->code.clear();
  tape->scalars.clear();
  tape->slots = int32_t(postfix.size);
  tape->leaves.assign(size_t(postfix.size), {Operand::kScalar, 0});
  tape->written.assign(size_t(postfix.size), false);
  EmitTape emit{tape};
  tape->result = walk(forest, postfix, nullptr, emit, true);
}

}  // namespace symgrad
