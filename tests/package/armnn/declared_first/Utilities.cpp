// SPDX-License-Identifier: Apache-2.0
// Utilities that programs for Arm NN use beside networks.
#include "Engine.hpp"

#include <armnn/BackendHelper.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/Version.hpp>
#include <armnn/utility/Assert.hpp>
#include <armnn/utility/NumericCast.hpp>
#include <armnn/utility/PolymorphicDowncast.hpp>
#include <armnn/utility/StringUtils.hpp>
#include <armnn/utility/TransformIterator.hpp>
#include <armnnUtils/FloatingPointComparison.hpp>
#include <armnnUtils/FloatingPointConverter.hpp>
#include <armnnUtils/Permute.hpp>
#include <armnnUtils/QuantizeHelper.hpp>
#include <armnnUtils/TensorUtils.hpp>
#include <stdexcept>

// Programs add to the namespace, too.
namespace armnn
{

inline std::string DescribeShape(const TensorShape& shape)
{
    std::string text;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        text += (i == 0 ? "" : "x") + std::to_string(shape[i]);
    }
    return text;
}

} // namespace armnn

namespace engine
{
namespace
{

struct Shape
{
    virtual ~Shape() = default;
};
struct Square : Shape
{
    int m_Side = 3;
};

void Require(bool condition, const char* utility)
{
    if (!condition)
    {
        throw std::runtime_error(std::string(utility) + " gives another value than expected");
    }
}

} // namespace

void CheckUtilities()
{
    ARMNN_ASSERT(ARMNN_MAJOR_VERSION >= 33);
    ARMNN_ASSERT_MSG(armnn::GetDataTypeSize(armnn::DataType::Float16) == 2, "the size of Float16");

    const armnn::TensorShape nhwc({1, 2, 3, 4});
    Require(armnn::DescribeShape(armnnUtils::Permuted(nhwc, {0, 2, 3, 1})) == "1x4x2x3", "Permuted");
    const std::vector<float> source = {1, 2, 3, 4, 5, 6};
    std::vector<float> moved(6);
    armnnUtils::Permute(armnn::TensorShape({3, 2}), {1, 0}, source.data(), moved.data(), sizeof(float));
    Require(moved == std::vector<float>({1, 4, 2, 5, 3, 6}), "Permute");
    Require(armnn::DescribeShape(armnnUtils::ExpandDims(armnn::TensorShape({2, 3}), 1)) == "2x1x3", "ExpandDims");
    Require(armnn::DescribeShape(armnnUtils::GetTensorShape(1, 4, 2, 3, armnn::DataLayout::NCHW)) == "1x4x2x3",
            "GetTensorShape");
    Require(armnnUtils::GetNumElementsBetween(nhwc, 1, 3) == 6, "GetNumElementsBetween");

    Require(armnnUtils::QuantizedVector<uint8_t>({0.0f, 1.0f, -1.0f}, 0.5f, 10) == std::vector<uint8_t>({10, 12, 8}),
            "QuantizedVector");
    Require(armnnUtils::SelectiveQuantize<float>(1.5f, 0.5f, 10) == 1.5f, "SelectiveQuantize");
    std::vector<uint16_t> halves(2);
    const float singles[] = {1.0f, -2.0f};
    armnnUtils::FloatingPointConverter::ConvertFloat32To16(singles, 2, halves.data());
    Require(halves == std::vector<uint16_t>({0x3C00, 0xC000}), "ConvertFloat32To16");
    Require(armnnUtils::within_percentage_tolerance(100.0f, 100.5f, 1.0f) &&
                !armnnUtils::within_percentage_tolerance(100.0f, 102.0f, 1.0f),
            "within_percentage_tolerance");

    Require(armnn::numeric_cast<int8_t>(-128) == -128, "numeric_cast");
    Square square;
    Shape* shape = &square;
    Require(armnn::PolymorphicDowncast<Square*>(shape)->m_Side == 3, "PolymorphicDowncast");
    Require(armnn::stringUtils::StringTokenizer("a,b,,c", ",") == std::vector<std::string>({"a", "b", "c"}),
            "StringTokenizer");
    Require(armnn::stringUtils::StringTrimCopy("  a b ") == "a b", "StringTrimCopy");
    const std::vector<int> numbers = {1, 2, 3};
    const auto twice = [](int number) { return 2 * number; };
    std::vector<int> doubled;
    const auto end = armnn::MakeTransformIterator(numbers.begin() + 3, twice);
    for (auto it = armnn::MakeTransformIterator(numbers.begin(), twice); it != end; ++it)
    {
        doubled.push_back(*it);
    }
    Require(doubled == std::vector<int>({2, 4, 6}), "MakeTransformIterator");

    Require(std::string(armnn::GetActivationFunctionAsCString(armnn::ActivationFunction::ReLu)) == "ReLu",
            "GetActivationFunctionAsCString");
    Require(armnn::ParseComputeDevice("CpuAcc") == armnn::Compute::CpuAcc, "ParseComputeDevice");
    Require(armnn::GetILayerSupportByBackendId("CpuRef").IsBackendRegistered() &&
                !armnn::GetILayerSupportByBackendId("NoSuchBackend").IsBackendRegistered(),
            "GetILayerSupportByBackendId");
}

} // namespace engine
