// SPDX-License-Identifier: Apache-2.0
// Plan::ChainFinder: which elementwise layers after each other make a chain. For PlanChains.cpp.
#pragma once

#include "runtime/ElementChain.hpp"
#include "runtime/Plan.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tenon
{

/// The chain from a step on, link by link.
class Plan::ChainFinder
{
public:
    ChainFinder(const Plan& plan, const Program& program, uint32_t first)
        : m_Plan(plan), m_Program(program), m_First(first),
          m_Count(plan.m_Infos[program.Steps()[first].m_FirstOutput].GetNumElements())
    {
    }

    /// Adds the step after the last one; false where it is no part of the chain.
    bool Add();
    /// Of a chain that goes on, to come back to.
    struct Length
    {
        size_t m_Steps = 0;
        size_t m_Links = 0;
        size_t m_Externals = 0;
    };
    Length GetLength() const { return {m_Made.size(), m_Links.size(), m_Externals.size()}; }
    void Shorten(const Length& length)
    {
        m_Made.resize(length.m_Steps);
        m_Links.resize(length.m_Links);
        m_Externals.resize(length.m_Externals);
    }
    /// Whether nobody but the chain reads what it makes, up to the last step's output.
    bool IsClosed() const;
    /// Precondition: it is closed. Null where no workload runs it.
    std::unique_ptr<Strips> Make() const;

private:
    struct External
    {
        StripWhole::Input m_Place;
        ValueId m_Value = NoValue;
        ChainInput m_Input;
    };

    uint32_t Next() const { return m_First + static_cast<uint32_t>(m_Made.size()); }
    /// What the chain has of a value that it made; none of others.
    std::optional<ChainOperand> FindMade(ValueId value) const;
    std::optional<ChainOperand> AddInput(uint32_t input, const TensorInfo& output);
    bool AddView(const Step& step);
    bool AddLink(uint32_t index);

    const Plan& m_Plan;
    const Program& m_Program;
    const uint32_t m_First;
    const size_t m_Count;
    std::vector<ChainLink> m_Links;
    std::vector<ChainOperand> m_Made; ///< the output of each step: of views, the operand that they show
    std::vector<External> m_Externals;
};

} // namespace tenon
