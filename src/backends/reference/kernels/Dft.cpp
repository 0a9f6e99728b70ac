// SPDX-License-Identifier: Apache-2.0
// Dft: y[k] = sum over n of x[n] * exp(-2 pi i k n / length) along an axis, or the inverse, as ONNX's DFT. It is
// computed in double precision, line by line.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/Fft.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow DftTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})};

/// Tensors as [outer, size, inner, parts].
struct DftPlan
{
    std::shared_ptr<const AnyFft> m_Fft;
    size_t m_Outer = 0;
    size_t m_Inner = 0;
    size_t m_Length = 0;
    size_t m_SizeIn = 0;
    size_t m_SizeOut = 0;
    size_t m_PartsIn = 0;
    size_t m_PartsOut = 0;
    bool m_IsInverse = false;
    bool m_IsMirrored = false; ///< the input has half of the frequencies
};

/// Reads line `line` of the input for the transform.
template <typename T>
void LoadLine(const DftPlan& plan, const T* in, size_t line, Complex* data)
{
    const T* from = in + (line / plan.m_Inner * plan.m_SizeIn * plan.m_Inner + line % plan.m_Inner) * plan.m_PartsIn;
    const size_t wanted = plan.m_IsMirrored ? plan.m_Length / 2 + 1 : plan.m_Length;
    const size_t used = std::min(plan.m_SizeIn, wanted);
    std::fill(data + used, data + plan.m_Length, Complex());
    for (size_t i = 0; i < used; ++i, from += plan.m_Inner * plan.m_PartsIn)
    {
        data[i] = {static_cast<double>(from[0]), plan.m_PartsIn == 2 ? static_cast<double>(from[1]) : 0.0};
    }
    if (plan.m_IsMirrored)
    {
        // Real numbers have a real frequency 0 and, if the length is even, a real frequency length / 2.
        data[0].m_Imaginary = 0.0;
        for (size_t i = 1; 2 * i < plan.m_Length; ++i)
        {
            data[plan.m_Length - i] = Conjugate(data[i]);
        }
        if (plan.m_Length % 2 == 0)
        {
            data[plan.m_Length / 2].m_Imaginary = 0.0;
        }
    }
}

template <typename T>
void StoreLine(const DftPlan& plan, const Complex* data, size_t line, T* out)
{
    T* to = out + (line / plan.m_Inner * plan.m_SizeOut * plan.m_Inner + line % plan.m_Inner) * plan.m_PartsOut;
    const double scale = plan.m_IsInverse ? 1.0 / static_cast<double>(plan.m_Length) : 1.0;
    for (size_t i = 0; i < plan.m_SizeOut; ++i, to += plan.m_Inner * plan.m_PartsOut)
    {
        to[0] = FromAccumulator<T>(data[i].m_Real * scale);
        if (plan.m_PartsOut == 2)
        {
            to[1] = FromAccumulator<T>(data[i].m_Imaginary * scale);
        }
    }
}

template <typename T>
Prepared MakeDft(const DftPlan& plan)
{
    const size_t lines = plan.m_Outer * plan.m_Inner;
    const auto run = [plan, lines](const ExecuteArgs& args)
    {
        const auto transform = [&](size_t task, size_t begin, size_t end)
        {
            Complex* data = static_cast<Complex*>(args.m_Scratch) + task * plan.m_Fft->GetSize();
            for (size_t line = begin; line < end; ++line)
            {
                LoadLine(plan, args.GetInput<T>(0), line, data);
                plan.m_Fft->Run(data, plan.m_IsInverse ? FftDirection::Backward : FftDirection::Forward);
                StoreLine(plan, data, line, args.GetOutput<T>(0));
            }
        };
        RunTasks(*args.m_Parallel, lines, transform);
    };
    Scratch scratch;
    scratch.Add<Complex>(plan.m_Fft->GetSize(), std::min(lines, MaxTasks));
    return Prepared(run, scratch.GetBytes());
}

Prepared PrepareDft(const ReshapeArgs& args, const backends::PackedWeights*)
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
