// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, loaded when the first matrix product is planned: a process that runs nothing on CpuAcc never has it. Used
// by BatchMatMul.
//
// Its own threads are not used, and not started either: it is loaded on a thread that may run on one processor only, as
// it starts one thread a processor. (libgomp, if a build on OpenMP brings it into the process, believes that too.)
// Should the process have OpenBLAS already, we get the same one and set it to one thread, for everybody: builds on
// pthreads have nothing finer. (openblas_set_num_threads_local, since 0.3.27, is for the whole process too in those.)
// Builds on OpenMP ask it at each product, and it has a limit for each thread.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>

#include <cblas.h>

#include <span>
#include <string>

namespace tenon::cpu
{

/// Those functions of OpenBLAS that we call.
class OpenBlas
{
public:
    decltype(&cblas_sgemm) m_Sgemm = nullptr;
    decltype(&cblas_sgemv) m_Sgemv = nullptr;

    /// Called before a product, on the thread that computes it. Throws RuntimeException when there is no room left for
    /// the buffer that OpenBLAS gives each thread: it would try to get it for ever.
    void PrepareThread() const;

private:
    friend struct OpenBlasLoad;
    void (*m_LimitThread)(int threads) = nullptr; ///< OpenMP's omp_set_num_threads; null for builds on pthreads
};

/// What came of loading.
struct OpenBlasLoad
{
    OpenBlas m_Functions;
    std::string m_Failure; ///< a sentence; empty if all is well

    /// Takes the first of `files` that can be loaded; never throws for what is wrong with them.
    explicit OpenBlasLoad(std::span<const char* const> files);

private:
    void Load(std::span<const char* const> files);
    void Bind(void* library);
};

/// Loads OpenBLAS if no one did yet. Throws BackendUnavailableException, now and later, when that fails.
const OpenBlas& GetOpenBlas();

/// For support checks: loads it, and answers with the reason when that fails.
SupportResult CheckOpenBlas();

} // namespace tenon::cpu
