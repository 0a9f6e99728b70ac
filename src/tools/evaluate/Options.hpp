// SPDX-License-Identifier: Apache-2.0
// The command line of tenon-evaluate. App.cpp parses it, Evaluate.cpp acts on it.
#pragma once

#include <tenon/Limits.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

/// The sides of a box in the order of an output's last dimension: top, left, bottom, right; left, top, right, bottom;
/// left, top, width, height; centre, width, height.
enum class BoxFormat
{
    Yxyx,
    Xyxy,
    Xywh,
    Cxcywh
};

/// The unit of a box's numbers: the whole picture, or pixels of the network's input.
enum class BoxUnit
{
    Picture,
    InputPixel
};

/// The part of a detection that an output has.
enum class DetectionPart
{
    Boxes,
    Classes,
    Scores,
    Count
};

/// How the classes of detections become categories of the ground truth.
enum class ClassMap
{
    ByName,  ///< the label of the class is the name of the category
    ByOrder, ///< class 0 is the category with the lowest id, and so on
    ByOffset ///< class c is the category with the id c + m_ClassOffset
};

struct DetectionOptions
{
    std::vector<DetectionPart> m_Parts; ///< of the outputs in their order; empty for the usual ones
    BoxFormat m_BoxFormat = BoxFormat::Yxyx;
    BoxUnit m_BoxUnit = BoxUnit::Picture;
    std::optional<ClassMap> m_ClassMap; ///< by name if there are labels, else by offset
    int m_ClassOffset = 1;
    float m_MinScore = 0.0f;
    std::string m_File; ///< the detections, in COCO's form of results
};

struct Options
{
    std::string m_ModelPath;
    std::string m_Entry;
    std::string m_Signature;
    std::map<std::string, unsigned int> m_Dimensions;
    std::vector<std::string> m_Compute;
    std::string m_DynamicBackendsPath;
    /// Float32 becomes Float16 or BFloat16 inside the network; at most one is set.
    bool m_Fp16 = false;
    bool m_Bf16 = false;
    bool m_FastMath = false;      ///< the option FastMathEnabled of CpuAcc
    unsigned int m_Threads = 1;   ///< of one inference
    unsigned int m_Jobs = 0;      ///< pictures at a time; 0 stands for the number of cores
    std::string m_Images;         ///< a folder or a pattern
    unsigned int m_NumImages = 0; ///< 0: all
    std::vector<float> m_InputMean;
    std::vector<float> m_InputStd;
    std::string m_GroundTruth; ///< a file or a folder; empty if folders of pictures are the classes
    std::string m_LabelsFile;
    int m_LabelOffset = 0;
    std::vector<std::string> m_OutputNames;
    unsigned int m_TopK = 10;
    DetectionOptions m_Detection;
    std::optional<unsigned int> m_IgnoreLabel = 255; ///< pixels of masks with it do not count
    std::string m_ReportFile;
    std::string m_PageFile;
    std::string m_StateFile;
    unsigned int m_NumWorst = 24; ///< pictures of the page
    Limits m_Limits;
};

struct CommandLine
{
    Options m_Options;
    /// The text to print in place of running, for --help and --version.
    std::optional<std::string> m_Text;
};

/// Lines of --help are at most `helpWidth` wide. Throws UsageError.
CommandLine ParseCommandLine(int argc, const char* const* argv, size_t helpWidth);

} // namespace tenon::tools::evaluate
