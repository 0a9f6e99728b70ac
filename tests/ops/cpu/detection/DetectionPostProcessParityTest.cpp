// SPDX-License-Identifier: Apache-2.0
// CpuAcc's detection of boxes beside CpuRef's, in every bit: scores of all types, few and many classes, both ways of
// suppression, ties, NaN and infinities, boxes that stand in each other's way, anchors of negative size.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <cstring>
#include <limits>
#include <random>

namespace tenon::test::detection_post_process_parity_test
{

namespace
{

constexpr float Nan = std::numeric_limits<float>::quiet_NaN();
constexpr float Infinity = std::numeric_limits<float>::infinity();
constexpr const char* Kernel = "CpuDetectionPostProcess";

struct DetectionSetup
{
    unsigned int m_Boxes = 300;
    unsigned int m_Classes = 3;
    bool m_HasBackground = true;
    DataType m_Type = DataType::Float32; ///< of scores
    DataType m_BoxType = DataType::Float32;
    DataType m_AnchorType = DataType::Float32;
    DetectionPostProcessDescriptor m_Descriptor = MakeDescription();
    double m_MaxScore = 1.0; ///< where quantized scores are multiples of 0.004, a low one makes ties

    static DetectionPostProcessDescriptor MakeDescription()
    {
        DetectionPostProcessDescriptor d;
        d.m_MaxDetections = 10;
        d.m_DetectionsPerClass = 100;
        d.m_NmsScoreThreshold = -1.0f;
        d.m_NmsIouThreshold = 0.5f;
        d.m_ScaleX = d.m_ScaleY = 10.0f;
        d.m_ScaleW = d.m_ScaleH = 5.0f;
        return d;
    }
};

TensorInfo Info(const TensorShape& shape, DataType type, float scale)
{
    const int32_t zeroPoint = type == DataType::QAsymmU8 ? 100 : type == DataType::QAsymmS8 ? -28 : 0;
    return type == DataType::Float32 ? TensorInfo(shape, type) : TensorInfo(shape, type, scale, zeroPoint);
}

unsigned int CountColumns(const DetectionSetup& setup)
{
    return setup.m_Classes + (setup.m_HasBackground ? 1 : 0);
}

OpCase Case(const DetectionSetup& setup, TestTensor encodings, TestTensor scores, TestTensor anchors)
{
    DetectionPostProcessDescriptor d = setup.m_Descriptor;
    d.m_NumClasses = setup.m_Classes;
    const unsigned int rows = d.m_MaxDetections * d.m_MaxClassesPerDetection;
    const auto floats = [](const TensorShape& shape) { return TensorInfo(shape, DataType::Float32); };
    const std::string name = std::string(d.m_UseRegularNms ? "regular: " : "fast: ") + std::to_string(rows) + " of " +
                             scores.m_Info.ToString();
    OpCase op =
        ReferenceCase(name, LayerType::DetectionPostProcess, d,
                      {std::move(encodings), std::move(scores), Constant(std::move(anchors))}, floats({1, rows, 4}));
    op.m_MoreOutputs = {floats({1, rows}), floats({1, rows}), floats({1})};
    return op;
}

TestTensor RandomScores(const DetectionSetup& setup, uint32_t seed)
{
    return Random(Info({1, setup.m_Boxes, CountColumns(setup)}, setup.m_Type, 0.004f), seed, 0, setup.m_MaxScore);
}

TestTensor RandomAnchors(const DetectionSetup& setup, uint32_t seed)
{
    return Random(Info({setup.m_Boxes, 4}, setup.m_AnchorType, 0.01f), seed, 0.05, 1);
}

OpCase RandomCase(const DetectionSetup& setup, uint32_t seed)
{
    return Case(setup, Random(Info({1, setup.m_Boxes, 4}, setup.m_BoxType, 0.05f), seed, -4, 4),
                RandomScores(setup, seed + 1), RandomAnchors(setup, seed + 2));
}

/// All boxes in one place, but each of so many. Half of those have no area: they are in nobody's way, nor is anybody in
/// theirs.
OpCase CrowdedCase(const DetectionSetup& setup, unsigned int apart, uint32_t seed)
{
    std::vector<double> anchors;
    for (unsigned int i = 0; i < setup.m_Boxes; ++i)
    {
        const bool isApart = i % apart == 0;
        anchors.insert(anchors.end(), {0.5, isApart ? 2.0 * i : 0.5, isApart && i / apart % 2 == 0 ? 0.0 : 1.0, 1});
    }
    const auto floats = [](const TensorShape& shape) { return TensorInfo(shape, DataType::Float32); };
    return Case(setup, Random(floats({1, setup.m_Boxes, 4}), seed, -0.1, 0.1), RandomScores(setup, seed + 1),
                Values(floats({setup.m_Boxes, 4}), anchors));
}

/// Scores out of these values.
TestTensor ChooseScores(const DetectionSetup& setup, const std::vector<float>& choice, uint32_t seed)
{
    TestTensor tensor = RandomScores(setup, seed);
    std::mt19937 random(seed);
    for (size_t i = 0; i < tensor.m_Bytes.size(); i += sizeof(float))
    {
        std::memcpy(tensor.m_Bytes.data() + i, &choice[random() % choice.size()], sizeof(float));
    }
    return tensor;
}

DetectionSetup RandomLayer(uint32_t seed)
{
    std::mt19937 random(seed);
    const auto pick = [&random](const auto& values) { return values[random() % std::size(values)]; };
    constexpr DataType Types[] = {DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16};
    constexpr unsigned int Boxes[] = {1, 2, 31, 64, 65, 200, 1000, 5003};
    constexpr unsigned int Classes[] = {1, 1, 2, 3, 4, 5, 8, 17, 40, 90};
    constexpr uint32_t Limits[] = {1, 3, 10, 100, 300};
    constexpr float Thresholds[] = {-Infinity, -20.0f, 0.0f, 1e-8f, 0.3f, 0.9f, 0.996f, 2.0f, Infinity};
    DetectionSetup setup;
    setup.m_Type = Types[random() % 3];
    setup.m_BoxType = pick(Types);
    setup.m_AnchorType = pick(Types);
    setup.m_Classes = pick(Classes);
    setup.m_Boxes = setup.m_Classes > 8 ? std::min(pick(Boxes), 1000U) : pick(Boxes);
    setup.m_HasBackground = random() % 2 == 0;
    setup.m_MaxScore = random() % 3 == 0 ? 0.03 : 1.0;
    DetectionPostProcessDescriptor& d = setup.m_Descriptor;
    d.m_UseRegularNms = random() % 2 == 0;
    d.m_MaxDetections = pick(Limits);
    d.m_DetectionsPerClass = pick(Limits);
    d.m_MaxClassesPerDetection = random() % 4 == 0 ? 3 : 1;
    d.m_NmsScoreThreshold = pick(Thresholds);
    d.m_NmsIouThreshold = random() % 2 == 0 ? 0.6f : 0.01f;
    return setup;
}

} // namespace

ISA_TEST(DetectionPostProcessParity, RandomLayersAsReference)
{
    for (uint32_t seed = 0; seed < 400; ++seed)
    {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(RandomLayer(seed), 3 * seed), Kernel));
    }
}

