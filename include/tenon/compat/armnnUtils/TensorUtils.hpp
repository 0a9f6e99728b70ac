// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: infos of data layouts, shapes with dimensions more or less, and values as floats.
#pragma once

#include <armnn/Exceptions.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/TypesUtils.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace armnnUtils
{

/// Throws InvalidArgumentException for layouts other than NCHW and NHWC.
inline armnn::TensorShape GetTensorShape(unsigned int numberOfBatches, unsigned int numberOfChannels,
                                         unsigned int height, unsigned int width, const armnn::DataLayout dataLayout)
{
    switch (dataLayout)
    {
    case armnn::DataLayout::NCHW: return {numberOfBatches, numberOfChannels, height, width};
    case armnn::DataLayout::NHWC: return {numberOfBatches, height, width, numberOfChannels};
    default: break;
    }
    throw armnn::InvalidArgumentException(
        std::string("a tensor of two spatial dimensions has layout NCHW or NHWC, not ") +
        armnn::GetDataLayoutName(dataLayout));
}
inline armnn::TensorInfo GetTensorInfo(unsigned int numberOfBatches, unsigned int numberOfChannels, unsigned int height,
                                       unsigned int width, const armnn::DataLayout dataLayout,
                                       const armnn::DataType dataType)
{
    return armnn::TensorInfo(GetTensorShape(numberOfBatches, numberOfChannels, height, width, dataLayout), dataType);
}
/// Throws InvalidArgumentException for layouts other than NDHWC and NCDHW.
inline armnn::TensorInfo GetTensorInfo(unsigned int numberOfBatches, unsigned int numberOfChannels, unsigned int depth,
                                       unsigned int height, unsigned int width, const armnn::DataLayout dataLayout,
                                       const armnn::DataType dataType)
{
    switch (dataLayout)
    {
    case armnn::DataLayout::NDHWC:
        return armnn::TensorInfo({numberOfBatches, depth, height, width, numberOfChannels}, dataType);
    case armnn::DataLayout::NCDHW:
        return armnn::TensorInfo({numberOfBatches, numberOfChannels, depth, height, width}, dataType);
    default: break;
    }
    throw armnn::InvalidArgumentException(
        std::string("a tensor of three spatial dimensions has layout NDHWC or NCDHW, not ") +
        armnn::GetDataLayoutName(dataLayout));
}

/// The smallest and the largest element of a tensor that holds Float32.
/// Throws InvalidArgumentException for a tensor without elements.
inline std::pair<float, float> FindMinMax(armnn::ITensorHandle* tensorHandle)
{
    const unsigned int count = tensorHandle->GetShape().GetNumElements();
    if (count == 0)
    {
        throw armnn::InvalidArgumentException("FindMinMax: the tensor has no elements");
    }
    const auto* const values =
        static_cast<const float*>(static_cast<const armnn::ITensorHandle*>(tensorHandle)->Map(true));
    std::pair<float, float> found(values[0], values[0]);
    for (unsigned int i = 1; i < count; ++i)
    {
        found.first = values[i] < found.first ? values[i] : found.first;
        found.second = values[i] > found.second ? values[i] : found.second;
    }
    static_cast<const armnn::ITensorHandle*>(tensorHandle)->Unmap();
    return found;
}

/// Takes leading dimensions of size 1 away, down to rank `dimensions`; others stay.
inline armnn::TensorShape ReduceDims(const armnn::TensorShape& tensorShape, unsigned int dimensions)
{
    const unsigned int rank = tensorShape.GetNumDimensions();
    unsigned int first = 0;
    while (rank - first > dimensions && tensorShape[first] == 1)
    {
        ++first;
    }
    std::vector<unsigned int> sizes;
    for (unsigned int i = first; i < rank; ++i)
    {
        sizes.push_back(tensorShape[i]);
    }
    return armnn::TensorShape(rank - first, sizes.data());
}
inline armnn::TensorInfo ReduceDims(const armnn::TensorInfo& tensorInfo, unsigned int dimensions)
{
    armnn::TensorInfo reduced(tensorInfo);
    reduced.SetShape(ReduceDims(tensorInfo.GetShape(), dimensions));
    return reduced;
}

/// Adds a dimension of size 1 at `axis`; negative ones count from behind the last dimension.
/// Throws InvalidArgumentException for an axis outside of -(rank + 1) to rank.
inline armnn::TensorShape ExpandDims(const armnn::TensorShape& tensorShape, int axis)
{
    const int rank = static_cast<int>(tensorShape.GetNumDimensions());
    if (axis < -(rank + 1) || axis > rank)
    {
        throw armnn::InvalidArgumentException("ExpandDims: shape " + tensorShape.ToString() +
                                              " takes no dimension at axis " + std::to_string(axis) + "; give one of " +
                                              std::to_string(-(rank + 1)) + " to " + std::to_string(rank));
    }
    std::vector<unsigned int> sizes;
    for (int i = 0; i < rank; ++i)
    {
        sizes.push_back(tensorShape[static_cast<unsigned int>(i)]);
    }
    sizes.insert(sizes.begin() + (axis < 0 ? axis + rank + 1 : axis), 1U);
    return armnn::TensorShape(static_cast<unsigned int>(rank + 1), sizes.data());
}

/// Adds dimensions of size 1 in front, up to `rank`.
inline armnn::TensorShape ExpandDimsToRank(const armnn::TensorShape& tensorShape, unsigned int rank)
{
    armnn::TensorShape expanded = tensorShape;
    while (expanded.GetNumDimensions() < rank)
    {
        expanded = ExpandDims(expanded, 0);
    }
    return expanded;
}

/// The sizes other than 1.
inline std::vector<unsigned int> SqueezeDims(const armnn::TensorShape& tensorShape)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = 0; i < tensorShape.GetNumDimensions(); ++i)
    {
        if (tensorShape[i] != 1)
        {
            sizes.push_back(tensorShape[i]);
        }
    }
    return sizes;
}

