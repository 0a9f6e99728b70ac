// SPDX-License-Identifier: Apache-2.0
// FullyConnected of CpuAcc: float data times constant weights, one matrix product.
#include "backends/cpu/gemm/Gemm.hpp"
#include "backends/cpu/gemm/OpenBlas.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <algorithm>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow FullyConnectedTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32)};

struct WeightSizes
{
    size_t m_Depth = 0;
    size_t m_Columns = 0;
};

WeightSizes GetSizes(const TensorShape& weights, const FullyConnectedDescriptor& descriptor)
{
    return descriptor.m_TransposeWeightMatrix ? WeightSizes{weights[1], weights[0]}
                                              : WeightSizes{weights[0], weights[1]};
}

SupportResult CheckFullyConnected(const LayerView& layer)
{
    if (!layer.HasInput(1) || !layer.IsConstant(1))
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "the weights are not constant");
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (!weights.AreAllDimensionsSpecified() || weights.GetNumDimensions() != 2)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the weights are " + weights.ToString() + "; they must be a matrix");
    }
    if (!FitsBlas(weights[0]) || !FitsBlas(weights[1]))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the weights are too large for its matrix product");
    }
    return CheckOpenBlas(); // last: what CpuAcc refuses anyway must not load it
}

std::unique_ptr<backends::PackedWeights> PackFullyConnected(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<FullyConnectedDescriptor>();
    const auto* weights = static_cast<const float*>(layer.m_ConstantData[1]);
    const WeightSizes sizes = GetSizes(layer.GetInput(1).GetShape(), descriptor);
    return descriptor.m_TransposeWeightMatrix ? WeightMatrix::Transpose(weights, sizes.m_Depth, sizes.m_Columns)
                                              : WeightMatrix::Wrap(weights, sizes.m_Depth, sizes.m_Columns);
}

backends::Prepared PrepareFullyConnected(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const WeightMatrix&>(*packed);
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t outputElements = output.GetNumElements();
    if (outputElements == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t rows = weights.GetColumns() != 0 ? outputElements / weights.GetColumns() : 0; // 0: no match below
    const bool hasBias = args.HasInput(2);
    if (rows * weights.GetColumns() != outputElements || rows * weights.GetDepth() != input.GetNumElements() ||
        (hasBias && args.GetInput(2).GetNumElements() != weights.GetColumns()))
    {
        throw LayerValidationException("FullyConnected of " + input.ToString() + " with " +
                                       args.GetInput(1).GetShape().ToString() + " to " + output.ToString() +
                                       ": the elements of input and output must be whole rows of the weights' sizes, "
                                       "and a bias as long as a row of the output");
    }

    const backends::FloatClamp clamp(args.m_FusedActivation);
    if (weights.GetDepth() == 0)
    {
        // As TFLite, which leaves even the bias out.
        const float value = clamp.IsActive() ? clamp(0.0f) : 0.0f;
        return [outputElements, value](const ExecuteArgs& run)
        { std::fill_n(run.GetOutput<float>(0), outputElements, value); };
    }

    Product product;
    product.m_Rows = rows;
    product.m_Columns = weights.GetColumns();
    product.m_Depth = weights.GetDepth();
    product.m_DataStride = product.m_Depth;
    product.m_WeightStride = product.m_Columns;
    product.m_OutStride = product.m_Columns;
    product.m_Weights = weights.GetData();
    product.m_Clamp = clamp;
    product.Prepare();
    return [product, hasBias](const ExecuteArgs& run)
    {
        const float* bias = hasBias ? run.GetInput<float>(2) : nullptr;
        product.Run(run.GetInput<float>(0), bias, run.GetOutput<float>(0), *run.m_Parallel);
    };
}

} // namespace

extern const backends::Kernel CpuFullyConnectedKernel = {"CpuFullyConnected",   FullyConnectedTypes,
                                                         PrepareFullyConnected, CheckFullyConnected,
                                                         PackFullyConnected,    backends::FuseClamp};

} // namespace tenon::cpu
