// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: where the dimensions of a data layout are.
#pragma once

#include <armnn/Exceptions.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/utility/Assert.hpp>
#include <string>

namespace armnnUtils
{

class DataLayoutIndexed
{
public:
    /// Throws InvalidArgumentException for a number that is no layout.
    DataLayoutIndexed(armnn::DataLayout dataLayout) // NOLINT: implicit, as Arm NN's
        : m_DataLayout(dataLayout)
    {
        switch (dataLayout)
        {
        case armnn::DataLayout::NHWC: SetIndices(3, 1, 2, 0); return;
        case armnn::DataLayout::NCHW: SetIndices(1, 2, 3, 0); return;
        case armnn::DataLayout::NDHWC: SetIndices(4, 2, 3, 1); return;
        case armnn::DataLayout::NCDHW: SetIndices(1, 3, 4, 2); return;
        }
        throw armnn::InvalidArgumentException("DataLayoutIndexed: there is no data layout " +
                                              std::to_string(static_cast<int>(dataLayout)));
    }

    armnn::DataLayout GetDataLayout() const { return m_DataLayout; }
    unsigned int GetChannelsIndex() const { return m_ChannelsIndex; }
    unsigned int GetHeightIndex() const { return m_HeightIndex; }
    unsigned int GetWidthIndex() const { return m_WidthIndex; }
    /// 0 for NHWC and NCHW, which have no depth.
    unsigned int GetDepthIndex() const { return m_DepthIndex; }

    /// The number of elements before the one at these places, in a tensor of layout NHWC or NCHW.
    /// Throws InvalidArgumentException for a place outside of the shape, and for other layouts.
    unsigned int GetIndex(const armnn::TensorShape& shape, unsigned int batchIndex, unsigned int channelIndex,
                          unsigned int heightIndex, unsigned int widthIndex) const
    {
        if (m_DepthIndex != 0)
        {
            throw armnn::InvalidArgumentException("DataLayoutIndexed::GetIndex: the layout is neither NHWC nor NCHW");
        }
        const unsigned int batch = CheckPlace(shape, 0, batchIndex);
        const unsigned int channel = CheckPlace(shape, m_ChannelsIndex, channelIndex);
        const unsigned int height = CheckPlace(shape, m_HeightIndex, heightIndex);
        const unsigned int width = CheckPlace(shape, m_WidthIndex, widthIndex);
        const unsigned int widths = shape[m_WidthIndex];
        const unsigned int channels = shape[m_ChannelsIndex];
        if (m_DataLayout == armnn::DataLayout::NHWC)
        {
            return ((batch * shape[m_HeightIndex] + height) * widths + width) * channels + channel;
        }
        return ((batch * channels + channel) * shape[m_HeightIndex] + height) * widths + width;
    }

private:
    void SetIndices(unsigned int channels, unsigned int height, unsigned int width, unsigned int depth)
    {
        m_ChannelsIndex = channels;
        m_HeightIndex = height;
        m_WidthIndex = width;
        m_DepthIndex = depth;
    }
    /// Place 0 of an empty dimension is taken.
    static unsigned int CheckPlace(const armnn::TensorShape& shape, unsigned int dimension, unsigned int place)
    {
        if (place >= shape[dimension] && place != 0)
        {
            throw armnn::InvalidArgumentException("DataLayoutIndexed::GetIndex: there is no place " +
                                                  std::to_string(place) + " in dimension " + std::to_string(dimension) +
                                                  " of shape " + shape.ToString());
        }
        return place;
    }

    armnn::DataLayout m_DataLayout;
    unsigned int m_ChannelsIndex = 0;
    unsigned int m_HeightIndex = 0;
    unsigned int m_WidthIndex = 0;
    unsigned int m_DepthIndex = 0;
};

inline bool operator==(const armnn::DataLayout& dataLayout, const DataLayoutIndexed& indexed)
{
    return dataLayout == indexed.GetDataLayout();
}
inline bool operator==(const DataLayoutIndexed& indexed, const armnn::DataLayout& dataLayout)
{
    return dataLayout == indexed.GetDataLayout();
}

} // namespace armnnUtils
