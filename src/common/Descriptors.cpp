// SPDX-License-Identifier: Apache-2.0
// The parts of the descriptors that need more than a struct: view origins and sizes of Concat and Splitter,
// and questions to a custom operator.
#include <tenon/Logging.hpp>
#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/descriptors/External.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon
{

namespace
{

// The numbers that GetViewOrigin and GetViewSizes point at while nothing was set: the first Set... call makes the
// storage, so that a descriptor with many views costs nothing until then.
constexpr uint32_t Zeros[MaxNumOfTensorDimensions] = {};

Status SetCoordinate(std::vector<uint32_t>& values, uint32_t numViews, uint32_t numDimensions, uint32_t view,
                     uint32_t coord, uint32_t value, const char* what)
{
    if (view >= numViews || coord >= numDimensions)
    {
        TENON_LOG(error) << what << " " << coord << " of view " << view << " cannot be set: there are " << numViews
                         << " views of " << numDimensions << " dimensions";
        return Status::Failure;
    }
    if (values.empty())
    {
        if (value == 0)
        {
            return Status::Success;
        }
        values.resize(size_t{numViews} * numDimensions);
    }
    values[size_t{view} * numDimensions + coord] = value;
    return Status::Success;
}

const uint32_t* GetCoordinates(const std::vector<uint32_t>& values, uint32_t numViews, uint32_t numDimensions,
                               uint32_t view, const char* what)
{
    if (view >= numViews)
    {
        throw InvalidArgumentException(
            fmt::format("{} of view {} asked for: there are {} views", what, view, numViews));
    }
    return values.empty() ? Zeros : values.data() + size_t{view} * numDimensions;
}

} // namespace

OriginsDescriptor::OriginsDescriptor(uint32_t numViews, uint32_t numDimensions)
    : m_NumViews(numViews), m_NumDimensions(numDimensions)
{
    if (numDimensions > MaxNumOfTensorDimensions)
    {
        throw InvalidArgumentException(
            fmt::format("views of {} dimensions: at most {} are possible", numDimensions, MaxNumOfTensorDimensions));
    }
}

Status OriginsDescriptor::SetViewOriginCoord(uint32_t view, uint32_t coord, uint32_t value)
{
    return SetCoordinate(m_ViewOrigins, m_NumViews, m_NumDimensions, view, coord, value, "origin coordinate");
}

const uint32_t* OriginsDescriptor::GetViewOrigin(uint32_t view) const
{
    return GetCoordinates(m_ViewOrigins, m_NumViews, m_NumDimensions, view, "the origin");
}

bool OriginsDescriptor::HasOrigins() const
{
    return std::any_of(m_ViewOrigins.begin(), m_ViewOrigins.end(), [](uint32_t value) { return value != 0; });
}

ViewsDescriptor::ViewsDescriptor(uint32_t numViews, uint32_t numDimensions) : m_Origins(numViews, numDimensions) {}

Status ViewsDescriptor::SetViewOriginCoord(uint32_t view, uint32_t coord, uint32_t value)
{
    return m_Origins.SetViewOriginCoord(view, coord, value);
}

Status ViewsDescriptor::SetViewSize(uint32_t view, uint32_t coord, uint32_t value)
{
    return SetCoordinate(m_ViewSizes, GetNumViews(), GetNumDimensions(), view, coord, value, "size");
}

void ViewsDescriptor::SetAxis(int32_t axis)
{
    m_Axis = axis;
    m_IsAxisSet = true;
}

const uint32_t* ViewsDescriptor::GetViewSizes(uint32_t view) const
{
    return GetCoordinates(m_ViewSizes, GetNumViews(), GetNumDimensions(), view, "the size");
}

namespace detail
{

OriginsDescriptor MakeConcatDescriptor(const std::vector<TensorShape>& shapes, unsigned int axis)
{
    if (shapes.empty())
    {
        throw InvalidArgumentException("a concatenation needs at least one shape");
    }
    const TensorShape& first = shapes.front();
    const unsigned int rank = first.GetNumDimensions();
    if (axis >= rank)
    {
        throw InvalidArgumentException(
            fmt::format("concatenation along dimension {} of shapes like {}", axis, first.ToString()));
    }
    OriginsDescriptor descriptor(static_cast<uint32_t>(shapes.size()), rank);
    descriptor.SetConcatAxis(axis);

    bool hasKnownSizes = true;
    for (size_t view = 0; view < shapes.size(); ++view)
    {
        const TensorShape& shape = shapes[view];
        bool fits = shape.GetNumDimensions() == rank;
        for (unsigned int i = 0; fits && i < rank; ++i)
        {
            fits = i == axis || !shape.GetDimensionSpecificity(i) || !first.GetDimensionSpecificity(i) ||
                   shape[i] == first[i];
        }
        if (!fits)
        {
            throw InvalidArgumentException(fmt::format("shape {} of view {} does not fit shape {} of view 0 for a "
                                                       "concatenation along dimension {}",
                                                       shape.ToString(), view, first.ToString(), axis));
        }
        hasKnownSizes = hasKnownSizes && shape.GetDimensionSpecificity(axis);
    }

    // Origins are all or none: without one of the sizes those after it are unknown too.
    uint64_t origin = 0;
    for (uint32_t view = 0; hasKnownSizes && view < descriptor.GetNumViews(); ++view)
    {
        if (origin > std::numeric_limits<uint32_t>::max())
        {
            throw InvalidArgumentException(
                fmt::format("the origin of view {} along dimension {} is above 32 bits", view, axis));
        }
        descriptor.SetViewOriginCoord(view, axis, static_cast<uint32_t>(origin));
        origin += shapes[view][axis];
    }
    return descriptor;
}

} // namespace detail

uint32_t CustomDescriptor::GetValueInputs() const
{
    return m_Operator != nullptr ? m_Operator->GetValueInputs() : 0;
}

bool CustomDescriptor::HasLateOutputs() const
{
    return m_Operator != nullptr && m_Operator->HasLateOutputs();
}

} // namespace tenon
