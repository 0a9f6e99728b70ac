// SPDX-License-Identifier: Apache-2.0
// What a layer that runs in strips has in one part. For the files that find strips.
#pragma once

#include "runtime/Plan.hpp"

#include <array>
#include <memory>

namespace tenon
{

struct Plan::PartInfos
{
    std::array<TensorInfo, StripStep::MostInputs> m_Inputs;
    TensorInfo m_Output;
    std::array<const void*, StripStep::MostInputs> m_Constants{}; ///< null where not constant

    std::unique_ptr<IShapedWorkload> Reshape(const Step& step) const
    {
        std::array<const TensorInfo*, StripStep::MostInputs> inputs{};
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            inputs[i] = &m_Inputs[i];
        }
        const TensorInfo* const output = &m_Output;
        const size_t count = step.m_Inputs.size();
        return ReshapeStep(step, nullptr, {inputs.data(), count}, {&output, 1}, {m_Constants.data(), count});
    }
};

} // namespace tenon
