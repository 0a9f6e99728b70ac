// SPDX-License-Identifier: Apache-2.0
// See Image.hpp; ImageDecode.cpp has the formats.
#include "tools/common/Image.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tenon::tools
{
namespace
{

constexpr float DefaultMean = 127.5f;
constexpr float DefaultStd = 127.5f;

/// The weights of source pixels m_First, m_First + 1, ... for one target pixel; they add up to 1.
struct Taps
{
    size_t m_First = 0;
    std::vector<float> m_Weights;
};

std::vector<Taps> MakeTaps(unsigned int source, unsigned int target)
{
    const double step = static_cast<double>(source) / target;
    const double reach = std::max(step, 1.0);
    std::vector<Taps> taps(target);
    for (unsigned int i = 0; i < target; ++i)
    {
        const double centre = (i + 0.5) * step;
        const auto first = static_cast<size_t>(std::max(0.0, std::floor(centre - reach + 0.5)));
        const auto end = static_cast<size_t>(std::min<double>(source, std::floor(centre + reach + 0.5)));
        std::vector<double> weights;
        double sum = 0.0;
        for (size_t k = first; k < end; ++k)
        {
            weights.push_back(std::max(0.0, 1.0 - std::fabs(static_cast<double>(k) + 0.5 - centre) / reach));
            sum += weights.back();
        }
        taps[i].m_First = first;
        for (const double weight : weights)
        {
            taps[i].m_Weights.push_back(static_cast<float>(weight / sum));
        }
    }
    return taps;
}

TensorInfo WithPictureSize(const TensorInfo& expected, const PictureShape& where, const PictureSize& size)
{
    TensorInfo info = expected;
    TensorShape& shape = info.GetShape();
    if (shape.GetNumDimensions() == 4)
    {
        shape.SetDimensionSize(0, 1);
    }
    const unsigned int sizes[] = {size.m_Height, size.m_Width};
    for (unsigned int d = 0; d < 2; ++d)
    {
        if (!shape.GetDimensionSpecificity(where.m_HeightIndex + d))
        {
            shape.SetDimensionSize(where.m_HeightIndex + d, sizes[d]);
        }
    }
    return info;
}

/// The number of a list of one, or of one for each channel.
double OfChannel(const std::vector<float>& numbers, unsigned int channel, double defaultNumber)
{
    return numbers.empty() ? defaultNumber : numbers[numbers.size() == 1 ? 0 : channel];
}

/// `name`: "mean" or "std", of which 0 cannot be the latter.
void CheckNumbersOfChannels(const std::vector<float>& numbers, unsigned int channels, const char* name, bool isOfModel)
{
    const std::string option = fmt::format("--input-{}", name);
    const std::string source = isOfModel ? fmt::format("the {} in the model's metadata", name) : option;
    const std::string advice = isOfModel ? option + " with " : "";
    if (numbers.size() > 1 && numbers.size() != channels)
    {
        throw InputError(fmt::format("{} has {} numbers, but the input has {} channel{}; give {}one number, or one for "
                                     "each channel",
                                     source, numbers.size(), channels, channels == 1 ? "" : "s", advice));
    }
    for (const float number : numbers)
    {
        if (!std::isfinite(number) || (number == 0.0f && option == "--input-std"))
        {
            throw InputError(fmt::format("{} has the number {}; give {}another one", source, number, advice));
        }
    }
}

/// The stored value for each value of a byte of a channel.
std::array<double, 256> MakeValueTable(const TensorInfo& expected, const Normalisation& normalisation,
                                       unsigned int channel, std::string& description)
{
    const DataType type = expected.GetDataType();
    const bool isFloat = IsFloatType(type);
    if (!isFloat && !IsIntegerType(type))
    {
        throw InputError(fmt::format("a picture fits float and integer inputs; this input is {}. Give it an .npy file",
                                     GetDataTypeName(type)));
    }
    const bool normalise = isFloat || !normalisation.m_Mean.empty() || !normalisation.m_Std.empty();
    const double mean = OfChannel(normalisation.m_Mean, channel, DefaultMean);
    const double std = OfChannel(normalisation.m_Std, channel, DefaultStd);
    const bool isInt8 = type == DataType::QAsymmS8 || type == DataType::QSymmS8 || type == DataType::Signed8;
    const float scale = expected.HasQuantization() && !isFloat ? expected.GetQuantizationScale() : 1.0f;
    const int zeroPoint = expected.HasQuantization() && !isFloat ? expected.GetQuantizationOffset() : 0;

    std::array<double, 256> table{};
    for (int p = 0; p < 256; ++p)
    {
        const double real = (p - mean) / std;
        if (normalise)
        {
            table[static_cast<size_t>(p)] = isFloat ? real : std::round(real / scale) + zeroPoint;
        }
        else
        {
            table[static_cast<size_t>(p)] = isInt8 ? p - 128 : p;
        }
    }
    if (normalise)
    {
        const bool isOfModel = normalisation.m_IsMeanOfModel || normalisation.m_IsStdOfModel;
        description = fmt::format("{}{}{}", DescribeNormalisation(normalisation), isFloat ? "" : ", quantized",
                                  isOfModel ? " by the model's metadata" : "");
    }
    else
    {
        description = isInt8 ? "bytes less 128" : "bytes as they are";
    }
    return table;
}

} // namespace

std::string DescribeNormalisation(const Normalisation& normalisation)
{
    const auto list = [](const std::vector<float>& numbers, float defaultNumber)
    {
        const std::vector<float> given = numbers.empty() ? std::vector<float>{defaultNumber} : numbers;
        const std::string text = fmt::format("{}", fmt::join(given, ","));
        return given.size() > 1 ? fmt::format("[{}]", text) : text;
    };
    return fmt::format("(p - {}) / {}", list(normalisation.m_Mean, DefaultMean), list(normalisation.m_Std, DefaultStd));
}

PictureShape FindPictureShape(const TensorInfo& expected)
{
    const TensorShape& shape = expected.GetShape();
    const bool hasRank = shape.GetDimensionality() == Dimensionality::Specified;
    const unsigned int rank = hasRank ? shape.GetNumDimensions() : 0;
    const bool oneImage = rank == 3 || (rank == 4 && (!shape.GetDimensionSpecificity(0) || shape[0] == 1));
    const auto hasChannels = [&](unsigned int d)
    { return shape.GetDimensionSpecificity(d) && (shape[d] == 1 || shape[d] == 3 || shape[d] == 4); };
    if (oneImage && hasChannels(rank - 1))
    {
        return {rank - 3, shape[rank - 1], false};
    }
    if (oneImage && hasChannels(rank - 3))
    {
        return {rank - 2, shape[rank - 3], true};
    }
    throw InputError(fmt::format("a picture fits inputs of shape [1,height,width,channels] or "
                                 "[1,channels,height,width] with 1, 3 or 4 channels; this input is {}. Give it an "
                                 ".npy file",
                                 shape.ToString()));
}

Picture ResizePicture(const Picture& picture, unsigned int width, unsigned int height)
{
    Picture resized{width, height, picture.m_Channels,
                    std::vector<uint8_t>(size_t{width} * height * picture.m_Channels)};
    if (resized.m_Pixels.empty())
    {
        return resized;
    }
    const std::vector<Taps> rowTaps = MakeTaps(picture.m_Height, height);
    const std::vector<Taps> columnTaps = MakeTaps(picture.m_Width, width);
    const size_t channels = picture.m_Channels;
    const size_t sourceRow = picture.m_Width * channels;
    std::vector<float> mixed(sourceRow);
    uint8_t* target = resized.m_Pixels.data();
    for (unsigned int y = 0; y < height; ++y)
    {
        std::fill(mixed.begin(), mixed.end(), 0.0f);
        for (size_t k = 0; k < rowTaps[y].m_Weights.size(); ++k)
        {
            const uint8_t* row = picture.m_Pixels.data() + (rowTaps[y].m_First + k) * sourceRow;
            const float weight = rowTaps[y].m_Weights[k];
            for (size_t i = 0; i < sourceRow; ++i)
            {
                mixed[i] += weight * static_cast<float>(row[i]);
            }
        }
        for (unsigned int x = 0; x < width; ++x)
        {
            for (size_t c = 0; c < channels; ++c)
            {
                float sum = 0.5f; // rounds to the nearest
                for (size_t k = 0; k < columnTaps[x].m_Weights.size(); ++k)
                {
                    sum += columnTaps[x].m_Weights[k] * mixed[(columnTaps[x].m_First + k) * channels + c];
                }
                *target++ = static_cast<uint8_t>(std::min(sum, 255.0f));
            }
        }
    }
    return resized;
}

TensorInfo GetPictureInfo(std::string_view bytes, const TensorInfo& expected)
{
    return WithPictureSize(expected, FindPictureShape(expected), GetPictureSize(bytes));
}

PictureTensor PictureToTensor(std::string_view bytes, const TensorInfo& expected, const Normalisation& normalisation)
{
    const PictureShape where = FindPictureShape(expected);
    PictureTensor tensor;
    CheckNumbersOfChannels(normalisation.m_Mean, where.m_Channels, "mean", normalisation.m_IsMeanOfModel);
    CheckNumbersOfChannels(normalisation.m_Std, where.m_Channels, "std", normalisation.m_IsStdOfModel);
    std::string values;
    std::vector<std::array<double, 256>> tables;
    for (unsigned int c = 0; c < where.m_Channels; ++c)
    {
        tables.push_back(MakeValueTable(expected, normalisation, c, values));
    }
    Picture picture = DecodePicture(bytes, where.m_Channels);

    tensor.m_Info = WithPictureSize(expected, where, {picture.m_Width, picture.m_Height});
    const TensorShape& shape = tensor.m_Info.GetShape();
    const unsigned int height = shape[where.m_HeightIndex];
    const unsigned int width = shape[where.m_HeightIndex + 1];
    tensor.m_Description = fmt::format("picture of {}x{}", picture.m_Width, picture.m_Height);
    if (height != picture.m_Height || width != picture.m_Width)
    {
        tensor.m_Description += fmt::format(" resized to {}x{}", width, height);
        picture = ResizePicture(picture, width, height);
    }
    tensor.m_Description += (where.m_ChannelsFirst ? ", channels first, " : ", ") + values;

    tensor.m_Data = Buffer(tensor.m_Info.GetNumBytes());
    const size_t channels = where.m_Channels;
    const size_t numPixels = picture.m_Pixels.size() / channels;
    for (size_t i = 0; i < picture.m_Pixels.size(); ++i)
    {
        const size_t channel = i % channels;
        const size_t target = where.m_ChannelsFirst ? channel * numPixels + i / channels : i;
        SetElement(expected.GetDataType(), tensor.m_Data.Data(), target, tables[channel][picture.m_Pixels[i]]);
    }
    return tensor;
}

} // namespace tenon::tools
