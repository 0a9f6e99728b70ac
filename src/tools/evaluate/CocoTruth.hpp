// SPDX-License-Identifier: Apache-2.0
// COCO's JSON file of a ground truth for detection.
#pragma once

#include "tools/evaluate/CocoFigures.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

struct CocoPicture
{
    int64_t m_Id = 0;
    std::string m_File;
    double m_Width = 0.0; ///< 0 if the file does not say it
    double m_Height = 0.0;
    std::vector<TruthBox> m_Boxes;
};

struct CocoCategory
{
    int64_t m_Id = 0;
    std::string m_Name;
};

struct CocoTruth
{
    std::vector<CocoPicture> m_Pictures;    ///< by id
    std::vector<CocoCategory> m_Categories; ///< by id
};

/// Boxes have categories by their place in m_Categories. The area of a box without one is its width by its height; the
/// crowd's flag is 0 where it is absent. Throws InputError, which names the file and the place, for broken JSON,
/// members that are missing or of another type, ids and names that are there twice, and ids that are nowhere.
CocoTruth ReadCocoTruth(const std::string& path);

} // namespace tenon::tools::evaluate
