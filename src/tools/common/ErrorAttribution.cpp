// SPDX-License-Identifier: Apache-2.0
// See ErrorAttribution.hpp.
#include "tools/common/ErrorAttribution.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::tools
{

ErrorAttribution::ErrorAttribution(const std::string& modelPath)
    : m_Model(fmt::format("model '{}'", OneLine(modelPath)))
{
}

/// Messages of parsers name the model themselves.
std::string ErrorAttribution::Text(const std::string& message) const
{
    const bool isNamed = message.compare(0, m_Model.size(), m_Model) == 0;
    return m_Model + m_Inputs + (isNamed ? message.substr(m_Model.size()) : ": " + message);
}

void ErrorAttribution::RethrowOfModel() const
{
    try
    {
        throw;
    }
    catch (const LimitExceededException& error)
    {
        throw InputError(Text(error.what()));
    }
    catch (const MemoryValidationException& error)
    {
        throw RunError(Text(error.what()));
    }
    catch (const BackendUnavailableException& error) // an optimized network's
    {
        throw UnimplementedException(Text(error.what()));
    }
    catch (const UnimplementedException& error)
    {
        throw UnimplementedException(Text(error.what()));
    }
    catch (const Exception& error)
    {
        throw InputError(Text(error.what()));
    }
}

void ErrorAttribution::RethrowOfRun() const
{
    try
    {
        throw;
    }
    catch (const LimitExceededException& error)
    {
        throw InputError(Text(error.what()));
    }
    catch (const LayerValidationException& error)
    {
        throw InputError(Text(error.what()));
    }
    catch (const UnimplementedException& error)
    {
        throw UnimplementedException(Text(error.what()));
    }
    catch (const Exception& error)
    {
        throw RunError(Text(error.what()));
    }
}

} // namespace tenon::tools
