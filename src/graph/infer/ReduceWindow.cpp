// SPDX-License-Identifier: Apache-2.0
// Shape inference of windows that slide over every dimension, and of the operators that put elements between others.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>

namespace tenon::infer
{

namespace
{

void CheckFactors(const InferContext& context, const std::vector<uint32_t>& factors, const char* what)
{
    const TensorShape& input = context.InputShape(0);
    context.Check(factors.size() == input.GetNumDimensions(), "{} {} do not fit input 0 of shape {}", factors.size(),
                  what, input);
    const auto zero = std::find(factors.begin(), factors.end(), 0U);
    context.Check(zero == factors.end(), "one of the {} is 0; they must be at least 1", what);
}

} // namespace

void InferDilate(InferContext& context)
{
    if (context.Descriptor<DilateDescriptor>().m_ParametersAsInputs)
    {
        std::vector<unsigned int> dilations = ValuesAsSizes(context, 2);
        auto& edited = context.Edit<DilateDescriptor>();
        edited.m_Dilations = std::move(dilations);
        edited.m_ParametersAsInputs = false;
    }
    const auto& dilations = context.Descriptor<DilateDescriptor>().m_Dilations;
    CheckFactors(context, dilations, "dilations");
    CheckElements(context, 1, "value", 1);
    const TensorShape& input = context.InputShape(0);
    ShapeBuilder output(context);
    for (unsigned int i = 0; i < input.GetNumDimensions(); ++i)
    {
        output.Add(input[i] == 0 ? 0 : Multiply(context, int64_t{input[i]} - 1, dilations[i]) + 1);
    }
    context.SetOutputShape(0, output.Shape());
}

void InferReduceWindow(InferContext& context)
{
    if (context.Descriptor<ReduceWindowDescriptor>().m_ParametersAsInputs)
    {
        std::vector<unsigned int> sizes = ValuesAsSizes(context, 2);
        std::vector<unsigned int> strides = ValuesAsSizes(context, 3);
        std::vector<unsigned int> dilations = ValuesAsSizes(context, 4);
        auto& edited = context.Edit<ReduceWindowDescriptor>();
        edited.m_WindowSizes = std::move(sizes);
        edited.m_Strides = std::move(strides);
        edited.m_Dilations = std::move(dilations);
        edited.m_ParametersAsInputs = false;
    }
    const auto& descriptor = context.Descriptor<ReduceWindowDescriptor>();
    CheckFactors(context, descriptor.m_WindowSizes, "window sizes");
    CheckFactors(context, descriptor.m_Strides, "strides");
    CheckFactors(context, descriptor.m_Dilations, "dilations");
    CheckElements(context, 1, "value to start from", 1);
    const TensorShape& input = context.InputShape(0);
    ShapeBuilder output(context);
    for (unsigned int i = 0; i < input.GetNumDimensions(); ++i)
    {
        const int64_t extent =
            Multiply(context, int64_t{descriptor.m_WindowSizes[i]} - 1, descriptor.m_Dilations[i]) + 1;
        const int64_t size = input[i];
        output.Add(extent > size ? 0 : (size - extent) / descriptor.m_Strides[i] + 1);
    }
    context.SetOutputShape(0, output.Shape());
}

void InferStablehloPad(InferContext& context)
{
    const auto& descriptor = context.Descriptor<StablehloPadDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const size_t rank = input.GetNumDimensions();
    context.Check(descriptor.m_EdgeLow.size() == rank && descriptor.m_EdgeHigh.size() == rank &&
                      descriptor.m_Interior.size() == rank,
                  "{} low, {} high and {} interior paddings do not fit input 0 of shape {}",
                  descriptor.m_EdgeLow.size(), descriptor.m_EdgeHigh.size(), descriptor.m_Interior.size(), input);
    CheckElements(context, 1, "value", 1);
    std::vector<int64_t> sizes(rank);
    bool isEmpty = false;
    for (unsigned int i = 0; i < rank; ++i)
    {
        const int64_t step = int64_t{descriptor.m_Interior[i]} + 1;
        context.Check(step >= 1, "the interior padding of dimension {} is {}, but it must not be negative", i,
                      descriptor.m_Interior[i]);
        const int64_t spread = input[i] == 0 ? 0 : Multiply(context, int64_t{input[i]} - 1, step) + 1;
        sizes[i] = spread + descriptor.m_EdgeLow[i] + descriptor.m_EdgeHigh[i];
        isEmpty = isEmpty || sizes[i] <= 0;
    }
    if (isEmpty)
    {
        std::fill(sizes.begin(), sizes.end(), 0);
    }
    context.SetOutputShape(0, sizes);
}

} // namespace tenon::infer
