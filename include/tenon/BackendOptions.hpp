// SPDX-License-Identifier: Apache-2.0
// BackendOptions: named values for one backend, e.g. {"CpuAcc", {{"NumberOfThreads", 4}, {"FastMathEnabled", true}}}.
//
// A model's options for CpuAcc (see OptimizerOptionsOpaque::AddModelOption):
//   NumberOfThreads  int or unsigned: how many of the caller's threads a layer may use; 0, the default, is all.
//   FastMathEnabled  bool, false by default: Float32 Convolution2d layers with constant 3x3 weights, without strides,
//                    dilation or groups, are computed by Winograd's F(4x4, 3x3) where that is faster; they take about a
//                    third to a half of the time. Errors of rounding are about twice as large as without it, relative
//                    to the typical output and not to each one. A NaN or an infinity in the data makes NaN of the
//                    tiles of 4x4 outputs that are computed from it, more than the outputs whose windows see it, and
//                    sums near the largest float may do the same. The packed weights of such a layer take four times
//                    the memory.
//   CachedNetworkFilePath
//                    string, empty by default: a file of weights as CpuAcc packs them. Loading the network maps it in
//                    place of packing, and throws where the file is missing (FileNotFoundException) or damaged
//                    (ParseException), lacks a layer, or was saved by another version of Tenon, for other instructions
//                    or with another FastMathEnabled (InvalidArgumentException).
//   SaveCachedNetwork
//                    bool, false by default: loading the network packs its weights, and writes them to the file that
//                    CachedNetworkFilePath has to name. One that is there is replaced; one that cannot be written is a
//                    RuntimeException.
// All of them may also be given when a network is loaded, in INetworkProperties::m_ModelOptions. The value given at
// loading counts where both times have one.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Exceptions.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tenon
{

class BackendOptions
{
public:
    /// A bool, int, unsigned, float or string, or one of them that was given as a text.
    class Var
    {
    public:
        Var(bool value) : m_Type(Type::Bool) { m_Number.m_Bool = value; } // NOLINT: implicit, as Arm NN's
        Var(int value) : m_Type(Type::Int) { m_Number.m_Int = value; }    // NOLINT
        Var(unsigned int value) : m_Type(Type::UnsignedInt) { m_Number.m_Unsigned = value; } // NOLINT
        Var(float value) : m_Type(Type::Float) { m_Number.m_Float = value; }                 // NOLINT
        Var(double value) : Var(static_cast<float>(value)) {}                                // NOLINT
        Var(const char* value) : Var(std::string(value)) {}                                  // NOLINT
        Var(char* value) : Var(std::string(value)) {}                                        // NOLINT
        Var(std::string value) : m_Type(Type::String), m_String(std::move(value)) {}         // NOLINT
        /// Other types are refused, and not converted: a pointer is no bool.
        template <typename T>
        Var(T value) = delete;
        /// A value that was given as a text, "12", by somebody who does not know which type the backend expects: it is
        /// a string, too, and a whole number is also a float and, unless it is negative, an unsigned int (Tenon).
        Var(Var value, std::string text) : m_Type(value.m_Type), m_IsText(true), m_Number(value.m_Number)
        {
            m_String = std::move(text);
        }

        bool IsBool() const { return m_Type == Type::Bool; }
        bool IsInt() const { return m_Type == Type::Int; }
        bool IsUnsignedInt() const
        {
            return m_Type == Type::UnsignedInt || (m_IsText && m_Type == Type::Int && m_Number.m_Int >= 0);
        }
        bool IsFloat() const
        {
            return m_Type == Type::Float || (m_IsText && (m_Type == Type::Int || m_Type == Type::UnsignedInt));
        }
        bool IsString() const { return m_Type == Type::String || m_IsText; }

        /// Each throws InvalidArgumentException when the value is of another type.
        bool AsBool() const
        {
            Check(IsBool(), "bool");
            return m_Number.m_Bool;
        }
        int AsInt() const
        {
            Check(IsInt(), "int");
            return m_Number.m_Int;
        }
        unsigned int AsUnsignedInt() const
        {
            Check(IsUnsignedInt(), "unsigned int");
            return m_Type == Type::Int ? static_cast<unsigned int>(m_Number.m_Int) : m_Number.m_Unsigned;
        }
        float AsFloat() const
        {
            Check(IsFloat(), "float");
            return m_Type == Type::Int           ? static_cast<float>(m_Number.m_Int)
                   : m_Type == Type::UnsignedInt ? static_cast<float>(m_Number.m_Unsigned)
                                                 : m_Number.m_Float;
        }
        std::string AsString() const
        {
            Check(IsString(), "string");
            return m_String;
        }
        std::string ToString() const
        {
            if (m_IsText)
            {
                return m_String;
            }
            switch (m_Type)
            {
            case Type::Bool: return m_Number.m_Bool ? "true" : "false";
            case Type::Int: return std::to_string(m_Number.m_Int);
            case Type::UnsignedInt: return std::to_string(m_Number.m_Unsigned);
            case Type::Float: return std::to_string(m_Number.m_Float);
            case Type::String: break;
            }
            return m_String;
        }

        /// Whether both have one type and value, and one text where one of them was given as a text.
        friend bool operator==(const Var& a, const Var& b)
        {
            if (a.m_IsText || b.m_IsText)
            {
                return a.ToString() == b.ToString();
            }
            if (a.m_Type != b.m_Type)
            {
                return false;
            }
            switch (a.m_Type)
            {
            case Type::Bool: return a.m_Number.m_Bool == b.m_Number.m_Bool;
            case Type::Int: return a.m_Number.m_Int == b.m_Number.m_Int;
            case Type::UnsignedInt: return a.m_Number.m_Unsigned == b.m_Number.m_Unsigned;
            case Type::Float: return a.m_Number.m_Float == b.m_Number.m_Float;
            case Type::String: break;
            }
            return a.m_String == b.m_String;
        }
        friend bool operator!=(const Var& a, const Var& b) { return !(a == b); }

    private:
        enum class Type : unsigned char
        {
            Bool,
            Int,
            UnsignedInt,
            Float,
            String
        };

        static void Check(bool isOfType, const char* name)
        {
            if (!isOfType)
            {
                throw InvalidArgumentException(std::string("a backend option is not of type ") + name);
            }
        }

        // These members stand in place of std::variant, which C++14 lacks.
        Type m_Type;
        bool m_IsText = false; ///< m_String is the text that it was given as
        union Number
        {
            bool m_Bool;
            int m_Int;
            unsigned int m_Unsigned;
            float m_Float;
        };
        Number m_Number = {};
        std::string m_String;
    };

    class BackendOption
    {
    public:
        BackendOption(std::string name, Var value) : m_Name(std::move(name)), m_Value(std::move(value)) {}
        const std::string& GetName() const { return m_Name; }
        const Var& GetValue() const { return m_Value; }

    private:
        std::string m_Name;
        Var m_Value;
    };

    explicit BackendOptions(BackendId backend) : m_TargetBackend(std::move(backend)) {}
    BackendOptions(BackendId backend, std::vector<BackendOption> options)
        : m_TargetBackend(std::move(backend)), m_Options(std::move(options))
    {
    }

    void AddOption(BackendOption option) { m_Options.push_back(std::move(option)); }
    const BackendId& GetBackendId() const noexcept { return m_TargetBackend; }
    size_t GetOptionCount() const noexcept { return m_Options.size(); }
    /// Throws std::out_of_range past the end.
    const BackendOption& GetOption(size_t index) const { return m_Options.at(index); }

private:
    BackendId m_TargetBackend;
    std::vector<BackendOption> m_Options;
};

using NetworkOptions = std::vector<BackendOptions>;
using ModelOptions = std::vector<BackendOptions>;
using BackendCapabilities = BackendOptions;

/// The value where it is of the type that is asked for, else `defaultValue`.
inline bool ParseBooleanBackendOption(const BackendOptions::Var& value, bool defaultValue)
{
    return value.IsBool() ? value.AsBool() : defaultValue;
}
inline int ParseIntBackendOption(const BackendOptions::Var& value, int defaultValue)
{
    return value.IsInt() ? value.AsInt() : defaultValue;
}
inline std::string ParseStringBackendOption(const BackendOptions::Var& value, std::string defaultValue)
{
    return value.IsString() ? value.AsString() : std::move(defaultValue);
}

/// Calls fn(name, value) for each option of `backend`.
template <typename Function>
void ParseOptions(const std::vector<BackendOptions>& options, const BackendId& backend, Function fn)
{
    for (const BackendOptions& group : options)
    {
        if (group.GetBackendId() == backend)
        {
            for (size_t i = 0; i < group.GetOptionCount(); ++i)
            {
                fn(group.GetOption(i).GetName(), group.GetOption(i).GetValue());
            }
        }
    }
}

} // namespace tenon
