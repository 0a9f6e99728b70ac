// SPDX-License-Identifier: Apache-2.0
// See Detection.hpp.
#include "tools/evaluate/Detection.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Image.hpp"
#include "tools/common/Strings.hpp"
#include "tools/evaluate/BarText.hpp"
#include "tools/evaluate/BoxOutputs.hpp"
#include "tools/evaluate/ClassNames.hpp"
#include "tools/evaluate/CocoFigures.hpp"
#include "tools/evaluate/CocoTruth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

/// Categories of the text, which has the worst ones.
constexpr size_t MaxShownCategories = 20;
/// Detections with a lower score are no faults of a picture.
constexpr double MinFaultScore = 0.5;
constexpr size_t NumbersOfDetection = 6;

/// The places of categories by the classes of a model.
class CategoryMap
{
public:
    CategoryMap(const DetectionOptions& options, const ClassNames& classes, const std::vector<CocoCategory>& categories)
    {
        const ClassMap map = options.m_ClassMap.value_or(classes.HasLabels() ? ClassMap::ByName : ClassMap::ByOffset);
        if (map == ClassMap::ByName && !classes.HasLabels())
        {
            throw UsageError("--class-map: the model's classes have no names; give them with --labels");
        }
        for (size_t i = 0; i < categories.size(); ++i)
        {
            if (map == ClassMap::ByName)
            {
                const std::vector<std::string>& labels = classes.Labels();
                const auto found = std::find(labels.begin(), labels.end(), categories[i].m_Name);
                if (found != labels.end())
                {
                    m_Categories[found - labels.begin()] = i;
                }
            }
            else
            {
                m_Categories[map == ClassMap::ByOrder ? static_cast<int64_t>(i)
                                                      : categories[i].m_Id - options.m_ClassOffset] = i;
            }
        }
        if (m_Categories.empty() && !categories.empty())
        {
            throw InputError(
                fmt::format("none of the {} labels is the name of one of the ground truth's {} categories, "
                            "such as '{}'; give other labels, or --class-map with a number",
                            classes.Labels().size(), categories.size(), OneLine(categories.front().m_Name)));
        }
    }

    std::optional<size_t> Find(double category) const
    {
        const auto found = m_Categories.find(std::llround(category));
        return found != m_Categories.end() ? std::optional(found->second) : std::nullopt;
    }

private:
    std::map<int64_t, size_t> m_Categories;
};

/// A bound on classes, so that they can be rounded.
constexpr double MaxClass = 1e9;

class Detection : public Task
{
public:
    Detection(const Options& options, const Network& network, const PictureList& pictures)
        : m_Options(options.m_Detection), m_Outputs(options.m_Detection, network),
          m_Truth(ReadCocoTruth(options.m_GroundTruth)),
          m_Map(options.m_Detection, ClassNames(options.m_LabelsFile, FindLabels(network), 0), m_Truth.m_Categories)
    {
        std::vector<std::string> missing;
        std::map<size_t, std::string> taken;
        for (const CocoPicture& picture : m_Truth.m_Pictures)
        {
            if (const std::optional<size_t> found = pictures.Find(picture.m_File))
            {
                m_Files.push_back(pictures.Files()[*found]);
                if (const auto [first, isNew] = taken.emplace(*found, picture.m_File); !isNew)
                {
                    throw InputError(fmt::format("ground truth '{}': '{}' and '{}' are the same picture, '{}'",
                                                 OneLine(options.m_GroundTruth), OneLine(first->second),
                                                 OneLine(picture.m_File), OneLine(m_Files.back())));
                }
            }
            else
            {
                missing.push_back(picture.m_File);
            }
        }
        if (!missing.empty())
        {
            throw InputError(fmt::format("ground truth '{}': {} of {} pictures are not in '{}': {}",
                                         OneLine(options.m_GroundTruth), missing.size(), m_Truth.m_Pictures.size(),
                                         OneLine(pictures.Entry()), QuoteSome(missing)));
        }
        if (m_Truth.m_Pictures.empty())
        {
            throw InputError(fmt::format("ground truth '{}': it has no pictures", OneLine(options.m_GroundTruth)));
        }
        if (pictures.Files().size() > m_Files.size())
        {
            PrintWarning(fmt::format("{} of {} pictures are not in '{}' and are passed over",
                                     pictures.Files().size() - m_Files.size(), pictures.Files().size(),
                                     OneLine(options.m_GroundTruth)));
        }
        if (options.m_NumImages != 0 && m_Files.size() > options.m_NumImages)
        {
            m_Files.resize(options.m_NumImages);
            m_Truth.m_Pictures.resize(options.m_NumImages);
        }
    }

