// SPDX-License-Identifier: Apache-2.0
// NetworkSize: how large a network gets that a front end makes of a model, nested networks included, against Limits. A
// small file can ask for much: its parts may call each other, each twice from the one before.
#pragma once

#include <tenon/Limits.hpp>

#include <cstdint>

namespace tenon::parsers
{

class NetworkSize
{
public:
    /// `parts`: what the format calls the parts of a model that operators call, in the plural: "subgraphs".
    NetworkSize(const Limits& limits, const char* parts) : m_Limits(limits), m_Parts(parts) {}

    /// One layer more. Throws ParseException where there are too many.
    void CountLayer();
    /// Counts a visit of a part that is called. `cost`: its operators and tensors. Throws ParseException where it is
    /// too much.
    void CountVisit(uint64_t cost);
    /// Counts bytes of constants that are not in the file but made of what it says. Throws ParseException where they
    /// are too many.
    void CountBytes(uint64_t bytes);

    /// Counts a level of parts within parts while it lives.
    class Level
    {
    public:
        /// Throws ParseException where there are too many.
        explicit Level(NetworkSize& size);
        ~Level() { --m_Size.m_Depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

    private:
        NetworkSize& m_Size;
    };

private:
    Limits m_Limits;
    const char* m_Parts;
    uint64_t m_NumLayers = 0;
    uint64_t m_VisitCost = 0;
    uint64_t m_NumBytes = 0;
    unsigned int m_Depth = 0;
};

} // namespace tenon::parsers
