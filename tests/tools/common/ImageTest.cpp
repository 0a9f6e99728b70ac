// SPDX-License-Identifier: Apache-2.0
// Pictures as inputs: decoding, resizing, the values that a network gets.
#include "tools/common/Image.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/FileInput.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/Pictures.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using test::AppendToString;
using test::Png;

std::string Bmp(int width, int height, const std::vector<uint8_t>& pixels)
{
    std::string bytes;
    stbi_write_bmp_to_func(AppendToString, &bytes, width, height, 3, pixels.data());
    return bytes;
}

std::string Jpeg(int width, int height, const std::vector<uint8_t>& pixels)
{
    std::string bytes;
    stbi_write_jpg_to_func(AppendToString, &bytes, width, height, 3, pixels.data(), 95);
    return bytes;
}

std::vector<double> Values(const PictureTensor& tensor)
{
    std::vector<double> values;
    for (size_t i = 0; i < tensor.m_Info.GetNumElements(); ++i)
    {
        values.push_back(GetElement(tensor.m_Info.GetDataType(), tensor.m_Data.Data(), i));
    }
    return values;
}

const std::vector<uint8_t> FourPixels = {0, 10, 20, 255, 128, 127, 1, 2, 3, 50, 60, 70};

TEST(Image, FormatsAreToldByTheirStart)
{
    EXPECT_TRUE(IsPicture(Png(2, 2, 3, FourPixels)));
    EXPECT_TRUE(IsPicture(Bmp(2, 2, FourPixels)));
    EXPECT_TRUE(IsPicture(Jpeg(2, 2, FourPixels)));
    EXPECT_FALSE(IsPicture("\x93NUMPY"));
    EXPECT_FALSE(IsPicture(""));
}

TEST(Image, LosslessFormatsGiveTheirPixels)
{
    EXPECT_EQ(DecodePicture(Png(2, 2, 3, FourPixels), 3).m_Pixels, FourPixels);
    EXPECT_EQ(DecodePicture(Bmp(2, 2, FourPixels), 3).m_Pixels, FourPixels);
    const Picture wide = DecodePicture(Png(4, 1, 3, FourPixels), 3);
    EXPECT_EQ(wide.m_Width, 4U);
    EXPECT_EQ(wide.m_Height, 1U);
}

TEST(Image, JpegGivesAboutItsPixels)
{
    const std::vector<uint8_t> plain(16 * 16 * 3, 100);
    for (const uint8_t value : DecodePicture(Jpeg(16, 16, plain), 3).m_Pixels)
    {
        EXPECT_LE(std::abs(value - 100), 2);
    }
}

TEST(Image, ChannelsAreConverted)
{
    const std::vector<uint8_t> grey = {7, 200};
    EXPECT_EQ(DecodePicture(Png(2, 1, 1, grey), 3).m_Pixels, (std::vector<uint8_t>{7, 7, 7, 200, 200, 200}));
    EXPECT_EQ(DecodePicture(Png(2, 1, 1, grey), 4).m_Pixels, (std::vector<uint8_t>{7, 7, 7, 255, 200, 200, 200, 255}));
    EXPECT_EQ(DecodePicture(Png(2, 1, 3, {9, 9, 9, 80, 80, 80}), 1).m_Pixels, (std::vector<uint8_t>{9, 80}));
}

TEST(Image, CorruptPicturesAreRefused)
{
    const std::string png = Png(2, 2, 3, FourPixels);
    EXPECT_THROW(DecodePicture("", 3), InputError);
    EXPECT_THROW(DecodePicture(png.substr(0, 20), 3), InputError);
    std::string bent = png;
    bent[25] = 77; // the colour type
    EXPECT_THROW(DecodePicture(bent, 3), InputError);
    std::string huge = png;
    huge[18] = '\xFF'; // 65282 x 65282 pixels
    huge[22] = '\xFF';
    EXPECT_THROW(DecodePicture(huge, 3), InputError);
}

/// The four bytes of a number in a header.
std::string WithNumber(std::string bytes, size_t at, const std::string& number)
{
    return bytes.replace(at, 4, number);
}

