// SPDX-License-Identifier: Apache-2.0
// See Segmentation.hpp.
#include "tools/evaluate/Segmentation.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Image.hpp"
#include "tools/common/Strings.hpp"
#include "tools/evaluate/BarText.hpp"
#include "tools/evaluate/ClassNames.hpp"
#include "tools/evaluate/Mask.hpp"
#include "tools/evaluate/Thumbnail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

namespace fs = std::filesystem;

/// All classes that a mask can have.
constexpr size_t MaxClasses = 256;
constexpr size_t NumbersOfCount = 3;

/// Where an output has height, width and scores of classes.
struct MapShape
{
    size_t m_Height = 0;
    size_t m_Width = 0;
    size_t m_NumScores = 1; ///< 1 for an output that has classes, not scores
    bool m_IsChannelsFirst = false;
};

MapShape FindMapShape(const Binding& output, const TensorShape& shape, bool isChannelsFirst)
{
    const bool hasRank = shape.GetDimensionality() == Dimensionality::Specified;
    std::vector<size_t> sizes;
    for (unsigned int d = 0; hasRank && d < shape.GetNumDimensions(); ++d)
    {
        sizes.push_back(shape[d]);
    }
    const bool hasBatch = !sizes.empty() && sizes.front() == 1;
    const bool isScores = hasBatch && sizes.size() == 4;
    const bool isClasses = hasBatch && sizes.size() == 3;
    const MapShape map = isScores && isChannelsFirst ? MapShape{sizes[2], sizes[3], sizes[1], true}
                         : isScores                  ? MapShape{sizes[1], sizes[2], sizes[3], false}
                         : isClasses                 ? MapShape{sizes[1], sizes[2], 1, false}
                                                     : MapShape{};
    if (map.m_Height == 0 || map.m_Width == 0 || map.m_NumScores == 0 || map.m_NumScores > MaxClasses)
    {
        throw InputError(fmt::format("output '{}' is {}, no map of classes; [1,height,width], "
                                     "[1,height,width,classes] with at most {} classes, or channels before height for "
                                     "an input of that kind, are expected. Name another one with --output-name",
                                     OneLine(output.m_Name), shape.ToString(), MaxClasses));
    }
    return map;
}

const Binding& FindMap(const Network& network)
{
    const std::vector<Binding>& outputs = network.Outputs();
    if (outputs.size() != 1)
    {
        throw UsageError("--output-name: the model has several outputs; name the one with the classes of pixels");
    }
    return outputs.front();
}

bool HasChannelsFirst(const Network& network)
{
    return FindPictureShape(network.Input().m_Info).m_ChannelsFirst;
}

/// 0 if it is not known.
size_t CountClasses(const Binding& output, bool isChannelsFirst)
{
    if (!output.m_Info.GetShape().AreAllDimensionsSpecified())
    {
        return 0;
    }
    const MapShape map = FindMapShape(output, output.m_Info.GetShape(), isChannelsFirst);
    return map.m_NumScores > 1 ? map.m_NumScores : 0;
}

/// The class of each pixel of an output.
Mask ReadClasses(const OutputData& output, const MapShape& map)
{
    const DataType type = output.m_Info.GetDataType();
    const std::byte* const data = output.m_Data.Data();
    const size_t numPixels = map.m_Height * map.m_Width;
    Mask mask{static_cast<unsigned int>(map.m_Width), static_cast<unsigned int>(map.m_Height), {}};
    mask.m_Classes.resize(numPixels);
    for (size_t pixel = 0; pixel < numPixels; ++pixel)
    {
        if (map.m_NumScores == 1)
        {
            const double value = GetElement(type, data, pixel);
            if (!(value >= 0.0 && value < static_cast<double>(MaxClasses)))
            {
                throw InputError(fmt::format("the output has the class {} at pixel {}; classes are 0..{}", value, pixel,
                                             MaxClasses - 1));
            }
            mask.m_Classes[pixel] = static_cast<uint8_t>(value);
            continue;
        }
        double best = 0.0;
        for (size_t c = 0; c < map.m_NumScores; ++c)
        {
            const size_t at = map.m_IsChannelsFirst ? c * numPixels + pixel : pixel * map.m_NumScores + c;
            const double score = GetElement(type, data, at);
            if (std::isnan(score))
            {
                throw InputError(fmt::format("the score of class {} at pixel {} of the output is NaN", c, pixel));
            }
            if (c == 0 || score > best)
            {
                best = score;
                mask.m_Classes[pixel] = static_cast<uint8_t>(c);
            }
        }
    }
    return mask;
}