    const char* Name() const override { return "detection"; }
    const std::vector<std::string>& Files() const override { return m_Files; }
    std::string NameOf(size_t picture) const override { return m_Truth.m_Pictures[picture].m_File; }
    std::string DescribeOptions() const override { return m_Outputs.Describe(); }

    std::string ReadMore(size_t picture) const override
    {
        return fmt::format("{} {}", m_Truth.m_Pictures[picture].m_Width, m_Truth.m_Pictures[picture].m_Height);
    }

    /// Class, score and box of each detection.
    Numbers Measure(size_t picture, std::string_view bytes, std::string_view, const OutputStore& outputs) const override
    {
        const CocoPicture& truth = m_Truth.m_Pictures[picture];
        double width = truth.m_Width;
        double height = truth.m_Height;
        if (IsPicture(bytes))
        {
            const PictureSize size = GetPictureSize(bytes);
            if (width != 0.0 && (width != size.m_Width || height != size.m_Height))
            {
                throw InputError(fmt::format("the picture has {}x{} pixels, but the ground truth says {}x{}",
                                             size.m_Width, size.m_Height, width, height));
            }
            width = size.m_Width;
            height = size.m_Height;
        }
        if (!(width > 0.0 && height > 0.0))
        {
            throw InputError("the ground truth must say 'width' and 'height' of a file that is no picture");
        }
        Numbers numbers;
        for (const RawDetection& detection : m_Outputs.Read(outputs, width, height))
        {
            numbers.push_back(detection.m_Class);
            numbers.push_back(detection.m_Score);
            numbers.insert(numbers.end(), detection.m_Box.begin(), detection.m_Box.end());
        }
        return numbers;
    }

    bool IsResult(const Numbers& numbers) const override
    {
        return numbers.size() % NumbersOfDetection == 0 &&
               std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
    }

    void Conclude(const Results& results) override
    {
        m_Boxes.assign(results.size(), {});
        std::vector<PictureBoxes> counted;
        for (size_t i = 0; i < results.size(); ++i)
        {
            if (!results[i])
            {
                continue;
            }
            m_Boxes[i].m_Truth = m_Truth.m_Pictures[i].m_Boxes;
            const Numbers& numbers = *results[i];
            for (size_t n = 0; n < numbers.size(); n += NumbersOfDetection)
            {
                const std::optional<size_t> category =
                    std::fabs(numbers[n]) < MaxClass ? m_Map.Find(numbers[n]) : std::nullopt;
                if (category)
                {
                    m_Boxes[i].m_Detections.push_back(
                        {{numbers[n + 2], numbers[n + 3], numbers[n + 4], numbers[n + 5]}, numbers[n + 1], *category});
                }
                ++m_NumDetections;
                m_NumUnknown += category ? 0 : 1;
            }
            counted.push_back(m_Boxes[i]);
        }
        m_Figures = ComputeCocoFigures(counted, m_Truth.m_Categories.size());
        if (!m_Options.m_File.empty())
        {
            WriteDetections();
        }
    }

