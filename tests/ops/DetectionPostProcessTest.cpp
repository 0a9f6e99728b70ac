// SPDX-License-Identifier: Apache-2.0
// DetectionPostProcess through the runtime, which has all four outputs: TFLite's results, random detections against the
// definition, quantized inputs, ties, and what is refused.
#include "harness/Networks.hpp"
#include "harness/OpTest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

namespace tenon::test::detection_post_process_test
{

namespace
{

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

using Floats = std::vector<float>;

struct Detections
{
    Floats m_Boxes;
    Floats m_Classes;
    Floats m_Scores;
    float m_Count = 0.0f;
};

DetectionPostProcessDescriptor Settings(uint32_t detections, uint32_t classes, bool regular = false)
{
    DetectionPostProcessDescriptor d;
    d.m_MaxDetections = detections;
    d.m_DetectionsPerClass = 100;
    d.m_NmsIouThreshold = 0.5f;
    d.m_NumClasses = classes;
    d.m_UseRegularNms = regular;
    d.m_ScaleX = d.m_ScaleY = 10.0f;
    d.m_ScaleW = d.m_ScaleH = 5.0f;
    return d;
}

struct Inputs
{
    TestTensor m_Boxes;
    TestTensor m_Scores;
    TestTensor m_Anchors;
};

Inputs MakeFloats(const TensorShape& boxes, const std::vector<double>& encodings, unsigned int columns,
                  const std::vector<double>& scores, const std::vector<double>& anchors)
{
    const DataType type = DataType::Float32;
    return {Values(TensorInfo(boxes, type), encodings), Values(TensorInfo({1, boxes[1], columns}, type), scores),
            Values(TensorInfo({boxes[1], 4}, type), anchors)};
}

Detections Detect(const DetectionPostProcessDescriptor& descriptor, const Inputs& inputs)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = network->AddDetectionPostProcessLayer(descriptor);
    InputTensors tensors;
    LayerBindingId id = 0;
    for (const TestTensor* tensor : {&inputs.m_Boxes, &inputs.m_Scores, &inputs.m_Anchors})
    {
        Connect(AddInput(*network, id, tensor->m_Info), layer, static_cast<unsigned int>(id));
        TensorInfo info = tensor->m_Info;
        info.SetConstant(true);
        tensors.emplace_back(id++, ConstTensor(info, tensor->m_Bytes.data()));
    }
    for (unsigned int i = 0; i < 4; ++i)
    {
        Connect(layer, network->AddOutputLayer(static_cast<LayerBindingId>(i)), 0, i);
    }
    const IRuntimePtr runtime = IRuntime::Create(IRuntime::CreationOptions());
    std::array<Floats, 4> outputs;
    runtime->EnqueueWorkload(Load(*runtime, *network), tensors,
                             [&](LayerBindingId output, const TensorInfo& info)
                             {
                                 Floats& values = outputs[static_cast<size_t>(output)];
                                 values.assign(info.GetNumElements(), -1.0f);
                                 return values.data();
                             });
    EXPECT_EQ(outputs[3].size(), 1U);
    return {outputs[0], outputs[1], outputs[2], outputs[3].at(0)};
}

/// Six boxes, three of which overlap at the left, two in the middle.
const std::vector<double> SixAnchors = {0.5, 0.5,  1, 1, 0.5, 0.5,  1, 1, 0.5, 0.5,   1, 1,
                                        0.5, 10.5, 1, 1, 0.5, 10.5, 1, 1, 0.5, 100.5, 1, 1};
const std::vector<double> SixBoxes = {0, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
const std::vector<double> SixScores = {0, .9, .8, 0, .75, .72, 0, .6, .5, 0, .93, .95, 0, .5, .4, 0, .3, .2};

Inputs SixDetections()
{
    return MakeFloats(TensorShape({1, 6, 4}), SixBoxes, 3, SixScores, SixAnchors);
}

/// The definition, box by box.
class Definition
{
public:
    Definition(const DetectionPostProcessDescriptor& d, const Inputs& inputs)
        : m_D(d), m_Scores(GetReal(inputs.m_Scores.m_Info, inputs.m_Scores.m_Bytes.data()))
    {
        const RealTensor boxes = GetReal(inputs.m_Boxes.m_Info, inputs.m_Boxes.m_Bytes.data());
        const RealTensor anchors = GetReal(inputs.m_Anchors.m_Info, inputs.m_Anchors.m_Bytes.data());
        for (unsigned int i = 0; i < boxes.Dim(1); ++i)
        {
            const double y = boxes.At(0, i, 0) / 10.0 * anchors.At(i, 2) + anchors.At(i, 0);
            const double x = boxes.At(0, i, 1) / 10.0 * anchors.At(i, 3) + anchors.At(i, 1);
            const double h = 0.5 * std::exp(boxes.At(0, i, 2) / 5.0) * anchors.At(i, 2);
            const double w = 0.5 * std::exp(boxes.At(0, i, 3) / 5.0) * anchors.At(i, 3);
            m_Boxes.push_back({y - h, x - w, y + h, x + w});
        }
    }

    double Score(size_t box, size_t c) const { return m_Scores.At(0, box, m_Scores.Dim(2) - m_D.m_NumClasses + c); }

    /// The boxes that stay, the best first, by score(box).
    template <typename F>
    std::vector<size_t> Suppress(F score, size_t limit) const
    {
        std::vector<size_t> order;
        for (size_t i = 0; i < m_Boxes.size(); ++i)
        {
            if (score(i) >= static_cast<double>(m_D.m_NmsScoreThreshold))
            {
                order.push_back(i);
            }
        }
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score(a) > score(b); });
        for (size_t i = 0; i < order.size(); ++i)
        {
            order.erase(std::remove_if(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(),
                                       [&](size_t other) { return Overlap(order[i], other) > 0.5; }),
                        order.end());
        }
        order.resize(std::min(order.size(), limit));
        return order;
    }

