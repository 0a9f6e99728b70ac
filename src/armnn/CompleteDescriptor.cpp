// SPDX-License-Identifier: Apache-2.0
// CompleteDescriptor: see CompleteDescriptor.hpp.
#include "armnn/CompleteDescriptor.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <string>

namespace tenon
{

namespace
{

// Sizes along one dimension of a convolution or pool, and what PaddingScheme makes of them.
struct Extent
{
    unsigned int m_Input;
    unsigned int m_Output;
    uint32_t m_Filter;
    uint32_t m_Stride;
    uint32_t m_Dilation;
};

void ComputePadding(PaddingScheme scheme, const Extent& extent, uint32_t& before, uint32_t& after)
{
    if (scheme == PaddingScheme::Explicit)
    {
        return;
    }
    uint64_t total = 0;
    if (scheme == PaddingScheme::Same && extent.m_Output > 0 && extent.m_Filter > 0)
    {
        const uint64_t covered =
            (uint64_t{extent.m_Output} - 1) * extent.m_Stride + (uint64_t{extent.m_Filter} - 1) * extent.m_Dilation + 1;
        total = covered > extent.m_Input ? covered - extent.m_Input : 0;
    }
    before = static_cast<uint32_t>(total / 2);
    after = static_cast<uint32_t>(total - total / 2);
}

/// Sets the paddings of a layer of images (or volumes), whose data has channels last.
template <typename D>
void ComputePaddings(D& descriptor, const TensorShape& input, const TensorShape& output,
                     const unsigned int (&filter)[3])
{
    const PaddingScheme scheme = descriptor.m_PaddingScheme;
    descriptor.m_PaddingScheme = PaddingScheme::Explicit;
    const unsigned int width = input.GetNumDimensions() - 2;
    uint32_t dilationX = 1;
    uint32_t dilationY = 1;
    if constexpr (requires { descriptor.m_DilationX; })
    {
        dilationX = descriptor.m_DilationX;
        dilationY = descriptor.m_DilationY;
    }
    ComputePadding(scheme, {input[width], output[width], filter[2], descriptor.m_StrideX, dilationX},
                   descriptor.m_PadLeft, descriptor.m_PadRight);
    ComputePadding(scheme, {input[width - 1], output[width - 1], filter[1], descriptor.m_StrideY, dilationY},
                   descriptor.m_PadTop, descriptor.m_PadBottom);
    if constexpr (requires { descriptor.m_StrideZ; })
    {
        uint32_t dilationZ = 1;
        if constexpr (requires { descriptor.m_DilationZ; })
        {
            dilationZ = descriptor.m_DilationZ;
        }
        ComputePadding(scheme, {input[1], output[1], filter[0], descriptor.m_StrideZ, dilationZ}, descriptor.m_PadFront,
                       descriptor.m_PadBack);
    }
}

/// Throws unless the tensor has that many dimensions.
const TensorShape& CheckRank(const TensorInfo& info, const char* name, unsigned int rank)
{
    const TensorShape& shape = info.GetShape();
    if (shape.GetNumDimensions() != rank)
    {
        throw LayerValidationException(std::string(name) + " has shape " + shape.ToString() + ", but it must have " +
                                       std::to_string(rank) + " dimensions");
    }
    return shape;
}

} // namespace

void CompleteDescriptor(LayerType type, BaseDescriptor& base, const LayerView& view)
{
    const auto input = [&](unsigned int rank) -> const TensorShape&
    { return CheckRank(view.GetInput(0), "input 0", rank); };
    const auto weights = [&](unsigned int rank) -> const TensorShape&
    { return CheckRank(view.GetInput(1), "input 1, the weights,", rank); };
    const auto output = [&](unsigned int rank) -> const TensorShape&
    { return CheckRank(view.GetOutput(0), "output 0", rank); };
    switch (type)
    {
    case LayerType::Convolution2d:
        ComputePaddings(static_cast<Convolution2dDescriptor&>(base), input(4), output(4),
                        {1, weights(4)[1], weights(4)[2]});
        break;
    case LayerType::DepthwiseConvolution2d:
        ComputePaddings(static_cast<DepthwiseConvolution2dDescriptor&>(base), input(4), output(4),
                        {1, weights(4)[1], weights(4)[2]});
        break;
    case LayerType::Convolution3d: // weights are [D, H, W, I, O]
        ComputePaddings(static_cast<Convolution3dDescriptor&>(base), input(5), output(5),
                        {weights(5)[0], weights(5)[1], weights(5)[2]});
        break;
    case LayerType::TransposeConvolution2d: // the convolution from its output to its input
        ComputePaddings(static_cast<TransposeConvolution2dDescriptor&>(base), output(4), input(4),
                        {1, weights(4)[1], weights(4)[2]});
        break;
    case LayerType::Pooling2d:
    {
        auto& pool = static_cast<Pooling2dDescriptor&>(base);
        ComputePaddings(pool, input(4), output(4), {1, pool.m_PoolHeight, pool.m_PoolWidth});
        break;
    }
    case LayerType::Pooling3d:
    {
        auto& pool = static_cast<Pooling3dDescriptor&>(base);
        ComputePaddings(pool, input(5), output(5), {pool.m_PoolDepth, pool.m_PoolHeight, pool.m_PoolWidth});
        break;
    }
    case LayerType::Reshape: static_cast<ReshapeDescriptor&>(base).m_TargetShape = view.GetOutput(0).GetShape(); break;
    case LayerType::Stack:
    {
        auto& stack = static_cast<StackDescriptor&>(base);
        const unsigned int rank = view.GetOutput(0).GetNumDimensions();
        stack.m_InputShape = view.GetInput(0).GetShape();
        stack.m_Axis += stack.m_Axis >= rank ? rank : 0; // from the end
        break;
    }
    default: break;
    }
}

} // namespace tenon
