// SPDX-License-Identifier: Apache-2.0
// FileReader: the bytes of a .tenon file, verified. Later reads of the flatbuffer stay within bounds; indices, sizes
// and names are checked where they are used (GraphReader, Attributes).
#pragma once

#include "common/ModelBytes.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tenon_generated.h>

namespace tenon::serializer
{

class FileReader
{
public:
    /// Throws ParseException unless the bytes are a .tenon file of a version that this library knows.
    FileReader(ModelBytes bytes, const Limits& limits);
    /// Whether the bytes have the identifier of .tenon files.
    static bool HasIdentifier(Span<const uint8_t> bytes);

    const schema::Network& Root() const { return *m_Root; }
    const Limits& GetLimits() const { return m_Limits; }
    /// Keeps the bytes alive.
    const std::shared_ptr<const void>& Owner() const { return m_Owner; }
    /// A buffer of the data section. Throws ParseException for a bad index, range or alignment.
    Span<const uint8_t> Buffer(uint32_t index) const;
    /// A list of elements of 8 bytes. Throws ParseException unless its address is a multiple of 8, which the verifier
    /// does not check.
    template <typename Vector>
    static const Vector& Aligned(const Vector& vector)
    {
        CheckAlignment(vector.Data());
        return vector;
    }
    /// A text; empty if there is none. Its bytes count: see ReadBudget.
    std::string Text(const flatbuffers::String* text);
    /// Counts `count` elements of a list that is about to be read.
    void Charge(size_t count, size_t elementBytes) { m_Budget.Charge(count * elementBytes); }
    /// An info with the quantization of a table that was read before, and of which others of the file are copies; none
    /// until the caller has set it.
    Optional<TensorInfo>& BlocksOf(const schema::Blocks& table) { return m_Blocks[&table]; }
    /// "(the file has format version 1.3, this library knows 1.0)", for names in the file that the library lacks.
    std::string VersionText() const;

private:
    static void CheckAlignment(const void* list);

    std::shared_ptr<const void> m_Owner;
    Span<const uint8_t> m_Bytes;
    Limits m_Limits;
    ReadBudget m_Budget;
    std::map<const schema::Blocks*, Optional<TensorInfo>> m_Blocks;
    const schema::Network* m_Root = nullptr;
};

} // namespace tenon::serializer
