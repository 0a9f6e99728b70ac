// SPDX-License-Identifier: Apache-2.0
// ErrorBounds: bounds of the difference between two correct implementations of a network, tensor by tensor. Each
// operator has a bound of its own: some units in the last place for elementwise results, a number of them that grows
// with the terms of a sum, and the effect of differences of its inputs. Moved values, integers and quantized tensors do
// not differ at all if their inputs do not.
#pragma once

#include "harness/NetworkCase.hpp"

#include <map>

namespace tenon::test
{

class ErrorBounds
{
public:
    /// `values`: the result of ComputeAllValues(). Throws UnimplementedException for a layer type without a bound.
    ErrorBounds(const Graph& graph, const TensorValues& values);

    /// The largest difference of an element; infinite if a discontinuous layer (Floor, Quantize, a comparison) has an
    /// inexact input, or a quotient's divisor may be 0.
    double Of(const OutputSlot& slot) const { return m_Bounds.at(&slot); }

private:
    class Calculator;

    std::map<const OutputSlot*, double> m_Bounds;
};

} // namespace tenon::test
