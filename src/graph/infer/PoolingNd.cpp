// SPDX-License-Identifier: Apache-2.0
// Shape inference of ONNX's pools over any number of spatial dimensions, and of their inverse.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <utility>

namespace tenon::infer
{

namespace
{

// The number of spatial dimensions of input 0.
unsigned int CountSpatial(const InferContext& context)
{
    const TensorShape& input = context.InputShape(0);
    context.Check(input.GetNumDimensions() >= 3, "input 0 has shape {}; it must be [N, C, spatial...]", input);
    return input.GetNumDimensions() - 2;
}

// Checks a list that has one value a spatial dimension; an empty one becomes one of defaults.
void Complete(const InferContext& context, std::vector<uint32_t>& list, const char* what, size_t spatial,
              uint32_t byDefault)
{
    if (list.empty())
    {
        list.assign(spatial, byDefault);
    }
    context.Check(list.size() == spatial, "{} {} are given for the {} spatial dimensions of input 0 of shape {}",
                  list.size(), what, spatial, context.InputShape(0));
    for (uint32_t value : list)
    {
        context.Check(value != 0 || byDefault == 0, "one of the {} is 0; they must be at least 1", what);
    }
}

void CheckPoolSizes(const InferContext& context, const std::vector<uint32_t>& sizes, size_t spatial)
{
    context.Check(sizes.size() == spatial,
                  "{} pool sizes are given for the {} spatial dimensions of input 0 of shape {}", sizes.size(), spatial,
                  context.InputShape(0));
    for (uint32_t size : sizes)
    {
        context.Check(size != 0, "one of the pool sizes is 0; they must be at least 1");
    }
}

// How many windows there are along one spatial dimension. Paddings that follow from sizes are written into `window`.
int64_t CountWindows(const InferContext& context, const PoolingNdDescriptor& pool, Window& window, int64_t input)
{
    int64_t output = Slide(context, window, input);
    if (window.m_Scheme == PaddingScheme::Same)
    {
        if (pool.m_OddPadBefore)
        {
            std::swap(window.m_PadBefore, window.m_PadAfter);
        }
        return output;
    }
    const int64_t extent = GetFilterExtent(context, window);
    const int64_t rest = input + window.m_PadBefore + window.m_PadAfter - extent;
    if (pool.m_OutputShapeRounding == OutputShapeRounding::Ceiling && rest > 0 && rest % window.m_Stride != 0 &&
        output * window.m_Stride < input + window.m_PadBefore)
    {
        ++output;
    }
    return output;
}

} // namespace

void InferPoolingNd(InferContext& context)
{
    const size_t spatial = CountSpatial(context);
    auto& pool = context.Edit<PoolingNdDescriptor>();
    CheckPoolSizes(context, pool.m_PoolSizes, spatial);
    Complete(context, pool.m_Strides, "strides", spatial, 1);
    Complete(context, pool.m_Dilations, "dilations", spatial, 1);
    Complete(context, pool.m_PadsBefore, "paddings before", spatial, 0);
    Complete(context, pool.m_PadsAfter, "paddings after", spatial, 0);
    context.Check(pool.m_Function != PoolingNdFunction::Lp || pool.m_P >= 1,
                  "the exponent p of an Lp pool is 0; it must be at least 1");
    context.Check(!pool.m_IndicesEnabled || pool.m_Function == PoolingNdFunction::Max,
                  "indices are of largest elements; they must not be enabled but for Max");
    const TensorShape& input = context.InputShape(0);
    ShapeBuilder output(context);
    output.AddRange(input, 0, 2);
    for (unsigned int i = 0; i < spatial; ++i)
    {
        Window window{"spatial dimension",  pool.m_PoolSizes[i],  pool.m_Strides[i],  pool.m_Dilations[i],
                      pool.m_PaddingScheme, pool.m_PadsBefore[i], pool.m_PadsAfter[i]};
        output.Add(CountWindows(context, pool, window, input[i + 2]));
        pool.m_PadsBefore[i] = ToSize(context, window.m_PadBefore);
        pool.m_PadsAfter[i] = ToSize(context, window.m_PadAfter);
    }
    pool.m_PaddingScheme = PaddingScheme::Explicit;
    for (size_t i = 0; i < context.NumOutputs(); ++i)
    {
        context.SetOutputShape(i, output.Shape());
    }
}

void InferMaxUnpool(InferContext& context)
{
    const unsigned int spatial = CountSpatial(context);
    const TensorShape& input = context.InputShape(0);
    context.Check(context.InputShape(1) == input, "input 1, the indices, has shape {}; it must be that of input 0, {}",
                  context.InputShape(1), input);
    if (context.Descriptor<MaxUnpoolDescriptor>().m_ParametersAsInputs)
    {
        std::vector<uint32_t> shape = ValuesAsSizes(context, 2);
        auto& edited = context.Edit<MaxUnpoolDescriptor>();
        edited.m_OutputShape = std::move(shape);
        edited.m_ParametersAsInputs = false;
    }
    MaxUnpoolDescriptor unpool = context.Descriptor<MaxUnpoolDescriptor>();
    CheckPoolSizes(context, unpool.m_PoolSizes, spatial);
    Complete(context, unpool.m_Strides, "strides", spatial, 1);
    Complete(context, unpool.m_PadsBefore, "paddings before", spatial, 0);
    Complete(context, unpool.m_PadsAfter, "paddings after", spatial, 0);
    const std::vector<uint32_t>& shape = unpool.m_OutputShape;
    ShapeBuilder output(context);
    if (shape.empty())
    {
        output.AddRange(input, 0, 2);
        for (unsigned int i = 0; i < spatial; ++i)
        {
            const int64_t reach = Multiply(context, std::max<int64_t>(input[i + 2], 1) - 1, unpool.m_Strides[i]);
            output.Add(reach + unpool.m_PoolSizes[i] - unpool.m_PadsBefore[i] - unpool.m_PadsAfter[i]);
        }
    }
    else
    {
        context.Check(shape.size() == spatial + 2, "an output shape of {} sizes does not fit input 0 of shape {}",
                      shape.size(), input);
        context.Check(shape[0] == input[0] && shape[1] == input[1],
                      "the output shape begins with {} and {}, but input 0 has shape {}", shape[0], shape[1], input);
        for (uint32_t size : shape)
        {
            output.Add(size);
        }
    }
    context.SetOutputShape(0, output.Shape());
}

} // namespace tenon::infer
