// SPDX-License-Identifier: Apache-2.0
// See Quantize.hpp.
#include "tools/common/Quantize.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Storage.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace tenon::tools
{
namespace
{

/// Scale and zero point of each element.
class Quantization
{
public:
    explicit Quantization(const TensorInfo& info)
    {
        if (!info.HasMultipleQuantizationScales())
        {
            m_Scales = {info.GetQuantizationScale()};
            m_ZeroPoints = {info.GetQuantizationOffset()};
            return;
        }
        m_Scales = info.GetQuantizationScales();
        m_ZeroPoints = info.GetQuantizationOffsets();
        m_ZeroPoints.resize(m_Scales.size(), 0);
        const unsigned int axis = info.GetQuantizationDim().value_or(0U);
        for (unsigned int d = axis + 1; d < info.GetNumDimensions(); ++d)
        {
            m_InnerSize *= info.GetShape()[d];
        }
    }

    float Scale(size_t element) const { return m_Scales[Channel(element)]; }
    int32_t ZeroPoint(size_t element) const { return m_ZeroPoints[Channel(element)]; }

private:
    size_t Channel(size_t element) const { return m_Scales.size() == 1 ? 0 : element / m_InnerSize % m_Scales.size(); }

    std::vector<float> m_Scales;
    std::vector<int32_t> m_ZeroPoints;
    size_t m_InnerSize = 1; ///< elements behind the axis of the channels
};

} // namespace

bool StandsForReals(const TensorInfo& info)
{
    return info.HasQuantization() && IsIntegerType(info.GetDataType());
}

TensorInfo AsFloat32(const TensorInfo& info)
{
    return {info.GetShape(), DataType::Float32};
}

Buffer QuantizeFloats(const Buffer& floats, const TensorInfo& info)
{
    const Quantization quantization(info);
    Buffer data(info.GetNumBytes());
    std::memset(data.Data(), 0, data.Size()); // elements of 4 bits share bytes
    const uint64_t count = info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        const auto value = Load<float>(floats.Data(), i);
        if (std::isnan(value))
        {
            throw InputError(fmt::format("element {} is NaN, which no quantized value stands for; --quantize-input "
                                         "takes numbers",
                                         i));
        }
        const double steps = std::round(static_cast<double>(value / quantization.Scale(i)));
        SetElement(info.GetDataType(), data.Data(), i, steps + quantization.ZeroPoint(i));
    }
    return data;
}

void DequantizeToFloats(const std::byte* data, const TensorInfo& info, std::byte* floats)
{
    const Quantization quantization(info);
    const uint64_t count = info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        const double steps = GetElement(info.GetDataType(), data, i) - quantization.ZeroPoint(i);
        Store(floats, i, static_cast<float>(steps) * quantization.Scale(i));
    }
}

} // namespace tenon::tools
