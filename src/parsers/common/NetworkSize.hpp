// SPDX-License-Identifier: Apache-2.0
// NetworkSize: checks the size of a network that a front end makes, nested networks included, against Limits. A small
// file can require a large network: its parts may call each other, each part the next one twice.
#pragma once

#include <tenon/Limits.hpp>

#include <cstdint>

namespace tenon::parsers
{

class NetworkSize
{
public:
    /// `parts`: the format's word, in the plural, for the parts of a model that operators call: "subgraphs".
    NetworkSize(const Limits& limits, const char* parts) : m_Limits(limits), m_Parts(parts) {}

    /// Counts one layer. Throws ParseException if there are too many.
    void CountLayer();
    /// Counts a visit of a part that is called. `cost`: its operators and tensors. Throws ParseException if it is too
    /// much.
    void CountVisit(uint64_t cost);
    /// Counts bytes of constants that are not in the file but generated from it, or of states that it does not declare.
    /// Throws ParseException if there are too many.
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
