// SPDX-License-Identifier: Apache-2.0
// Dft: y[k] = sum over n of x[n] * exp(-2 pi i k n / length) along an axis, or the inverse, as ONNX's DFT. It is
// computed in double precision, line by line.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/DftLines.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <memory>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow DftTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})};

backends::Prepared PrepareDft(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<DftDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis);
    const bool isMirrored = descriptor.m_Onesided && descriptor.m_Inverse;
    const bool isHalved = descriptor.m_Onesided && !descriptor.m_Inverse;
    bool fits = rank >= 2 && axis < rank - 1 && descriptor.m_Length >= 1 &&
                (input[rank - 1] == 2 || (input[rank - 1] == 1 && !isMirrored));
    if (fits)
    {
        TensorShape expected = input;
        expected.SetDimensionSize(axis, isHalved ? descriptor.m_Length / 2 + 1 : descriptor.m_Length);
        expected.SetDimensionSize(rank - 1, isMirrored ? 1 : 2);
        fits = output == expected;
    }
    if (!fits)
    {
        throw LayerValidationException("a transform of length " + std::to_string(descriptor.m_Length) + " along axis " +
                                       std::to_string(descriptor.m_Axis) + " from " + input.ToString() + " to " +
                                       output.ToString() + ": the shapes do not fit together");
    }
    if (output.GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    DftPlan plan;
    plan.m_Fft = std::make_shared<const AnyFft>(descriptor.m_Length);
    plan.m_Outer = CountElements(input, 0, axis);
    plan.m_Inner = CountElements(input, axis + 1, rank - 1);
    plan.m_Length = descriptor.m_Length;
    plan.m_SizeIn = input[axis];
    plan.m_SizeOut = output[axis];
    plan.m_PartsIn = input[rank - 1];
    plan.m_PartsOut = output[rank - 1];
    plan.m_IsInverse = descriptor.m_Inverse;
    plan.m_IsMirrored = isMirrored;
    return DispatchType<float, double, Half, BFloat16>(args.GetInput(0).GetDataType(), [&](auto tag)
                                                       { return MakeDft<typename decltype(tag)::Type>(plan); });
}

} // namespace

extern const backends::Kernel RefDftKernel = {"RefDft", DftTypes, PrepareDft};

} // namespace tenon::ref
