// SPDX-License-Identifier: Apache-2.0
// Version, errors, texts and the log of the C interface.
#include "c_api/Handles.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Logging.hpp>
#include <tenon/Version.hpp>

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace tenon::c_api
{

namespace
{

/// A text of the library with members of Limits by the names that C and Python have for them: "raise the limit
/// max_rank".
std::string WithNamesOfLimits(std::string_view text)
{
    constexpr std::string_view Prefix = "Limits::m_";
    std::string result;
    for (size_t at = text.find(Prefix); at != std::string_view::npos; at = text.find(Prefix))
    {
        result.append(text, 0, at).append("the limit ");
        text.remove_prefix(at + Prefix.size());
        for (bool isFirst = true; !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
             isFirst = false)
        {
            const auto letter = static_cast<unsigned char>(text.front());
            result.append(!isFirst && std::isupper(letter) != 0 ? "_" : "");
            result.push_back(static_cast<char>(std::tolower(letter)));
            text.remove_prefix(1);
        }
    }
    return result.append(text);
}

tenon_status MakeError(tenon_error** error, tenon_status status, const char* text) noexcept
{
    if (error != nullptr)
    {
        try
        {
            *error = new tenon_error{status, WithNamesOfLimits(text)};
        }
        catch (const std::bad_alloc&)
        {
            *error = nullptr;
        }
    }
    return status;
}

/// Messages of the library go to the application's function.
class FunctionSink final : public LogSink
{
public:
    FunctionSink(tenon_log_function function, void* self) : m_Function(function), m_Self(self) {}
    void Consume(LogSeverity severity, const std::string& message) override
    {
        m_Function(m_Self, static_cast<tenon_severity>(severity), message.c_str());
    }

private:
    tenon_log_function m_Function;
    void* m_Self;
};

} // namespace

tenon_status Fail(tenon_error** error) noexcept
{
    try
    {
        throw;
    }
    // Classes that derive from others come first.
    catch (const LimitExceededException& e)
    {
        return MakeError(error, TENON_LIMIT_EXCEEDED, e.what());
    }
    catch (const MemoryValidationException& e)
    {
        return MakeError(error, TENON_OUT_OF_MEMORY, e.what());
    }
    catch (const CancelledException& e)
    {
        return MakeError(error, TENON_CANCELLED, e.what());
    }
    catch (const UnimplementedException& e)
    {
        return MakeError(error, TENON_UNSUPPORTED, e.what());
    }
    catch (const InvalidArgumentException& e)
    {
        return MakeError(error, TENON_INVALID_ARGUMENT, e.what());
    }
    catch (const NullPointerException& e)
    {
        return MakeError(error, TENON_INVALID_ARGUMENT, e.what());
    }
    catch (const BackendCapabilityException& e)
    {
        return MakeError(error, TENON_UNSUPPORTED, e.what());
    }
    catch (const LayerValidationException& e)
    {
        return MakeError(error, TENON_INVALID_LAYER, e.what());
    }
    catch (const GraphValidationException& e)
    {
        return MakeError(error, TENON_INVALID_GRAPH, e.what());
    }
    catch (const ParseException& e)
    {
        return MakeError(error, TENON_INVALID_DATA, e.what());
    }
    catch (const FileNotFoundException& e)
    {
        return MakeError(error, TENON_NOT_FOUND, e.what());
    }
    catch (const BackendUnavailableException& e)
    {
        return MakeError(error, TENON_BACKEND_UNAVAILABLE, e.what());
    }
    catch (const MemoryImportException& e)
    {
        return MakeError(error, TENON_IMPORT_FAILED, e.what());
    }
    catch (const std::bad_alloc&)
    {
        return MakeError(error, TENON_OUT_OF_MEMORY, "memory ran out");
    }
    catch (const std::length_error&)
    {
        return MakeError(error, TENON_OUT_OF_MEMORY, "a list has more elements than memory can hold");
    }
    catch (const std::exception& e)
    {
        return MakeError(error, TENON_ERROR, e.what());
    }
    catch (...)
    {
        return MakeError(error, TENON_ERROR, "an exception of unknown type");
    }
}

void ThrowNull(const char* what)
{
    throw NullPointerException(fmt::format("{} is null", what));
}

void* MakeMemory(const void* bytes, size_t count)
{
    void* const memory = std::malloc(count);
    if (memory == nullptr)
    {
        throw std::bad_alloc();
    }
    return std::memcpy(memory, bytes, count);
}

char* MakeText(const std::string& text)
{
    return static_cast<char*>(MakeMemory(text.c_str(), text.size() + 1));
}

} // namespace tenon::c_api

