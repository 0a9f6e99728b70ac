// SPDX-License-Identifier: Apache-2.0
// The schema table, derived from ops.def and each descriptor's Visit.
#include "graph/OpSchema.hpp"

#include "graph/Infer.hpp"
#include "graph/Names.hpp"

#include <fmt/format.h>

#include <concepts>
#include <iterator>
#include <new>

namespace tenon
{

namespace
{

template <typename D>
const D& As(const BaseDescriptor& descriptor)
{
    return static_cast<const D&>(descriptor);
}

constexpr auto NumInputs = [](const auto& d) -> decltype(d.GetNumInputs()) { return d.GetNumInputs(); };
constexpr auto NumOutputs = [](const auto& d) -> decltype(d.GetNumOutputs()) { return d.GetNumOutputs(); };
constexpr auto ValueInputs = [](const auto& d) -> decltype(d.GetValueInputs()) { return d.GetValueInputs(); };
constexpr auto IsLate = [](const auto& d) -> decltype(d.HasLateOutputs()) { return d.HasLateOutputs(); };

/// What the getter gives of a descriptor that has it; else what the row says.
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
    const D& d = As<D>(descriptor);
    D::Visit([&](const char* name, auto member) { visitor(name, FieldToString(d.*member)); });
}

template <typename D, uint32_t MaxInputs, uint32_t Outputs, OpFlags Flags, uint32_t Values>
constexpr OpSchema MakeRow(const char* name, uint8_t minInputs, InferFunction infer)
{
    return {name,
            minInputs,
            Flags,
            infer,
            &Get<D, NumInputs, MaxInputs>,
            &Get<D, NumOutputs, Outputs>,
            &Get<D, ValueInputs, Values>,
            &Get<D, IsLate, HasFlag(Flags, OpFlags::Late)>,
            sizeof(D),
            alignof(D),
            &CopyDescriptor<D>,
            &EqualDescriptors<D>,
            &VisitFields<D>};
}

using enum OpFlags;
constexpr OpSchema rows[] = {
#define TENON_OP(name, descriptor, minInputs, maxInputs, outputs, flags, values)                                       \
    MakeRow<descriptor, maxInputs, outputs, flags, values>(#name, minInputs, &infer::Infer##name),
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

} // namespace tenon
