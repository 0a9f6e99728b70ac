// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that give their elements another shape or another order.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon
{

/// Reshape. With m_ParametersAsInputs input 1 holds the target shape, where one -1 is computed.
struct ReshapeDescriptor : detail::Described<ReshapeDescriptor>
{
    ReshapeDescriptor() = default;
    ReshapeDescriptor(const TensorShape& shape) : m_TargetShape(shape) {}

    TensorShape m_TargetShape; ///< one unknown dimension is computed from the rest
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("TargetShape", &ReshapeDescriptor::m_TargetShape);
        v("ParametersAsInputs", &ReshapeDescriptor::m_ParametersAsInputs);
    }
};

/// Squeeze (Tenon): drops dimensions of size 1.
struct SqueezeDescriptor : detail::Described<SqueezeDescriptor>
{
    /// Dimensions to drop, negative ones counted from the end; none: all of size 1.
    std::vector<int32_t> m_Axis;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &SqueezeDescriptor::m_Axis);
    }
};

/// ExpandDims (Tenon): adds a dimension of size 1.
struct ExpandDimsDescriptor : detail::Described<ExpandDimsDescriptor>
{
    int32_t m_Axis = 0; ///< the place of the new dimension; negative counts from the end, -1 adds the last one
    bool m_ParametersAsInputs = false; ///< input 1 holds the axis, in place of m_Axis

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &ExpandDimsDescriptor::m_Axis);
        v("ParametersAsInputs", &ExpandDimsDescriptor::m_ParametersAsInputs);
    }
};

/// Permute: moves source dimension i to destination m[i]; the inverse of Transpose.
struct PermuteDescriptor : detail::Described<PermuteDescriptor>
{
    PermuteDescriptor() = default;
    PermuteDescriptor(const PermutationVector& dimMappings) : m_DimMappings(dimMappings) {}

    PermutationVector m_DimMappings; ///< dst_dim[m[i]] = src_dim[i]

    template <typename V>
    static void Visit(V&& v)
    {
        v("DimMappings", &PermuteDescriptor::m_DimMappings);
    }
};

/// Transpose: takes destination dimension i from source m[i].
/// With m_ParametersAsInputs input 1 holds the mappings.
struct TransposeDescriptor : detail::Described<TransposeDescriptor>
{
    TransposeDescriptor() = default;
    TransposeDescriptor(const PermutationVector& dimMappings) : m_DimMappings(dimMappings) {}

    PermutationVector m_DimMappings; ///< dst_dim[i] = src_dim[m[i]]
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("DimMappings", &TransposeDescriptor::m_DimMappings);
        v("ParametersAsInputs", &TransposeDescriptor::m_ParametersAsInputs);
    }
};

/// ChannelShuffle: regroups slices of an axis.
struct ChannelShuffleDescriptor : detail::Described<ChannelShuffleDescriptor>
{
    ChannelShuffleDescriptor() = default;
    ChannelShuffleDescriptor(const uint32_t& numGroups, const uint32_t& axis) : m_NumGroups(numGroups), m_Axis(axis) {}

    uint32_t m_NumGroups = 0;
    uint32_t m_Axis = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumGroups", &ChannelShuffleDescriptor::m_NumGroups);
        v("Axis", &ChannelShuffleDescriptor::m_Axis);
    }
};

/// ReverseSequence (Tenon): reverses the first elements along one dimension; input 1 holds their number for each index
/// of the batch dimension.
struct ReverseSequenceDescriptor : detail::Described<ReverseSequenceDescriptor>
{
    int32_t m_SequenceDimension = 0; ///< the reversed dimension; negative counts from the end
    int32_t m_BatchDimension = 0;    ///< each of its indices has its own length

    template <typename V>
    static void Visit(V&& v)
    {
        v("SequenceDimension", &ReverseSequenceDescriptor::m_SequenceDimension);
        v("BatchDimension", &ReverseSequenceDescriptor::m_BatchDimension);
    }
};

/// SpaceToDepth: moves blocks of pixels into channels; DepthToSpace: back.
struct SpaceToDepthDescriptor : detail::Described<SpaceToDepthDescriptor>
{
    SpaceToDepthDescriptor() = default;
    SpaceToDepthDescriptor(unsigned int blockSize, DataLayout dataLayout)
        : m_BlockSize(blockSize), m_DataLayout(dataLayout)
    {
    }

    uint32_t m_BlockSize = 0; ///< at least 1
    DataLayout m_DataLayout = DataLayout::NHWC;
    /// Tenon: in the depth the pixels of a block stand together for each channel (ONNX's mode CRD, PyTorch's
    /// PixelShuffle) in place of all channels for each pixel.
    bool m_ChannelMajor = false;

    template <typename V>
    static void Visit(V&& v)
    {
        v("BlockSize", &SpaceToDepthDescriptor::m_BlockSize);
        v("DataLayout", &SpaceToDepthDescriptor::m_DataLayout);
        v("ChannelMajor", &SpaceToDepthDescriptor::m_ChannelMajor);
    }
};
using DepthToSpaceDescriptor = SpaceToDepthDescriptor;

/// SpaceToBatchNd. With m_ParametersAsInputs inputs 1 and 2 are the block shape [M] and the paddings [M, 2].
struct SpaceToBatchNdDescriptor : detail::Described<SpaceToBatchNdDescriptor>
{
    SpaceToBatchNdDescriptor() = default;
    SpaceToBatchNdDescriptor(const std::vector<unsigned int>& blockShape,
                             const std::vector<std::pair<unsigned int, unsigned int>>& padList)
        : m_BlockShape(blockShape), m_PadList(padList)
    {
    }

    std::vector<unsigned int> m_BlockShape = {1, 1};
    std::vector<std::pair<unsigned int, unsigned int>> m_PadList = {
        {0, 0}, {0, 0}}; ///< (before, after) of each block dimension
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BlockShape", &SpaceToBatchNdDescriptor::m_BlockShape);
        v("PadList", &SpaceToBatchNdDescriptor::m_PadList);
        v("DataLayout", &SpaceToBatchNdDescriptor::m_DataLayout);
        v("ParametersAsInputs", &SpaceToBatchNdDescriptor::m_ParametersAsInputs);
    }
};

/// BatchToSpaceNd. With m_ParametersAsInputs inputs 1 and 2 are the block shape [M] and the crops [M, 2].
struct BatchToSpaceNdDescriptor : detail::Described<BatchToSpaceNdDescriptor>
{
    BatchToSpaceNdDescriptor() = default;
    BatchToSpaceNdDescriptor(std::vector<unsigned int> blockShape,
                             std::vector<std::pair<unsigned int, unsigned int>> crops)
        : m_BlockShape(std::move(blockShape)), m_Crops(std::move(crops))
    {
    }

    std::vector<unsigned int> m_BlockShape = {1, 1};
    std::vector<std::pair<unsigned int, unsigned int>> m_Crops = {{0, 0},
                                                                  {0, 0}}; ///< (begin, end) of each block dimension
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BlockShape", &BatchToSpaceNdDescriptor::m_BlockShape);
        v("Crops", &BatchToSpaceNdDescriptor::m_Crops);
        v("DataLayout", &BatchToSpaceNdDescriptor::m_DataLayout);
        v("ParametersAsInputs", &BatchToSpaceNdDescriptor::m_ParametersAsInputs);
    }
};

} // namespace tenon
