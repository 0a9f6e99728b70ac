// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of the lines of a tensor, in double precision, line by line. Used by Dft and SignalFft.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/kernels/Fft.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <algorithm>
#include <memory>

namespace tenon::ref
{

/// Tensors as [outer, size, inner, parts].
struct DftPlan
{
    std::shared_ptr<const AnyFft> m_Fft;
    size_t m_Outer = 0;
    size_t m_Inner = 0;
    size_t m_Length = 0;
    size_t m_SizeIn = 0;
    size_t m_SizeOut = 0;
    size_t m_PartsIn = 0;
    size_t m_PartsOut = 0;
    bool m_IsInverse = false;
    bool m_IsMirrored = false; ///< the input has half of the frequencies
};

/// Reads line `line` of the input for the transform.
template <typename T>
void LoadLine(const DftPlan& plan, const T* in, size_t line, Complex* data)
{
    const T* from = in + (line / plan.m_Inner * plan.m_SizeIn * plan.m_Inner + line % plan.m_Inner) * plan.m_PartsIn;
    const size_t wanted = plan.m_IsMirrored ? plan.m_Length / 2 + 1 : plan.m_Length;
    const size_t used = std::min(plan.m_SizeIn, wanted);
    std::fill(data + used, data + plan.m_Length, Complex());
    for (size_t i = 0; i < used; ++i, from += plan.m_Inner * plan.m_PartsIn)
    {
        data[i] = {static_cast<double>(from[0]), plan.m_PartsIn == 2 ? static_cast<double>(from[1]) : 0.0};
    }
    if (plan.m_IsMirrored)
    {
        // Real numbers have a real frequency 0 and, if the length is even, a real frequency length / 2.
        data[0].m_Imaginary = 0.0;
        for (size_t i = 1; 2 * i < plan.m_Length; ++i)
        {
            data[plan.m_Length - i] = Conjugate(data[i]);
        }
        if (plan.m_Length % 2 == 0)
        {
            data[plan.m_Length / 2].m_Imaginary = 0.0;
        }
    }
}

template <typename T>
void StoreLine(const DftPlan& plan, const Complex* data, size_t line, T* out)
{
    T* to = out + (line / plan.m_Inner * plan.m_SizeOut * plan.m_Inner + line % plan.m_Inner) * plan.m_PartsOut;
    const double scale = plan.m_IsInverse ? 1.0 / static_cast<double>(plan.m_Length) : 1.0;
    for (size_t i = 0; i < plan.m_SizeOut; ++i, to += plan.m_Inner * plan.m_PartsOut)
    {
        to[0] = FromAccumulator<T>(data[i].m_Real * scale);
        if (plan.m_PartsOut == 2)
        {
            to[1] = FromAccumulator<T>(data[i].m_Imaginary * scale);
        }
    }
}

/// The kernel. Float types.
template <typename T>
backends::Prepared MakeDft(const DftPlan& plan)
{
    const size_t lines = plan.m_Outer * plan.m_Inner;
    const auto run = [plan, lines](const ExecuteArgs& args)
    {
        const auto transform = [&](size_t task, size_t begin, size_t end)
        {
            Complex* data = static_cast<Complex*>(args.m_Scratch) + task * plan.m_Fft->GetSize();
            for (size_t line = begin; line < end; ++line)
            {
                LoadLine(plan, args.GetInput<T>(0), line, data);
                plan.m_Fft->Run(data, plan.m_IsInverse ? FftDirection::Backward : FftDirection::Forward);
                StoreLine(plan, data, line, args.GetOutput<T>(0));
            }
        };
        RunTasks(*args.m_Parallel, lines, transform);
    };
    backends::Scratch scratch;
    scratch.Add<Complex>(plan.m_Fft->GetSize(), std::min(lines, MaxTasks));
    return backends::Prepared(run, scratch.GetBytes());
}

} // namespace tenon::ref