using namespace tenon::c_api;

const char* tenon_version(void)
{
    return TENON_VERSION;
}

void tenon_c_version(uint32_t* major, uint32_t* minor)
{
    if (major != nullptr)
    {
        *major = TENON_C_MAJOR;
    }
    if (minor != nullptr)
    {
        *minor = TENON_C_MINOR;
    }
}

tenon_status tenon_error_status(const tenon_error* error)
{
    return error == nullptr ? TENON_OK : error->m_Status;
}

const char* tenon_error_text(const tenon_error* error)
{
    return error == nullptr ? "" : error->m_Text.c_str();
}

void tenon_error_destroy(tenon_error* error)
{
    delete error;
}

const char* tenon_status_name(tenon_status status)
{
    switch (status)
    {
    case TENON_OK: return "TENON_OK";
    case TENON_ERROR: return "TENON_ERROR";
    case TENON_INVALID_ARGUMENT: return "TENON_INVALID_ARGUMENT";
    case TENON_UNSUPPORTED: return "TENON_UNSUPPORTED";
    case TENON_OUT_OF_MEMORY: return "TENON_OUT_OF_MEMORY";
    case TENON_INVALID_LAYER: return "TENON_INVALID_LAYER";
    case TENON_INVALID_DATA: return "TENON_INVALID_DATA";
    case TENON_NOT_FOUND: return "TENON_NOT_FOUND";
    case TENON_INVALID_GRAPH: return "TENON_INVALID_GRAPH";
    case TENON_BACKEND_UNAVAILABLE: return "TENON_BACKEND_UNAVAILABLE";
    case TENON_LIMIT_EXCEEDED: return "TENON_LIMIT_EXCEEDED";
    case TENON_CANCELLED: return "TENON_CANCELLED";
    case TENON_IMPORT_FAILED: return "TENON_IMPORT_FAILED";
    default: return "unknown";
    }
}

void tenon_text_destroy(char* text)
{
    std::free(text);
}

void tenon_memory_destroy(void* memory)
{
    std::free(memory);
}

tenon_status tenon_log_set_function(tenon_log_function function, void* self, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     // Never destroyed: destructors of an application's static objects may still come here.
                     static std::mutex& mutex = *new std::mutex;
                     static std::shared_ptr<tenon::LogSink>& current = *new std::shared_ptr<tenon::LogSink>;
                     const std::lock_guard lock(mutex);
                     std::shared_ptr<tenon::LogSink> sink;
                     if (function != nullptr)
                     {
                         sink = std::make_shared<FunctionSink>(function, self);
                         tenon::AddLogSink(sink);
                     }
                     tenon::SetAllLoggingSinks(false, function == nullptr, false);
                     if (current != nullptr)
                     {
                         tenon::RemoveLogSink(current);
                     }
                     current = std::move(sink);
                 });
}

tenon_status tenon_log_set_severity(tenon_severity lowest, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     if (lowest < TENON_TRACE || lowest > TENON_FATAL)
                     {
                         throw tenon::InvalidArgumentException(fmt::format("there is no severity {}", lowest));
                     }
                     tenon::SetLogFilter(static_cast<tenon::LogSeverity>(lowest));
                 });
}
