// SPDX-License-Identifier: Apache-2.0
// SignalFrames: frames of a signal that goes on from run to run, bit for bit as TFLM's SignalFramer, SignalStacker and
// SignalOverlapAdd. The layer keeps the last samples and the number of frames so far.
#include "backends/common/FixedPoint16.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow SignalFramesTypes[] = {backends::SameType({DataType::Signed16, DataType::Float32}, 2)};

SupportResult CheckSignalFrames(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<SignalFramesDescriptor>();
    const DataType type = layer.GetInput(0).GetDataType();
    const SupportResult end = CheckSameType(layer.GetOutput(1), "output 1", type);
    if (descriptor.m_Function == SignalFramesFunction::OverlapAdd || !end)
    {
        return end;
    }
    const SupportResult checks[] = {CheckSameType(layer.GetInput(0), "input 0", DataType::Signed16),
                                    CheckSameType(layer.GetInput(2), "input 2", DataType::Signed32),
                                    CheckSameType(layer.GetOutput(2), "output 2", DataType::Boolean),
                                    CheckSameType(layer.GetOutput(3), "output 3", DataType::Signed32)};
    const auto* const refused =
        std::find_if(std::begin(checks), std::end(checks), [](const SupportResult& check) { return !check; });
    return refused != std::end(checks) ? *refused : SupportResult::Yes();
}

[[noreturn]] void RefuseShapes(const ReshapeArgs& args)
{
    throw LayerValidationException("SignalFrames of " + args.GetInput(0).GetShape().ToString() + " and the end " +
                                   args.GetInput(1).GetShape().ToString() + " to " +
                                   args.GetOutput(0).GetShape().ToString() + ": the shapes do not fit together");
}

/// The end of the signal is read from input 1 and written to output 1; both have this many elements.
void RequireEnd(const ReshapeArgs& args, uint64_t elements)
{
    RequireElements(args.GetInput(1), "input 1", elements);
    RequireElements(args.GetOutput(1), "output 1", elements);
}

void RequireCount(const ReshapeArgs& args)
{
    RequireElements(args.GetInput(2), "input 2", 1);
    RequireElements(args.GetOutput(2), "output 2", 1);
    RequireElements(args.GetOutput(3), "output 3", 1);
}

/// Gives the last samples of those in `before` and of the new ones.
template <typename T>
void KeepLast(const T* before, size_t size, const T* added, size_t count, T* after)
{
    const size_t kept = count < size ? size - count : 0;
    std::copy_n(before + (size - kept), kept, after);
    std::copy_n(added + (count - (size - kept)), size - kept, after + kept);
}

/// A signal that may go on with further samples. Frame i begins with sample (i + 1) * step of the kept and new ones.
struct Cut
{
    size_t m_Lines = 0;
    size_t m_Samples = 0;
    size_t m_Reach = 0; ///< samples that are kept
    size_t m_Size = 0;
    size_t m_Step = 0;
    int32_t m_Incomplete = 0; ///< frames that begin before the first sample

    void operator()(const ExecuteArgs& run) const
    {
        for (size_t line = 0; line < m_Lines; ++line)
        {
            const auto* const added = run.GetInput<int16_t>(0) + line * m_Samples;
            const auto* const before = run.GetInput<int16_t>(1) + line * m_Reach;
            auto* out = run.GetOutput<int16_t>(0) + line * (m_Samples / m_Step * m_Size);
            for (size_t first = m_Step; first <= m_Samples; first += m_Step, out += m_Size)
            {
                const size_t kept = first < m_Reach ? std::min(m_Reach - first, m_Size) : 0;
                std::copy_n(before + first, kept, out);
                std::copy_n(added + (std::max(first + kept, m_Reach) - m_Reach), m_Size - kept, out + kept);
            }
            KeepLast(before, m_Reach, added, m_Samples, run.GetOutput<int16_t>(1) + line * m_Reach);
        }
        const int64_t count = *run.GetInput<int32_t>(2);
        *run.GetOutput<uint8_t>(2) = count >= m_Incomplete ? 1 : 0;
        *run.GetOutput<int32_t>(3) =
            static_cast<int32_t>(std::min<int64_t>(count + static_cast<int64_t>(m_Samples / m_Step), m_Incomplete));
    }
};

backends::Prepared PrepareCut(const ReshapeArgs& args, const SignalFramesDescriptor& descriptor)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    if (rank == 0 || descriptor.m_FrameStep == 0 || input[rank - 1] % descriptor.m_FrameStep != 0)
    {
        RefuseShapes(args);
    }
    Cut cut;
    cut.m_Lines = CountElements(input, 0, rank - 1);
    cut.m_Samples = input[rank - 1];
    cut.m_Reach = descriptor.GetReach();
    cut.m_Size = descriptor.m_FrameSize;
    cut.m_Step = descriptor.m_FrameStep;
    const uint64_t incomplete = descriptor.m_Prefill ? 0 : cut.m_Reach / cut.m_Step - 1;
    if (cut.m_Size == 0 || cut.m_Reach < cut.m_Size || (descriptor.m_Prefill && cut.m_Size < cut.m_Step) ||
        incomplete > std::numeric_limits<int32_t>::max() ||
        args.GetOutput(0).GetShape().GetNumElements64() != cut.m_Lines * (cut.m_Samples / cut.m_Step) * cut.m_Size)
    {
        RefuseShapes(args);
    }
    cut.m_Incomplete = static_cast<int32_t>(incomplete);
    RequireEnd(args, uint64_t{cut.m_Lines} * cut.m_Reach);
    RequireCount(args);
    return cut;
}

