// SPDX-License-Identifier: Apache-2.0
// The exceptions that the public API throws. Errors are reported by exception only; nothing returns null for a failure.
#pragma once

#include <tenon/Export.hpp>

#include <exception>
#include <string>

namespace tenon
{

/// Where in the sources a check failed. Appended to a message as " at function F [file:line]".
struct CheckLocation
{
    CheckLocation(const char* function, const char* file, unsigned int line)
        : m_Function(function), m_File(file), m_Line(line)
    {
    }

    /// " at function F [file:line]"
    std::string AsString() const { return std::string(" at function ") + m_Function + FileLine(); }
    /// " [file:line]"
    std::string FileLine() const { return std::string(" [") + m_File + ":" + std::to_string(m_Line) + "]"; }

    const char* m_Function;
    const char* m_File;
    unsigned int m_Line;
};

/// Base of all exceptions of Tenon. Its text names the failure, its place, and a remedy. Names in it may come from
/// hostile files, so control characters other than line feed and tab become "\x00" and the like; UTF-8 stays.
class TENON_API Exception : public std::exception
{
public:
    explicit Exception(const std::string& message);
    Exception(const std::string& message, const CheckLocation& location) : Exception(message + location.AsString()) {}
    /// The text of `other`, then a line with the message and the location.
    Exception(const Exception& other, const std::string& message, const CheckLocation& location)
        : Exception(std::string(other.what()) + "\n" + message + location.AsString())
    {
    }
    ~Exception() override;

    const char* what() const noexcept override { return m_Message.c_str(); }

    /// Puts "<context>: " in front of the text; outer loops call it once to name the work under way.
    void AddContext(const std::string& context);

private:
    std::string m_Message;
};

// One line a kind: the name, its base, and when it is thrown. Each gets an out-of-line destructor, so that its type
// information lives in libtenon alone and can be caught on the other side of a shared-library boundary.
#define TENON_EXCEPTION(Name, Base)                                                                                    \
    class TENON_API Name : public Base                                                                                 \
    {                                                                                                                  \
    public:                                                                                                            \
        using Base::Base;                                                                                              \
        ~Name() override;                                                                                              \
    };

/// A backend that was asked for is not there.
TENON_EXCEPTION(BackendUnavailableException, Exception)
/// The OpenCL runtime of a GPU backend is not there.
TENON_EXCEPTION(ClRuntimeUnavailableException, BackendUnavailableException)
/// An argument is out of its domain: a shape, an index, a name, an option.
TENON_EXCEPTION(InvalidArgumentException, Exception)
/// A file is missing.
TENON_EXCEPTION(FileNotFoundException, Exception)
/// A model is corrupt or contradicts itself.
TENON_EXCEPTION(ParseException, Exception)
/// A layer's inputs, parameters and outputs do not fit together: shapes that do not match, an input that is not
/// connected, an output without a tensor info.
TENON_EXCEPTION(LayerValidationException, Exception)
/// A network as a whole is malformed: a cycle, a duplicate binding id, contradicting states.
TENON_EXCEPTION(GraphValidationException, Exception)
/// An empty Optional was read.
TENON_EXCEPTION(BadOptionalAccessException, Exception)
/// A failure while running.
TENON_EXCEPTION(RuntimeException, Exception)
/// A run was cancelled: see RunOptions::m_IsCancelled.
TENON_EXCEPTION(CancelledException, RuntimeException)
/// Memory of the caller could not be imported.
TENON_EXCEPTION(MemoryImportException, Exception)
/// Memory could not be exported.
TENON_EXCEPTION(MemoryExportException, Exception)
/// A wait took too long.
TENON_EXCEPTION(TimeoutException, Exception)
/// A checked downcast met another type.
TENON_EXCEPTION(PolymorphicDowncastException, Exception)
/// A pointer that must not be null was.
TENON_EXCEPTION(NullPointerException, Exception)
/// A backend lacks a capability that was asked for.
TENON_EXCEPTION(BackendCapabilityException, Exception)
/// Memory ran out or is of the wrong kind, or a limit was exceeded.
TENON_EXCEPTION(MemoryValidationException, Exception)
/// A network or run asks for more than tenon::Limits allow; the text names the limit to raise. A file that asks for
/// more is a ParseException.
TENON_EXCEPTION(LimitExceededException, MemoryValidationException)

#undef TENON_EXCEPTION

/// Something that the model or caller asks for is not supported. Names each thing and its reason. It is an
/// InvalidArgumentException, which Arm NN throws for layers that no backend takes: handlers of either type catch it,
/// and a handler that tells the two apart comes first.
class TENON_API UnimplementedException : public InvalidArgumentException
{
public:
    using InvalidArgumentException::InvalidArgumentException;
    UnimplementedException() : InvalidArgumentException("this function is not implemented") {}
    ~UnimplementedException() override;
};

} // namespace tenon

#define TENON_CHECK_LOCATION() ::tenon::CheckLocation(__func__, __FILE__, static_cast<unsigned int>(__LINE__))
