// SPDX-License-Identifier: Apache-2.0
// See InputPlace.hpp.
#include "tools/common/InputPlace.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Strings.hpp"

namespace tenon::tools
{

std::string PlaceOf(const Binding& binding)
{
    return fmt::format("input '{}'", OneLine(binding.m_Name));
}

std::string Expectation(const TensorInfo& info)
{
    return fmt::format("{} {}", GetNumPyName(info.GetDataType()), info.GetShape().ToString());
}

} // namespace tenon::tools
