// SPDX-License-Identifier: Apache-2.0
// HashtableLookup: slices of a table by key. Keys are sorted and found by binary search; a missing key gives zeros.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet KeyTypes = {DataType::Signed32, DataType::Signed64};
constexpr backends::TypeRow HashtableLookupTypes[] = {
    backends::Types({KeyTypes, KeyTypes, backends::WholeByteType}, backends::WholeByteType)};

SupportResult CheckHashtableLookup(const LayerView& layer)
{
    const SupportResult keys = CheckSameType(layer.GetInput(1), "input 1", layer.GetInput(0).GetDataType());
    if (!keys)
    {
        return keys;
    }
    if (layer.GetNumOutputs() > 1 && GetDataTypeBits(layer.GetOutput(1).GetDataType()) != 8)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "output 1, which keys were found, must have one byte an "
                                                               "element");
    }
    return CheckSameType(layer.GetOutput(0), "output 0", layer.GetInput(2).GetDataType());
}

template <typename Key>
struct HashtableRun
{
    size_t m_Count;
    size_t m_Keys;
    size_t m_SliceBytes;

    void operator()(const ExecuteArgs& args) const
    {
        const Key* wanted = args.GetInput<Key>(0);
        const Key* keys = args.GetInput<Key>(1);
        const auto* table = args.GetInput<std::byte>(2);
        auto* out = args.GetOutput<std::byte>(0);
        auto* hits = args.GetOutput<uint8_t>(1);
        for (size_t i = 0; i < m_Count; ++i, out += m_SliceBytes)
        {
            const Key* found = std::lower_bound(keys, keys + m_Keys, wanted[i]);
            const bool isHit = found != keys + m_Keys && *found == wanted[i];
            hits[i] = isHit ? 1 : 0;
            if (m_SliceBytes != 0 && isHit)
            {
                std::memcpy(out, table + static_cast<size_t>(found - keys) * m_SliceBytes, m_SliceBytes);
            }
            else
            {
                std::fill_n(out, m_SliceBytes, std::byte{0});
            }
        }
    }
};

backends::Prepared PrepareHashtableLookup(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& table = args.GetInput(2);
    RequireRank(table, "input 2", 1);
    const size_t count = args.GetInput(0).GetNumElements();
    const size_t keys = args.GetInput(1).GetNumElements();
    const bool isEmpty = args.GetOutput(0).GetShape().GetNumElements64() == 0;
    const size_t elements = isEmpty ? 0 : CountElements(table.GetShape(), 1, table.GetNumDimensions());
    RequireElements(args.GetOutput(0), "output 0", uint64_t{count} * elements);
    RequireElements(args.GetOutput(1), "output 1", count);
    if (table.GetShape()[0] != keys)
    {
        throw LayerValidationException("input 2 of shape " + table.GetShape().ToString() +
                                       " does not have a slice for "
                                       "each of " +
                                       std::to_string(keys) + " keys");
    }
    return DispatchType<int32_t, int64_t>(
        args.GetInput(0).GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using Key = typename decltype(tag)::Type;
            return HashtableRun<Key>{count, keys, elements * GetMovedBytes(table.GetDataType())};
        });
}

} // namespace

extern const backends::Kernel RefHashtableLookupKernel = {"RefHashtableLookup", HashtableLookupTypes,
                                                          PrepareHashtableLookup, CheckHashtableLookup};

} // namespace tenon::ref
