// SPDX-License-Identifier: Apache-2.0
// The shipped strategies: see tenon/backend/MemoryOptimizerStrategies.hpp.
#include "runtime/Packing.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/MemoryOptimizerStrategies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tenon
{

namespace
{

void PackApart(Span<MemBlock> blocks)
{
    size_t end = 0;
    for (MemBlock& block : blocks)
    {
        block.m_Offset = end;
        end += block.m_MemSize;
    }
}

template <PackingOrder order>
void PackInOrder(Span<MemBlock> blocks)
{
    PackGreedily(blocks, order);
}

struct Row
{
    const char* m_Name;
    void (*m_Pack)(Span<MemBlock> blocks);
};

constexpr Row Rows[] = {{"BestOfOrders", PackBest},
                        {"GreedyBySize", PackInOrder<PackingOrder::Size>},
                        {"GreedyByLifetime", PackInOrder<PackingOrder::Lifetime>},
                        {"GreedyByConflict", PackInOrder<PackingOrder::Conflict>},
                        {"GreedyByTime", PackByTime},
                        {"ConstantMemoryStrategy", PackApart}};

/// Sizes are multiples of the alignment, and so are sums of them: no strategy here needs to know it. All blocks go into
/// one bin.
class TableStrategy final : public IMemoryOptimizerStrategy
{
public:
    explicit TableStrategy(const Row& row) : m_Row(row) {}
    std::string GetName() const override { return m_Row.m_Name; }
    MemBlockStrategyType GetMemBlockStrategyType() const override { return MemBlockStrategyType::MultiAxisPacking; }
    std::vector<MemBin> Optimize(std::vector<MemBlock>& memBlocks) override
    {
        m_Row.m_Pack(memBlocks);
        std::vector<MemBin> bins(1);
        bins[0].m_MemBlocks.swap(memBlocks);
        for (const MemBlock& block : bins[0].m_MemBlocks)
        {
            bins[0].m_MemSize = std::max(bins[0].m_MemSize, block.m_Offset + block.m_MemSize);
        }
        return bins;
    }

private:
    const Row& m_Row;
};

/// Throws if blocks of one bin are alive at once.
void CheckSingleAxis(const MemBin& bin, const std::string& strategy)
{
    const PageVector<uint32_t> order = ByStart(bin.m_MemBlocks);
    for (size_t i = 1; i < order.size(); ++i)
    {
        const MemBlock& before = bin.m_MemBlocks[order[i - 1]];
        const MemBlock& block = bin.m_MemBlocks[order[i]];
        if (before.m_EndOfLife >= block.m_StartOfLife)
        {
            throw MemoryValidationException(
                fmt::format("memory strategy {}: blocks {} and {}, which are alive at once, are in one bin, though its "
                            "type is SingleAxisPacking",
                            strategy, before.m_Index, block.m_Index));
        }
    }
}

} // namespace

std::vector<std::string> GetMemoryOptimizerStrategyNames()
{
    std::vector<std::string> names;
    for (const Row& row : Rows)
    {
        names.emplace_back(row.m_Name);
    }
    return names;
}

std::shared_ptr<IMemoryOptimizerStrategy> MakeMemoryOptimizerStrategy(const std::string& name)
{
    const auto* row = std::find_if(std::begin(Rows), std::end(Rows), [&](const Row& r) { return name == r.m_Name; });
    if (row == std::end(Rows))
    {
        throw InvalidArgumentException(fmt::format("there is no memory strategy '{}'; there are {}", name,
                                                   fmt::join(GetMemoryOptimizerStrategyNames(), ", ")));
    }
    return std::make_shared<TableStrategy>(*row);
}

StrategyValidator::StrategyValidator(std::shared_ptr<IMemoryOptimizerStrategy> strategy)
    : m_Strategy(std::move(strategy))
{
    if (m_Strategy == nullptr)
    {
        throw NullPointerException("a StrategyValidator needs a strategy to check");
    }
}

StrategyValidator::~StrategyValidator() = default;

std::vector<MemBin> StrategyValidator::Optimize(std::vector<MemBlock>& memBlocks)
{
    std::vector<MemBlock> blocks;
    blocks.reserve(memBlocks.size());
    for (size_t i = 0; i < memBlocks.size(); ++i)
    {
        const MemBlock& block = memBlocks[i];
        if (block.m_Index != i)
        {
            throw InvalidArgumentException(
                fmt::format("block {} of those to be packed has index {}; indices count from 0", i, block.m_Index));
        }
        blocks.push_back(block);
    }
    std::vector<MemBin> bins = m_Strategy->Optimize(memBlocks);
    constexpr size_t bytes = 1; // the alignment, which the caller of a strategy knows and checks
    PlaceBins(blocks, bins, bytes, GetName());
    CheckPacking(blocks, bytes, GetName());
    if (GetMemBlockStrategyType() == MemBlockStrategyType::SingleAxisPacking)
    {
        for (const MemBin& bin : bins)
        {
            CheckSingleAxis(bin, GetName());
        }
    }
    return bins;
}

} // namespace tenon
