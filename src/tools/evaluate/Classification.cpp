// SPDX-License-Identifier: Apache-2.0
// See Classification.hpp.
#include "tools/evaluate/Classification.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Labels.hpp"
#include "tools/common/Strings.hpp"
#include "tools/evaluate/BarText.hpp"
#include "tools/evaluate/ClassNames.hpp"
#include "tools/evaluate/LabelledPictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

/// Classes of the text, which has the worst ones.
constexpr size_t MaxShownClasses = 10;

/// The output with the scores of classes.
const Binding& FindScores(const Network& network)
{
    const std::vector<Binding>& outputs = network.Outputs();
    if (outputs.size() != 1)
    {
        std::vector<std::string> names;
        std::transform(outputs.begin(), outputs.end(), std::back_inserter(names),
                       [](const Binding& output) { return output.m_Name; });
        throw UsageError(fmt::format("--output-name: name the output with the scores of classes, one of {}; for "
                                     "detection give COCO's JSON file with --ground-truth",
                                     QuoteSome(names)));
    }
    return outputs.front();
}

/// 0 if it is not known before a run.
size_t CountClasses(const Binding& output)
{
    const TensorShape& shape = output.m_Info.GetShape();
    if (!shape.AreAllDimensionsSpecified())
    {
        return 0;
    }
    const unsigned int rank = shape.GetNumDimensions();
    const size_t classes = rank > 0 ? shape[rank - 1] : 0;
    if (classes < 2 || shape.GetNumElements64() != classes)
    {
        throw InputError(fmt::format("output '{}' is {}, no list of scores, one for each class; name another one with "
                                     "--output-name, and give a folder of masks with --ground-truth for segmentation",
                                     OneLine(output.m_Name), shape.ToString()));
    }
    return classes;
}

class Classification : public Task
{
public:
    Classification(const Options& options, const Network& network, PictureList pictures)
        : m_Pictures(std::move(pictures)), m_Output(FindScores(network)),
          m_Classes(options.m_LabelsFile, m_Output, CountClasses(m_Output)), m_MaxK(options.m_TopK)
    {
        LabelledPictures labelled =
            options.m_GroundTruth.empty()
                ? LabelByFolders(m_Pictures, m_Classes, options.m_LabelOffset)
                : ReadLabelledPictures(options.m_GroundTruth, m_Pictures, m_Classes, options.m_LabelOffset);
        for (const std::string& remark : labelled.m_Remarks)
        {
            PrintWarning(remark);
        }
        if (options.m_NumImages != 0 && labelled.m_Pictures.size() > options.m_NumImages)
        {
            labelled.m_Pictures.resize(options.m_NumImages);
        }
        m_Labelled = std::move(labelled.m_Pictures);
        for (const LabelledPicture& picture : m_Labelled)
        {
            m_Files.push_back(m_Pictures.Files()[picture.m_Picture]);
        }
    }

    const char* Name() const override { return "classification"; }
    const std::vector<std::string>& Files() const override { return m_Files; }
    std::string NameOf(size_t picture) const override { return m_Pictures.NameOf(m_Labelled[picture].m_Picture); }
    std::string DescribeOptions() const override { return fmt::format("{} {}", m_Output.m_Name, m_MaxK); }

    /// Pairs of class and score, the best first.
    Numbers Measure(size_t picture, std::string_view, std::string_view, const OutputStore& outputs) const override
    {
        const OutputData& output = outputs.Get(m_Output.m_Id);
        const TensorShape& shape = output.m_Info.GetShape();
        if (CountScoreRows(output) != 1 || m_Labelled[picture].m_Class >= shape.GetNumElements64())
        {
            throw InputError(fmt::format("output '{}' is {}, which has no score for class {}", OneLine(m_Output.m_Name),
                                         shape.ToString(), m_Labelled[picture].m_Class));
        }
        for (size_t i = 0; i < output.m_Info.GetNumElements(); ++i)
        {
            if (std::isnan(GetElement(output.m_Info.GetDataType(), output.m_Data.Data(), i)))
            {
                throw InputError(
                    fmt::format("the score of class {} in output '{}' is NaN", i, OneLine(m_Output.m_Name)));
            }
        }
        Numbers numbers;
        for (const RankedClass& ranked : RankClasses(output, 0, m_MaxK))
        {
            numbers.push_back(static_cast<double>(ranked.m_Index));
            numbers.push_back(ranked.m_Score);
        }
        return numbers;
    }

    bool IsResult(const Numbers& numbers) const override
    {
        bool isResult = !numbers.empty() && numbers.size() % 2 == 0 && numbers.size() / 2 <= m_MaxK;
        for (size_t i = 0; i < numbers.size(); i += 2)
        {
            constexpr double maxIndex = 4294967295.0;
            isResult = isResult && numbers[i] >= 0.0 && numbers[i] <= maxIndex && !std::isnan(numbers[i + 1]);
        }
        return isResult;
    }

    void Conclude(const Results& results) override
    {
        m_Results = results;
        m_NumRight.clear();
        m_NumCounted = 0;
        for (size_t i = 0; i < m_Results.size(); ++i)
        {
            if (!m_Results[i])
            {
                continue;
            }
            ++m_NumCounted;
            const std::vector<RankedClass> ranked = RankedOf(i);
            m_NumRight.resize(std::max(m_NumRight.size(), ranked.size()));
            for (size_t k = RankOf(i, ranked); k < m_NumRight.size(); ++k)
            {
                ++m_NumRight[k];
            }
            ++m_Confusions[{m_Labelled[i].m_Class, ranked.front().m_Index}];
            ClassFigures& figures = m_FiguresOf[m_Labelled[i].m_Class];
            ++figures.m_NumPictures;
            figures.m_NumRight += ranked.front().m_Index == m_Labelled[i].m_Class ? 1 : 0;
        }
    }