TEST(Image, SizesThatCannotBeReadAreSaid)
{
    constexpr size_t pngWidth = 16;
    constexpr size_t bmpWidth = 18;
    const std::string png = Png(2, 2, 3, FourPixels);
    const std::string bmp = Bmp(2, 2, FourPixels);
    const std::string zero(4, '\0');
    const auto decode = [](const std::string& bytes) { DecodePicture(bytes, 3); };
    EXPECT_THROW_WITH(decode(WithNumber(png, pngWidth, zero)), InputError, "header says 0x2 pixels");
    EXPECT_THROW_WITH(decode(WithNumber(png, pngWidth, "\x7F\xFF\xFF\xFF")), InputError,
                      "has 2147483647x2 pixels; at most 67108864 are read");
    const std::string wide = WithNumber(png, pngWidth, std::string("\0\0\x75\x30", 4));
    EXPECT_THROW_WITH(decode(WithNumber(wide, pngWidth + 4, std::string("\0\0\x75\x30", 4))), InputError,
                      "has 30000x30000 pixels; at most 67108864 are read");
    EXPECT_THROW_WITH(decode(WithNumber(png, pngWidth, std::string("\0\x01\0\0", 4))), InputError,
                      "has 65536x2 pixels; at most 67108864 are read, and at most 65535 a side");
    EXPECT_THROW_WITH(decode(WithNumber(bmp, bmpWidth, "\xFF\xFF\xFF\xFF")), InputError, "header says -1x2 pixels");
    EXPECT_THROW_WITH(decode(WithNumber(bmp, bmpWidth + 4, zero)), InputError, "header says 2x0 pixels");
    EXPECT_THROW_WITH(decode(WithNumber(bmp, bmpWidth + 4, std::string("\0\0\0\x80", 4))), InputError,
                      "has 2x2147483648 pixels");
}

TEST(Image, ReasonsAreThoseOfTheFormat)
{
    const auto decode = [](const std::string& bytes) { DecodePicture(bytes, 3); };
    EXPECT_THROW_WITH(decode("GIF89a"), InputError, "it is no PNG, JPEG or BMP");
    EXPECT_THROW_WITH(decode(Png(2, 2, 3, FourPixels).substr(0, 40)), InputError, "it cannot be read as PNG: ");
    const std::string jpeg = Jpeg(16, 16, std::vector<uint8_t>(16 * 16 * 3, 100));
    EXPECT_THROW_WITH(decode(jpeg.substr(0, 30)), InputError, "it cannot be read as JPEG: ");
    const std::string bmp = Bmp(2, 2, FourPixels);
    const std::string bent = WithNumber(bmp, 28, std::string("\x07\0\0\0", 4)); // bits of a pixel
    EXPECT_THROW_WITH(decode(bent), InputError, "it cannot be read as BMP: ");
    EXPECT_THROW_WITH(decode(WithNumber(bmp, 14, std::string("\x40\0\0\0", 4))), InputError,
                      "it cannot be read as BMP: it is corrupt, or of a kind that is not known");
}

TEST(Image, NoReasonIsOfAnotherFormat)
{
    const std::string jpeg = Jpeg(16, 16, std::vector<uint8_t>(16 * 16 * 3, 100));
    size_t refused = 0;
    for (size_t i = 3; i < jpeg.size(); ++i)
    {
        std::string bent = jpeg;
        bent[i] = '\xFF';
        try
        {
            DecodePicture(bent, 3);
        }
        catch (const InputError& error)
        {
            EXPECT_EQ(std::string(error.what()).find("png"), std::string::npos) << i << ": " << error.what();
            ++refused;
        }
    }
    EXPECT_GT(refused, 10U);
}