/// The nearest pixels.
Mask ResizeMask(const Mask& mask, unsigned int width, unsigned int height)
{
    Mask resized{width, height, {}};
    resized.m_Classes.reserve(size_t{width} * height);
    const auto nearest = [](unsigned int at, unsigned int size, unsigned int source)
    { return static_cast<size_t>((uint64_t{at} * 2 + 1) * source / (uint64_t{size} * 2)); };
    for (unsigned int y = 0; y < height; ++y)
    {
        const size_t row = nearest(y, height, mask.m_Height) * mask.m_Width;
        for (unsigned int x = 0; x < width; ++x)
        {
            resized.m_Classes.push_back(mask.m_Classes[row + nearest(x, width, mask.m_Width)]);
        }
    }
    return resized;
}

/// Pixels by right and found class.
using Counts = std::map<std::pair<size_t, size_t>, double>;

template <typename Step>
auto AtMask(const std::string& path, Step step)
{
    try
    {
        return step();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("mask '{}': {}", OneLine(path), error.what()));
    }
}

class Segmentation : public Task
{
public:
    Segmentation(const Options& options, const Network& network, const PictureList& pictures)
        : m_Output(FindMap(network)), m_IsChannelsFirst(HasChannelsFirst(network)),
          m_Classes(options.m_LabelsFile, m_Output, CountClasses(m_Output, m_IsChannelsFirst)),
          m_IgnoreLabel(options.m_IgnoreLabel)
    {
        std::vector<std::string> missing;
        for (size_t i = 0; i < pictures.Files().size(); ++i)
        {
            if (options.m_NumImages != 0 && m_Files.size() == options.m_NumImages)
            {
                break;
            }
            const fs::path mask =
                (fs::path(options.m_GroundTruth) / pictures.CounterpartOf(i)).replace_extension(".png");
            std::error_code none;
            if (!fs::is_regular_file(mask, none))
            {
                missing.push_back(pictures.NameOf(i));
                continue;
            }
            m_Files.push_back(pictures.Files()[i]);
            m_Names.push_back(pictures.NameOf(i));
            m_Masks.push_back(mask.string());
        }
        if (!missing.empty())
        {
            throw InputError(fmt::format(
                "ground truth '{}': {} of {} pictures have no mask there, a PNG file of the same "
                "name: {}",
                OneLine(options.m_GroundTruth), missing.size(), pictures.Files().size(), QuoteSome(missing)));
        }
    }

    const char* Name() const override { return "segmentation"; }
    const std::vector<std::string>& Files() const override { return m_Files; }
    std::string NameOf(size_t picture) const override { return m_Names[picture]; }
    std::string DescribeOptions() const override
    {
        return fmt::format("{} {}", m_Output.m_Name, m_IgnoreLabel ? static_cast<int>(*m_IgnoreLabel) : -1);
    }

    std::string ReadMore(size_t picture) const override
    {
        return AtMask(m_Masks[picture], [&] { return InputSource(m_Masks[picture]).ReadAll(); });
    }