/// The product of the sizes of dimensions [firstAxisInclusive, lastAxisExclusive).
/// Throws InvalidArgumentException where the shape does not have them, or the product overflows.
inline unsigned int GetNumElementsBetween(const armnn::TensorShape& shape, unsigned int firstAxisInclusive,
                                          unsigned int lastAxisExclusive)
{
    if (firstAxisInclusive > lastAxisExclusive || lastAxisExclusive > shape.GetNumDimensions())
    {
        throw armnn::InvalidArgumentException("shape " + shape.ToString() + " has no dimensions " +
                                              std::to_string(firstAxisInclusive) + " up to " +
                                              std::to_string(lastAxisExclusive));
    }
    std::vector<unsigned int> sizes;
    for (unsigned int i = firstAxisInclusive; i < lastAxisExclusive; ++i)
    {
        sizes.push_back(shape[i]);
    }
    return sizes.empty() ? 1U
                         : armnn::TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data()).GetNumElements();
}

/// An axis where negative ones count from behind the last dimension.
/// Throws InvalidArgumentException for an axis outside of -inputDimension to inputDimension - 1.
inline unsigned int GetUnsignedAxis(const unsigned int inputDimension, const int axis)
{
    const int64_t resolved = axis < 0 ? int64_t{axis} + inputDimension : axis;
    if (resolved < 0 || resolved >= int64_t{inputDimension})
    {
        throw armnn::InvalidArgumentException("there is no axis " + std::to_string(axis) + " among " +
                                              std::to_string(inputDimension) + " dimensions");
    }
    return static_cast<unsigned int>(resolved);
}

/// The product of the sizes of dimensions behind `axis`.
inline unsigned int GetNumElementsAfter(const armnn::TensorShape& shape, unsigned int axis)
{
    return GetNumElementsBetween(shape, axis + 1, shape.GetNumDimensions());
}

