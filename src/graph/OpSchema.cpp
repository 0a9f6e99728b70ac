// SPDX-License-Identifier: Apache-2.0
// The schema table, derived from ops.def and each descriptor's Visit.
#include "graph/OpSchema.hpp"

#include "common/Names.hpp"
#include "graph/Infer.hpp"

#include <tenon/Descriptors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <new>
#include <type_traits>

namespace tenon
{

namespace
{

template <typename D>
const D& As(const BaseDescriptor& descriptor)
{
    if constexpr (std::is_same_v<D, InputDescriptor>)
    {
        static const InputDescriptor plain; // an Input that promises nothing has no descriptor
        return descriptor.IsNull() ? plain : static_cast<const D&>(descriptor);
    }
    else
    {
        return static_cast<const D&>(descriptor);
    }
}

constexpr auto NumInputs = [](const auto& d) -> decltype(d.GetNumInputs()) { return d.GetNumInputs(); };
constexpr auto NumOutputs = [](const auto& d) -> decltype(d.GetNumOutputs()) { return d.GetNumOutputs(); };
constexpr auto HasDataDependentShapes = [](const auto& d) -> decltype(d.HasLateOutputs())
{ return d.HasLateOutputs(); };

struct ValueInputsGetter
{
    template <typename D>
    auto operator()(const D& d) const -> decltype(d.GetValueInputs())
    {
        return d.GetValueInputs();
    }

