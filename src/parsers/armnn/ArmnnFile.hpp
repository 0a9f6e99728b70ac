// SPDX-License-Identifier: Apache-2.0
// ArmnnFile: the bytes of a .armnn file, verified. Later reads of the flatbuffer stay within bounds; indices, sizes and
// shapes are checked where they are used.
#pragma once

#include "common/ModelBytes.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace flatbuffers
{
struct String;
} // namespace flatbuffers

namespace tenon::arm_nn
{

namespace schema
{
struct SerializedGraph;
} // namespace schema

class ArmnnFile
{
public:
    /// Throws ParseException when the bytes are no network of Arm NN.
    ArmnnFile(ModelBytes bytes, const Limits& limits);

    const schema::SerializedGraph& Root() const { return m_Root; }
    const Limits& GetLimits() const { return m_Limits; }
    /// Keeps the bytes alive.
    const std::shared_ptr<const void>& Owner() const { return m_Owner; }
    /// The budget that counts the bytes read out of the file.
    ReadBudget& Budget() { return m_Budget; }
    /// A text; empty if there is none. Its bytes count.
    std::string Text(const flatbuffers::String* text);

private:
    std::shared_ptr<const void> m_Owner;
    const schema::SerializedGraph& m_Root;
    Limits m_Limits;
    ReadBudget m_Budget;
};

} // namespace tenon::arm_nn
