// SPDX-License-Identifier: Apache-2.0
// The schema table, derived from ops.def and each descriptor's Visit.
#include "graph/OpSchema.hpp"

#include "graph/Infer.hpp"
#include "graph/Names.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tenon
{

namespace
{

template <typename D>
const D& As(const BaseDescriptor& descriptor)
{
    return static_cast<const D&>(descriptor);
}

template <typename D>
constexpr bool GivesNumInputs = requires(const D& d)
{
    d.GetNumInputs();
};
template <typename D>
constexpr bool GivesNumOutputs = requires(const D& d)
{
    d.GetNumOutputs();
};

template <typename D, uint32_t Fixed>
uint32_t NumInputs(const BaseDescriptor& descriptor)
{
    if constexpr (GivesNumInputs<D>)
    {
        return As<D>(descriptor).GetNumInputs();
    }
    else
    {
        return Fixed;
    }
}

template <typename D, uint32_t Fixed>
uint32_t NumOutputs(const BaseDescriptor& descriptor)
{
    if constexpr (GivesNumOutputs<D>)
    {
        return As<D>(descriptor).GetNumOutputs();
    }
    else
    {
        return Fixed;
    }
}

template <typename D>
std::unique_ptr<BaseDescriptor> CloneDescriptor(const BaseDescriptor& descriptor)
{
    return std::make_unique<D>(As<D>(descriptor));
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

template <typename D, uint32_t MaxInputs, uint32_t Outputs>
constexpr OpSchema MakeRow(const char* name, uint8_t minInputs, OpFlags flags, uint32_t values, InferFunction infer)
{
    return {name,
            minInputs,
            flags,
            values,
            infer,
            &NumInputs<D, MaxInputs>,
            &NumOutputs<D, Outputs>,
            &CloneDescriptor<D>,
            &EqualDescriptors<D>,
            &VisitFields<D>};
}

using enum OpFlags;
constexpr OpSchema rows[] = {
#define TENON_OP(name, descriptor, minInputs, maxInputs, outputs, flags, values)                                       \
    MakeRow<descriptor, maxInputs, outputs>(#name, minInputs, flags, values, &infer::Infer##name),
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
