// SPDX-License-Identifier: Apache-2.0
// Table of CpuAcc for 8-bit tensors, by the vector lookup.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeSet ByteTypes = {DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8, DataType::QAsymmU8,
                                         DataType::Unsigned8};
constexpr backends::TypeRow TableTypes[] = {backends::Types({ByteTypes, ByteTypes}, ByteTypes)};

backends::Prepared PrepareTable(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    if (args.GetInput(1).GetNumElements() != LookupTableInt8().size() ||
        args.GetOutput(0).GetShape() != input.GetShape())
    {
        return backends::Prepared::Declined("its shapes do not fit together");
    }
    const bool isUnsigned = input.GetDataType() == DataType::QAsymmU8 || input.GetDataType() == DataType::Unsigned8;
    const size_t lowest = isUnsigned ? 0x00 : 0x80;
    return [lookUp = FindLookupInt8(), lowest, count = input.GetNumElements()](const ExecuteArgs& run)
    {
        // Entries begin with the lowest value.
        LookupTableInt8 table;
        for (size_t i = 0; i < table.size(); ++i)
        {
            table[i] = run.GetInput<uint8_t>(1)[i ^ lowest];
        }
        const auto* in = run.GetInput<uint8_t>(0);
        auto* out = run.GetOutput<uint8_t>(0);
        RunElements(*run.m_Parallel, count,
                    [&](size_t begin, size_t end) { lookUp(table, in + begin, out + begin, end - begin); });
    };
}

} // namespace

extern const backends::Kernel CpuTableKernel = {"CpuTable", TableTypes, PrepareTable};

} // namespace tenon::cpu