    Detections Run() const
    {
        std::vector<std::pair<size_t, size_t>> found; // box and class
        size_t count = 0;
        if (m_D.m_UseRegularNms)
        {
            for (size_t c = 0; c < m_D.m_NumClasses; ++c)
            {
                for (const size_t box : Suppress([&](size_t i) { return Score(i, c); }, m_D.m_DetectionsPerClass))
                {
                    found.emplace_back(box, c);
                }
            }
            std::stable_sort(found.begin(), found.end(),
                             [&](const auto& a, const auto& b)
                             { return Score(a.first, a.second) > Score(b.first, b.second); });
            count = std::min<size_t>(found.size(), m_D.m_MaxDetections);
            found.resize(count);
        }
        else
        {
            const auto classes = [&](size_t box)
            {
                std::vector<size_t> order(m_D.m_NumClasses);
                std::iota(order.begin(), order.end(), 0);
                std::stable_sort(order.begin(), order.end(),
                                 [&](size_t a, size_t b) { return Score(box, a) > Score(box, b); });
                return order;
            };
            for (const size_t box : Suppress([&](size_t i) { return Score(i, classes(i)[0]); }, m_D.m_MaxDetections))
            {
                for (size_t k = 0; k < m_D.m_MaxClassesPerDetection; ++k)
                {
                    found.emplace_back(box, classes(box)[k]);
                }
                ++count;
            }
        }
        Detections result;
        result.m_Count = static_cast<float>(count);
        for (const auto& [box, c] : found)
        {
            for (const double corner : m_Boxes[box])
            {
                result.m_Boxes.push_back(static_cast<float>(corner));
            }
            result.m_Classes.push_back(static_cast<float>(c));
            result.m_Scores.push_back(static_cast<float>(Score(box, c)));
        }
        const size_t rows = size_t{m_D.m_MaxDetections} * m_D.m_MaxClassesPerDetection;
        result.m_Boxes.resize(4 * rows);
        result.m_Classes.resize(rows);
        result.m_Scores.resize(rows);
        return result;
    }

private:
    double Overlap(size_t i, size_t j) const
    {
        const auto& a = m_Boxes[i];
        const auto& b = m_Boxes[j];
        const double height = std::max(0.0, std::min(a[2], b[2]) - std::max(a[0], b[0]));
        const double width = std::max(0.0, std::min(a[3], b[3]) - std::max(a[1], b[1]));
        const double both = height * width;
        return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
    }

    DetectionPostProcessDescriptor m_D;
    RealTensor m_Scores;
    std::vector<std::array<double, 4>> m_Boxes;
};

void CheckDefinition(const DetectionPostProcessDescriptor& d, const Inputs& inputs)
{
    const Detections got = Detect(d, inputs);
    const Detections want = Definition(d, inputs).Run();
    EXPECT_EQ(got.m_Count, want.m_Count);
    EXPECT_EQ(got.m_Classes, want.m_Classes);
    EXPECT_THAT(got.m_Scores, Pointwise(FloatNear(1e-6f), want.m_Scores));
    EXPECT_THAT(got.m_Boxes, Pointwise(FloatNear(1e-5f), want.m_Boxes));
}

