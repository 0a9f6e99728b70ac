// SPDX-License-Identifier: Apache-2.0
// The packing strategies that come with Tenon, for IRuntime::CreationOptions::m_MemoryOptimizerStrategyMap.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/backend/IMemoryOptimizerStrategy.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// The names that MakeMemoryOptimizerStrategy knows, the default one first:
///   BestOfOrders            the default of a runtime: the greedy ones below in turn, then a bounded search
///                           around the best, until the arena is as small as the largest sum of bytes alive at once
///   GreedyBySize            blocks in order of size, the largest first, each at the lowest gap that fits
///   GreedyByLifetime        the same in order of size times steps alive
///   GreedyByConflict        the same in order of the most bytes that are alive together with the block
///   GreedyByTime            the same in order of the first step; in one pass, for any number of blocks
///   ConstantMemoryStrategy  no two blocks share memory: to find out whether a wrong result comes from memory that is
///                           used again too early
TENON_API std::vector<std::string> GetMemoryOptimizerStrategyNames();

/// Throws InvalidArgumentException, naming those that there are, for another name.
TENON_API std::shared_ptr<IMemoryOptimizerStrategy> MakeMemoryOptimizerStrategy(const std::string& name);

/// Checks the results of another strategy. A runtime checks the strategies that it is given in the same way.
class TENON_API StrategyValidator final : public IMemoryOptimizerStrategy
{
public:
    /// Throws NullPointerException for null.
    explicit StrategyValidator(std::shared_ptr<IMemoryOptimizerStrategy> strategy);
    ~StrategyValidator() override;
    std::string GetName() const override { return m_Strategy->GetName(); }
    MemBlockStrategyType GetMemBlockStrategyType() const override { return m_Strategy->GetMemBlockStrategyType(); }
    /// Throws MemoryValidationException, naming the strategy and the blocks, where the bins are not what
    /// IMemoryOptimizerStrategy::Optimize asks for, or a SingleAxisPacking one has blocks that are alive at once.
    std::vector<MemBin> Optimize(std::vector<MemBlock>& memBlocks) override;

private:
    std::shared_ptr<IMemoryOptimizerStrategy> m_Strategy;
};

} // namespace tenon
