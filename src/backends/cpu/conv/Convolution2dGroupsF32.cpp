// SPDX-License-Identifier: Apache-2.0
// Convolution2d of floats in groups of 2, 4 or 8 channels with as many outputs: direct convolution by the loops of
// depthwise convolutions, in which each output sums all channels of its group. A GEMM would leave most lanes of its
// column vectors empty.
//
//   packed, groups of 2 and 4:  [tap][channel c of the group][output]          lane = output
//   packed, groups of 8:        [tap][output o of the group][input channel]    lane = input channel, summed at the end
#include "backends/cpu/depthwise/float/DepthwiseDriverF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Convolution.hpp>

namespace tenon::cpu
{

namespace
{

/// Channels of the largest groups. A layer of one such group is left to the GEMM, whose vectors it fills.
constexpr size_t OctetChannels = 8;

/// Microkernels for groups of `channels`, or null.
const DepthwiseTileSetF32<float>* FindTiles(size_t channels)
{
    const DepthwiseMicrokernelsF32<float>& microkernels = GetDepthwiseMicrokernelsF32<float>();
    switch (channels)
    {
    case 2: return &microkernels.m_Groups2;
    case 4: return &microkernels.m_Groups4;
    case OctetChannels: return microkernels.m_Groups8.m_Columns != 0 ? &microkernels.m_Groups8 : nullptr;
    default: return nullptr;
    }
}

SupportResult Check(const LayerView& layer)
{
    SupportResult result = ref::CheckConvolution(layer.GetDescriptor<Convolution2dDescriptor>());
    if (result)
    {
        result = CheckFloatWeights(layer, 4);
    }
    if (result)
    {
        result = CheckConstantBias(layer, layer.GetInput(1).GetShape()[0]);
    }
    if (!result)
    {
        return result;
    }
    const TensorShape& data = layer.GetInput(0).GetShape();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const DepthwiseTileSetF32<float>* const tiles = FindTiles(weights[3]);
    if (tiles == nullptr || data.GetDimensionality() != Dimensionality::Specified || data.GetNumDimensions() != 4 ||
        !data.GetDimensionSpecificity(3) || data[3] != weights[0] || data[3] % weights[3] != 0 ||
        (weights[3] == OctetChannels && data[3] == OctetChannels))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it has no groups of two, four or eight channels that give as many");
    }
    const uint64_t taps = uint64_t{weights[1]} * weights[2] * weights[3];
    return CheckPackedSize(PackedDepthwiseF32::GetPackedBytes<float>(taps, weights[0]),
                           weights.GetNumElements64() * sizeof(float));
}

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(1).GetShape();
    const size_t outputs = shape[0];
    const size_t depth = size_t{shape[1]} * shape[2] * shape[3];
    std::vector<float> bias(outputs, 0.0f);
    if (layer.HasInput(2))
    {
        std::copy_n(static_cast<const float*>(layer.m_ConstantData[2]), outputs, bias.begin());
    }
    // Groups of eight: a lane is an input channel, and each output of the group has sums of its own.
    const size_t channels = shape[3];
    const bool isOctet = channels == OctetChannels;
    std::vector<float> copy;
    std::vector<float> transposed; // [depth][outputs]
    const auto getWeights = [&]
    {
        const float* const weights = FloatWeights(layer, 1).GetAll(outputs * depth, copy);
        transposed.resize(outputs * depth);
        for (size_t output = 0; output < outputs; ++output)
        {
            for (size_t i = 0; i < depth; ++i)
            {
                const size_t inGroup = isOctet ? output % channels : i % channels;
                const size_t lane = isOctet ? output - inGroup + i % channels : output;
                transposed[(i - i % channels + inGroup) * outputs + lane] = weights[output * depth + i];
            }
        }
        return static_cast<const float*>(transposed.data());
    };
    return std::make_unique<PackedDepthwiseF32>(getWeights, bias, depth, store);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    ref::ConvolutionGeometry g = LayColumnAsRow(ref::MakeConvolutionGeometry(args));
    if (g.IsEmpty())
    {
        return [](const ExecuteArgs&) {};
    }
    if (g.m_InputChannels != g.m_OutputChannels)
    {
        return backends::Prepared::Declined("the data have other channels than the weights were packed for");
    }
    g.m_GroupOutputs = 1; // each channel is read once, not repeated for outputs
    DepthwiseDriverF32<float> groups(args, g, static_cast<const PackedDepthwiseF32&>(*packed),
                                     *FindTiles(args.GetInput(1).GetShape()[3]));
    const size_t bytes = groups.GetScratchBytes();
    return {groups, bytes};
}

} // namespace

extern const backends::Kernel CpuConvolution2dGroupsF32Kernel = {
    "CpuConvolution2dGroupsF32", PackedFloatTypes, Prepare, Check, Pack, backends::FuseClamp};

} // namespace tenon::cpu
