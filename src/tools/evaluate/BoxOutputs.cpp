// SPDX-License-Identifier: Apache-2.0
// See BoxOutputs.hpp.
#include "tools/evaluate/BoxOutputs.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Image.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tenon::tools::evaluate
{
namespace
{

const char* NameOf(DetectionPart part)
{
    switch (part)
    {
    case DetectionPart::Boxes: return "boxes";
    case DetectionPart::Classes: return "classes";
    case DetectionPart::Scores: return "scores";
    case DetectionPart::Count: return "count";
    }
    return "";
}

std::vector<DetectionPart> UsualParts(size_t numOutputs)
{
    std::vector<DetectionPart> parts = {DetectionPart::Boxes, DetectionPart::Classes, DetectionPart::Scores};
    if (numOutputs == 4)
    {
        parts.push_back(DetectionPart::Count);
    }
    return parts;
}

double ReadElement(const OutputData& output, size_t index)
{
    return GetElement(output.m_Info.GetDataType(), output.m_Data.Data(), index);
}

} // namespace

BoxOutputs::BoxOutputs(const DetectionOptions& options, const Network& network) : m_Options(options)
{
    const std::vector<Binding>& outputs = network.Outputs();
    if (m_Options.m_Parts.empty())
    {
        m_Options.m_Parts = UsualParts(outputs.size());
    }
    if (m_Options.m_Parts.size() != outputs.size())
    {
        throw UsageError(fmt::format("--detection-outputs: there are {} parts for {} outputs; detection takes boxes, "
                                     "classes, scores and their count; name the outputs with -o and their parts with "
                                     "--detection-outputs",
                                     m_Options.m_Parts.size(), outputs.size()));
    }
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        m_Parts[m_Options.m_Parts[i]] = outputs[i];
    }
    for (const auto& [part, output] : m_Parts)
    {
        if (output.m_Info.GetShape().AreAllDimensionsSpecified())
        {
            CheckShape(part, output.m_Info.GetShape());
        }
    }
    if (m_Options.m_BoxUnit == BoxUnit::InputPixel)
    {
        const TensorInfo& input = network.Input().m_Info;
        const unsigned int height = FindPictureShape(input).m_HeightIndex;
        m_UnitHeight = input.GetShape()[height];
        m_UnitWidth = input.GetShape()[height + 1];
    }
}

void BoxOutputs::CheckShape(DetectionPart part, const TensorShape& shape) const
{
    const unsigned int rank = shape.GetDimensionality() == Dimensionality::Scalar ? 0 : shape.GetNumDimensions();
    const uint64_t count = shape.GetNumElements64();
    bool fits = true;
    switch (part)
    {
    case DetectionPart::Boxes:
        fits = rank >= 2 && shape[rank - 1] == 4 && uint64_t{shape[rank - 2]} * 4 == count;
        break;
    case DetectionPart::Classes:
    case DetectionPart::Scores: fits = rank >= 1 && shape[rank - 1] == count; break;
    case DetectionPart::Count: fits = count == 1; break;
    }
    if (!fits)
    {
        throw InputError(fmt::format("output '{}' is {}, which cannot be the {} of one picture; give the order of the "
                                     "outputs with --detection-outputs",
                                     OneLine(m_Parts.at(part).m_Name), shape.ToString(), NameOf(part)));
    }
}

const OutputData& BoxOutputs::Get(const OutputStore& outputs, DetectionPart part) const
{
    const OutputData& output = outputs.Get(m_Parts.at(part).m_Id);
    CheckShape(part, output.m_Info.GetShape());
    return output;
}

Box BoxOutputs::ToPixels(const std::array<double, 4>& n, double width, double height) const
{
    Box box = {n[0], n[1], n[2], n[3]}; // left, top, right, bottom or width, height
    switch (m_Options.m_BoxFormat)
    {
    case BoxFormat::Yxyx: box = {n[1], n[0], n[3] - n[1], n[2] - n[0]}; break;
    case BoxFormat::Xyxy: box = {n[0], n[1], n[2] - n[0], n[3] - n[1]}; break;
    case BoxFormat::Xywh: break;
    case BoxFormat::Cxcywh: box = {n[0] - n[2] / 2.0, n[1] - n[3] / 2.0, n[2], n[3]}; break;
    }
    const double scaleX = width / m_UnitWidth;
    const double scaleY = height / m_UnitHeight;
    return {box[0] * scaleX, box[1] * scaleY, box[2] * scaleX, box[3] * scaleY};
}

std::vector<RawDetection> BoxOutputs::Read(const OutputStore& outputs, double width, double height) const
{
    const OutputData& boxes = Get(outputs, DetectionPart::Boxes);
    const OutputData& classes = Get(outputs, DetectionPart::Classes);
    const OutputData& scores = Get(outputs, DetectionPart::Scores);
    const uint64_t all = boxes.m_Info.GetShape().GetNumElements64() / 4;
    if (classes.m_Info.GetShape().GetNumElements64() != all || scores.m_Info.GetShape().GetNumElements64() != all)
    {
        throw InputError(fmt::format("there are {} boxes, {} classes and {} scores; give the order of the outputs with "
                                     "--detection-outputs",
                                     all, classes.m_Info.GetShape().GetNumElements64(),
                                     scores.m_Info.GetShape().GetNumElements64()));
    }
    uint64_t count = all;
    if (m_Parts.contains(DetectionPart::Count))
    {
        const double given = std::round(ReadElement(Get(outputs, DetectionPart::Count), 0));
        if (!(given >= 0.0 && given <= static_cast<double>(all)))
        {
            throw InputError(fmt::format("the count of detections is {}, but there are {} boxes", given, all));
        }
        count = static_cast<uint64_t>(given);
    }
    std::vector<RawDetection> detections;
    for (size_t i = 0; i < count; ++i)
    {
        RawDetection detection = {ReadElement(classes, i), ReadElement(scores, i), {}};
        std::array<double, 4> numbers = {};
        for (size_t side = 0; side < numbers.size(); ++side)
        {
            numbers[side] = ReadElement(boxes, i * numbers.size() + side);
        }
        detection.m_Box = ToPixels(numbers, width, height);
        if (!std::isfinite(detection.m_Class) || !std::isfinite(detection.m_Score) ||
            !std::all_of(detection.m_Box.begin(), detection.m_Box.end(),
                         [](double side) { return std::isfinite(side); }))
        {
            throw InputError(fmt::format("detection {} has numbers that are infinite or NaN", i));
        }
        if (detection.m_Score >= static_cast<double>(m_Options.m_MinScore))
        {
            detections.push_back(detection);
        }
    }
    return detections;
}

std::string BoxOutputs::Describe() const
{
    std::string text = fmt::format("{} {} {}", static_cast<int>(m_Options.m_BoxFormat),
                                   static_cast<int>(m_Options.m_BoxUnit), m_Options.m_MinScore);
    for (const auto& [part, output] : m_Parts)
    {
        text += fmt::format(" {} {}", NameOf(part), output.m_Name);
    }
    return text;
}

} // namespace tenon::tools::evaluate