TEST(Image, RowsOfABmpMayGoDown)
{
    const std::string up = Bmp(1, 2, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(DecodePicture(up, 3).m_Pixels, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
    const std::string down = WithNumber(up, 22, "\xFE\xFF\xFF\xFF"); // a height of -2
    EXPECT_EQ(DecodePicture(down, 3).m_Pixels, (std::vector<uint8_t>{4, 5, 6, 1, 2, 3}));
}

TEST(Image, ResizingToTheSameSizeChangesNothing)
{
    const Picture picture{2, 2, 3, FourPixels};
    EXPECT_EQ(ResizePicture(picture, 2, 2).m_Pixels, FourPixels);
}

TEST(Image, ResizingInterpolatesBetweenPixelCentres)
{
    const Picture pair{2, 1, 1, {0, 100}};
    EXPECT_EQ(ResizePicture(pair, 4, 1).m_Pixels, (std::vector<uint8_t>{0, 25, 75, 100}));
    EXPECT_EQ(ResizePicture({1, 2, 1, {0, 100}}, 1, 4).m_Pixels, (std::vector<uint8_t>{0, 25, 75, 100}));
    EXPECT_EQ(ResizePicture({1, 1, 1, {33}}, 3, 2).m_Pixels, std::vector<uint8_t>(6, 33));
}

TEST(Image, ShrinkingCountsEveryPixel)
{
    // A single bright pixel between those that a four-fold step would sample.
    Picture line{16, 1, 1, std::vector<uint8_t>(16, 0)};
    line.m_Pixels[7] = 255;
    int sum = 0;
    for (const uint8_t value : ResizePicture(line, 4, 1).m_Pixels)
    {
        sum += value;
    }
    EXPECT_NEAR(sum, 255 / 4, 2);
    EXPECT_EQ(ResizePicture({4, 4, 1, std::vector<uint8_t>(16, 255)}, 3, 1).m_Pixels, std::vector<uint8_t>(3, 255));
}

TEST(Image, FloatInputsAreNormalised)
{
    const TensorInfo info({1, 2, 2, 3}, DataType::Float32);
    const PictureTensor tensor = PictureToTensor(Png(2, 2, 3, FourPixels), info, {});
    EXPECT_FLOAT_EQ(static_cast<float>(Values(tensor)[0]), -1.0f);
    EXPECT_FLOAT_EQ(static_cast<float>(Values(tensor)[3]), 1.0f);
    EXPECT_NE(tensor.m_Description.find("(p - 127.5) / 127.5"), std::string::npos) << tensor.m_Description;

    const PictureTensor scaled = PictureToTensor(Png(2, 2, 3, FourPixels), info, {{0.0f}, {255.0f}});
    EXPECT_FLOAT_EQ(static_cast<float>(Values(scaled)[3]), 1.0f);
    EXPECT_FLOAT_EQ(static_cast<float>(Values(scaled)[1]), 10.0f / 255.0f);
}

TEST(Image, EightBitInputsTakeTheBytes)
{
    const std::string png = Png(2, 2, 3, FourPixels);
    const PictureTensor unsignedBytes = PictureToTensor(png, TensorInfo({1, 2, 2, 3}, DataType::QAsymmU8, 0.1f, 3), {});
    const PictureTensor signedBytes = PictureToTensor(png, TensorInfo({2, 2, 3}, DataType::QAsymmS8, 0.1f, 3), {});
    for (size_t i = 0; i < FourPixels.size(); ++i)
    {
        EXPECT_EQ(Values(unsignedBytes)[i], FourPixels[i]);
        EXPECT_EQ(Values(signedBytes)[i], FourPixels[i] - 128.0);
    }
}

TEST(Image, EightBitInputsAreQuantizedWhenMeanOrStdIsGiven)
{
    const std::string png = Png(2, 2, 3, FourPixels);
    const TensorInfo info({1, 2, 2, 3}, DataType::QAsymmS8, 0.5f, 10);
    const PictureTensor tensor = PictureToTensor(png, info, {{100.0f}, {2.0f}});
    for (size_t i = 0; i < FourPixels.size(); ++i)
    {
        const double quantized = std::round((FourPixels[i] - 100.0) / 2.0 / 0.5) + 10.0;
        EXPECT_EQ(Values(tensor)[i], std::min(127.0, std::max(-128.0, quantized)));
    }
    const PictureTensor withMeanOnly =
        PictureToTensor(png, TensorInfo({1, 2, 2, 3}, DataType::QAsymmU8, 1.0f, 5), {{0.0f}, {}});
    EXPECT_EQ(Values(withMeanOnly)[3], 5.0 + 2.0); // 255 / 127.5
}

TEST(Image, ChannelsMayComeFirst)
{
    const std::string png = Png(2, 2, 3, FourPixels);
    for (const TensorShape& shape : {TensorShape({1, 3, 2, 2}), TensorShape({3, 2, 2})})
    {
        const PictureTensor tensor = PictureToTensor(png, TensorInfo(shape, DataType::QAsymmU8, 1.0f), {});
        EXPECT_EQ(tensor.m_Info.GetShape(), shape);
        EXPECT_NE(tensor.m_Description.find("channels first"), std::string::npos) << tensor.m_Description;
        for (size_t i = 0; i < FourPixels.size(); ++i)
        {
            EXPECT_EQ(Values(tensor)[i % 3 * 4 + i / 3], FourPixels[i]);
        }
    }
    TensorInfo open({1, 3, 1, 1}, DataType::Float32);
    for (const unsigned int d : {0U, 2U, 3U})
    {
        open.GetShape().SetDimensionUnknown(d);
    }
    EXPECT_EQ(GetPictureInfo(Png(4, 1, 3, FourPixels), open).GetShape(), TensorShape({1, 3, 1, 4}));
    EXPECT_EQ(PictureToTensor(Png(4, 1, 3, FourPixels), open, {}).m_Info.GetShape(), TensorShape({1, 3, 1, 4}));
    // A shape that may be either is taken for channels last.
    const PictureTensor last =
        PictureToTensor(Png(3, 1, 1, {1, 2, 3}), TensorInfo({1, 1, 3, 1}, DataType::QAsymmU8, 1.0f), {});
    EXPECT_EQ(last.m_Description.find("channels first"), std::string::npos) << last.m_Description;
}

TEST(Image, SizesOfAPictureDoNotChangeWhereChannelsAre)
{
    const test::TempFolder folder;
    TensorInfo info({1, 3, 1, 1}, DataType::QAsymmU8, 1.0f);
    info.GetShape().SetDimensionUnknown(2);
    info.GetShape().SetDimensionUnknown(3); // which the picture makes 4, as if those were channels
    const FileInput file(folder.Write("a.png", Png(4, 1, 3, FourPixels)), info, "", Limits(), false);
    EXPECT_EQ(file.Info().GetShape(), TensorShape({1, 3, 1, 4}));
    const InputData data = file.Load({}, Limits());
    EXPECT_EQ(data.m_Info.GetShape(), TensorShape({1, 3, 1, 4}));
    for (size_t i = 0; i < FourPixels.size(); ++i)
    {
        EXPECT_EQ(GetElement(DataType::QAsymmU8, data.m_Data.Data(), i % 3 * 4 + i / 3), FourPixels[i]);
    }
}

TEST(Image, ChannelsHaveMeansOfTheirOwn)
{
    const std::string png = Png(2, 2, 3, FourPixels);
    const Normalisation normalisation{{10.0f, 20.0f, 30.0f}, {1.0f, 2.0f, 4.0f}};
    const PictureTensor last = PictureToTensor(png, TensorInfo({1, 2, 2, 3}, DataType::Float32), normalisation);
    const PictureTensor first = PictureToTensor(png, TensorInfo({1, 3, 2, 2}, DataType::Float32), normalisation);
    EXPECT_NE(first.m_Description.find("(p - [10,20,30]) / [1,2,4]"), std::string::npos) << first.m_Description;
    for (size_t i = 0; i < FourPixels.size(); ++i)
    {
        const double expected = (FourPixels[i] - normalisation.m_Mean[i % 3]) / normalisation.m_Std[i % 3];
        EXPECT_EQ(Values(last)[i], expected);
        EXPECT_EQ(Values(first)[i % 3 * 4 + i / 3], expected);
    }
    EXPECT_THROW_WITH(
        PictureToTensor(png, TensorInfo({1, 2, 2, 1}, DataType::Float32), normalisation), InputError,
        "--input-mean has 3 numbers, but the input has 1 channel; give one number, or one for each channel");
    EXPECT_THROW_WITH(PictureToTensor(png, TensorInfo({1, 2, 2, 3}, DataType::Float32), {{}, {1.0f, 2.0f}}), InputError,
                      "--input-std has 2 numbers, but the input has 3 channels");
}

TEST(Image, OpenSizesAreThePictures)
{
    TensorInfo info({1, 1, 1, 3}, DataType::QAsymmU8, 1.0f);
    info.GetShape().SetDimensionUnknown(0);
    info.GetShape().SetDimensionUnknown(1);
    info.GetShape().SetDimensionUnknown(2);
    EXPECT_EQ(PictureToTensor(Png(4, 1, 3, FourPixels), info, {}).m_Info.GetShape(), TensorShape({1, 1, 4, 3}));
    EXPECT_EQ(GetPictureInfo(Png(4, 1, 3, FourPixels), info).GetShape(), TensorShape({1, 1, 4, 3}));
}

TEST(Image, InputsThatAreNoPicturesAreRefused)
{
    const std::string png = Png(2, 2, 3, FourPixels);
    for (const TensorShape& shape :
         {TensorShape({1, 2, 2, 2}), TensorShape({1, 5, 2, 2}), TensorShape({2, 2, 2, 3}), TensorShape({2, 3, 2, 2}),
          TensorShape({4, 3}), TensorShape({1, 1, 2, 2, 3}), TensorShape(Dimensionality::Scalar), TensorShape()})
    {
        EXPECT_THROW_WITH(PictureToTensor(png, TensorInfo(shape, DataType::Float32), {}), InputError,
                          "[1,height,width,channels] or [1,channels,height,width]");
    }
    EXPECT_THROW(PictureToTensor(png, TensorInfo({1, 2, 2, 3}, DataType::Boolean), {}), InputError);
    EXPECT_THROW(PictureToTensor(png, TensorInfo({1, 2, 2, 3}, DataType::Complex64), {}), InputError);
}

} // namespace
} // namespace tenon::tools