    /// Right class, found class and the number of such pixels, for each pair that there is.
    Numbers Measure(size_t picture, std::string_view, std::string_view more, const OutputStore& outputs) const override
    {
        const Mask truth = AtMask(m_Masks[picture], [&] { return ReadMask(more); });
        const OutputData& output = outputs.Get(m_Output.m_Id);
        const MapShape map = FindMapShape(m_Output, output.m_Info.GetShape(), m_IsChannelsFirst);
        const Mask found = ResizeMask(ReadClasses(output, map), truth.m_Width, truth.m_Height);
        const size_t numClasses = map.m_NumScores > 1     ? map.m_NumScores
                                  : m_Classes.HasLabels() ? m_Classes.Labels().size()
                                                          : MaxClasses;
        std::vector<uint64_t> counts(MaxClasses * MaxClasses);
        for (size_t i = 0; i < truth.m_Classes.size(); ++i)
        {
            const uint8_t right = truth.m_Classes[i];
            if (m_IgnoreLabel && right == *m_IgnoreLabel)
            {
                continue;
            }
            if (right >= numClasses)
            {
                throw InputError(fmt::format("mask '{}': the pixel ({}, {}) has the class {}; there are the classes "
                                             "0..{}, and --ignore-label names one that does not count",
                                             OneLine(m_Masks[picture]), i % truth.m_Width, i / truth.m_Width, right,
                                             numClasses - 1));
            }
            ++counts[right * MaxClasses + found.m_Classes[i]];
        }
        Numbers numbers;
        for (size_t i = 0; i < counts.size(); ++i)
        {
            if (counts[i] > 0)
            {
                numbers.insert(numbers.end(), {static_cast<double>(i / MaxClasses), static_cast<double>(i % MaxClasses),
                                               static_cast<double>(counts[i])});
            }
        }
        return numbers;
    }

    bool IsResult(const Numbers& numbers) const override
    {
        bool isResult = numbers.size() % NumbersOfCount == 0;
        for (size_t i = 0; isResult && i < numbers.size(); ++i)
        {
            constexpr double maxPixels = 4294967296.0;
            isResult = numbers[i] >= 0.0 &&
                       numbers[i] < (i % NumbersOfCount == 2 ? maxPixels : static_cast<double>(MaxClasses));
        }
        return isResult;
    }

    void Conclude(const Results& results) override
    {
        m_Results = results;
        m_Counts.clear();
        for (const std::optional<Numbers>& numbers : results)
        {
            if (numbers)
            {
                AddCounts(*numbers, m_Counts);
            }
        }
        m_Figures = ComputeFigures(m_Counts);
    }

    std::string FormatText() const override
    {
        std::string text = fmt::format("mIoU: {:.6f}\nPixel Accuracy: {:.6f}\nMean Class Accuracy: {:.6f}\n\n",
                                       m_Figures.m_MeanIou, m_Figures.m_PixelAccuracy, m_Figures.m_ClassAccuracy);
        TextRows rows = {{"class", "pixels", "IoU", ""}};
        for (const auto& [index, figures] : m_Figures.m_Classes)
        {
            rows.push_back({NameCell(m_Classes.NameOf(index)), fmt::format("{:.0f}", figures.m_Truth),
                            fmt::format("{:.3f}", figures.Iou()), FormatBar(figures.Iou())});
        }
        return text + FormatRows(rows);
    }

    void WriteFigures(JsonWriter& json) const override
    {
        json.Member("mean_iou", m_Figures.m_MeanIou);
        json.Member("pixel_accuracy", m_Figures.m_PixelAccuracy);
        json.Member("mean_class_accuracy", m_Figures.m_ClassAccuracy);
        json.Key("classes");
        json.BeginArray();
        for (const auto& [index, figures] : m_Figures.m_Classes)
        {
            json.BeginObject(JsonWriter::Layout::Line);
            json.Member("class", index);
            json.Member("name", m_Classes.NameOf(index));
            json.Member("pixels", figures.m_Truth);
            json.Member("found", figures.m_Found);
            json.Member("right", figures.m_Right);
            json.Member("iou", figures.Iou());
            json.EndObject();
        }
        json.EndArray();
        WriteConfusions(json, m_Classes, m_Counts);
    }

