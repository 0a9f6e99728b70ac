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

/// Sizes are multiples of the alignment, and so are sums of them: no strategy here needs to know it.
class TableStrategy final : public IMemoryOptimizerStrategy
{
public:
    explicit TableStrategy(const Row& row) : m_Row(row) {}
    const char* GetName() const override { return m_Row.m_Name; }
    void Optimize(Span<MemBlock> blocks, size_t) const override { m_Row.m_Pack(blocks); }

private:
    const Row& m_Row;
};

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

StrategyValidator::StrategyValidator(std::shared_ptr<const IMemoryOptimizerStrategy> strategy)
    : m_Strategy(std::move(strategy))
{
    if (m_Strategy == nullptr)
    {
        throw NullPointerException("a StrategyValidator needs a strategy to check");
    }
}

StrategyValidator::~StrategyValidator() = default;

void StrategyValidator::Optimize(Span<MemBlock> blocks, size_t alignment) const
{
    const std::vector<MemBlock> before(blocks.begin(), blocks.end());
    m_Strategy->Optimize(blocks, alignment);
    for (size_t i = 0; i < before.size(); ++i)
    {
        const bool isSame = blocks[i].m_StartOfLife == before[i].m_StartOfLife &&
                            blocks[i].m_EndOfLife == before[i].m_EndOfLife &&
                            blocks[i].m_MemSize == before[i].m_MemSize;
        if (!isSame)
        {
            throw MemoryValidationException(
                fmt::format("memory strategy {} changes the size or the lifetime of block {}", GetName(), i));
        }
    }
    CheckPacking(blocks, alignment, GetName());
}

} // namespace tenon
