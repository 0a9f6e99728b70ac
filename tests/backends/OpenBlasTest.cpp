// SPDX-License-Identifier: Apache-2.0
// How CpuAcc gets OpenBLAS: not before a layer needs it, without threads of its own, and what is said when it is not
// there or there is no memory for it. Most of it is about a process that has not loaded it yet, so in one of its own.
#include "backends/cpu/gemm/OpenBlas.hpp"

#include "backends/cpu/CpuAccBackend.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace tenon::test
{

namespace
{

using testing::HasSubstr;

std::string Load(std::initializer_list<const char*> files)
{
    return cpu::OpenBlasLoad(std::span(files.begin(), files.size())).m_Failure;
}

bool IsLoaded()
{
    std::ifstream maps("/proc/self/maps");
    const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
    return text.find("openblas") != std::string::npos;
}

std::ptrdiff_t CountThreads()
{
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// Leaves the process so many more bytes of address space.
[[maybe_unused]] void LimitMemory(size_t more)
{
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + more;
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
}

/// The kernel that runs a matrix product of this type.
std::string KernelOf(DataType type)
{
    const TensorInfo x(TensorShape({2, 4}), type, 1.0f, 0);
    const TensorInfo y(TensorShape({4, 3}), type, 1.0f, 0);
    const TensorInfo output(TensorShape({2, 3}), type, 1.0f, 0);
    const std::vector<const TensorInfo*> inputs = {&x, &y};
    const std::vector<const TensorInfo*> outputs = {&output};
    const std::vector<const void*> constants = {nullptr, nullptr};
    const BatchMatMulDescriptor descriptor;
    const std::string name = "asked";
    LayerView view;
    view.m_Type = LayerType::BatchMatMul;
    view.m_Name = &name;
    view.m_Descriptor = &descriptor;
    view.m_Inputs = inputs;
    view.m_Outputs = outputs;
    view.m_ConstantData = constants;
    const auto backend = cpu::MakeCpuAccBackend();
    const SupportResult support = backend->GetLayerSupport({})->IsLayerSupported(view);
    return support ? backend->CreateWorkloadFactory({})->CreateWorkload(view)->GetName() : support.m_Reason;
}

/// Ends the process; what was wrong is its output.
[[noreturn]] void EndUnless(bool right, const std::string& what)
{
    std::cerr << (right ? "right" : what) << std::endl;
    std::exit(right ? 0 : 1);
}

/// Runs `body` in a new process, which must end properly.
#define EXPECT_IN_NEW_PROCESS(body)                                                                                    \
    if (std::getenv("TENON_TEST_EMULATOR") != nullptr)                                                                 \
    {                                                                                                                  \
        GTEST_SKIP() << "qemu-user starts no new process of an emulated program and sets it no limits of memory";      \
    }                                                                                                                  \
    GTEST_FLAG_SET(death_test_style, "threadsafe");                                                                    \
    EXPECT_EXIT(body, testing::ExitedWithCode(0), "right")

void LoadLate()
{
    const std::string bytes = KernelOf(DataType::QAsymmS8);
    if (bytes != "RefBatchMatMul" || IsLoaded())
    {
        EndUnless(false, "products of bytes are for " + bytes + ", and must not load OpenBLAS");
    }
    const std::ptrdiff_t threads = CountThreads();
    const std::string kernel = KernelOf(DataType::Float32);
#ifdef __SANITIZE_THREAD__
    constexpr bool hasOtherThreads = true; // the sanitizer starts one at a time of its own
#else
    constexpr bool hasOtherThreads = false;
#endif
    EndUnless(kernel == "CpuBatchMatMul" && IsLoaded() && (hasOtherThreads || CountThreads() == threads),
              kernel + ", threads: " + std::to_string(CountThreads()));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // their shadow memory is past any limit

constexpr size_t MiB = 1024 * 1024;

void LoadWithoutRoom(size_t room)
{
    LimitMemory(room);
    const std::string kernel = KernelOf(DataType::Float32);
    EndUnless(kernel == "RefBatchMatMul", kernel);
}

void MultiplyWithoutRoom()
{
    const cpu::OpenBlas& blas = cpu::GetOpenBlas();
    LimitMemory(32 * MiB);
    try
    {
        blas.PrepareThread();
    }
    catch (const RuntimeException& error)
    {
        EndUnless(std::string(error.what()).find("128 MiB") != std::string::npos, error.what());
    }
    EndUnless(false, "a thread got a buffer that there is no room for");
}

#endif

} // namespace

TEST(OpenBlas, SaysWhatIsMissing)
{
    EXPECT_THAT(Load({"libtenon_absent.so.0"}),
                testing::AllOf(HasSubstr("OpenBLAS (libtenon_absent.so.0) cannot be loaded: "),
                               HasSubstr("No such file or directory")));
    EXPECT_THAT(Load({"libtenon_absent.so.0", "libtenon_lost.so"}), HasSubstr("; libtenon_lost.so: "));
    EXPECT_THAT(Load({"libtenon_absent.so.0", ""}), testing::Not(HasSubstr(";")));
    EXPECT_THAT(Load({"libm.so.6"}), HasSubstr("it has no openblas_get_config"));
}

TEST(OpenBlas, TakesTheNextFile)
{
    EXPECT_EQ(Load({"libtenon_absent.so.0", "libopenblas.so.0"}), "");
}

TEST(OpenBlas, IsLoadedWhenALayerNeedsIt)
{
    EXPECT_IN_NEW_PROCESS(LoadLate());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST(OpenBlas, WithoutMemoryForItTheReferenceKernelRuns)
{
    EXPECT_IN_NEW_PROCESS(LoadWithoutRoom(24 * MiB));  // not for the library itself
    EXPECT_IN_NEW_PROCESS(LoadWithoutRoom(100 * MiB)); // not for a buffer
}

TEST(OpenBlas, WithoutMemoryForABufferARunFails)
{
    EXPECT_IN_NEW_PROCESS(MultiplyWithoutRoom());
}

#endif

} // namespace tenon::test
