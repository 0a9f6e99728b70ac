// SPDX-License-Identifier: Apache-2.0
// Networks as the bytes of .tenon files.
#pragma once

#include <tenon/serializer/ISerializer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::test
{

using Bytes = std::vector<uint8_t>;

/// `network` is an INetwork or an IOptimizedNetwork.
template <typename SomeNetwork>
Bytes Serialized(const SomeNetwork& network)
{
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(network);
    std::ostringstream stream;
    EXPECT_TRUE(serializer->SaveSerializedToStream(stream));
    const std::string text = stream.str();
    return {text.begin(), text.end()};
}

} // namespace tenon::test
