// SPDX-License-Identifier: Apache-2.0
// See CocoTruth.hpp. Values are taken as the parser meets them, so that memory follows from pictures and boxes, not
// from the polygons and texts that such files also have.
#include "tools/evaluate/CocoTruth.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/JsonReading.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

/// Largest whole numbers that a double has all of.
constexpr double MaxId = 9007199254740992.0;

/// The members of an object of one of the file's lists.
struct Item
{
    std::map<std::string, double, std::less<>> m_Numbers;
    std::map<std::string, std::string, std::less<>> m_Texts;
    std::optional<std::vector<double>> m_Box;
};

struct Annotation
{
    int64_t m_Picture = 0;
    int64_t m_Category = 0;
    TruthBox m_Box;
};

/// Takes the values of the file in its order.
class Reader final : public JsonHandler
{
public:
    bool null() override { return TakeOther(); }
    bool boolean(bool value) override { return TakeNumber(value ? 1.0 : 0.0); }
    bool number_integer(number_integer_t value) override { return TakeNumber(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return TakeNumber(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t&) override { return TakeNumber(value); }
    bool binary(binary_t&) override { return TakeOther(); }

    bool string(string_t& value) override
    {
        if (Depth() == ItemDepth && (m_Key == "file_name" || m_Key == "name"))
        {
            m_Item.m_Texts[m_Key] = std::move(value);
        }
        return TakeOther();
    }

    bool start_object(size_t) override
    {
        Enter();
        if (Depth() == ItemDepth)
        {
            m_Item = Item();
        }
        return true;
    }

    bool key(string_t& name) override
    {
        if (Depth() == 1)
        {
            m_List = name;
        }
        else if (Depth() == ItemDepth)
        {
            m_Key = std::move(name);
        }
        return true;
    }

    bool end_object() override
    {
        if (Depth() == ItemDepth)
        {
            Take();
        }
        Leave();
        return true;
    }

    bool start_array(size_t) override
    {
        Enter();
        if (Depth() == ListDepth)
        {
            m_NumItems = 0;
            m_Lists.insert(m_List);
        }
        if (Depth() == ItemDepth + 1 && m_Key == "bbox")
        {
            m_Item.m_Box.emplace();
        }
        return true;
    }

    bool end_array() override
    {
        Leave();
        return true;
    }

    CocoTruth Finish()
    {
        for (const char* list : {"images", "annotations", "categories"})
        {
            if (!m_Lists.contains(list))
            {
                throw InputError(
                    fmt::format("it has no list '{}', as COCO's files of a ground truth for detection have", list));
            }
        }
        const auto byId = [](const auto& a, const auto& b) { return a.m_Id < b.m_Id; };
        std::sort(m_Truth.m_Pictures.begin(), m_Truth.m_Pictures.end(), byId);
        std::sort(m_Truth.m_Categories.begin(), m_Truth.m_Categories.end(), byId);
        for (size_t i = 0; i < m_Annotations.size(); ++i)
        {
            const auto find = [&](auto& list, int64_t id, const char* kind) -> size_t
            {
                const auto found = std::lower_bound(
                    list.begin(), list.end(), id, [](const auto& each, int64_t wanted) { return each.m_Id < wanted; });
                if (found == list.end() || found->m_Id != id)
                {
                    throw InputError(fmt::format("annotations[{}]: there is no {} with the id {}", i, kind, id));
                }
                return static_cast<size_t>(found - list.begin());
            };
            Annotation& annotation = m_Annotations[i];
            annotation.m_Box.m_Category = find(m_Truth.m_Categories, annotation.m_Category, "category");
            m_Truth.m_Pictures[find(m_Truth.m_Pictures, annotation.m_Picture, "image")].m_Boxes.push_back(
                annotation.m_Box);
        }
        return std::move(m_Truth);
    }

private:
    // The file is an object of lists of objects.
    static constexpr size_t ListDepth = 2;
    static constexpr size_t ItemDepth = 3;

    bool TakeNumber(double value)
    {
        if (Depth() == ItemDepth)
        {
            constexpr std::string_view names[] = {"id",          "width", "height", "image_id",
                                                  "category_id", "area",  "iscrowd"};
            if (std::find(std::begin(names), std::end(names), m_Key) != std::end(names))
            {
                m_Item.m_Numbers[m_Key] = value;
            }
        }
        else if (Depth() == ItemDepth + 1 && m_Key == "bbox" && m_Item.m_Box && m_Item.m_Box->size() <= 4)
        {
            m_Item.m_Box->push_back(value);
        }
        return TakeOther();
    }

    bool TakeOther() const
    {
        if (Depth() == 0)
        {
            throw InputError("it is no object of lists, as COCO's files of a ground truth are");
        }
        return true;
    }

    std::string Place() const { return fmt::format("{}[{}]", m_List, m_NumItems); }

    double Number(const char* name) const
    {
        const auto found = m_Item.m_Numbers.find(name);
        if (found == m_Item.m_Numbers.end())
        {
            throw InputError(fmt::format("{}: it has no number '{}'", Place(), name));
        }
        return found->second;
    }

    int64_t Id(const char* name) const
    {
        const double id = Number(name);
        if (std::fabs(id) > MaxId || id != std::floor(id))
        {
            throw InputError(fmt::format("{}: '{}' is {}, no whole number", Place(), name, id));
        }
        return static_cast<int64_t>(id);
    }

    const std::string& Text(const char* name) const
    {
        const auto found = m_Item.m_Texts.find(name);
        if (found == m_Item.m_Texts.end() || found->second.empty())
        {
            throw InputError(fmt::format("{}: it has no text '{}'", Place(), name));
        }
        return found->second;
    }

    template <typename Key>
    void RequireNew(std::set<Key>& seen, const Key& key, const std::string& what) const
    {
        if (!seen.insert(key).second)
        {
            throw InputError(fmt::format("{}: {} is there twice", Place(), what));
        }
    }

    void Take()
    {
        if (m_List == "images")
        {
            TakePicture();
        }
        else if (m_List == "categories")
        {
            const CocoCategory category = {Id("id"), Text("name")};
            RequireNew(m_CategoryIds, category.m_Id, fmt::format("the id {}", category.m_Id));
            RequireNew(m_CategoryNames, category.m_Name, fmt::format("the name '{}'", OneLine(category.m_Name)));
            m_Truth.m_Categories.push_back(category);
        }
        else if (m_List == "annotations")
        {
            TakeAnnotation();
        }
        ++m_NumItems;
    }

    void TakePicture()
    {
        CocoPicture picture;
        picture.m_Id = Id("id");
        picture.m_File = Text("file_name");
        RequireNew(m_PictureIds, picture.m_Id, fmt::format("the id {}", picture.m_Id));
        RequireNew(m_PictureFiles, picture.m_File, fmt::format("the file '{}'", OneLine(picture.m_File)));
        if (m_Item.m_Numbers.contains("width") && m_Item.m_Numbers.contains("height"))
        {
            picture.m_Width = Number("width");
            picture.m_Height = Number("height");
        }
        m_Truth.m_Pictures.push_back(std::move(picture));
    }

    void TakeAnnotation()
    {
        Annotation annotation;
        const int64_t id = Id("id");
        RequireNew(m_AnnotationIds, id, fmt::format("the id {}", id));
        annotation.m_Picture = Id("image_id");
        annotation.m_Category = Id("category_id");
        const std::vector<double> box = m_Item.m_Box.value_or(std::vector<double>());
        const bool isBox =
            box.size() == 4 && std::all_of(box.begin(), box.end(), [](double side) { return std::isfinite(side); });
        if (!isBox || box[2] < 0.0 || box[3] < 0.0)
        {
            throw InputError(fmt::format("{}: 'bbox' must be four numbers, left, top, width and height, the last two "
                                         "not below 0",
                                         Place()));
        }
        annotation.m_Box.m_Box = {box[0], box[1], box[2], box[3]};
        annotation.m_Box.m_Area = m_Item.m_Numbers.contains("area") ? Number("area") : box[2] * box[3];
        annotation.m_Box.m_IsCrowd = m_Item.m_Numbers.contains("iscrowd") && Number("iscrowd") != 0.0;
        m_Annotations.push_back(annotation);
    }

    std::string m_List; ///< the name of the file's list
    std::string m_Key;  ///< the name of the item's member
    size_t m_NumItems = 0;
    Item m_Item;
    std::set<std::string> m_Lists;
    std::set<int64_t> m_PictureIds;
    std::set<std::string> m_PictureFiles;
    std::set<int64_t> m_CategoryIds;
    std::set<std::string> m_CategoryNames;
    std::set<int64_t> m_AnnotationIds;
    CocoTruth m_Truth;
    std::vector<Annotation> m_Annotations;
};

} // namespace

CocoTruth ReadCocoTruth(const std::string& path)
{
    try
    {
        const std::string content = InputSource(path).ReadAll();
        Reader reader;
        nlohmann::json::sax_parse(content, &reader);
        return reader.Finish();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("ground truth '{}': {}", OneLine(path), error.what()));
    }
}

} // namespace tenon::tools::evaluate
