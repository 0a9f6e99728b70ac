// SPDX-License-Identifier: Apache-2.0
// ElementChain: consecutive elementwise layers as one workload. A block of elements, a fraction of the first-level
// cache, goes through all layers before the next block is read. Intermediate values are in no tensor.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <climits>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon
{

/// An operand of a link.
struct ChainOperand
{
    bool m_IsInput = false; ///< an input of the chain; else the result of an earlier link
    uint32_t m_Index = 0;   ///< index of the input or the link
};

/// One layer.
struct ChainLink
{
    static constexpr size_t MaxOperands = 2;

    ElementLoop m_Run;
    std::array<ChainOperand, MaxOperands> m_Operands;
    size_t m_NumOperands = 0;
    size_t m_ElementBytes = 0;            ///< bytes of an element of its output
    unsigned int m_MaxThreads = UINT_MAX; ///< maximum number of threads that its backend allows for the layer; at least
                                          ///< 1
};

/// A tensor that links read.
struct ChainInput
{
    size_t m_ElementBytes = 0;
    /// The number of elements after which it repeats, as a bias does for each pixel; 0: it has as many elements as the
    /// output.
    size_t m_Period = 0;
};

class ElementChain final : public IShapedWorkload
{
public:
    static constexpr size_t BlockBytes = 4096;
    /// The maximum number of buffers on a thread's stack: results of links, and inputs that repeat within a block.
    static constexpr size_t MaxBuffers = 8;

    /// The last link's output is the chain's, of `count` elements. The chain runs on as many threads as all of its
    /// links allow. Null if it takes too many buffers, or if one period is no multiple of another.
    static std::unique_ptr<ElementChain> Make(std::vector<ChainLink> links, std::vector<ChainInput> inputs,
                                              size_t count);

    size_t GetScratchBytes() const override { return 0; }
    bool IsCopy() const override { return false; }
    void Execute(const ExecuteArgs& args) const override;
    const FusionHooks& GetFusion() const override { return m_Fusion; }
    unsigned int GetMaxThreads() const { return m_MaxThreads; }

private:
    static constexpr uint8_t NoBuffer = UINT8_MAX;
    struct Block;

    ElementChain() { m_Fusion.m_KernelName = "Chain"; }
    bool ChooseBlock();
    bool AssignBuffers();
    void RunBlocks(const ExecuteArgs& args, size_t begin, size_t end) const;
    void RunBlock(const Block& block, size_t first, size_t count) const;

    FusionHooks m_Fusion;
    std::vector<ChainLink> m_Links;
    std::vector<ChainInput> m_Inputs;
    std::vector<uint8_t> m_LinkBuffers;  ///< NoBuffer: the last one
    std::vector<uint8_t> m_InputBuffers; ///< buffers of inputs that repeat within a block; else NoBuffer
    size_t m_Count = 0;                  ///< elements
    size_t m_Block = 0;                  ///< elements
    unsigned int m_MaxThreads = UINT_MAX;
    size_t m_Cut = 0; ///< blocks end at multiples of it, where periods longer than a block begin; 0: nowhere
};

} // namespace tenon
