// SPDX-License-Identifier: Apache-2.0
// FullyConnected: each row of the data times the weights, [O, I] or [I, O] (transposed in the create step if constant,
// else while running). Types are those of Convolution2d; uint8 data may give 16-bit output, and 16-bit data may have
// 16-bit weights. Weights of float data may have a scale per block: BlockwiseProduct.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/BlockwiseProduct.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "backends/reference/kernels/ShuffledProduct.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"
#include "backends/reference/kernels/UnpackedWeights.hpp"
#include "backends/reference/kernels/WeightedSum.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow FullyConnectedTypes[] = {
    WeightedSumTypes[0],
    WeightedSumTypes[1],
    WeightedSumTypes[2],
    WeightedSumTypes[3],
    WeightedSumTypes[4],
    WeightedSumTypes[5],
    WeightedSumTypes[6],
    WeightedSumTypes[7],
    WeightedSumTypes[8],
    backends::Types({DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32}, DataType::QSymmS16),
    backends::Types({DataType::QSymmS16, DataType::QSymmS16, {DataType::Signed32, DataType::Signed64}},
                    DataType::QSymmS16),
};

/// Transposes [rows, columns] of T to [columns, rows].
template <typename T>
void Transpose(const T* from, size_t rows, size_t columns, T* to)
{
    for (size_t column = 0; column < columns; ++column)
    {
        for (size_t row = 0; row < rows; ++row)
        {
            *to++ = from[row * columns + column];
        }
    }
}

void Transpose(const TensorInfo& info, const void* from, void* to)
{
    const size_t rows = info.GetShape()[0];
    const size_t columns = info.GetShape()[1];
    switch (GetDataTypeSize(info.GetDataType()))
    {
    case 1: Transpose(static_cast<const uint8_t*>(from), rows, columns, static_cast<uint8_t*>(to)); break;
    case 2: Transpose(static_cast<const uint16_t*>(from), rows, columns, static_cast<uint16_t*>(to)); break;
    case 4: Transpose(static_cast<const float*>(from), rows, columns, static_cast<float*>(to)); break;
    default: Transpose(static_cast<const double*>(from), rows, columns, static_cast<double*>(to)); break;
    }
}

/// Constant [I, O] weights, transposed to [O, I].
class TransposedWeights final : public backends::PackedWeights
{
public:
    TransposedWeights(const TensorInfo& info, const void* weights, backends::PackedStore& store)
        : m_Block(store.GetBlock(info.GetNumBytes(), [&](std::byte* to) { Transpose(info, weights, to); }))
    {
    }
    const void* GetData() const { return m_Block.Data(); }

private:
    backends::PackedBlock m_Block;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    if (layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix || !layer.IsConstant(1) ||
        !shape.AreAllDimensionsSpecified() || shape.GetNumDimensions() != 2 ||
        layer.GetInput(1).GetDataType() == DataType::QSymmS4 || backends::F16Types.Has(layer.GetInput(1).GetDataType()))
    {
        return nullptr;
    }
    return std::make_unique<TransposedWeights>(layer.GetInput(1), layer.m_ConstantData[1], store);
}

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<FullyConnectedDescriptor>();
    if (descriptor.m_ShuffledWeights)
    {
        const SupportResult result = CheckShuffledProduct(layer);
        if (!result)
        {
            return result;
        }
    }
    if (layer.HasInput(1) && HasBlocks(layer.GetInput(1)))
    {
        return CheckBlockwiseProduct(layer);
    }
    const bool outputsFirst = descriptor.m_TransposeWeightMatrix;
    return CheckWeightsQuantization(layer, outputsFirst ? 0 : 1);
}

/// The geometry of a convolution over the rows of the data as 1x1 images.
ConvolutionGeometry MakeGeometry(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<FullyConnectedDescriptor>();
    const TensorShape& data = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const auto require = [&](bool fits, const char* rule)
    {
        if (!fits)
        {
            throw LayerValidationException("data " + data.ToString() + ", weights " + weights.ToString() +
                                           " and output " + output.ToString() + " do not fit together: " + rule);
        }
    };
    require(weights.GetNumDimensions() == 2, "weights have 2 dimensions");
    require(output.GetNumDimensions() >= 1, "the output has a dimension");
    ConvolutionGeometry g;
    g.m_OutputChannels = weights[descriptor.m_TransposeWeightMatrix ? 0 : 1];
    g.m_InputChannels = weights[descriptor.m_TransposeWeightMatrix ? 1 : 0];
    require(output[output.GetNumDimensions() - 1] == g.m_OutputChannels,
            "the output's last dimension is the weights' number of outputs");
    g.m_Batches = g.m_OutputChannels == 0 ? 0 : output.GetNumElements() / g.m_OutputChannels;
    require(g.m_OutputChannels == 0 || data.GetNumElements64() == uint64_t{g.m_Batches} * g.m_InputChannels,
            "the data is as many rows of the weights' inputs as the output has rows");
    require(!descriptor.m_BiasEnabled || !args.HasInput(2) || args.GetInput(2).GetNumElements() == g.m_OutputChannels,
            "a bias has one element for each output");
    g.m_GroupInputs = g.m_InputChannels;
    g.m_GroupOutputs = g.m_OutputChannels;
    return g;
}

