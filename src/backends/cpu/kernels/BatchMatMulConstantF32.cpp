// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for floats with one constant matrix as y: all rows of x are those of one product, and the
// matrix is packed as the weights of a FullyConnected layer are.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/ProductF32.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/Descriptors.hpp>

#include <limits>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Float32),
};

bool IsTransposed(const BatchMatMulDescriptor& descriptor)
{
    return descriptor.m_TransposeY || descriptor.m_AdjointY; // of real numbers
}

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = ref::FindKernel(LayerType::BatchMatMul)->m_Check(layer);
    if (!result)
    {
        return result;
    }
    const auto& descriptor = layer.GetDescriptor<BatchMatMulDescriptor>();
    const TensorShape& y = layer.GetInput(1).GetShape();
    if (!layer.IsConstant(1) || !y.AreAllDimensionsSpecified() || y.GetNumDimensions() < 2)
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "its second matrix is not constant");
    }
    const unsigned int rank = y.GetNumDimensions();
    const bool isOne = y.GetNumElements64() == uint64_t{y[rank - 1]} * y[rank - 2] && y.GetNumElements64() != 0;
    const bool isPlain = ref::GetColumnsFromEnd(descriptor.m_DataLayoutX) == 1 &&
                         ref::GetColumnsFromEnd(descriptor.m_DataLayoutY) == 1 && !descriptor.m_TransposeX &&
                         !descriptor.m_AdjointX;
    return isOne && isPlain ? SupportResult::Yes()
                            : SupportResult::No(SupportCode::UnsupportedParameters,
                                                "it has several constant matrices, or turns its data around");
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const bool isTransposed = IsTransposed(layer.GetDescriptor<BatchMatMulDescriptor>());
    WeightSizes sizes;
    sizes.m_Columns = shape[isTransposed ? rank - 2 : rank - 1];
    sizes.m_Depth = shape[isTransposed ? rank - 1 : rank - 2];
    return PackMatrix(static_cast<const float*>(layer.m_ConstantData[1]), sizes,
                      isTransposed ? WeightOrder::Columns : WeightOrder::Depth, std::numeric_limits<size_t>::max());
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedWeightsF32&>(*packed);
    const ref::MatMulGeometry g(args); // checks the shapes
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t rows = g.m_NumBatches * g.m_Rows;
    const ProductF32 product(weights, MakeRowWindows(rows, g.m_Depth), rows, backends::FloatClamp());
    return {[product](const ExecuteArgs& run)
            { product.Run(run.GetInput<float>(0), nullptr, run.GetOutput<float>(0), run.m_Scratch, *run.m_Parallel); },
            product.GetScratchBytes()};
}

} // namespace

extern const backends::Kernel CpuBatchMatMulConstantF32Kernel = {"CpuBatchMatMulConstantF32", Types, Prepare, Check,
                                                                 Pack};

} // namespace tenon::cpu
