// SPDX-License-Identifier: Apache-2.0
// Errors across the C table: see Status.hpp.
#include "backends/plugin/Status.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace tenon::plugin
{

std::string ErrorText::ToString()
{
    m_Buffer[Size - 1] = '\0';
    return m_Buffer;
}

void ThrowUnlessOk(tenon_status status, ErrorText& text, const std::string& who, const char* call)
{
    if (status == TENON_OK)
    {
        return;
    }
    const std::string detail = text.ToString();
    const std::string message = who + ": " + call + " failed" + (detail.empty() ? ", without a text" : ": " + detail);
    switch (status)
    {
    case TENON_INVALID_ARGUMENT: throw InvalidArgumentException(message);
    case TENON_UNSUPPORTED: throw UnimplementedException(message);
    case TENON_OUT_OF_MEMORY: throw MemoryValidationException(message);
    case TENON_INVALID_LAYER: throw LayerValidationException(message);
    case TENON_INVALID_DATA: throw ParseException(message);
    default: throw RuntimeException(message);
    }
}

void WriteText(tenon_text* target, const std::string& text) noexcept
{
    if (target == nullptr || target->data == nullptr || target->capacity == 0)
    {
        return;
    }
    const size_t count = std::min(text.size(), target->capacity - 1);
    std::memcpy(target->data, text.data(), count);
    target->data[count] = '\0';
}

tenon_status StatusOfException(tenon_text* error) noexcept
{
    const auto write = [error](const std::exception& exception, tenon_status status)
    {
        if (error != nullptr && error->data != nullptr && error->capacity != 0)
        {
            std::strncpy(error->data, exception.what(), error->capacity - 1);
            error->data[error->capacity - 1] = '\0';
        }
        return status;
    };
    try
    {
        throw;
    }
    catch (const UnimplementedException& exception) // before its base
    {
        return write(exception, TENON_UNSUPPORTED);
    }
    catch (const InvalidArgumentException& exception)
    {
        return write(exception, TENON_INVALID_ARGUMENT);
    }
    catch (const MemoryValidationException& exception)
    {
        return write(exception, TENON_OUT_OF_MEMORY);
    }
    catch (const LayerValidationException& exception)
    {
        return write(exception, TENON_INVALID_LAYER);
    }
    catch (const ParseException& exception)
    {
        return write(exception, TENON_INVALID_DATA);
    }
    catch (const std::bad_alloc& exception)
    {
        return write(exception, TENON_OUT_OF_MEMORY);
    }
    catch (const std::exception& exception)
    {
        return write(exception, TENON_ERROR);
    }
    catch (...)
    {
        return TENON_ERROR;
    }
}

} // namespace tenon::plugin