/// How many elements follow each other with one scale, and the scales.
/// Throws InvalidArgumentException for an info without quantization by axis.
inline std::pair<unsigned int, std::vector<float>> GetPerAxisParams(const armnn::TensorInfo& info)
{
    if (!info.HasPerAxisQuantization() || !info.GetQuantizationDim().has_value())
    {
        throw armnn::InvalidArgumentException("GetPerAxisParams: " + info.ToString() + " has no scales by axis");
    }
    return {GetNumElementsAfter(info.GetShape(), info.GetQuantizationDim().value()), info.GetQuantizationScales()};
}

/// The real values of quantized elements, with one scale or one for each slice of the quantization dimension; without a
/// scale the values themselves.
/// Throws InvalidArgumentException where `data` has not as many elements as the info, or scales do not fit the shape.
template <typename PrimitiveType>
std::unique_ptr<float[]> ToFloatArray(const std::vector<PrimitiveType>& data, const armnn::TensorInfo& tensorInfo)
{
    const unsigned int count = tensorInfo.GetNumElements();
    if (data.size() != count)
    {
        throw armnn::InvalidArgumentException("ToFloatArray: there are " + std::to_string(data.size()) +
                                              " elements for tensor " + tensorInfo.ToString());
    }
    std::vector<float> scales{1.0f};
    unsigned int each = count > 0 ? count : 1; // elements of one scale
    if (tensorInfo.HasPerAxisQuantization())
    {
        const std::pair<unsigned int, std::vector<float>> parameters = GetPerAxisParams(tensorInfo);
        each = parameters.first;
        scales = parameters.second;
        if (count > 0 && scales.size() != tensorInfo.GetShape()[tensorInfo.GetQuantizationDim().value()])
        {
            throw armnn::InvalidArgumentException("ToFloatArray: the scales of " + tensorInfo.ToString() +
                                                  " are not as many as its quantization dimension has slices");
        }
    }
    else
    {
        scales[0] = tensorInfo.HasQuantization() ? tensorInfo.GetQuantizationScale() : 1.0f;
    }
    std::unique_ptr<float[]> values(new float[count]);
    for (unsigned int i = 0; i < count; ++i)
    {
        values[i] = armnn::Dequantize<PrimitiveType>(data[i], scales[i / each % scales.size()],
                                                     tensorInfo.GetQuantizationOffset());
    }
    return values;
}

namespace detail
{
/// The elements whose bytes these are.
template <typename T>
std::vector<T> FromBytes(const std::vector<uint8_t>& bytes)
{
    std::vector<T> elements(bytes.size() / sizeof(T));
    if (!elements.empty())
    {
        std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
    }
    return elements;
}
} // namespace detail

/// The same for the bytes of a tensor of QAsymmU8, QAsymmS8, QSymmS8, Signed32 or Signed64.
/// Throws InvalidArgumentException for another type, too.
inline std::unique_ptr<float[]> ToFloatArray(const std::vector<uint8_t>& data, const armnn::TensorInfo& tensorInfo)
{
    switch (tensorInfo.GetDataType())
    {
    case armnn::DataType::QAsymmU8: return ToFloatArray<uint8_t>(data, tensorInfo);
    case armnn::DataType::QAsymmS8:
    case armnn::DataType::QSymmS8: return ToFloatArray(detail::FromBytes<int8_t>(data), tensorInfo);
    case armnn::DataType::Signed32: return ToFloatArray(detail::FromBytes<int32_t>(data), tensorInfo);
    case armnn::DataType::Signed64: return ToFloatArray(detail::FromBytes<int64_t>(data), tensorInfo);
    default: break;
    }
    throw armnn::InvalidArgumentException("ToFloatArray: tensor " + tensorInfo.ToString() +
                                          " is of none of the types QAsymmU8, QAsymmS8, QSymmS8, Signed32, Signed64");
}

} // namespace armnnUtils