    std::string FormatText() const override
    {
        std::string text;
        for (size_t k = 0; k < m_NumRight.size(); ++k)
        {
            text += fmt::format("Top-{} Accuracy: {:.6f}\n", k + 1, AccuracyOf(k));
        }
        const std::vector<size_t> worst = ClassesByAccuracy();
        TextRows rows = {{"class", "pictures", "right", "accuracy", ""}};
        for (size_t i = 0; i < std::min(worst.size(), MaxShownClasses); ++i)
        {
            const ClassFigures& figures = m_FiguresOf.at(worst[i]);
            rows.push_back({NameCell(m_Classes.NameOf(worst[i])), fmt::format("{}", figures.m_NumPictures),
                            fmt::format("{}", figures.m_NumRight), fmt::format("{:.3f}", figures.Accuracy()),
                            FormatBar(figures.Accuracy())});
        }
        const bool isAll = worst.size() <= MaxShownClasses;
        return text + "\n" + (isAll ? "" : fmt::format("the worst {} of {} classes\n", MaxShownClasses, worst.size())) +
               FormatRows(rows);
    }

    void WriteFigures(JsonWriter& json) const override
    {
        json.Key("top_k");
        json.BeginArray(JsonWriter::Layout::Line);
        for (size_t k = 0; k < m_NumRight.size(); ++k)
        {
            json.Number(AccuracyOf(k));
        }
        json.EndArray();
        json.Key("classes");
        json.BeginArray();
        for (const auto& [index, figures] : m_FiguresOf)
        {
            json.BeginObject(JsonWriter::Layout::Line);
            json.Member("class", index);
            json.Member("name", m_Classes.NameOf(index));
            json.Member("pictures", figures.m_NumPictures);
            json.Member("right", figures.m_NumRight);
            json.EndObject();
        }
        json.EndArray();
        WriteConfusions(json, m_Classes, m_Confusions);
    }

    void WritePicture(JsonWriter& json, size_t picture) const override
    {
        const size_t truth = m_Labelled[picture].m_Class;
        json.Member("truth", truth);
        json.Member("truth_name", m_Classes.NameOf(truth));
        json.Key("best");
        json.BeginArray();
        for (const RankedClass& ranked : RankedOf(picture))
        {
            json.BeginObject();
            json.Member("class", ranked.m_Index);
            json.Member("name", m_Classes.NameOf(ranked.m_Index));
            json.Member("score", ranked.m_Score);
            json.EndObject();
        }
        json.EndArray();
    }

    /// The score of a wrong class above that of the right one.
    double FaultOf(size_t picture) const override
    {
        const std::vector<RankedClass> ranked = RankedOf(picture);
        const size_t rank = RankOf(picture, ranked);
        if (rank == 0)
        {
            return 0.0;
        }
        const double best = ranked.front().m_Score;
        const double right = ranked[std::min(rank, ranked.size() - 1)].m_Score;
        // Equal scores are faults, too, and come behind all others.
        return std::max(best - right, 1e-30);
    }

private:
    struct ClassFigures
    {
        uint64_t m_NumPictures = 0;
        uint64_t m_NumRight = 0;

        double Accuracy() const { return static_cast<double>(m_NumRight) / static_cast<double>(m_NumPictures); }
    };

    std::vector<RankedClass> RankedOf(size_t picture) const
    {
        const Numbers& numbers = *m_Results[picture];
        std::vector<RankedClass> ranked;
        for (size_t i = 0; i + 1 < numbers.size(); i += 2)
        {
            ranked.push_back({static_cast<size_t>(numbers[i]), numbers[i + 1]});
        }
        return ranked;
    }

    /// The place of the right class, from 0; their number if it is not among them.
    size_t RankOf(size_t picture, const std::vector<RankedClass>& ranked) const
    {
        const auto found =
            std::find_if(ranked.begin(), ranked.end(),
                         [&](const RankedClass& each) { return each.m_Index == m_Labelled[picture].m_Class; });
        return static_cast<size_t>(found - ranked.begin());
    }

    double AccuracyOf(size_t k) const { return static_cast<double>(m_NumRight[k]) / static_cast<double>(m_NumCounted); }

    /// The worst first.
    std::vector<size_t> ClassesByAccuracy() const
    {
        std::vector<size_t> classes;
        for (const auto& [index, figures] : m_FiguresOf)
        {
            classes.push_back(index);
        }
        std::stable_sort(classes.begin(), classes.end(),
                         [&](size_t a, size_t b)
                         { return m_FiguresOf.at(a).Accuracy() < m_FiguresOf.at(b).Accuracy(); });
        return classes;
    }

    PictureList m_Pictures;
    Binding m_Output;
    ClassNames m_Classes;
    size_t m_MaxK;
    std::vector<LabelledPicture> m_Labelled;
    std::vector<std::string> m_Files;

    Results m_Results;
    uint64_t m_NumCounted = 0;
    std::vector<uint64_t> m_NumRight;                           ///< by k - 1: pictures whose class is among the best k
    std::map<std::pair<size_t, size_t>, uint64_t> m_Confusions; ///< by right class and best class
    std::map<size_t, ClassFigures> m_FiguresOf;
};

} // namespace

std::unique_ptr<Task> MakeClassification(const Options& options, const Network& network, PictureList pictures)
{
    return std::make_unique<Classification>(options, network, std::move(pictures));
}

} // namespace tenon::tools::evaluate
