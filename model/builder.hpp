// SPDX-License-Identifier: Apache-2.0
// The pieces that layers, embedding and head are made of.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "model/layer.hpp"
#include "model/narrow.hpp"

namespace model {

inline double real(std::int64_t n) { return static_cast<double>(n); }

// Makes operators of one extent in one precision: takes numbers of elements, returns kernels.
struct Builder {
  const Transformer& transformer;
  const Extent& extent;
  const Kernels& kernels;
  units::Precision precision;

  // Bytes of an element outside the matrix products.
  double element() const;
  // Whether autocast computes in 16 bit between tensors of fp32.
  bool autocasts() const { return kernels.autocast && element() < 4; }
  // Bytes of an element of what layers hand on and norms compute.
  double carried_element() const { return autocasts() ? 4 : element(); }
  // Copies of a norm's output that are made and kept for so many products that read it: under
  // autocast each casts it anew.
  std::int64_t copies_for(std::int64_t products) const {
    return autocasts() && !kernels.joins_casts && !kernels.joined_projections ? products : 1;
  }
  // Bytes of an element that the products read, scales included.
  double operand_element() const;
  // Bytes of an element of a linear layer's input as it is kept for the gradient of the weights:
  // the copy that this product reads.
  double kept_element() const { return gradient_of_weights().operand_element(); }
  // Whether this copy is narrower than the input itself.
  bool keeps_copies() const { return is_narrow(gradient_of_weights().precision); }
  // The builder of the linear layers of attention, and of a dense MLP.
  Builder of_attention() const { return unless(kernels.wide.attention); }
  Builder of_mlp() const { return unless(kernels.wide.mlp); }
  // The same builder, in 16 bit where this one is narrower: attention, router and head compute in
  // that.
  Builder wide() const;
  // The builder of some linear layers: in 16 bit if these are to stay in it.
  Builder unless(bool is_wide) const { return is_wide ? wide() : *this; }

  // The casts that make the narrow copies which the products of a linear layer read: of its input,
  // and of the gradient of its output.
  std::vector<units::Kernel> casts_of_input(double values) const;
  std::vector<units::Kernel> casts_of_gradient(double values) const;
  // The casts between values of fp32 and of 16 bit that autocast makes, forward or backward.
  std::vector<units::Kernel> casts_between(double values, std::int64_t copies = 1) const;
  // A matrix product (m × k)·(k × n), `batch` times.
  units::Kernel product(units::Kernel::Layout layout, std::int64_t m, std::int64_t n,
                        std::int64_t k, std::int64_t batch = 1) const;
  static units::Kernel stream(double bytes);
  static units::Kernel random(double bytes);

  // A linear layer on every token: its three products, and its weight gradient's accumulation. In 8
  // and 4 bit also the casts of its input and of its output's gradient; its weights are cast once a
  // step, by the optimizer.
  Operator linear(std::string_view name, Part part, Seam seam, std::int64_t in, std::int64_t out,
                  bool bias) const;
  // Several linear layers that read the same input: one product makes all of their outputs, unless
  // projections are apart.
  Operator joined(std::string_view name, Part part, Seam seam, std::int64_t in,
                  std::initializer_list<std::int64_t> outs, bool bias) const;
  // A linear layer on this rank's rows alone, whose weights are not divided.
  Operator replicated(std::string_view name, Part part, std::int64_t in, std::int64_t out) const;
  // A linear layer of each routed expert that is here, over an even share of the rows. A bias is
  // added by a pass of its own unless each expert's product does.
  Operator grouped(std::string_view name, std::int64_t in, std::int64_t out, bool bias) const;
  Operator norm(std::string_view name, Part part, bool keeps_layer_input) const;
  // Bias, dropout and residual sum after a block.
  Operator residual(std::string_view name, Part part, bool bias) const;

 private:
  // Adds the casts of the input that so many products read, and of its gradients.
  void cast_carried(Operator& op, double inputs, std::int64_t products) const;
  Builder gradient_of_inputs() const { return unless(kernels.wide.input_gradients); }
  Builder gradient_of_weights() const { return unless(kernels.wide.weight_gradients); }
  struct Products {
    units::Kernel forward, input_gradient, weight_gradient;
  };
  Products products(std::int64_t rows, std::int64_t in, std::int64_t out,
                    std::int64_t batch = 1) const;
  Operator weighted(const Products& products, double weights, double inputs, double outputs) const;
};

inline void append(Operators& to, Operators from) {
  std::ranges::move(from, std::back_inserter(to));
}

// The halves of a layer.
Operators attention(const Builder& make, std::int64_t window);
Operators dense_mlp(const Builder& make);
Operators expert_mlp(const Builder& make);
// The operators from the norm's output to queries, keys and values.
Operators latent_projections(const Builder& make);

}  // namespace model
