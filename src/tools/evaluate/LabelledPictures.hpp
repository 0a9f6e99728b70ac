// SPDX-License-Identifier: Apache-2.0
// The ground truth of a classification.
#pragma once

#include "tools/evaluate/ClassNames.hpp"
#include "tools/evaluate/PictureList.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

struct LabelledPicture
{
    size_t m_Picture = 0; ///< in the list
    size_t m_Class = 0;
};

struct LabelledPictures
{
    std::vector<LabelledPicture> m_Pictures; ///< in the order of the list
    std::vector<std::string> m_Remarks;      ///< for people
};

/// A text of lines "picture label", with a blank or tab between them, or of one label a line, for all pictures in the
/// order of the list. Throws InputError, which names the line, for labels without a class, pictures that are not there
/// or are there twice, and for another number of lines.
LabelledPictures ReadLabelledPictures(const std::string& path, const PictureList& pictures, const ClassNames& classes,
                                      int offset);

/// The names of the folders as labels. Where classes have no names and the folders no numbers, the folders in the order
/// of their names are the classes. Throws InputError.
LabelledPictures LabelByFolders(const PictureList& pictures, const ClassNames& classes, int offset);

} // namespace tenon::tools::evaluate