ISA_TEST(DetectionPostProcessParity, AnyNumberOfClassesAsReference)
{
    for (const DataType type : {DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8})
    {
        for (unsigned int classes = 1; classes <= 91; classes += classes < 9 ? 1 : 27)
        {
            for (const unsigned int bits : {0U, 1U, 2U, 3U})
            {
                DetectionSetup setup;
                setup.m_Type = type;
                setup.m_Classes = classes;
                setup.m_HasBackground = (bits & 1) != 0;
                setup.m_Descriptor.m_UseRegularNms = (bits & 2) != 0;
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(setup, classes), Kernel));
                setup.m_MaxScore = 0.01; // hardly any differ
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(setup, classes), Kernel));
            }
        }
    }
}

ISA_TEST(DetectionPostProcessParity, LargeLayersAsReference)
{
    for (const unsigned int classes : {1U, 3U, 90U})
    {
        for (const bool isRegular : {false, true})
        {
            DetectionSetup setup;
            setup.m_Boxes = 9001;
            setup.m_Classes = classes;
            setup.m_Type = classes == 1 ? DataType::Float32 : DataType::QAsymmU8;
            setup.m_Descriptor.m_UseRegularNms = isRegular;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(setup, classes), Kernel));
        }
    }
}

// More candidates than are collected at first are in the way of others.
ISA_TEST(DetectionPostProcessParity, CrowdsAsReference)
{
    for (const DataType type : {DataType::Float32, DataType::QAsymmS8})
    {
        for (const bool isRegular : {false, true})
        {
            for (const unsigned int apart : {3000U, 700U, 100U})
            {
                DetectionSetup setup;
                setup.m_Boxes = 3000;
                setup.m_Type = type;
                setup.m_Descriptor.m_UseRegularNms = isRegular;
                setup.m_Descriptor.m_MaxDetections = 7;
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(CrowdedCase(setup, apart, 1), Kernel));
                setup.m_MaxScore = 0.05;
                setup.m_Descriptor.m_NmsScoreThreshold = 0.01f;
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(CrowdedCase(setup, apart, 2), Kernel));
            }
        }
    }
}

