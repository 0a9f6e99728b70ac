// SPDX-License-Identifier: Apache-2.0
// Pictures as inputs: decoded by stb_image, resized, normalised. Inputs.cpp decides when a file is one.
#pragma once

#include "tools/common/Buffer.hpp"

#include <tenon/Tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

/// Rows of pixels, channels innermost.
struct Picture
{
    unsigned int m_Width = 0;
    unsigned int m_Height = 0;
    unsigned int m_Channels = 0;
    std::vector<uint8_t> m_Pixels;
};

struct PictureSize
{
    unsigned int m_Width = 0;
    unsigned int m_Height = 0;
};

/// Where an input [1,H,W,C] or [H,W,C], or else [1,C,H,W] or [C,H,W], holds height, width and channels.
struct PictureShape
{
    unsigned int m_HeightIndex = 0; ///< the dimension; that of the width follows
    unsigned int m_Channels = 0;
    bool m_ChannelsFirst = false;
};

/// Throws InputError for an input of another shape.
PictureShape FindPictureShape(const TensorInfo& input);

/// The values of --input-mean and --input-std, or those of a model's metadata: none, one number, or one for each
/// channel.
struct Normalisation
{
    std::vector<float> m_Mean;
    std::vector<float> m_Std;
    bool m_IsMeanOfModel = false; ///< for messages
    bool m_IsStdOfModel = false;
};

/// "(p - 127.5) / 127.5", for bytes p, with the defaults where numbers are not given.
std::string DescribeNormalisation(const Normalisation& normalisation);

struct PictureTensor
{
    TensorInfo m_Info;
    Buffer m_Data;
    /// "picture of 512x929 resized to 224x224, (p - 127.5) / 127.5"
    std::string m_Description;
};

/// Whether a file that starts so is a PNG, JPEG or BMP.
bool IsPicture(std::string_view start);

/// The size in the picture's header. Throws InputError, also for sizes that are not supported: zero, and too many
/// pixels.
PictureSize GetPictureSize(std::string_view bytes);

/// 1 (grey), 3 (RGB) or 4 (RGBA) channels, converted if the picture has others. Throws InputError.
Picture DecodePicture(std::string_view bytes, unsigned int channels);

/// Bilinear with pixel centres at .5; when shrinking, the triangle of weights is as wide as the step between target
/// pixels, so that every source pixel counts, as in Pillow's BILINEAR.
Picture ResizePicture(const Picture& picture, unsigned int width, unsigned int height);

/// The info of the result of PictureToTensor. Throws the same InputErrors, except errors about the type and errors of
/// decoding.
TensorInfo GetPictureInfo(std::string_view bytes, const TensorInfo& expected);

/// A picture as an input [1,H,W,C] or [H,W,C], or else [1,C,H,W] or [C,H,W]; a height or width that is unknown is taken
/// from the picture.
///   float inputs       (p - mean) / std, with 127.5 and 127.5 where not given
///   integer inputs the byte as it is, less 128 for int8; if mean or std is given, (p - mean) / std quantized
/// Throws InputError when the input has another shape or type, or another number of channels than mean or std, and for
/// numbers of the metadata by which nothing can be divided.
PictureTensor PictureToTensor(std::string_view bytes, const TensorInfo& expected, const Normalisation& normalisation);

} // namespace tenon::tools