    /// Input 0 holds the output's shape, or has it.
    uint32_t operator()(const ScatterNdDescriptor& d) const { return d.m_InputEnabled ? 0U : 1U; }
};

constexpr ValueInputsGetter ValueInputs;

/// The getter's result for a descriptor that has it; else the row's number.
template <typename D, auto Getter, auto OfRow>
auto Get(const BaseDescriptor& descriptor)
{
    if constexpr (std::invocable<decltype(Getter), const D&>)
    {
        return Getter(As<D>(descriptor));
    }
    else
    {
        return OfRow;
    }
}

template <typename D, uint32_t MinInputs>
bool NeedsInput([[maybe_unused]] const BaseDescriptor& descriptor, uint32_t i)
{
    if constexpr (requires(const D& d) { d.NeedsInput(i); })
    {
        return As<D>(descriptor).NeedsInput(i);
    }
    else if constexpr (requires(const D& d) { d.GetNumInputs(); })
    {
        return i < As<D>(descriptor).GetNumInputs();
    }
    else
    {
        return i < MinInputs;
    }
}

template <typename D>
BaseDescriptor* CopyDescriptor(const BaseDescriptor& descriptor, void* memory)
{
    return new (memory) D(As<D>(descriptor));
}

template <typename D>
bool EqualDescriptors(const BaseDescriptor& a, const BaseDescriptor& b)
{
    return As<D>(a) == As<D>(b);
}

template <typename D>
void VisitFields(const BaseDescriptor& descriptor, const FieldVisitor& visitor)
{
    if (descriptor.IsNull())
    {
        return;
    }
    const D& d = As<D>(descriptor);
    D::Visit([&](const char* name, auto member) { visitor(name, FieldToString(d.*member)); });
}

template <typename D, Tiling Rule>
unsigned int CountTiled([[maybe_unused]] const BaseDescriptor& descriptor, [[maybe_unused]] unsigned int rank)
{
    if constexpr (Rule == Tiling::Elementwise)
    {
        return rank;
    }
    else if constexpr (Rule == Tiling::BeforeAxis)
    {
        const int axis = As<D>(descriptor).m_Axis;
        const int canonical = axis < 0 ? axis + static_cast<int>(rank) : axis;
        return canonical < 0 ? 0 : std::min(static_cast<unsigned int>(canonical), rank);
    }
    else if constexpr (Rule == Tiling::BeforeMatrices)
    {
        const D& d = As<D>(descriptor);
        const bool isPlain = d.m_DataLayoutX == DataLayout::NCHW && d.m_DataLayoutY == DataLayout::NCHW;
        return isPlain ? std::max(2U, rank) - 2 : 0;
    }
    else
    {
        static_assert(Rule == Tiling::None);
        return 0;
    }
}

template <typename D>
constexpr bool HasLayout = requires(const D& d)
{
    d.m_DataLayout;
};

/// Refuses a row of which two answers contradict each other.
template <typename D, OpFlags Flags, AddMethod Method, RankRule Rank, FormRule Form, LayoutRule Layout, AxesRule Axes,
          Tiling Tiles>
constexpr void CheckRow()
{
    constexpr bool isNull = std::is_same_v<D, NullDescriptor>;
    constexpr bool isElementwise = HasFlag(Flags, OpFlags::Elementwise) || HasFlag(Flags, OpFlags::Broadcast);
    static_assert((Method == AddMethod::NoMethod) == HasFlag(Flags, OpFlags::Internal),
                  "method: layers that have the flag Internal, and no others, are without one");
    static_assert(Method != AddMethod::Described || !isNull, "method: a layer without parameters is Plain");
    static_assert(Method != AddMethod::Plain || isNull, "method: a layer with a descriptor is Described");
    static_assert((Layout == LayoutRule::NoLayout) != HasLayout<D>,
                  "layout: a descriptor that has m_DataLayout, and no other, says what becomes of it");
    static_assert((Axes == AxesRule::NoAxes) == isElementwise,
                  "axes: NoAxes goes with the flags Elementwise and Broadcast");
    static_assert((Tiles == Tiling::Elementwise) == isElementwise,
                  "tiling: Elementwise goes with the flags Elementwise and Broadcast");
    static_assert(Rank != RankRule::KeepDims || !HasFlag(Flags, OpFlags::SameRank),
                  "rank: KeepDims contradicts the flag SameRank");
    static_assert(Form != FormRule::Target || Rank == RankRule::Target, "form: Target goes with the rank of that name");
}

template <typename D, uint8_t MinInputs, uint32_t MaxInputs, uint32_t Outputs, OpFlags Flags, uint32_t Values,
          AddMethod Method, Runner RunBy, RankRule Rank, FormRule Form, LayoutRule Layout, AxesRule Axes,
          WidthRule Widths, Tiling Tiles>
constexpr OpSchema MakeRow(const char* name, InferFunction infer)
{
    CheckRow<D, Flags, Method, Rank, Form, Layout, Axes, Tiles>();
    return {name,
            MinInputs,
            Flags,
            infer,
            &Get<D, NumInputs, MaxInputs>,
            &Get<D, NumOutputs, Outputs>,
            &Get<D, ValueInputs, Values>,
            &Get<D, HasDataDependentShapes, HasFlag(Flags, OpFlags::Late)>,
            sizeof(D),
            alignof(D),
            &CopyDescriptor<D>,
            &EqualDescriptors<D>,
            &VisitFields<D>,
            &CountTiled<D, Tiles>,
            RunBy,
            Layout,
            Axes,
            Widths,
            Tiles,
            &NeedsInput<D, MinInputs>};
}

using enum OpFlags;
constexpr OpSchema rows[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, form,    \
                 layout, axes, widths, tiling)                                                                         \
    MakeRow<descriptor, minInputs, maxInputs, outputs, flags, values, AddMethod::method, Runner::runner,               \
            RankRule::rank, FormRule::form, LayoutRule::layout, AxesRule::axes, WidthRule::widths, Tiling::tiling>(    \
        #name, &infer::Infer##name),
#include <tenon/ops.def>
};

} // namespace

const size_t NumLayerTypes = std::size(rows);

const OpSchema& GetSchema(LayerType type)
{
    const auto index = static_cast<size_t>(type);
    if (index >= std::size(rows))
    {
        throw InvalidArgumentException(
            fmt::format("layer type {} has no schema; deprecated names are forwards onto ElementwiseBinary", index));
    }
    return rows[index];
}

unsigned int CountTiledDimensions(LayerType type, const BaseDescriptor& descriptor, unsigned int rank)
{
    return GetSchema(type).m_CountTiled(descriptor, rank);
}

} // namespace tenon
