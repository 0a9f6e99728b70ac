// SPDX-License-Identifier: Apache-2.0
// The two symbols by which TensorFlow Lite finds an external delegate in a shared object. Nothing is thrown across
// them.
#include "delegate/TfLiteInterface.hpp"

#include <tenon/Logging.hpp>
#include <tenon/delegate/Delegate.hpp>

#include <cstdint>
#include <exception>
#include <string>

namespace
{

void Report(void (*reportError)(const char*), const std::string& text)
{
    const std::string line = "TenonDelegate: " + text + "\n"; // texts are joined without a separator
    if (reportError != nullptr)
    {
        reportError(line.c_str());
        return;
    }
    tenon::LogMessage(tenon::LogSeverity::Error, line.substr(0, line.size() - 1));
}

} // namespace

extern "C"
{

    /// Null after a call of `reportError`, which may itself be null, where the options do not make a delegate.
    TENON_API TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                                            size_t numOptions, void (*reportError)(const char*))
    {
        try
        {
            // Python passes a C int: the upper half of the register is anything.
            const auto count = static_cast<uint32_t>(numOptions);
            return tenon::CreateTfLiteDelegate(tenon::TfLiteDelegateOptions::Parse(keys, values, count));
        }
        catch (const std::exception& error)
        {
            Report(reportError, error.what());
        }
        catch (...)
        {
            Report(reportError, "an error of unknown kind");
        }
        return nullptr;
    }

    TENON_API void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate)
    {
        tenon::DeleteTfLiteDelegate(delegate);
    }

} // extern "C"
