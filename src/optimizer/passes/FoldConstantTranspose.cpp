// SPDX-License-Identifier: Apache-2.0
// Pass FoldConstantTranspose: transposes weights once, here, in place of at every run.
#include "optimizer/Pass.hpp"

#include <cstring>

namespace tenon::passes
{

namespace
{

/// Copies `source` into `target`, whose dimension i is dimension mappings[i] of the source.
void TransposeBytes(const std::byte* source, const TensorShape& shape, const PermutationVector& mappings,
                    size_t elementBytes, std::byte* target)
{
    const unsigned int rank = shape.GetNumDimensions();
    std::array<size_t, MaxNumOfTensorDimensions> sourceStrides{};
    size_t stride = elementBytes;
    for (unsigned int i = rank; i-- > 0;)
    {
        sourceStrides[i] = stride;
        stride *= shape[i];
    }
    std::array<size_t, MaxNumOfTensorDimensions> sizes{};
    std::array<size_t, MaxNumOfTensorDimensions> strides{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        sizes[i] = shape[mappings[i]];
        strides[i] = sourceStrides[mappings[i]];
    }
    std::array<size_t, MaxNumOfTensorDimensions> index{};
    const size_t total = shape.GetNumElements64();
    const std::byte* from = source;
    for (size_t n = 0; n < total; ++n)
    {
        std::memcpy(target + n * elementBytes, from, elementBytes);
        for (unsigned int i = rank; i-- > 0;)
        {
            from += strides[i];
            if (++index[i] < sizes[i])
            {
                break;
            }
            from -= strides[i] * sizes[i];
            index[i] = 0;
        }
    }
}

bool IsFoldable(const Layer& layer)
{
    if (layer.GetType() != LayerType::Transpose || layer.Descriptor<TransposeDescriptor>().m_ParametersAsInputs ||
        layer.GetConstantInput(0) == nullptr)
    {
        return false;
    }
    return GetDataTypeBits(layer.Input(0).GetTensorInfo().GetDataType()) >= 8;
}

} // namespace

void FoldConstantTranspose(Graph& graph)
{
    const size_t size = graph.Size();
    for (size_t i = 0; i < size; ++i)
    {
        Layer& layer = *graph.Layers()[i];
        if (!IsFoldable(layer))
        {
            continue;
        }
        const TensorInfo& source = layer.Input(0).GetTensorInfo();
        const size_t elementBytes = GetDataTypeSize(source.GetDataType());
        auto memory = std::make_shared<std::vector<std::byte>>(source.GetNumBytes());
        TransposeBytes(static_cast<const std::byte*>(layer.GetConstantInput(0)), source.GetShape(),
                       layer.Descriptor<TransposeDescriptor>().m_DimMappings, elementBytes, memory->data());
        TensorInfo info = layer.Output(0).GetTensorInfo();
        info.SetConstant(true);
        Layer& constant = graph.AddConstant(ConstTensor(info, memory->data()), memory, layer.GetNameStr());
        layer.Output(0).MoveAllConnections(constant.Output(0));
    }
}

} // namespace tenon::passes
