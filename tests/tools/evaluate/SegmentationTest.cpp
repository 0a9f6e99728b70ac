// SPDX-License-Identifier: Apache-2.0
// Segmentation: masks of each kind, figures that are known, and refusals.
#include "Evaluation.hpp"
#include "tools/common/Errors.hpp"
#include "tools/evaluate/Mask.hpp"
#include "tools/harness/Expect.hpp"

#include <limits>

namespace tenon::tools::evaluate
{
namespace
{

using Classes = std::vector<uint8_t>;

uint32_t ChecksumOf(const std::string& bytes)
{
    uint32_t checksum = 0xFFFFFFFF;
    for (const char c : bytes)
    {
        checksum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
        {
            checksum = checksum >> 1 ^ (checksum % 2 == 1 ? 0xEDB88320U : 0U);
        }
    }
    return ~checksum;
}

std::string Number(uint32_t value)
{
    return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
            static_cast<char>(value)};
}

std::string Chunk(const std::string& name, const std::string& data)
{
    return Number(static_cast<uint32_t>(data.size())) + name + data + Number(ChecksumOf(name + data));
}

/// A picture of 4x1 pixels that are `row`, in zlib's form without compression.
std::string PngOf(char bitDepth, char colourType, const std::string& palette, const std::string& row)
{
    const std::string data = std::string(1, '\0') + row;
    uint32_t a = 1;
    uint32_t b = 0;
    for (const char c : data)
    {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    const auto size = static_cast<char>(data.size());
    const std::string stream =
        std::string("\x78\x01\x01", 3) + size + '\0' + static_cast<char>(~size) + '\xFF' + data + Number(b << 16 | a);
    return std::string("\x89PNG\r\n\x1a\n") +
           Chunk("IHDR", Number(4) + Number(1) + bitDepth + colourType + std::string(3, '\0')) +
           (palette.empty() ? "" : Chunk("PLTE", palette)) + Chunk("IDAT", stream) + Chunk("IEND", "");
}

TEST(Masks, ValuesAreGreyOrOfAPalette)
{
    EXPECT_EQ(ReadMask(test::Png(4, 1, 1, {0, 1, 20, 255})).m_Classes, (Classes{0, 1, 20, 255}));
    EXPECT_EQ(ReadMask(PngOf(2, 0, "", "\x1B")).m_Classes, (Classes{0, 1, 2, 3})) << "two bits a pixel";
    const std::string palette("\x00\x00\x00\x80\x00\x00\x00\x80\x00\x80\x80\x00", 12);
    EXPECT_EQ(ReadMask(PngOf(8, 3, palette, std::string("\x03\x00\x01\x02", 4))).m_Classes, (Classes{3, 0, 1, 2}));
    const std::string twice("\x00\x00\x00\x80\x00\x00\x80\x00\x00\x80\x80\x00", 12);
    EXPECT_EQ(ReadMask(PngOf(8, 3, twice, std::string("\x03\x00\x03\x00", 4))).m_Classes, (Classes{3, 0, 3, 0}));
    EXPECT_THROW_WITH(ReadMask(PngOf(8, 3, twice, std::string("\x03\x00\x01\x02", 4))), InputError,
                      "the colour 800000 is in its palette more than once");
}

TEST(Masks, OtherFilesAreRefused)
{
    EXPECT_THROW_WITH(ReadMask(""), InputError, "a mask must be a PNG file");
    EXPECT_THROW_WITH(ReadMask("\xFF\xD8\xFF\xE0"), InputError, "a mask must be a PNG file");
    EXPECT_THROW_WITH(ReadMask(test::Png(1, 1, 3, {0, 1, 2})), InputError, "a mask must have grey values");
    const std::string whole = test::Png(4, 1, 1, {0, 1, 20, 255});
    for (size_t size = 0; size < whole.size() - 12; ++size)
    {
        try
        {
            ReadMask(whole.substr(0, size));
        }
        catch (const InputError&)
        {
        }
    }
}

class Segmentation : public Evaluation
{
protected:
    /// Two pictures of 2x2 pixels with the classes 0, 1, 2, 2 and 1, 1, 1, 1.
    Segmentation()
    {
        MakeFolder("in");
        MakeFolder("masks");
        WriteFloats("in/a.npy", {1, 2, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
        WriteFloats("in/b.npy", {1, 2, 2, 3}, {0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0});
        WriteMask("a", 2, 2, {0, 1, 2, 2});
        WriteMask("b", 2, 2, {1, 1, 0, 255});
    }

    void WriteMask(const std::string& name, int width, int height, const Classes& classes) const
    {
        m_Folder.Write("masks/" + name + ".png", test::Png(width, height, 1, classes));
    }

    Outcome Run(const Words& more = {}) const
    {
        return Evaluate(
            With({"-m", m_Model, "-d", m_Folder.Path("in"), "-c", "CpuRef", "-g", m_Folder.Path("masks")}, more));
    }

    const std::string m_Model = WriteRelu("scores.tflite", {1, 2, 2, 3});
};

TEST_F(Segmentation, FiguresAreThoseOfAllPixels)
{
    const std::string report = m_Folder.Path("report.json");
    const Outcome outcome = Run({"--report-json", report});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    // Class 0: 1 of 2 pixels, none too many; class 1: all 3 and one too many; class 2: all 2.
    EXPECT_TRUE(Has(outcome.m_Out, "mIoU: 0.750000\nPixel Accuracy: 0.857143\nMean Class Accuracy: 0.833333\n"))
        << outcome.m_Out;
    EXPECT_TRUE(Has(outcome.m_Out, "1      3       0.750  #######################\n")) << outcome.m_Out;
    const Json json = Json::Parse(ReadFile(report));
    EXPECT_NEAR(json.At("mean_iou").m_Number, 0.75, 1e-12);
    EXPECT_EQ(json.At("classes").m_Items.at(1).At("found").m_Number, 4.0);
    EXPECT_EQ(json.At("files").m_Items.at(0).At("mean_iou").m_Number, 1.0);
}

TEST_F(Segmentation, OtherPixelsMayBeIgnored)
{
    WriteMask("b", 2, 2, {1, 1, 0, 7});
    ExpectFailure(Run(), 3, "1 of 2 pictures failed");
    EXPECT_TRUE(Has(Run().m_Error, "the pixel (1, 1) has the class 7; there are the classes 0..2")) << Run().m_Error;
    EXPECT_TRUE(Has(Run({"--ignore-label", "7"}).m_Out, "mIoU: 0.750000\n"));
    WriteMask("b", 2, 2, {1, 1, 255, 255});
    EXPECT_TRUE(Has(Run().m_Out, "mIoU: 1.000000\n"));
    EXPECT_TRUE(Has(Run({"--ignore-label", "none"}).m_Error, "has the class 255"));
    ExpectFailure(Run({"--ignore-label", "256"}), 2, "'256' is no whole number in 0..255");
}

TEST_F(Segmentation, MasksHaveSizesOfTheirOwn)
{
    WriteMask("a", 4, 2, {0, 0, 1, 1, 2, 2, 2, 2});
    WriteMask("b", 1, 1, {1});
    EXPECT_TRUE(Has(Run().m_Out, "mIoU: 1.000000\n")) << Run().m_Error;
}

TEST_F(Segmentation, ScoresThatAreNaNAreFailuresOfPictures)
{
    const float none = std::numeric_limits<float>::quiet_NaN();
    WriteFloats("in/b.npy", {1, 2, 2, 3}, {0, 1, 0, 0, 1, 0, none, 1, 0, 0, 1, 0});
    ExpectFailure(Run(), 3, "1 of 2 pictures failed");
    EXPECT_TRUE(Has(Run().m_Error, "'b.npy': the score of class 0 at pixel 2 of the output is NaN")) << Run().m_Error;
}

TEST_F(Segmentation, OutputsMayBeClasses)
{
    const std::string model = WriteRelu("classes.tflite", {1, 2, 2});
    WriteFloats("in/a.npy", {1, 2, 2}, {0, 1, 2, 2});
    WriteFloats("in/b.npy", {1, 2, 2}, {1, 1, 1, 1});
    const Words command = {"-m", model, "-d", m_Folder.Path("in"), "-c", "CpuRef", "-g", m_Folder.Path("masks")};
    EXPECT_TRUE(Has(Evaluate(command).m_Out, "mIoU: 0.750000\n")) << Evaluate(command).m_Error;
    WriteFloats("in/b.npy", {1, 2, 2}, {1, 1, 1, 256});
    EXPECT_TRUE(Has(Evaluate(command).m_Error, "the output has the class 256 at pixel 3; classes are 0..255"));
}

TEST_F(Segmentation, PicturesOfAPatternHaveMasksByTheirNames)
{
    const std::string expected = Run().m_Out;
    const Outcome outcome =
        Evaluate({"-m", m_Model, "-d", m_Folder.Path("in/*.npy"), "-g", m_Folder.Path("masks"), "-c", "CpuRef"});
    EXPECT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Out.substr(outcome.m_Out.find("mIoU")), expected.substr(expected.find("mIoU")));
}

TEST_F(Segmentation, MissingAndOtherMasksAreRefused)
{
    m_Folder.Write("masks/b.png", "no PNG");
    EXPECT_TRUE(Has(Run().m_Error, "'b.npy': mask '" + m_Folder.Path("masks/b.png") + "': a mask must be a PNG file"));
    std::filesystem::remove(m_Folder.Path("masks/b.png"));
    ExpectFailure(Run(), 3, "1 of 2 pictures have no mask there, a PNG file of the same name: 'b.npy'");
    const std::string model = WriteRelu("other.tflite", {1, 3});
    ExpectFailure(Evaluate({"-m", model, "-d", m_Folder.Path("in"), "-g", m_Folder.Path("masks")}), 3,
                  "a picture fits inputs of shape");
}

} // namespace
} // namespace tenon::tools::evaluate
