// SPDX-License-Identifier: Apache-2.0
// DgemmLibrary: dgemm, the float64 matrix product of OpenBLAS. CpuAcc has no float64 product of its own: it opens that
// library while the program runs, when a layer first needs it, and keeps it open. Used by GemmF64.
#pragma once

#include <string>

namespace tenon::cpu
{

/// A matrix product of OpenBLAS on one thread, and why there is none.
class DgemmLibrary
{
public:
    /// cblas_dgemm of a library whose integers have 32 bits: c = alpha * a * b + beta * c.
    using Function = void (*)(int order, int transposeA, int transposeB, int rows, int columns, int depth, double alpha,
                              const double* a, int pitchA, const double* b, int pitchB, double beta, double* c,
                              int pitchC);

    /// The library of this process: the file that the environment variable TENON_DGEMM_LIBRARY names ("none": no
    /// library), else the system's OpenBLAS. The first call opens it and sets it to one thread.
    static const DgemmLibrary& Get();

    /// A library by its file, or by a name that the system looks for. It stays open. For tests; others call Get().
    static DgemmLibrary Open(const std::string& file);

    /// Null where there is none.
    Function GetFunction() const { return m_Function; }
    /// Why there is none: "Float64 products need OpenBLAS's dgemm, which ...".
    const std::string& GetReason() const { return m_Reason; }

private:
    DgemmLibrary() = default;

    Function m_Function = nullptr;
    std::string m_Reason;
};

} // namespace tenon::cpu
