// SPDX-License-Identifier: Apache-2.0
// Files that the programs for Arm NN in this folder read: pictures as text (PGM), and lists of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace common
{

/// Grey values from 0 to 255, row by row.
using Picture = std::vector<std::uint8_t>;

/// All numbers, or words, of a text file.
template <typename T>
std::vector<T> ReadNumbers(const std::string& path)
{
    std::ifstream file(path);
    std::vector<T> numbers;
    T number;
    while (file >> number)
    {
        numbers.push_back(number);
    }
    if (!file.eof() || numbers.empty())
    {
        throw std::runtime_error("cannot read numbers from " + path);
    }
    return numbers;
}

/// The square pictures that stand one below the other in a PGM file of text.
inline std::vector<Picture> ReadPictures(const std::string& path)
{
    std::ifstream file(path);
    std::string magic;
    std::string comment;
    std::size_t width = 0;
    std::size_t height = 0;
    unsigned int white = 0;
    std::getline(file, magic);
    std::getline(file, comment);
    file >> width >> height >> white;
    if (!file || magic != "P2" || comment.empty() || comment[0] != '#' || width == 0 || white != 255)
    {
        throw std::runtime_error(path + " is no PGM file of text with a comment");
    }
    std::vector<Picture> pictures(height / width, Picture(width * width));
    for (Picture& picture : pictures)
    {
        for (std::uint8_t& pixel : picture)
        {
            unsigned int value = 0;
            if (!(file >> value))
            {
                throw std::runtime_error(path + " ends too early");
            }
            pixel = static_cast<std::uint8_t>(value);
        }
    }
    return pictures;
}

} // namespace common