    std::string FormatText() const override
    {
        std::string text;
        for (size_t i = 0; i < m_Figures.m_Summary.size(); ++i)
        {
            text += fmt::format(" {} = {:0.3f}\n", NameCocoFigure(i), m_Figures.m_Summary[i]);
        }
        if (m_NumUnknown > 0)
        {
            text += fmt::format("{} of {} detections are of classes without a category and do not count\n",
                                m_NumUnknown, m_NumDetections);
        }
        std::vector<size_t> order;
        for (size_t i = 0; i < m_Figures.m_Categories.size(); ++i)
        {
            if (m_Figures.m_Categories[i].m_NumBoxes > 0)
            {
                order.push_back(i);
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b)
                         { return m_Figures.m_Categories[a].m_Precision < m_Figures.m_Categories[b].m_Precision; });
        TextRows rows = {{"category", "boxes", "AP", "AP50", "AR", ""}};
        for (size_t i = 0; i < std::min(order.size(), MaxShownCategories); ++i)
        {
            const CategoryFigures& figures = m_Figures.m_Categories[order[i]];
            rows.push_back({NameCell(m_Truth.m_Categories[order[i]].m_Name), fmt::format("{}", figures.m_NumBoxes),
                            fmt::format("{:.3f}", figures.m_Precision), fmt::format("{:.3f}", figures.m_Precision50),
                            fmt::format("{:.3f}", figures.m_Recall), FormatBar(figures.m_Precision)});
        }
        const bool isAll = order.size() <= MaxShownCategories;
        return text + "\n" +
               (isAll ? "" : fmt::format("the worst {} of {} categories\n", MaxShownCategories, order.size())) +
               FormatRows(rows);
    }

    void WriteFigures(JsonWriter& json) const override
    {
        constexpr std::array<const char*, 12> names = {"AP",  "AP50", "AP75",  "AP_small", "AP_medium", "AP_large",
                                                       "AR1", "AR10", "AR100", "AR_small", "AR_medium", "AR_large"};
        json.Key("summary");
        json.BeginObject();
        for (size_t i = 0; i < names.size(); ++i)
        {
            json.Member(names[i], m_Figures.m_Summary[i]);
        }
        json.EndObject();
        json.Member("detections", m_NumDetections);
        json.Member("detections_without_category", m_NumUnknown);
        json.Key("precision_at_iou_50");
        WriteLine(json, m_Figures.m_Curve50);
        json.Key("categories");
        json.BeginArray();
        for (size_t i = 0; i < m_Figures.m_Categories.size(); ++i)
        {
            const CategoryFigures& figures = m_Figures.m_Categories[i];
            json.BeginObject(JsonWriter::Layout::Line);
            json.Member("id", m_Truth.m_Categories[i].m_Id);
            json.Member("name", m_Truth.m_Categories[i].m_Name);
            json.Member("boxes", figures.m_NumBoxes);
            json.Member("AP", figures.m_Precision);
            json.Member("AP50", figures.m_Precision50);
            json.Member("AR100", figures.m_Recall);
            json.Key("precision_at_iou_50");
            WriteLine(json, figures.m_Curve50);
            json.EndObject();
        }
        json.EndArray();
    }

    void WritePicture(JsonWriter& json, size_t picture) const override
    {
        size_t numMissed = 0;
        const std::vector<int> outcomes = MatchPicture(m_Boxes[picture], numMissed);
        json.Member("boxes", m_Boxes[picture].m_Truth.size());
        json.Member("detections", m_Boxes[picture].m_Detections.size());
        json.Member("found", static_cast<size_t>(std::count(outcomes.begin(), outcomes.end(), 1)));
        json.Member("missed", numMissed);
        json.Member("wrong", CountWrong(m_Boxes[picture], outcomes));
    }

    /// Missed boxes and wrong detections.
    double FaultOf(size_t picture) const override
    {
        size_t numMissed = 0;
        const std::vector<int> outcomes = MatchPicture(m_Boxes[picture], numMissed);
        return static_cast<double>(numMissed + CountWrong(m_Boxes[picture], outcomes));
    }

