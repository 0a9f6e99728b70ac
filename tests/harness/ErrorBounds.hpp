// SPDX-License-Identifier: Apache-2.0
// ErrorBounds: by how much two right implementations of a network may differ, tensor by tensor. Each operator has a
// bound of its own: some units in the last place for what is computed element by element, a number of them that grows
// with the terms of a sum, and what it makes of differences of its inputs. Moved values, integers and quantized tensors
// do not differ at all where their inputs do not.
#pragma once

#include "harness/NetworkCase.hpp"

#include <map>

namespace tenon::test
{

class ErrorBounds
{
public:
    /// `values` as ComputeAllValues() gives them. Throws UnimplementedException for a layer type without a bound.
    ErrorBounds(const Graph& graph, const TensorValues& values);

    /// The largest difference of an element; infinite where a layer jumps (Floor, Quantize, a comparison) and its input
    /// is not exact, or a quotient's divisor may be 0.
    double Of(const OutputSlot& slot) const { return m_Bounds.at(&slot); }

private:
    class Calculator;

    std::map<const OutputSlot*, double> m_Bounds;
};

} // namespace tenon::test
