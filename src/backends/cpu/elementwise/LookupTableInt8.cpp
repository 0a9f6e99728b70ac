// SPDX-License-Identifier: Apache-2.0
// UnaryInt8: the tables, and the fastest lookup that the processor has.
//   AVX-512 VBMI:     two lookups in 128 bytes each
//   AArch64:          four lookups in 64 bytes each
//   AVX-512, AVX2:    sixteen lookups in 16 bytes each
//   others:           one byte at a time
#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include "backends/cpu/elementwise/Map.hpp"
#include "backends/cpu/elementwise/PiecewiseLinearInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "common/OneThread.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/LookupTableInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/LookupInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename Lookup>
void LookUp(const LookupTableInt8& table, const uint8_t* in, uint8_t* out, size_t count)
{
    const Lookup lookUp(table.data());
    MapEach<1>(TagUint8(), in, out, count,
               [&](VecUint8 x) HWY_ATTR { return lookUp(x); }); // the table fills the registers
}

/// One byte at a time. With 16-byte vectors, sixteen lookups take as long.
[[maybe_unused]] void LookUpEach(const LookupTableInt8& table, const uint8_t* in, uint8_t* out, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        out[i] = table[in[i]];
    }
}

LookupFunction FindLookup()
{
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
    return WithBestLookup([](auto tag) -> LookupFunction { return LookUp<typename decltype(tag)::Lookup>; });
#else
    return LookUpEach;
#endif
}

bool IsLookupFast()
{
#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
    return true;
#else
    return HWY_TARGET == HWY_AVX3 && GetCpuFeatures().m_Avx512Vbmi;
#endif
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

/// The results of the reference kernel for all bytes.
LookupTableInt8 Fill(const ReshapeArgs& args, const backends::Kernel& reference)
{
    LookupTableInt8 all{};
    std::iota(all.begin(), all.end(), uint8_t{0});
    const TensorShape shape({static_cast<unsigned int>(all.size())});
    LookupTableInt8 table{};
    RunReferenceInt8(args, reference, {{shape, all.data()}}, shape, table.data());
    return table;
}

} // namespace

LookupFunction FindLookupInt8()
{
    return TENON_CHOOSE(FindLookup)();
}

bool IsLookupFastInt8()
{
    return TENON_CHOOSE(IsLookupFast)();
}

void RunReferenceInt8(const ReshapeArgs& args, const backends::Kernel& reference, const std::vector<InputInt8>& inputs,
                      const TensorShape& shape, uint8_t* out)
{
    std::vector<TensorInfo> infos;
    std::vector<const void*> in;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        infos.push_back(args.GetInput(i));
        infos.back().SetShape(inputs[i].m_Shape);
        in.push_back(inputs[i].m_Bytes);
    }
    std::vector<const TensorInfo*> inputInfos;
    std::transform(infos.begin(), infos.end(), std::back_inserter(inputInfos),
                   [](const TensorInfo& info) { return &info; });
    TensorInfo output = args.GetOutput(0);
    output.SetShape(shape);
    const std::vector<const TensorInfo*> outputs = {&output};
    const std::vector<const void*> constants(inputs.size());
    ReshapeArgs row = args;
    row.m_Inputs = inputInfos;
    row.m_Outputs = outputs;
    row.m_ConstantData = constants;
    const backends::Prepared prepared = reference.Prepare(row, nullptr);

    const std::vector<void*> to = {out};
    std::vector<std::byte> scratch(prepared.m_ScratchBytes);
    OneThread parallel;
    ExecuteArgs run;
    run.m_Inputs = in;
    run.m_Outputs = to;
    run.m_Scratch = scratch.data();
    run.m_Parallel = &parallel;
    prepared.m_Run(run);
}

UnaryInt8::UnaryInt8(const ReshapeArgs& args, const backends::Kernel& reference)
    : m_Table(Fill(args, reference)), m_LookUp(FindLookupInt8())
{
    if (!IsLookupFastInt8())
    {
        if (const std::optional<PiecewiseLinearInt8> lines =
                FindPiecewiseLinearInt8(m_Table, args.GetInput(0), args.GetOutput(0)))
        {
            m_PiecewiseLinear = std::make_shared<const PiecewiseLinearInt8>(*lines);
        }
    }
}

void UnaryInt8::Run(const uint8_t* in, uint8_t* out, size_t count) const
{
    if (m_PiecewiseLinear != nullptr)
    {
        RunPiecewiseLinearInt8(*m_PiecewiseLinear, in, out, count);
        return;
    }
    m_LookUp(m_Table, in, out, count);
}

backends::Prepared MakeUnaryInt8(const ReshapeArgs& args, const backends::Kernel& reference)
{
    return MakeMap<uint8_t, uint8_t>(args,
                                     [map = UnaryInt8(args, reference)](const uint8_t* in, uint8_t* out, size_t count)
                                     { map.Run(in, out, count); });
}

} // namespace tenon::cpu
#endif
