// SPDX-License-Identifier: Apache-2.0
// What pass MoveStrides asks of convolutions: which pixels they read, and what they are with a larger stride.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace tenon
{

/// Strides of rows and columns.
struct Stride
{
    uint32_t m_Y = 1;
    uint32_t m_X = 1;

    bool IsNone() const { return m_Y == 1 && m_X == 1; }
    friend bool operator==(const Stride&, const Stride&) = default;
};

/// Height and width of the windows of a convolution.
struct Filter
{
    uint64_t m_Height = 0;
    uint64_t m_Width = 0;

    bool IsOne() const { return m_Height == 1 && m_Width == 1; }
};

/// visit(descriptor) of a convolution of either kind.
template <typename F>
auto VisitConvolution(const Layer& layer, const F& visit)
{
    return layer.GetType() == LayerType::Convolution2d ? visit(layer.Descriptor<Convolution2dDescriptor>())
                                                       : visit(layer.Descriptor<DepthwiseConvolution2dDescriptor>());
}

/// Of a convolution of either kind, channels last, whose weights are constant; nothing of other layers.
std::optional<Filter> GetFilter(const Layer& layer);

/// The stride with which all readers of an output read it; no stride if they differ, or if one reads every pixel.
Stride GetReadStride(const OutputSlot& output);

/// The descriptor of a convolution whose output is the present one at this stride; null where there is none.
std::unique_ptr<BaseDescriptor> MakeStrided(const Layer& convolution, const Filter& filter, Stride stride);

/// The info of a tensor at this stride.
TensorInfo MakeStrided(TensorInfo info, Stride stride);

} // namespace tenon
