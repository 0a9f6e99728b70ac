// SPDX-License-Identifier: Apache-2.0
// Layers of Float16 or BFloat16 with constant weights, run by a Float32 kernel in row blocks: rows of a matrix, or rows
// of an image with the input rows that their windows overlap. Each block is widened, run and narrowed on one thread
// while it is in the second-level cache.
//
//   images x rows --> [block 0][block 1]...   blocks with equal rows and padding share a prepared kernel (m_Variant)
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "common/FunctionRef.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::cpu
{

/// Windows along y.
struct VerticalWindow
{
    size_t m_Kernel = 1;
    size_t m_Stride = 1;
    size_t m_Dilation = 1;
    size_t m_PadTop = 0;
};

/// A layer's rows, which are cut into blocks. With m_Rows = 0 the layer runs as a whole.
struct LayerRows
{
    size_t m_Images = 1;
    size_t m_Rows = 0;      ///< output rows of each image
    size_t m_InputRows = 0; ///< input rows of each image
    size_t m_RowElements = 0;
    size_t m_InputRowElements = 0;
    VerticalWindow m_Windows;
    double m_Multiplications = 0; ///< of the whole layer, for all images
};

/// A block of rows of an image, and its padding.
struct RowBlock
{
    size_t m_Rows = 0;
    size_t m_InputRows = 0;
    size_t m_PadTop = 0;
    size_t m_PadBottom = 0;

    friend bool operator==(const RowBlock&, const RowBlock&) = default;
};

class RowBlocksF16
{
public:
    /// `prepare` returns the Float32 workload of a block on one thread, or of the whole layer for a null block. `bias`:
    /// as floats; null: input 2, if there is one.
    RowBlocksF16(const ReshapeArgs& args, const LayerRows& shape, const float* bias,
                 FunctionRef<backends::Prepared(const RowBlock*)> prepare);

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    /// The reason why the Float32 kernel declined the layer or a block; then nothing can run. Null: it did not decline.
    const char* GetDeclined() const { return m_Declined; }

    /// `added`: null, or a tensor of the output's shape and type, which is added with the roundings of a layer of its
    /// own.
    void Run(const ExecuteArgs& args, const void* added, const backends::FloatClamp& clamp) const;

private:
    /// Position and size of a block in the input and the output, in elements.
    struct BlockSpan
    {
        size_t m_Variant = 0;
        size_t m_Input = 0;
        size_t m_InputCount = 0;
        size_t m_Output = 0;
        size_t m_OutputCount = 0;
    };
    struct Sum
    {
        const void* m_Added = nullptr;
        const backends::FloatClamp* m_Clamp = nullptr;
    };

    bool FindBlocks(const LayerRows& shape, size_t rows, std::vector<RowBlock>& variants);
    const float* FindBias(const ExecuteArgs& args) const;
    void RunBlock(const ExecuteArgs& args, const BlockSpan& block, const float* bias, const Sum& sum,
                  IParallelFor& parallel, std::byte* scratch) const;
    void NarrowSum(float* floats, size_t count, const std::byte* added, const backends::FloatClamp& clamp,
                   std::byte* halves) const;

    DataType m_Type;
    std::vector<BlockSpan> m_Blocks;
    std::vector<backends::Executor> m_Runs; ///< prepared kernels, by variant
    const char* m_Declined = nullptr;
    const float* m_Bias = nullptr;
    size_t m_BiasCount = 0; ///< elements of a 16-bit bias that comes at run time
    size_t m_BiasOffset = 0;
    size_t m_InputOffset = 0; ///< in a task's scratch memory
    size_t m_OutputOffset = 0;
    size_t m_InnerOffset = 0;
    size_t m_TasksOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_Tasks = 1;
    backends::Scratch m_Scratch;
};

/// The workload that runs the blocks, with or without a fused residual add.
backends::Prepared PrepareRowBlocks(std::shared_ptr<const RowBlocksF16> blocks, const ReshapeArgs& args);

} // namespace tenon::cpu
