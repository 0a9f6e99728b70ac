// SPDX-License-Identifier: Apache-2.0
// PlannedThreads: see PlannedThreads.hpp.
#include "common/PlannedThreads.hpp"

#include <climits>

#include <algorithm>

namespace tenon
{

namespace
{

thread_local unsigned int planned = UINT_MAX;

} // namespace

PlannedThreads::PlannedThreads(unsigned int threads) : m_Before(planned)
{
    planned = std::min(planned, threads);
}

PlannedThreads::~PlannedThreads()
{
    planned = m_Before;
}

unsigned int PlannedThreads::Get()
{
    return planned;
}

} // namespace tenon
