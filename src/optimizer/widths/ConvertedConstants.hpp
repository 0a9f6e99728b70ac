// SPDX-License-Identifier: Apache-2.0
// Constants in another floating-point type, converted once. The fitting of float widths uses it.
#pragma once

#include "graph/Layer.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace tenon
{

class ConvertedConstants
{
public:
    using Bytes = std::vector<std::byte>;

    explicit ConvertedConstants(std::vector<std::string>& messages) : m_Messages(messages) {}

    /// The values of a Constant layer of type Float32, Float16 or BFloat16 as `type`, another one of these. Finite
    /// numbers beyond the range of Float16 become its largest: in masks and limits, where they occur, an infinity would
    /// turn into NaN. Layers of the same memory share the result.
    const std::shared_ptr<const Bytes>& Get(const Layer& constant, DataType type)
    {
        return Make(constant, type).m_Bytes;
    }
    /// The same for values that become a part of the network, with a message if any were clamped.
    const std::shared_ptr<const Bytes>& Use(const Layer& constant, DataType type);

private:
    using Key = std::tuple<const void*, size_t, DataType, DataType>;
    struct Made
    {
        std::shared_ptr<const Bytes> m_Bytes;
        size_t m_NumClamped = 0; ///< values that were clamped and have not been reported yet
    };

    Made& Make(const Layer& constant, DataType type);

    std::map<Key, Made> m_Made;
    std::vector<std::string>& m_Messages;
};

} // namespace tenon