    void Illustrate(JsonWriter& json, size_t picture, std::string_view,
                    const std::function<const OutputStore&()>&) const override
    {
        size_t numMissed = 0;
        const PictureBoxes& boxes = m_Boxes[picture];
        const std::vector<int> outcomes = MatchPicture(boxes, numMissed);
        json.Key("drawn");
        json.BeginArray();
        for (const TruthBox& truth : boxes.m_Truth)
        {
            WriteBox(json, truth.m_Box, truth.m_Category, truth.m_IsCrowd ? "crowd" : "truth");
            json.EndObject();
        }
        for (size_t i = 0; i < outcomes.size(); ++i)
        {
            const DetectedBox& detection = boxes.m_Detections[i];
            if (outcomes[i] == 1 || (outcomes[i] == 0 && detection.m_Score >= MinFaultScore))
            {
                WriteBox(json, detection.m_Box, detection.m_Category, outcomes[i] == 1 ? "found" : "wrong");
                json.Member("score", detection.m_Score);
                json.EndObject();
            }
        }
        json.EndArray();
    }

private:
    /// The output whose labels are those of classes, which TFLite's metadata has for one of them.
    static Binding FindLabels(const Network& network)
    {
        const std::vector<Binding>& outputs = network.Outputs();
        const auto found = std::find_if(outputs.begin(), outputs.end(),
                                        [](const Binding& output) { return !output.m_Labels.empty(); });
        return found != outputs.end() ? *found : outputs.front();
    }

    static size_t CountWrong(const PictureBoxes& boxes, const std::vector<int>& outcomes)
    {
        size_t count = 0;
        for (size_t i = 0; i < outcomes.size(); ++i)
        {
            count += outcomes[i] == 0 && boxes.m_Detections[i].m_Score >= MinFaultScore ? 1 : 0;
        }
        return count;
    }

    static void WriteLine(JsonWriter& json, const std::vector<double>& numbers)
    {
        json.BeginArray(JsonWriter::Layout::Line);
        for (const double number : numbers)
        {
            json.Number(number);
        }
        json.EndArray();
    }

    /// The object stays open.
    void WriteBox(JsonWriter& json, const Box& box, size_t category, const char* kind) const
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("kind", kind);
        json.Member("name", m_Truth.m_Categories[category].m_Name);
        json.Key("box");
        WriteLine(json, {box.begin(), box.end()});
    }

    void WriteDetections() const
    {
        OutputFile file(m_Options.m_File);
        JsonWriter json;
        json.BeginArray();
        for (size_t i = 0; i < m_Boxes.size(); ++i)
        {
            for (const DetectedBox& detection : m_Boxes[i].m_Detections)
            {
                json.BeginObject(JsonWriter::Layout::Line);
                json.Member("image_id", m_Truth.m_Pictures[i].m_Id);
                json.Member("category_id", m_Truth.m_Categories[detection.m_Category].m_Id);
                json.Key("bbox");
                WriteLine(json, {detection.m_Box.begin(), detection.m_Box.end()});
                json.Member("score", detection.m_Score);
                json.EndObject();
            }
            const std::string text = json.Take();
            file.Write(text.data(), text.size());
        }
        json.EndArray();
        const std::string end = json.Take() + "\n";
        file.Write(end.data(), end.size());
        file.Close();
    }

    DetectionOptions m_Options;
    BoxOutputs m_Outputs;
    CocoTruth m_Truth;
    CategoryMap m_Map;
    std::vector<std::string> m_Files;

    std::vector<PictureBoxes> m_Boxes; ///< empty for pictures that failed
    size_t m_NumDetections = 0;
    size_t m_NumUnknown = 0; ///< detections without a category
    CocoFigures m_Figures;
};

} // namespace

std::unique_ptr<Task> MakeDetection(const Options& options, const Network& network, const PictureList& pictures)
{
    return std::make_unique<Detection>(options, network, pictures);
}

} // namespace tenon::tools::evaluate
