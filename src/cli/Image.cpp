// SPDX-License-Identifier: Apache-2.0
// See Image.hpp.
#include "cli/Image.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"

#include <climits>
#include <fmt/format.h>
#include <stb/stb_image.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <memory>

namespace tenon::cli
{
namespace
{

/// 256 MB once decoded to four channels; more than any camera's picture.
constexpr uint64_t MaxPixels = uint64_t{1} << 26;
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

/// Where an input holds height, width and channels.
struct PictureShape
{
    unsigned int m_HeightIndex = 0;
    unsigned int m_Channels = 0;
};

PictureShape FindPictureShape(const TensorInfo& expected)
{
    const TensorShape& shape = expected.GetShape();
    const bool hasRank = shape.GetDimensionality() == Dimensionality::Specified;
    const unsigned int rank = hasRank ? shape.GetNumDimensions() : 0;
    const bool oneImage = rank == 3 || (rank == 4 && (!shape.GetDimensionSpecificity(0) || shape[0] == 1));
    if (oneImage && shape.GetDimensionSpecificity(rank - 1))
    {
        const unsigned int channels = shape[rank - 1];
        if (channels == 1 || channels == 3 || channels == 4)
        {
            return {rank - 3, channels};
        }
    }
    throw InputError(fmt::format("a picture fits inputs of shape [1,height,width,channels] with 1, 3 or 4 channels; "
                                 "this input is {}. Give it an .npy file",
                                 shape.ToString()));
}

/// The stored value for each value of a byte.
std::array<double, 256> MakeValueTable(const TensorInfo& expected, const Normalisation& normalisation,
                                       std::string& description)
{
    const DataType type = expected.GetDataType();
    const bool isFloat = IsFloatType(type);
    if (!isFloat && !IsIntegerType(type))
    {
        throw InputError(fmt::format("a picture fits float and integer inputs; this input is {}. Give it an .npy file",
                                     GetDataTypeName(type)));
    }
    const bool normalise = isFloat || normalisation.m_Mean.has_value() || normalisation.m_Std.has_value();
    const double mean = normalisation.m_Mean.value_or(DefaultMean);
    const double std = normalisation.m_Std.value_or(DefaultStd);
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
        description = fmt::format("(p - {}) / {}{}", mean, std, isFloat ? "" : ", quantized");
    }
    else
    {
        description = isInt8 ? "bytes less 128" : "bytes as they are";
    }
    return table;
}

} // namespace

bool IsPicture(std::string_view start)
{
    constexpr std::array<std::string_view, 3> beginnings = {"\x89PNG\r\n\x1a\n", "\xFF\xD8\xFF", "BM"};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return start.substr(0, beginning.size()) == beginning; });
}

Picture DecodePicture(std::string_view bytes, unsigned int channels)
{
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    if (bytes.size() > INT_MAX)
    {
        throw InputError("the picture's file is too large");
    }
    const int size = static_cast<int>(bytes.size());
    int width = 0;
    int height = 0;
    int ownChannels = 0;
    std::unique_ptr<stbi_uc, void (*)(void*)> pixels(nullptr, stbi_image_free);
    try
    {
        // Asked first: decoding takes memory by what the header claims.
        if (stbi_info_from_memory(data, size, &width, &height, &ownChannels) != 0 && width > 0 && height > 0)
        {
            if (static_cast<uint64_t>(width) * static_cast<uint64_t>(height) > MaxPixels)
            {
                throw InputError(
                    fmt::format("the picture has {}x{} pixels; at most {} are read", width, height, MaxPixels));
            }
            pixels.reset(stbi_load_from_memory(data, size, &width, &height, &ownChannels, static_cast<int>(channels)));
        }
    }
    catch (const std::bad_alloc&)
    {
        throw;
    }
    catch (const InputError&)
    {
        throw;
    }
    catch (const std::exception& error)
    {
        throw InputError(fmt::format("it cannot be read as PNG, JPEG or BMP: {}", error.what()));
    }
    if (!pixels || width <= 0 || height <= 0)
    {
        const char* reason = stbi_failure_reason();
        throw InputError(
            fmt::format("it cannot be read as PNG, JPEG or BMP: {}", reason != nullptr ? reason : "no pixels"));
    }

    Picture picture;
    picture.m_Width = static_cast<unsigned int>(width);
    picture.m_Height = static_cast<unsigned int>(height);
    picture.m_Channels = channels;
    picture.m_Pixels.assign(pixels.get(), pixels.get() + size_t{picture.m_Width} * picture.m_Height * channels);
    return picture;
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

PictureTensor PictureToTensor(std::string_view bytes, const TensorInfo& expected, const Normalisation& normalisation)
{
    const PictureShape where = FindPictureShape(expected);
    PictureTensor tensor;
    std::string values;
    const std::array<double, 256> table = MakeValueTable(expected, normalisation, values);
    Picture picture = DecodePicture(bytes, where.m_Channels);

    tensor.m_Info = expected;
    TensorShape& shape = tensor.m_Info.GetShape();
    if (where.m_HeightIndex == 1)
    {
        shape.SetDimensionSize(0, 1);
    }
    const unsigned int sizes[] = {picture.m_Height, picture.m_Width};
    for (unsigned int d = 0; d < 2; ++d)
    {
        if (!shape.GetDimensionSpecificity(where.m_HeightIndex + d))
        {
            shape.SetDimensionSize(where.m_HeightIndex + d, sizes[d]);
        }
    }
    const unsigned int height = shape[where.m_HeightIndex];
    const unsigned int width = shape[where.m_HeightIndex + 1];
    tensor.m_Description = fmt::format("picture of {}x{}", picture.m_Width, picture.m_Height);
    if (height != picture.m_Height || width != picture.m_Width)
    {
        tensor.m_Description += fmt::format(" resized to {}x{}", width, height);
        picture = ResizePicture(picture, width, height);
    }
    tensor.m_Description += ", " + values;

    tensor.m_Data = Buffer(tensor.m_Info.GetNumBytes());
    for (size_t i = 0; i < picture.m_Pixels.size(); ++i)
    {
        SetElement(expected.GetDataType(), tensor.m_Data.Data(), i, table[picture.m_Pixels[i]]);
    }
    return tensor;
}

} // namespace tenon::cli