// NaN are collected whatever was left out before them: what comes after them has not been looked at.
ISA_TEST(DetectionPostProcessParity, CrowdsWithNanAsReference)
{
    for (const unsigned int classes : {1U, 3U})
    {
        for (const bool isRegular : {false, true})
        {
            DetectionSetup setup;
            setup.m_Boxes = 3000;
            setup.m_Classes = classes;
            setup.m_HasBackground = false;
            setup.m_Descriptor.m_UseRegularNms = isRegular;
            setup.m_Descriptor.m_MaxDetections = 20;
            OpCase op = CrowdedCase(setup, 100, 3);
            for (size_t i = 0; i < op.m_Inputs[1].m_Bytes.size(); i += 20 * sizeof(float))
            {
                std::memcpy(op.m_Inputs[1].m_Bytes.data() + i, &Nan, sizeof(float));
            }
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, Kernel));
        }
    }
}

ISA_TEST(DetectionPostProcessParity, HardScoresAsReference)
{
    const std::vector<std::vector<float>> choices = {
        {Nan},
        {-Infinity, Nan},
        {0.0f, -0.0f},
        {1.0f, Nan, Nan, Nan, Nan, Nan},
        {0.0f, -0.0f, 1e-40f, -1e-40f, 2e-40f},
        {Nan, Infinity, -Infinity, 0.5f, -0.5f, 3e38f, -3e38f, -Nan, 0.0f, -0.0f, 0.6f, 0.7f}};
    uint32_t seed = 0;
    for (const std::vector<float>& choice : choices)
    {
        for (const unsigned int classes : {1U, 2U, 3U, 7U, 40U})
        {
            for (const float threshold : {-Infinity, 0.0f, -0.0f, 1e-40f, 0.6f, Infinity, Nan})
            {
                DetectionSetup setup;
                setup.m_Boxes = 800;
                setup.m_Classes = classes;
                setup.m_HasBackground = ++seed % 2 == 0;
                setup.m_Descriptor.m_NmsScoreThreshold = threshold;
                setup.m_Descriptor.m_MaxDetections = seed % 3 == 0 ? 1000 : 20;
                setup.m_Descriptor.m_MaxClassesPerDetection = seed % 5 == 0 ? 2 : 1;
                for (const bool isRegular : {false, true})
                {
                    setup.m_Descriptor.m_UseRegularNms = isRegular;
                    OpCase op = RandomCase(setup, seed);
                    op.m_Inputs[1] = ChooseScores(setup, choice, seed);
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, std::isnan(threshold) ? "" : Kernel));
                }
            }
        }
    }
}

