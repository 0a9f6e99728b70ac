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
// All of them may also be given when a network is loaded, in INetworkProperties::m_ModelOptions. Of one that is given
// at both times the latter counts.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Exceptions.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tenon
{

class BackendOptions
{
public:
    /// A bool, int, unsigned, float or string.
    class Var
    {
    public:
        Var(bool value) : m_Value(value) {}                       // NOLINT: implicit, as Arm NN's
        Var(int value) : m_Value(value) {}                        // NOLINT
        Var(unsigned int value) : m_Value(value) {}               // NOLINT
        Var(float value) : m_Value(value) {}                      // NOLINT
        Var(double value) : m_Value(static_cast<float>(value)) {} // NOLINT
        Var(const char* value) : m_Value(std::string(value)) {}   // NOLINT
        Var(std::string value) : m_Value(std::move(value)) {}     // NOLINT

        bool IsBool() const { return std::holds_alternative<bool>(m_Value); }
        bool IsInt() const { return std::holds_alternative<int>(m_Value); }
        bool IsUnsignedInt() const { return std::holds_alternative<unsigned int>(m_Value); }
        bool IsFloat() const { return std::holds_alternative<float>(m_Value); }
        bool IsString() const { return std::holds_alternative<std::string>(m_Value); }

        /// Each throws InvalidArgumentException when the value is of another type.
        bool AsBool() const { return As<bool>("bool"); }
        int AsInt() const { return As<int>("int"); }
        unsigned int AsUnsignedInt() const { return As<unsigned int>("unsigned int"); }
        float AsFloat() const { return As<float>("float"); }
        std::string AsString() const { return As<std::string>("string"); }
        std::string ToString() const
        {
            if (IsString())
            {
                return AsString();
            }
            if (IsBool())
            {
                return AsBool() ? "true" : "false";
            }
            if (IsInt())
            {
                return std::to_string(AsInt());
            }
            if (IsUnsignedInt())
            {
                return std::to_string(AsUnsignedInt());
            }
            return std::to_string(AsFloat());
        }

        friend bool operator==(const Var& a, const Var& b) { return a.m_Value == b.m_Value; }
        friend bool operator!=(const Var& a, const Var& b) { return !(a == b); }

    private:
        template <typename T>
        T As(const char* wanted) const
        {
            if (const T* value = std::get_if<T>(&m_Value))
            {
                return *value;
            }
            throw InvalidArgumentException(std::string("a backend option is not of type ") + wanted);
        }

        std::variant<bool, int, unsigned int, float, std::string> m_Value;
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