/// `columns` scores for each of 50 boxes that overlap a lot.
Inputs RandomDetections(unsigned int columns, uint32_t seed, DataType type = DataType::Float32)
{
    const auto make = [&](const TensorShape& shape, float scale, double low, double high, uint32_t salt)
    {
        const TensorInfo info = type == DataType::Float32
                                    ? TensorInfo(shape, type)
                                    : TensorInfo(shape, type, scale, type == DataType::QAsymmU8 ? 100 : 0);
        return Random(info, seed + salt, low, high);
    };
    Inputs inputs = {make(TensorShape({1, 50, 6}), 0.02f, -2, 2, 0),
                     make(TensorShape({1, 50, columns}), 0.006f, 0, 0.7, 1),
                     make(TensorShape({50, 4}), 0.01f, 0.3, 1, 2)};
    return inputs;
}

} // namespace

// Results of TFLite.
ISA_TEST(DetectionPostProcess, FastSuppressionLikeTfLite)
{
    const Detections got = Detect(Settings(3, 2), SixDetections());
    EXPECT_EQ(got.m_Count, 3.0f);
    EXPECT_THAT(got.m_Classes, ElementsAre(1, 0, 0));
    EXPECT_THAT(got.m_Scores, ElementsAre(0.95f, 0.9f, 0.3f));
    EXPECT_THAT(got.m_Boxes, Pointwise(FloatNear(1e-4f), Floats{0, 10, 1, 11, 0, 0, 1, 1, 0, 100, 1, 101}));
}

ISA_TEST(DetectionPostProcess, SeveralClassesLikeTfLite)
{
    DetectionPostProcessDescriptor d = Settings(3, 2);
    d.m_MaxClassesPerDetection = 2;
    const Detections got = Detect(d, SixDetections());
    EXPECT_EQ(got.m_Count, 3.0f);
    EXPECT_THAT(got.m_Classes, ElementsAre(1, 0, 0, 1, 0, 1));
    EXPECT_THAT(got.m_Scores, ElementsAre(0.95f, 0.93f, 0.9f, 0.8f, 0.3f, 0.2f));
}

ISA_TEST(DetectionPostProcess, RegularSuppressionLikeTfLite)
{
    const Detections got = Detect(Settings(3, 2, true), SixDetections());
    EXPECT_EQ(got.m_Count, 3.0f);
    EXPECT_THAT(got.m_Classes, ElementsAre(1, 0, 0));
    EXPECT_THAT(got.m_Scores, ElementsAre(0.95f, 0.93f, 0.9f));
}

ISA_TEST(DetectionPostProcess, AnyInputs)
{
    for (const bool regular : {false, true})
    {
        for (const unsigned int columns : {5U, 6U}) // without and with background
        {
            DetectionPostProcessDescriptor d = Settings(20, 5, regular);
            CheckDefinition(d, RandomDetections(columns, 1));
            d.m_NmsScoreThreshold = 0.597f; // between the steps of quantized scores
            CheckDefinition(d, RandomDetections(columns, 2));
            d.m_MaxClassesPerDetection = 3;
            d.m_DetectionsPerClass = 2;
            CheckDefinition(d, RandomDetections(columns, 3));
            for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16})
            {
                SCOPED_TRACE(GetDataTypeName(type));
                d.m_MaxClassesPerDetection = 1; // equal scores have no order of their own among several
                CheckDefinition(d, RandomDetections(columns, 4, type));
            }
        }
    }
}

ISA_TEST(DetectionPostProcess, MoreClassesWantedThanThereAre)
{
    DetectionPostProcessDescriptor d = Settings(2, 2);
    d.m_MaxClassesPerDetection = 3;
    const Detections got = Detect(d, SixDetections());
    EXPECT_EQ(got.m_Count, 2.0f);
    EXPECT_THAT(got.m_Classes, ElementsAre(1, 0, 0, 0, 1, 0));
    EXPECT_THAT(got.m_Scores, ElementsAre(0.95f, 0.93f, 0.0f, 0.9f, 0.8f, 0.0f));
}

