// Training of relaxed trees: Adam on node logits and edge strengths, whole batches of trees at
// once.
#pragma once

#include "machine.hpp"
#include "parallel.hpp"
#include "rows.hpp"

namespace symgrad {

struct TrainOptions {
  std::vector<int32_t> functions;  // codes that nodes mix, beside `pass`
  int epochs = 1000;
  int batch = 256;          // rows per epoch, at most kMaxBatch
  double rate = 0.02;       // of the node logits
  double edge_rate = 0.02;  // of the edge logits
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double lambda = 0.1;  // weight of the 0-1 loss
  double start = 0.9;   // first probability of a node's own primitive; 0: use start_logit
  double start_logit = 1.0;
  double edge = 0.95;           // first strength of an edge
  bool sharp_added = true;      // added leaves start at one random feature, not at all alike
  bool leaf_functions = false;  // leaves mix functions of their own value too
  bool scale = false;           // the loss fits slope and intercept
  bool random = false;          // draw primitives by their probability, not the likeliest
  uint64_t seed = 0;
};

// Rows in the order of training: row i of X at X + i * features.
template <class T>
struct Rows {
  const T* X;
  const T* y;
  const T* weight;  // may be null
  int64_t rows, features;
  double deviation;  // of the target
};

using Gemm = void (*)();  // BLAS ?gemm of the number type at hand, as scipy exports it

// Results by node, in the order of the forest's code; null where not wanted.
template <class T>
struct Trained {
  int32_t* pick;       // functions: index into `functions`, or their number for `pass`;
                       // leaves: the feature, or features + index for a function
  int32_t* added;      // the feature of a unary node's added leaf, else -1
  T* edge;             // strength of the edge to the parent
  T* probability;      // of the pick
  double* first_loss;  // by tree: loss of the first and of the last epoch
  double* last_loss;
  // Everything, for inspection; rows of `width` numbers: functions and pass for inner nodes,
  // features and functions for leaves. Gradients are those of the first epoch.
  T* logits = nullptr;
  T* gradients = nullptr;
  T* added_logits = nullptr;
  T* added_gradients = nullptr;
  T* edge_gradients = nullptr;
  T* added_edge_gradients = nullptr;
  int64_t width = 0;
};

template <class T>
bool train(const Forest& forest, const Rows<T>& data, const TrainOptions& options, Gemm gemm,
           const Trained<T>& out, int jobs, const Poll& poll);

}  // namespace symgrad