    void WritePicture(JsonWriter& json, size_t picture) const override
    {
        const Figures figures = FiguresOf(picture);
        json.Member("mean_iou", figures.m_MeanIou);
        json.Member("pixel_accuracy", figures.m_PixelAccuracy);
    }

    double FaultOf(size_t picture) const override
    {
        const Figures figures = FiguresOf(picture);
        return figures.m_Classes.empty() ? 0.0 : 1.0 - figures.m_MeanIou;
    }

    void Illustrate(JsonWriter& json, size_t picture, std::string_view,
                    const std::function<const OutputStore&()>& infer) const override
    {
        const Mask truth = ReadMask(ReadMore(picture));
        const OutputData& output = infer().Get(m_Output.m_Id);
        const MapShape map = FindMapShape(m_Output, output.m_Info.GetShape(), m_IsChannelsFirst);
        json.Member("mask", DrawMask(truth));
        json.Member("result", DrawMask(ResizeMask(ReadClasses(output, map), truth.m_Width, truth.m_Height)));
    }

private:
    struct ClassFigures
    {
        double m_Truth = 0.0; ///< pixels
        double m_Found = 0.0;
        double m_Right = 0.0;

        double Iou() const { return m_Right / (m_Truth + m_Found - m_Right); }
    };

    struct Figures
    {
        std::map<size_t, ClassFigures> m_Classes; ///< those of any pixel
        double m_MeanIou = 0.0;
        double m_PixelAccuracy = 0.0;
        double m_ClassAccuracy = 0.0; ///< the mean over classes of the ground truth
    };

    static void AddCounts(const Numbers& numbers, Counts& counts)
    {
        for (size_t i = 0; i < numbers.size(); i += NumbersOfCount)
        {
            counts[{static_cast<size_t>(numbers[i]), static_cast<size_t>(numbers[i + 1])}] += numbers[i + 2];
        }
    }

    static Figures ComputeFigures(const Counts& counts)
    {
        Figures figures;
        double all = 0.0;
        double right = 0.0;
        for (const auto& [classes, count] : counts)
        {
            figures.m_Classes[classes.first].m_Truth += count;
            figures.m_Classes[classes.second].m_Found += count;
            all += count;
            if (classes.first == classes.second)
            {
                figures.m_Classes[classes.first].m_Right += count;
                right += count;
            }
        }
        size_t numInTruth = 0;
        for (const auto& [index, ofClass] : figures.m_Classes)
        {
            figures.m_MeanIou += ofClass.Iou() / static_cast<double>(figures.m_Classes.size());
            if (ofClass.m_Truth > 0.0)
            {
                figures.m_ClassAccuracy += ofClass.m_Right / ofClass.m_Truth;
                ++numInTruth;
            }
        }
        figures.m_ClassAccuracy /= static_cast<double>(std::max<size_t>(numInTruth, 1));
        figures.m_PixelAccuracy = all > 0.0 ? right / all : 0.0;
        return figures;
    }

    Figures FiguresOf(size_t picture) const
    {
        Counts counts;
        AddCounts(*m_Results[picture], counts);
        return ComputeFigures(counts);
    }

    Binding m_Output;
    bool m_IsChannelsFirst;
    ClassNames m_Classes;
    std::optional<unsigned int> m_IgnoreLabel;
    std::vector<std::string> m_Files;
    std::vector<std::string> m_Names;
    std::vector<std::string> m_Masks;

    Results m_Results;
    Counts m_Counts;
    Figures m_Figures;
};

} // namespace

std::unique_ptr<Task> MakeSegmentation(const Options& options, const Network& network, const PictureList& pictures)
{
    return std::make_unique<Segmentation>(options, network, pictures);
}

} // namespace tenon::tools::evaluate
