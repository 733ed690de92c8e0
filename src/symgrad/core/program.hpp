// Trees as straight-line code. Leaves are operands, not instructions: a feature is read where it
// lies, a constant is a scalar, and composed primitives are written out with shared arguments.
#pragma once

#include "forest.hpp"
#include "kernels.hpp"

namespace symgrad {

struct Operand {
  enum Kind : int32_t { kRegister, kFeature, kScalar };
  Kind kind;
  int32_t index;
};

struct Instruction {
  int32_t op;
  int32_t out;
  Operand a, b;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<double> scalars;
  int32_t registers = 0;
  Operand result{Operand::kScalar, 0};
};

// For values only: registers are used again as soon as their value is consumed.
void lower(const Forest& forest, const Postfix& postfix, Program* program);

// For derivatives: slot i holds node i of the tree, slots from `nodes` on the steps inside
// composed primitives. `leaves` gives the operand of each leaf node.
struct Tape {
  struct Step {
    int32_t op, out, a, b;
  };
  std::vector<Step> code;
  std::vector<Operand> leaves;  // by slot; meaningless for slots that a step writes
  std::vector<bool> written;    // by slot
  std::vector<double> scalars;
  int32_t slots = 0;
  int32_t result = 0;
};

void record(const Forest& forest, const Postfix& postfix, Tape* tape);

}  // namespace symgrad
