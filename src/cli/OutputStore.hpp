// SPDX-License-Identifier: Apache-2.0
// Memory for what a network gives out, taken when the network asks, because shapes may become known that late; and how
// a tensor is shown to people.
#pragma once

#include "cli/Buffer.hpp"

#include <tenon/IRuntime.hpp>
#include <tenon/Tensor.hpp>

#include <map>
#include <string>

namespace tenon::cli
{

struct OutputData
{
    TensorInfo m_Info;
    Buffer m_Data;
};

class OutputStore
{
public:
    /// The allocator to give to EnqueueWorkload. Memory is used again in the next run where it is large enough.
    OutputAllocator GetAllocator();

    /// The output of this id from the last run. Throws RunError when there is none.
    const OutputData& Get(LayerBindingId id) const;

private:
    std::map<LayerBindingId, OutputData> m_Outputs;
};

/// The elements as text, at most `maxElements` of them: "0.1 0.9 … (1001 values)".
std::string FormatValues(const OutputData& output, size_t maxElements);

} // namespace tenon::cli