ISA_TEST(DetectionPostProcess, EqualScores)
{
    // Boxes far from each other: the lower index comes first; of two classes the lower one.
    const std::vector<double> anchors = {0, 0, 1, 1, 0, 10, 1, 1, 0, 20, 1, 1};
    const Inputs inputs =
        MakeFloats(TensorShape({1, 3, 4}), std::vector<double>(12, 0.0), 2, std::vector<double>(6, 0.5), anchors);
    Detections got = Detect(Settings(4, 2), inputs);
    EXPECT_EQ(got.m_Count, 3.0f);
    EXPECT_THAT(got.m_Classes, ElementsAre(0, 0, 0, 0));
    EXPECT_THAT((Floats{got.m_Boxes[1], got.m_Boxes[5], got.m_Boxes[9], got.m_Boxes[13]}),
                ElementsAre(-0.5f, 9.5f, 19.5f, 0.0f));
    got = Detect(Settings(4, 2, true), inputs);
    EXPECT_EQ(got.m_Count, 4.0f);
    EXPECT_THAT(got.m_Classes, ElementsAre(0, 0, 0, 1));
    EXPECT_THAT((Floats{got.m_Boxes[1], got.m_Boxes[5], got.m_Boxes[9], got.m_Boxes[13]}),
                ElementsAre(-0.5f, 9.5f, 19.5f, -0.5f));
}

ISA_TEST(DetectionPostProcess, NothingToFind)
{
    for (const bool regular : {false, true})
    {
        DetectionPostProcessDescriptor d = Settings(2, 2, regular);
        EXPECT_EQ(Detect(d, MakeFloats(TensorShape({1, 0, 4}), {}, 3, {}, {})).m_Count, 0.0f);
        d.m_NmsScoreThreshold = 2.0f;
        const Detections got = Detect(d, SixDetections());
        EXPECT_EQ(got.m_Count, 0.0f);
        EXPECT_EQ(got.m_Boxes, Floats(8));
        EXPECT_TRUE(Detect(Settings(0, 2, regular), SixDetections()).m_Scores.empty());
    }
}

ISA_TEST(DetectionPostProcess, ScoresThatAreNaN)
{
    Inputs inputs = SixDetections();
    std::vector<double> scores = SixScores;
    scores[10] = scores[11] = std::nan(""); // all of box 3
    scores[1] = std::nan("");               // class 0 of box 0
    inputs.m_Scores = Values(inputs.m_Scores.m_Info, scores);
    for (const uint32_t classes : {1U, 2U})
    {
        DetectionPostProcessDescriptor d = Settings(3, 2);
        d.m_MaxClassesPerDetection = classes;
        const Detections got = Detect(d, inputs);
        EXPECT_EQ(got.m_Count, 3.0f);
        EXPECT_EQ(got.m_Scores[0], 0.8f);
        EXPECT_EQ(got.m_Classes[0], 1.0f);
    }
    EXPECT_EQ(Detect(Settings(3, 2, true), inputs).m_Scores[0], 0.8f);
}

ISA_TEST(DetectionPostProcess, RefusesWhatDoesNotFit)
{
    const auto expectError = [](const DetectionPostProcessDescriptor& d, const Inputs& inputs, const char* text)
    {
        try
        {
            Detect(d, inputs);
            ADD_FAILURE() << "not refused: " << text;
        }
        catch (const Exception& error)
        {
            EXPECT_THAT(error.what(), HasSubstr(text));
        }
    };
    DetectionPostProcessDescriptor d = Settings(3, 2);
    for (const float threshold : {0.0f, -1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
    {
        d.m_NmsIouThreshold = threshold;
        expectError(d, SixDetections(), "above 0 and at most 1");
    }
    d = Settings(3, 2, true);
    d.m_DetectionsPerClass = 0;
    expectError(d, SixDetections(), "1 detection per class");
    d = Settings(3, 2);
    d.m_MaxClassesPerDetection = 0;
    expectError(d, SixDetections(), "1 class per detection");
    expectError(Settings(3, 4), SixDetections(), "the scores");
    expectError(Settings(0xffffffffU, 2), SixDetections(), sizeof(size_t) == 8 ? "above the limit" : "address space");

    std::vector<double> anchors = SixAnchors;
    anchors[6] = -1;
    expectError(Settings(3, 2), MakeFloats(TensorShape({1, 6, 4}), SixBoxes, 3, SixScores, anchors), "box 1 ends");

    Inputs inputs = SixDetections();
    inputs.m_Scores.m_Info.SetDataType(DataType::Signed32);
    expectError(Settings(3, 2), inputs, "input 1");
    inputs.m_Scores.m_Info = TensorInfo(TensorShape({1, 6, 3}), DataType::QAsymmU8, 0.0f, 0);
    inputs.m_Scores.m_Bytes.resize(18);
    expectError(Settings(3, 2), inputs, "positive and finite");
}

} // namespace tenon::test::detection_post_process_test
