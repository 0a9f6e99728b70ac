// SPDX-License-Identifier: Apache-2.0
// See DgemmLibrary.hpp.
#include "backends/cpu/gemm/driver/DgemmLibrary.hpp"

#include "common/DynamicLibrary.hpp"

#include <cstdlib>
#include <initializer_list>
#include <string_view>

namespace tenon::cpu
{

namespace
{

/// A function of the library; null where it exports none of this name.
template <typename F>
F* FindFunction(void* library, const char* name)
{
    return reinterpret_cast<F*>(FindSymbol(library, name));
}

std::string Join(std::initializer_list<std::string_view> parts)
{
    std::string text;
    for (const std::string_view part : parts)
    {
        text += part;
    }
    return text;
}

/// The kinds of threads that a library was built for, as openblas_get_parallel() gives them.
constexpr int Serial = 0;
constexpr int OpenMp = 2;

} // namespace

DgemmLibrary DgemmLibrary::Open(const std::string& file)
{
    DgemmLibrary opened;
    const auto refuse = [&](const std::string& reason)
    {
        opened.m_Reason = Join({file, " ", reason});
        return opened;
    };
    void* const library = OpenLibrary(file, LibrarySymbols::Own);
    if (library == nullptr)
    {
        return refuse("cannot be opened: " + GetLibraryError());
    }
    auto* const dgemm = reinterpret_cast<Function>(FindSymbol(library, "cblas_dgemm"));
    auto* const setThreads = FindFunction<void(int)>(library, "openblas_set_num_threads");
    auto* const getParallel = FindFunction<int()>(library, "openblas_get_parallel");
    auto* const getConfig = FindFunction<char*()>(library, "openblas_get_config");
    if (dgemm == nullptr || setThreads == nullptr || getParallel == nullptr || getConfig == nullptr)
    {
        return refuse("is not an OpenBLAS with CBLAS: it lacks cblas_dgemm or a function openblas_...");
    }
    const std::string_view config = getConfig();
    const auto has = [config](std::string_view word) { return config.find(word) != std::string_view::npos; };
    if (has("USE64BITINT"))
    {
        return refuse("has integers of 64 bits, name one with integers of 32 bits");
    }
    if (getParallel() == OpenMp)
    {
        return refuse("is built for OpenMP, whose number of threads each thread has for itself; name one that is built "
                      "for POSIX threads");
    }
    if (getParallel() == Serial && !has("USE_LOCKING"))
    {
        return refuse("is built for one thread alone, without USE_LOCKING; name one that is built for POSIX threads");
    }
    setThreads(1);
    opened.m_Function = dgemm;
    return opened;
}

const DgemmLibrary& DgemmLibrary::Get()
{
    static const DgemmLibrary library = []
    {
        constexpr std::string_view need = "Float64 products need OpenBLAS's dgemm";
        DgemmLibrary found;
        const char* const named = std::getenv("TENON_DGEMM_LIBRARY");
        if (named != nullptr && std::string_view(named) == "none")
        {
            found.m_Reason = Join({need, ", which TENON_DGEMM_LIBRARY=none rules out"});
            return found;
        }
        if (named != nullptr && *named != '\0')
        {
            found = Open(named);
            if (found.m_Function == nullptr)
            {
                found.m_Reason = Join({need, ", and TENON_DGEMM_LIBRARY names no usable one: ", found.m_Reason});
            }
            return found;
        }
        // Distributions that have libraries for several kinds of threads name the one for POSIX threads openblasp.
        const std::string first = GetLibraryName("openblas", "0");
        std::string reasons;
        for (const std::string& name : {first, GetLibraryName("openblasp", "0"), GetLibraryName("openblas", "")})
        {
            found = Open(name);
            if (found.m_Function != nullptr)
            {
                return found;
            }
            reasons += Join({reasons.empty() ? "" : "; ", found.m_Reason});
        }
        found.m_Reason = Join({need, " (", first, "), which is not found: ", reasons,
                               "; install it, or name its file in TENON_DGEMM_LIBRARY"});
        return found;
    }();
    return library;
}

} // namespace tenon::cpu
