// SPDX-License-Identifier: Apache-2.0
// Parts of ShowLayer: whether a layer has the tensors that it must have, and the parameters that Arm NN computes from
// them before a backend sees the layer.
#include "armnn/ShownLayer.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <string>

namespace tenon
{

namespace
{

/// The slots of a layer.
struct SlotCounts
{
    size_t m_Required; ///< leading inputs that must be connected
    size_t m_Inputs;
    size_t m_Outputs;
};

/// `counts` are the numbers of the operator table. A descriptor that has numbers of its own replaces them.
template <typename D>
SlotCounts CountSlots(const BaseDescriptor& base, SlotCounts counts)
{
    if constexpr (requires(const D& d) { d.GetNumInputs(); })
    {
        const size_t inputs = static_cast<const D&>(base).GetNumInputs();
        const bool hasOptional = counts.m_Required < counts.m_Inputs;
        counts.m_Required = hasOptional ? std::min(counts.m_Required, inputs) : inputs;
        counts.m_Inputs = inputs;
    }
    if constexpr (requires(const D& d) { d.GetNumOutputs(); })
    {
        counts.m_Outputs = static_cast<const D&>(base).GetNumOutputs();
    }
    return counts;
}

SlotCounts CountSlots(LayerType type, const BaseDescriptor& base)
{
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, ...)                                 \
    case LayerType::name: return CountSlots<descriptor>(base, {minInputs, maxInputs, outputs});
    switch (type)
    {
#include <tenon/ops.def>
    default: return {2, 2, 1}; // the deprecated names of ElementwiseBinary
    }
}

/// Yes where the layer has the slots of its type, and all that must be connected are; else why not.
SupportResult CheckLayerSlots(const LayerView& view)
{
    const auto no = [](const std::string& reason)
    { return SupportResult::No(SupportCode::UnsupportedParameters, reason); };
    for (size_t i = 0; i < view.GetNumOutputs(); ++i)
    {
        if (view.m_Outputs[i] == nullptr)
        {
            return no("output " + std::to_string(i) + " has no info");
        }
    }
    if (view.m_Type == LayerType::PreCompiled)
    {
        return SupportResult::Yes(); // it has the tensors that the backend compiled it for
    }
    const SlotCounts counts = CountSlots(view.m_Type, *view.m_Descriptor);
    for (size_t i = 0; i < std::max(counts.m_Required, view.GetNumInputs()); ++i)
    {
        const bool has = view.HasInput(i);
        if (i < counts.m_Required && !has)
        {
            return no("input " + std::to_string(i) + " is not connected");
        }
        if (i >= counts.m_Inputs && has)
        {
            return no("there is an input " + std::to_string(i) + ", but with these parameters the layer has " +
                      std::to_string(counts.m_Inputs));
        }
    }
    if (view.GetNumOutputs() != counts.m_Outputs)
    {
        return no("there are infos of " + std::to_string(view.GetNumOutputs()) + " outputs, but the layer has " +
                  std::to_string(counts.m_Outputs));
    }
    return SupportResult::Yes();
}

/// Yes where all tensors are as Arm NN has them, with shapes that are known; else why not.
SupportResult CheckTensors(const LayerView& view)
{
    const auto check = [&](const TensorInfo& info, const char* which, size_t i)
    {
        const std::string name = std::string(which) + " " + std::to_string(i);
        if (!info.GetShape().AreAllDimensionsSpecified())
        {
            return SupportResult::No(SupportCode::UnsupportedDynamic,
                                     name + " has shape " + info.GetShape().ToString() +
                                         ", but backends written for Arm NN need shapes that are known");
        }
        if (info.GetDataType() > DataType::Signed64)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     name + " is " + GetDataTypeName(info.GetDataType()) +
                                         ", which backends written for Arm NN do not have");
        }
        return SupportResult::Yes();
    };
    for (size_t i = 0; i < view.GetNumInputs(); ++i)
    {
        SupportResult result = view.HasInput(i) ? check(view.GetInput(i), "input", i) : SupportResult::Yes();
        if (!result)
        {
            return result;
        }
    }
    for (size_t i = 0; i < view.GetNumOutputs(); ++i)
    {
        SupportResult result = check(view.GetOutput(i), "output", i);
        if (!result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

/// Sizes along one dimension of a convolution or pool, of which PaddingScheme makes paddings.
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

size_t CountInputSlots(LayerType type, const BaseDescriptor& descriptor)
{
    return CountSlots(type, descriptor).m_Inputs;
}

SupportResult CheckLayer(const LayerView& view)
{
    SupportResult result = CheckLayerSlots(view);
    return result ? CheckTensors(view) : result;
}

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
