// SPDX-License-Identifier: Apache-2.0
// BroadcastRuns: the walk of an elementwise operation through its two inputs under broadcasting.
//
// The output is cut into runs of consecutive elements. In a run each input is a vector or one element (OperandForms),
// so that a vector loop without index arithmetic computes it. Short rows are made longer first:
//   a [rows][n] and b [n], below 2 KiB     b is copied side by side into scratch memory, one run covers several rows
//   rows of at most 128 bytes              rows are expanded into buffers of 4 KiB, one run covers a chunk of rows
// RunElements splits elementwise loops over threads. Called by the kernels of elementwise operations.
#pragma once

#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/BroadcastLoop.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace tenon::cpu
{

/// The minimum number of elements of a task, for loops that run at memory speed: some microseconds, which is several
/// times the cost of starting a loop on other threads.
constexpr size_t MinTaskElements = 8192;

/// Calls body(begin, end) for the tasks of [0, count) on the caller's threads. Bounds are multiples of 64 elements.
template <typename F>
void RunElements(IParallelFor& parallel, size_t count, const F& body, size_t minElements = MinTaskElements)
{
    const size_t parts = std::min<size_t>(std::max<size_t>(1, count / minElements), parallel.GetNumThreads());
    RunTasks(parallel, parts,
             [&](size_t index)
             {
                 const IndexRange part = GetTaskRange(count, parts, index, 64);
                 body(part.m_Begin, part.m_End);
             });
}

/// The forms of the two inputs within a run.
enum class OperandForms
{
    VectorVector,
    VectorScalar, ///< input 1 is one element
    ScalarVector
};

class BroadcastRuns
{
public:
    /// Throws LayerValidationException if a and b do not broadcast to `output`. `elementSize`: bytes of an element of
    /// either input: 1, 2 or 4.
    BroadcastRuns(const TensorShape& a, const TensorShape& b, const TensorShape& output, size_t elementSize);

    OperandForms GetOperandForms() const { return m_OperandForms; }
    /// The number of output elements.
    size_t GetCount() const { return m_Count; }
    /// Scratch memory for the copies of a short input that is repeated.
    size_t GetScratchBytes() const { return m_Repeats * m_Period * m_ElementSize; }

    /// Calls run(a, b, first output element, count) for all runs, on the caller's threads; a and b point to the first
    /// elements of their runs.
    template <typename F>
    void Run(const ExecuteArgs& args, const F& run) const
    {
        m_Chunk.m_Rows != 0 ? RunChunks(args, run) : RunRows(args, run);
    }

private:
    using Dimension = ref::BroadcastLoop::Dimension;

    /// A row: the offsets of its first elements in a and b, and its indices in the outer dimensions.
    struct Position
    {
        size_t m_A = 0;
        size_t m_B = 0;
        std::array<size_t, MaxNumOfTensorDimensions> m_Index{};
    };

    /// Rows that are expanded into buffers and make up one run.
    struct Chunk
    {
        static constexpr size_t Bytes = 4096;
        static constexpr size_t ShortRowBytes = 128; ///< rows of at most this size are expanded
        static constexpr size_t Slack = 8;           ///< bytes that may be written past the end of a row

        using Buffer = std::array<std::byte, Bytes + Slack>;

        enum class Source
        {
            Whole,  ///< the size of the output; read in place
            Rows,   ///< each output row has a row of its own
            SameRow ///< all output rows have the same row
        };

        size_t m_Rows = 0; ///< 0: each run is one row
        Source m_A = Source::Whole;
        Source m_B = Source::Whole;
    };

    template <typename F>
    void RunRows(const ExecuteArgs& args, const F& run) const
    {
        const auto* a = args.GetInput<std::byte>(0);
        const auto* b = args.GetInput<std::byte>(1);
        if (m_Repeats != 0)
        {
            auto* copies = static_cast<std::byte*>(args.m_Scratch);
            const std::byte*& repeated = m_RepeatsA ? a : b;
            for (size_t i = 0; i < m_Repeats; ++i)
            {
                std::memcpy(copies + i * m_Period * m_ElementSize, repeated, m_Period * m_ElementSize);
            }
            repeated = copies;
        }
        RunElements(*args.m_Parallel, m_Count,
                    [&](size_t begin, size_t end)
                    {
                        Position at = Find(begin / m_Row.m_Size);
                        size_t inRow = begin % m_Row.m_Size;
                        while (begin < end)
                        {
                            const size_t count = std::min(end - begin, m_Row.m_Size - inRow);
                            run(a + (at.m_A + inRow * m_Row.m_StepA) * m_ElementSize,
                                b + (at.m_B + inRow * m_Row.m_StepB) * m_ElementSize, begin, count);
                            begin += count;
                            inRow = 0;
                            Step(at);
                        }
                    });
    }

    template <typename F>
    void RunChunks(const ExecuteArgs& args, const F& run) const
    {
        const auto* const inputA = args.GetInput<std::byte>(0);
        const auto* const inputB = args.GetInput<std::byte>(1);
        RunElements(*args.m_Parallel, m_Count,
                    [&](size_t begin, size_t end)
                    {
                        alignas(64) Chunk::Buffer bufferA;
                        alignas(64) Chunk::Buffer bufferB;
                        Position at = Find(begin / m_Row.m_Size);
                        size_t inRow = begin % m_Row.m_Size;
                        for (bool isFirst = true; begin < end; isFirst = false)
                        {
                            const size_t rows = std::min(m_Chunk.m_Rows, DivideUp(inRow + end - begin, m_Row.m_Size));
                            const size_t count = std::min(end - begin, rows * m_Row.m_Size - inRow);
                            Gather(inputA, inputB, rows, isFirst, at, bufferA.data(), bufferB.data());
                            const size_t inChunk = inRow * m_ElementSize;
                            const size_t inOutput = begin * m_ElementSize;
                            run(m_Chunk.m_A != Chunk::Source::Whole ? bufferA.data() + inChunk : inputA + inOutput,
                                m_Chunk.m_B != Chunk::Source::Whole ? bufferB.data() + inChunk : inputB + inOutput,
                                begin, count);
                            begin += count;
                            inRow = 0;
                        }
                    });
    }

    /// Expands the next `rows` rows of the inputs that are broadcast into their buffers, and advances `at` past them.
    /// An input with the same row throughout is written the first time only.
    void Gather(const std::byte* a, const std::byte* b, size_t rows, bool isFirst, Position& at, std::byte* toA,
                std::byte* toB) const;
    template <typename T>
    void GatherAs(const T* a, const T* b, size_t rows, bool isFirst, Position& at, T* toA, T* toB) const;

    Position Find(size_t row) const;
    void Step(Position& at) const
    {
        for (size_t d = 0; d < m_NumOuter; ++d)
        {
            const Dimension& dimension = m_Outer[d];
            at.m_A += dimension.m_StepA;
            at.m_B += dimension.m_StepB;
            if (++at.m_Index[d] < dimension.m_Size)
            {
                return;
            }
            at.m_Index[d] = 0;
            at.m_A -= dimension.m_StepA * dimension.m_Size;
            at.m_B -= dimension.m_StepB * dimension.m_Size;
        }
    }

    /// Joins rows if one input is a short row that is repeated, as a bias is: several copies of it make one longer row.
    void JoinShortRows();
    /// Expands short rows that cannot be joined.
    void GatherShortRows();

    size_t m_ElementSize;
    size_t m_Count = 0;
    OperandForms m_OperandForms = OperandForms::VectorVector;
    Dimension m_Row;
    std::array<Dimension, MaxNumOfTensorDimensions> m_Outer{}; ///< innermost first
    size_t m_NumOuter = 0;
    size_t m_Repeats = 0; ///< copies of the repeated input in scratch memory; 0: none
    size_t m_Period = 0;  ///< elements of the repeated input
    bool m_RepeatsA = false;
    Chunk m_Chunk;
};

} // namespace tenon::cpu
