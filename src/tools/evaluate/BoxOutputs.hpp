// SPDX-License-Identifier: Apache-2.0
// The outputs of a network that finds boxes, as those of TFLite_Detection_PostProcess: boxes, classes, scores and their
// count.
#pragma once

#include "tools/common/OutputStore.hpp"
#include "tools/evaluate/CocoFigures.hpp"
#include "tools/evaluate/Network.hpp"
#include "tools/evaluate/Options.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

struct RawDetection
{
    double m_Class = 0.0;
    double m_Score = 0.0;
    Box m_Box = {};
};

class BoxOutputs
{
public:
    /// Throws UsageError for another number of outputs than parts, and InputError for shapes that cannot be such parts.
    BoxOutputs(const DetectionOptions& options, const Network& network);

    /// The detections of a run that reach the smallest score, with boxes in pixels of a picture. Throws InputError for
    /// outputs of other shapes, and for infinite numbers and NaN among them.
    std::vector<RawDetection> Read(const OutputStore& outputs, double width, double height) const;

    std::string Describe() const;

private:
    const OutputData& Get(const OutputStore& outputs, DetectionPart part) const;
    void CheckShape(DetectionPart part, const TensorShape& shape) const;
    Box ToPixels(const std::array<double, 4>& numbers, double width, double height) const;

    DetectionOptions m_Options;
    std::map<DetectionPart, Binding> m_Parts;
    double m_UnitWidth = 1.0; ///< numbers of boxes that are as wide as the picture
    double m_UnitHeight = 1.0;
};

} // namespace tenon::tools::evaluate
