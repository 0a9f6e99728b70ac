// SPDX-License-Identifier: Apache-2.0
// Select of CpuAcc, for elements of up to 8 bytes: the kernel row and its loops. The walk through the three inputs is
// CpuRef's, with a vector loop for each row. The loops blend by the condition instead of branching: with a random
// condition, a branch for each element costs more than everything else.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/SelectWalk.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_SELECT_TYPES
#define TENON_SELECT_TYPES
namespace tenon::cpu
{

namespace
{

/// out[i] = condition[i] != 0 ? x[i] : y[i]; each of the inputs may be a single element. `out` overlaps none of them.
using SelectLoop = void (*)(const uint8_t* condition, const void* x, const void* y, void* out, size_t count);

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/Select.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// A mask that is true for bytes other than 0, for as many elements as `d` has.
template <class D>
HWY_INLINE hn::Mask<D> LoadMask(D d, const uint8_t* condition)
{
    using T = hn::TFromD<D>;
    const hn::Rebind<uint8_t, D> d8;
    const auto bytes = hn::LoadU(d8, condition);
    if constexpr (sizeof(T) == 1)
    {
        return hn::Ne(bytes, hn::Zero(d8));
    }
    else if constexpr (sizeof(T) < 8)
    {
        return hn::Ne(hn::PromoteTo(d, bytes), hn::Zero(d));
    }
    else
    {
        // There is no promotion from 8 to 64 bits in one step, but masks can be sign-extended in two.
        const hn::Rebind<int32_t, D> d32;
        const auto halves = hn::VecFromMask(d32, hn::Ne(hn::PromoteTo(d32, bytes), hn::Zero(d32)));
        return hn::MaskFromVec(hn::BitCast(d, hn::PromoteTo(hn::Rebind<int64_t, D>(), halves)));
    }
}

/// `Moves`: copies `count` elements; otherwise repeats the element *from.
template <typename T, bool Moves>
void Copy(const T* from, T* out, size_t count)
{
    Cover<T>(count,
             [&](auto d, size_t i) HWY_ATTR
             {
                 if constexpr (Moves)
                 {
                     hn::StoreU(hn::LoadU(d, from + i), d, out + i);
                 }
                 else
                 {
                     hn::StoreU(hn::Set(d, *from), d, out + i);
                 }
             });
}

template <typename T, bool MoveCondition, bool MoveX, bool MoveY>
void Select(const uint8_t* condition, const void* x, const void* y, void* out, size_t count)
{
    const T* first = static_cast<const T*>(x);
    const T* second = static_cast<const T*>(y);
    T* to = static_cast<T*>(out);
    if constexpr (!MoveCondition && MoveX == MoveY)
    {
        Copy<T, MoveX>(*condition != 0 ? first : second, to, count); // without a branch, as rows may be short
    }
    else if constexpr (!MoveCondition)
    {
        *condition != 0 ? Copy<T, MoveX>(first, to, count) : Copy<T, MoveY>(second, to, count);
    }
    else
    {
        Cover<T>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     const auto a = MoveX ? hn::LoadU(d, first + i) : hn::Set(d, *first);
                     const auto b = MoveY ? hn::LoadU(d, second + i) : hn::Set(d, *second);
                     hn::StoreU(hn::IfThenElse(LoadMask(d, condition + i), a, b), d, to + i);
                 });
    }
}

template <typename T, bool MoveCondition>
SelectLoop ForMoves(bool moveX, bool moveY)
{
    if (moveX)
    {
        return moveY ? Select<T, MoveCondition, true, true> : Select<T, MoveCondition, true, false>;
    }
    return moveY ? Select<T, MoveCondition, false, true> : Select<T, MoveCondition, false, false>;
}

template <typename T>
SelectLoop ForCondition(bool moveCondition, bool moveX, bool moveY)
{
    return moveCondition ? ForMoves<T, true>(moveX, moveY) : ForMoves<T, false>(moveX, moveY);
}

/// The loop for elements of 1, 2, 4 or 8 bytes; null for others. The flags: false for inputs that are one element.
SelectLoop FindLoop(size_t elementBytes, bool moveCondition, bool moveX, bool moveY)
{
    switch (elementBytes)
    {
    case 1: return ForCondition<uint8_t>(moveCondition, moveX, moveY);
    case 2: return ForCondition<uint16_t>(moveCondition, moveX, moveY);
    case 4: return ForCondition<uint32_t>(moveCondition, moveX, moveY);
    case 8: return ForCondition<uint64_t>(moveCondition, moveX, moveY);
    default: return nullptr;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow SelectTypes[] = {
    backends::Types({{DataType::Boolean}, backends::WholeByteType, backends::WholeByteType}, backends::WholeByteType)};

struct SelectRun
{
    ref::SelectWalk m_Walk;
    SelectLoop m_Loop;
    size_t m_ElementBytes;

    void operator()(const ExecuteArgs& run) const
    {
        RunElements(*run.m_Parallel, m_Walk.GetElements(),
                    [&](size_t begin, size_t end)
                    {
                        const auto* condition = run.GetInput<uint8_t>(0);
                        const auto* x = run.GetInput<std::byte>(1);
                        const auto* y = run.GetInput<std::byte>(2);
                        auto* out = run.GetOutput<std::byte>(0);
                        const ref::SelectWalk::Dimension& row = m_Walk.GetRow();
                        const auto& steps = row.m_Steps;
                        ref::SelectWalk::Position position = m_Walk.Find(begin / row.m_Size);
                        const auto& at = position.m_At;
                        size_t inRow = begin % row.m_Size;
                        while (begin < end)
                        {
                            const size_t count = std::min(end - begin, row.m_Size - inRow);
                            m_Loop(
                                condition + at[0] + inRow * steps[0], x + (at[1] + inRow * steps[1]) * m_ElementBytes,
                                y + (at[2] + inRow * steps[2]) * m_ElementBytes, out + begin * m_ElementBytes, count);
                            begin += count;
                            inRow = 0;
                            m_Walk.Step(position);
                        }
                    });
    }
};

Prepared PrepareSelect(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    const size_t bytes = ref::GetMovedBytes(output.GetDataType());
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const ref::SelectWalk walk(args);
    const auto& steps = walk.GetRow().m_Steps;
    return SelectRun{walk, TENON_CHOOSE(FindLoop)(bytes, steps[0] != 0, steps[1] != 0, steps[2] != 0), bytes};
}

SupportResult CheckSelect(const LayerView& layer)
{
    if (layer.GetInput(1).GetDataType() == DataType::Complex128)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "there is no fast loop for elements of 16 bytes");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuSelectKernel = {.m_Name = "CpuSelect",
                                                 .m_Types = SelectTypes,
                                                 .m_Prepare = PrepareSelect,
                                                 .m_Check = CheckSelect,
                                                 .m_Reference = &ref::RefSelectKernel};

} // namespace tenon::cpu
#endif