/// Run-time weights [I, O]: they are transposed into the scratch memory after the product's, which reads them there.
struct TransposedProduct
{
    backends::Executor m_Product;
    TensorInfo m_Weights;
    size_t m_Transposed; ///< offset in the scratch memory

    void operator()(const ExecuteArgs& args) const
    {
        void* weights = backends::Scratch::At<std::byte>(args.m_Scratch, m_Transposed);
        Transpose(m_Weights, args.m_Inputs[1], weights);
        const void* inputs[] = {args.m_Inputs[0], weights, args.m_Inputs.size() > 2 ? args.m_Inputs[2] : nullptr};
        ExecuteArgs transposed = args;
        transposed.m_Inputs = {inputs, std::size(inputs)};
        m_Product(transposed);
    }
};

template <typename T>
Prepared PrepareFloatZeros(const ReshapeArgs& args)
{
    const backends::FloatClamp clamp(args.m_FusedActivation);
    const T value = clamp.IsActive() ? clamp(T{0}) : T{0};
    return Prepared([count = size_t{args.GetOutput(0).GetNumElements()}, value](const ExecuteArgs& run)
                    { std::fill_n(run.GetOutput<T>(0), count, value); });
}

/// An output whose stored values are 0, or the nearest value that a fused activation allows.
Prepared PrepareZeros(const ReshapeArgs& args)
{
    const TensorInfo& output = args.GetOutput(0);
    const size_t count = output.GetNumElements();
    if (!output.IsQuantized())
    {
        return output.GetDataType() == DataType::Float64 ? PrepareFloatZeros<double>(args)
                                                         : PrepareFloatZeros<float>(args);
    }
    const backends::QuantizedRange range = backends::GetFusedRange(output, args.m_FusedActivation);
    const int32_t value = std::clamp(0, range.m_Min, range.m_Max);
    if (output.GetDataType() == DataType::QSymmS16)
    {
        return Prepared([count, value](const ExecuteArgs& run)
                        { std::fill_n(run.GetOutput<int16_t>(0), count, static_cast<int16_t>(value)); });
    }
    return Prepared([count, value](const ExecuteArgs& run)
                    { std::fill_n(run.GetOutput<uint8_t>(0), count, static_cast<uint8_t>(value)); });
}

Prepared PrepareBytes(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& descriptor = args.GetDescriptor<FullyConnectedDescriptor>();
    const ConvolutionGeometry g = MakeGeometry(args);
    if (descriptor.m_ShuffledWeights)
    {
        return PrepareShuffledProduct(args, g);
    }
    // TFLite's kernels differ in the method.
    const auto method =
        SumRequantizer::ChooseMethod(descriptor.m_Requantization, args.GetInput(1).GetDataType() == DataType::QSymmS16
                                                                      ? SumRequantizer::Method::FixedPoint
                                                                      : SumRequantizer::Method::Double);
    if (g.m_InputChannels == 0 && (method != SumRequantizer::Method::FloatHalfEven || !args.GetOutput(0).IsQuantized()))
    {
        // TFLite leaves out even the bias here.
        return PrepareZeros(args);
    }
    if (HasBlocks(args.GetInput(1)) && !g.IsEmpty())
    {
        return PrepareBlockwiseProduct(args, g);
    }
    const bool asymmetric = descriptor.m_AsymmetricQuantizeInputs;
    if (packed != nullptr)
    {
        return PrepareWeightedSum(args, g, method, asymmetric,
                                  static_cast<const TransposedWeights*>(packed)->GetData());
    }
    Prepared product = PrepareWeightedSum(args, g, method, asymmetric);
    if (descriptor.m_TransposeWeightMatrix || g.IsEmpty())
    {
        return product;
    }
    const size_t productBytes = product.m_ScratchBytes;
    backends::Scratch scratch;
    scratch.Add<std::byte>(productBytes);
    const size_t transposed = scratch.Add<std::byte>(args.GetInput(1).GetNumBytes());
    return Prepared(TransposedProduct{std::move(product.m_Run), args.GetInput(1), transposed}, scratch.GetBytes());
}

SupportResult Fuse(const LayerView& layer, const ActivationDescriptor& activation)
{
    if (layer.GetDescriptor<FullyConnectedDescriptor>().m_ShuffledWeights)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "fuses no activation behind shuffled weights");
    }
    return backends::FuseClamp(layer, activation);
}

Prepared PrepareExceptF16(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareWithUnpackedWeights(args, PrepareBytes, packed);
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareExceptF16, packed);
}

} // namespace

extern const backends::Kernel RefFullyConnectedKernel = {.m_Name = "RefFullyConnected",
                                                         .m_Types = FullyConnectedTypes,
                                                         .m_Prepare = Prepare,
                                                         .m_Check = Check,
                                                         .m_Pack = Pack,
                                                         .m_Fuse = Fuse,
                                                         .m_RoundsHalfToEven = true};

} // namespace tenon::ref