backends::Prepared PrepareStack(const ReshapeArgs& args, const SignalFramesDescriptor& descriptor)
{
    const size_t samples = args.GetInput(0).GetNumElements();
    const int64_t frames = descriptor.m_FrameSize;
    const int64_t step = descriptor.m_FrameStep;
    const int64_t context = descriptor.m_LeftContext;
    const size_t stack = args.GetOutput(0).GetNumElements();
    if (frames == 0 || step == 0 || step > frames || context >= frames ||
        frames > std::numeric_limits<int32_t>::max() - 1 || stack != samples * descriptor.m_FrameSize)
    {
        RefuseShapes(args);
    }
    RequireEnd(args, stack);
    RequireCount(args);
    return [samples, stack, frames, step, context](const ExecuteArgs& run)
    {
        const auto* const added = run.GetInput<int16_t>(0);
        auto* const end = run.GetOutput<int16_t>(1);
        KeepLast(run.GetInput<int16_t>(1), stack, added, samples, end);
        // 0 at the start, later one more than there are frames in the queue.
        const int64_t count = std::clamp<int64_t>(*run.GetInput<int32_t>(2), 0, frames);
        int64_t queued = count;
        if (count == 0)
        {
            queued = context + 1;
            for (int64_t i = 1; i <= context; ++i)
            {
                std::copy_n(added, samples, end + (stack - static_cast<size_t>(i + 1) * samples));
            }
        }
        std::copy_n(end, stack, run.GetOutput<int16_t>(0));
        const bool isComplete = queued >= frames;
        *run.GetOutput<uint8_t>(2) = isComplete ? 1 : 0;
        *run.GetOutput<int32_t>(3) = static_cast<int32_t>(1 + queued - (isComplete ? step : 0));
    };
}

template <typename T>
T AddSaturated(T a, T b)
{
    if constexpr (std::is_same_v<T, int16_t>)
    {
        return backends::SaturateToInt16(a + b);
    }
    else
    {
        return a + b;
    }
}

/// The end holds the sums of samples that further frames may add to.
template <typename T>
struct OverlapAdd
{
    size_t m_Lines = 0;
    size_t m_Frames = 0;
    size_t m_Size = 0;
    size_t m_Step = 0;

    void operator()(const ExecuteArgs& run) const
    {
        const T* frame = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        for (size_t line = 0; line < m_Lines; ++line)
        {
            T* const end = run.GetOutput<T>(1) + line * m_Size;
            std::copy_n(run.GetInput<T>(1) + line * m_Size, m_Size, end);
            for (size_t i = 0; i < m_Frames; ++i, frame += m_Size, out += m_Step)
            {
                std::transform(end, end + m_Size, frame, end, AddSaturated<T>);
                std::copy_n(end, m_Step, out);
                std::fill(std::copy(end + m_Step, end + m_Size, end), end + m_Size, T{});
            }
        }
    }
};

template <typename T>
backends::Prepared PrepareOverlapAdd(const ReshapeArgs& args, const SignalFramesDescriptor& descriptor)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    if (rank < 2 || descriptor.m_FrameStep == 0 || descriptor.m_FrameStep > input[rank - 1])
    {
        RefuseShapes(args);
    }
    const OverlapAdd<T> add = {CountElements(input, 0, rank - 2), input[rank - 2], input[rank - 1],
                               descriptor.m_FrameStep};
    RequireEnd(args, uint64_t{add.m_Lines} * add.m_Size);
    RequireElements(args.GetOutput(0), "output 0", uint64_t{add.m_Lines} * add.m_Frames * add.m_Step);
    return add;
}

backends::Prepared PrepareSignalFrames(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SignalFramesDescriptor>();
    switch (descriptor.m_Function)
    {
    case SignalFramesFunction::Cut: return PrepareCut(args, descriptor);
    case SignalFramesFunction::Stack: return PrepareStack(args, descriptor);
    case SignalFramesFunction::OverlapAdd: break;
    }
    return args.GetInput(0).GetDataType() == DataType::Float32 ? PrepareOverlapAdd<float>(args, descriptor)
                                                               : PrepareOverlapAdd<int16_t>(args, descriptor);
}

} // namespace

extern const backends::Kernel RefSignalFramesKernel = {"RefSignalFrames", SignalFramesTypes, PrepareSignalFrames,
                                                       CheckSignalFrames};

} // namespace tenon::ref
