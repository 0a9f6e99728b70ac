// SPDX-License-Identifier: Apache-2.0
// WarningRecorder: records the warnings and errors that are logged while it lives.
#pragma once

#include <tenon/Logging.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tenon::test
{

class WarningRecorder
{
public:
    WarningRecorder() { AddLogSink(m_Sink); }
    ~WarningRecorder() { RemoveLogSink(m_Sink); }
    WarningRecorder(const WarningRecorder&) = delete;
    WarningRecorder& operator=(const WarningRecorder&) = delete;

    std::vector<std::string> Get() const
    {
        const std::lock_guard lock(m_Sink->m_Mutex);
        return m_Sink->m_Messages;
    }

private:
    struct Sink final : LogSink
    {
        void Consume(LogSeverity severity, const std::string& message) override
        {
            const std::lock_guard lock(m_Mutex);
            if (severity >= LogSeverity::Warning)
            {
                m_Messages.push_back(message);
            }
        }
        mutable std::mutex m_Mutex;
        std::vector<std::string> m_Messages;
    };
    std::shared_ptr<Sink> m_Sink = std::make_shared<Sink>();
};

} // namespace tenon::test