ISA_TEST(DetectionPostProcessParity, HardBoxesAsReference)
{
    for (const bool isRegular : {false, true})
    {
        DetectionSetup setup;
        setup.m_Descriptor.m_UseRegularNms = isRegular;
        setup.m_Descriptor.m_MaxDetections = 300;
        OpCase op = RandomCase(setup, 1);
        const float choice[] = {Nan, Infinity, -Infinity, 0.0f, -0.0f, 1e30f, 500.0f, -500.0f};
        for (size_t i = 0; i < 4 * setup.m_Boxes; i += 3)
        {
            std::memcpy(op.m_Inputs[0].m_Bytes.data() + i * sizeof(float), &choice[i % std::size(choice)],
                        sizeof(float));
        }
        const float sizes[] = {0.0f, -0.0f, Infinity, Nan};
        for (size_t i = 2; i < 4 * setup.m_Boxes; i += 20)
        {
            std::memcpy(op.m_Inputs[2].m_Bytes.data() + i * sizeof(float), &sizes[i / 20 % std::size(sizes)],
                        sizeof(float));
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, Kernel));
    }
}

// The same exception, of the first box, whether anybody would have looked at it or not; and none where a negative size
// does no harm.
ISA_TEST(DetectionPostProcessParity, NegativeAnchorsAsReference)
{
    const auto messageOf = [](const BackendId& backend, const OpCase& op, bool isConstant)
    {
        try
        {
            RunOp(FindTestBackend(backend), op, {isConstant});
        }
        catch (const InvalidArgumentException& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const DataType type : {DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16})
    {
        for (const unsigned int element : {2U, 3U, 4 * 299U + 2, 4 * 150U + 3})
        {
            DetectionSetup setup;
            setup.m_AnchorType = type;
            OpCase op = RandomCase(setup, element);
            TestTensor& anchors = op.m_Inputs[2];
            std::vector<double> values = GetReal(anchors.m_Info, anchors.m_Bytes.data()).m_Values;
            values[element] = -0.25;
            anchors = Constant(Values(anchors.m_Info, values));
            for (const bool isConstant : {false, true})
            {
                const std::string message = messageOf(Compute::CpuAcc, op, isConstant);
                EXPECT_EQ(message, messageOf(Compute::CpuRef, op, isConstant));
                EXPECT_EQ(message.find("box " + std::to_string(element / 4) + " ends"), 0U) << message;
            }
            op.m_Inputs[0] =
                Values(op.m_Inputs[0].m_Info, std::vector<double>(op.m_Inputs[0].m_Info.GetNumElements(), -1e9));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "RefDetectionPostProcess"));
        }
    }
}

ISA_TEST(DetectionPostProcessParity, LeavesTheRestToTheReference)
{
    const std::string reference = "RefDetectionPostProcess";
    DetectionSetup setup;
    setup.m_Type = DataType::QSymmS16;
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(setup, 1), reference));
    setup = DetectionSetup();
    setup.m_Boxes = 0;
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(setup, 1), reference));
    setup = DetectionSetup();
    setup.m_Descriptor.m_MaxDetections = 0;
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(RandomCase(setup, 1), reference));
    // Many bytes stand for infinity: they tie.
    setup = DetectionSetup();
    setup.m_Type = DataType::QAsymmU8;
    OpCase op = RandomCase(setup, 1);
    op.m_Inputs[1] = Random(TensorInfo(op.m_Inputs[1].m_Info.GetShape(), setup.m_Type, 1e37f, 3), 1);
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, reference));
}

} // namespace tenon::test::detection_post_process_parity_test
