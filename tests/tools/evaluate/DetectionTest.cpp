// SPDX-License-Identifier: Apache-2.0
// Detection: outputs, categories and COCO's files, with refusals of broken ones.
#include "Boxes.hpp"

namespace tenon::tools::evaluate
{
namespace
{

class Detection : public Boxes
{
protected:
    /// Two boxes of 100x50 pixels, of which one is found.
    Detection()
    {
        WriteRows("a.npy", {{0.1F, 0.2F, 0.3F, 0.6F, 0, 0.9F}, {0.5F, 0.5F, 0.6F, 0.6F, 1, 0.8F}});
        WriteRows("b.npy", {});
    }

    static std::string Pictures()
    {
        return R"("images": [{"id": 7, "file_name": "b.npy", "width": 100, "height": 100},
                             {"id": 3, "file_name": "val/a.npy", "width": 100, "height": 50}])";
    }

    static std::string Categories() { return R"("categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}])"; }

    static std::string WithAnnotations(const std::string& annotations)
    {
        return "{" + Pictures() + ", \"annotations\": [" + annotations + "], " + Categories() + "}";
    }

    static std::string Usual()
    {
        return WithAnnotations(R"({"id": 1, "image_id": 3, "category_id": 1, "bbox": [20, 5, 40, 10], "area": 400,
                                   "iscrowd": 0, "segmentation": [[1, 2, 3], [4, 5]]},
                                  {"id": 2, "image_id": 7, "category_id": 1, "bbox": [0, 0, 10, 10]})");
    }
};

TEST_F(Detection, FiguresHaveTheLinesOfPycocotools)
{
    const std::string report = m_Folder.Path("report.json");
    const std::string detections = m_Folder.Path("detections.json");
    const Outcome outcome = Run({"-g", Truth(Usual()), "--report-json", report, "--write-detections", detections});
    ASSERT_EQ(outcome.m_Status, 0) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error, "");
    EXPECT_TRUE(Has(outcome.m_Out, "detection of 2 pictures in '"));
    EXPECT_TRUE(
        Has(outcome.m_Out, " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.505\n"));
    EXPECT_TRUE(
        Has(outcome.m_Out, " Average Recall     (AR) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = -1.000\n"));
    const Json json = Json::Parse(ReadFile(report));
    EXPECT_EQ(json.At("task").m_Text, "detection");
    EXPECT_NEAR(json.At("summary").At("AP50").m_Number, 51.0 / 101.0, 1e-12);
    EXPECT_EQ(json.At("files").m_Items.at(0).At("file").m_Text, "val/a.npy") << "by id";
    EXPECT_EQ(json.At("files").m_Items.at(0).At("found").m_Number, 1.0);
    EXPECT_EQ(json.At("files").m_Items.at(0).At("wrong").m_Number, 1.0);
    EXPECT_EQ(json.At("files").m_Items.at(1).At("missed").m_Number, 1.0);
    const Json written = Json::Parse(ReadFile(detections));
    ASSERT_EQ(written.m_Items.size(), 2U);
    EXPECT_EQ(written.m_Items[0].At("image_id").m_Number, 3.0);
    EXPECT_EQ(written.m_Items[1].At("category_id").m_Number, 2.0);
    EXPECT_NEAR(written.m_Items[0].At("bbox").m_Items.at(0).m_Number, 20.0, 1e-5);
    EXPECT_NEAR(written.m_Items[0].At("bbox").m_Items.at(3).m_Number, 10.0, 1e-5);
}

TEST_F(Detection, OutputsHaveOtherOrdersAndFormats)
{
    const std::string model = WriteNetwork("other.tenon", {"scores", "boxes", "classes"});
    const Words command = {"-m", model, "-d", m_Folder.Path("in"), "-c", "CpuRef", "-g", Truth(Usual())};
    ExpectFailure(Evaluate(command), 3, "'scores' is [1,30], which cannot be the boxes of one picture; give the order");
    const std::string found = "area=   all | maxDets=100 ] = 0.505\n";
    const Words parts = With(command, {"--detection-outputs", "scores,boxes,classes", "--min-score", "0.1"});
    EXPECT_TRUE(Has(Evaluate(parts).m_Out, found)) << Evaluate(parts).m_Error;
    EXPECT_TRUE(Has(Evaluate(With(command, {"-o", "boxes,classes,scores", "--min-score", "0.1"})).m_Out, found));
    ExpectFailure(Evaluate(With(command, {"-o", "boxes,scores"})), 2, "there are 3 parts for 2 outputs");
    ExpectFailure(Evaluate(With(command, {"--detection-outputs", "scores,boxes"})), 2, "boxes, classes and scores are");
    ExpectFailure(Evaluate(With(command, {"--detection-outputs", "scores,boxes,class"})), 2,
                  "'class' is none of boxes, classes, scores, count");

    const auto expect = [&](const std::vector<float>& box, const Words& options)
    {
        WriteRows("a.npy", {{box[0], box[1], box[2], box[3], 0, 0.9F}});
        const Outcome outcome = Run(With({"-g", Truth(Usual())}, options));
        EXPECT_TRUE(Has(outcome.m_Out, found)) << options.back() << outcome.m_Out << outcome.m_Error;
    };
    expect({0.2F, 0.1F, 0.6F, 0.3F}, {"--box-format", "xyxy"});
    expect({0.2F, 0.1F, 0.4F, 0.2F}, {"--box-format", "xywh"});
    expect({0.4F, 0.2F, 0.4F, 0.2F}, {"--box-format", "cxcywh"});
    expect({3.1F, 1.2F, 9.3F, 3.6F}, {"--box-unit", "pixel"}); // of an input of 6x31 pixels
    ExpectFailure(Run({"-g", Truth(Usual()), "--box-format", "yx"}), 2, "'yx' is none of yxyx, xyxy, xywh, cxcywh");
}

TEST_F(Detection, ClassesBecomeCategories)
{
    const std::string found = "IoU=0.50      | area=   all | maxDets=100 ] = 0.505\n";
    const std::string none = "IoU=0.50      | area=   all | maxDets=100 ] = 0.000\n";
    const auto run = [&](const Words& options) { return Run(With({"-g", Truth(Usual())}, options)); };
    EXPECT_TRUE(Has(run({"--class-map", "order"}).m_Out, found));
    EXPECT_TRUE(Has(run({"--class-map", "1"}).m_Out, found));
    const Outcome other = run({"--class-map", "2"});
    EXPECT_TRUE(Has(other.m_Out, none)) << other.m_Out;
    EXPECT_TRUE(Has(other.m_Out, "1 of 2 detections are of classes without a category and do not count\n"));
    const std::string labels = m_Folder.Write("labels.txt", "cat\ncow\n");
    EXPECT_TRUE(Has(run({"--labels", labels}).m_Out, found));
    const std::string others = m_Folder.Write("others.txt", "cow\nhen\n");
    ExpectFailure(run({"--labels", others}), 3, "none of the 2 labels is the name of one of the ground truth's 2");
    ExpectFailure(run({"--class-map", "names"}), 2, "the model's classes have no names; give them with --labels");
    ExpectFailure(run({"--class-map", "name"}), 2, "'name' is none of names, order and a whole number");
}

TEST_F(Detection, WrongOutputsAreFailuresOfPictures)
{
    WriteRows("b.npy", {{std::numeric_limits<float>::infinity(), 0, 1, 1, 0, 0.5F}});
    const Outcome infinite = Run({"-g", Truth(Usual())});
    ExpectFailure(infinite, 3, "1 of 2 pictures failed");
    EXPECT_TRUE(Has(infinite.m_Error, "'b.npy': detection 0 has numbers that are infinite or NaN")) << infinite.m_Error;
    EXPECT_TRUE(Has(infinite.m_Out, "maxDets=100 ] = 1.000\n")) << "of the other one";
    std::vector<float> values(size_t{NumDetections + 1} * 6, -1.0F);
    WriteFloats("in/b.npy", {1, NumDetections + 1, 6}, values);
    EXPECT_TRUE(Has(Run({"-g", Truth(Usual())}).m_Error, "the count of detections is -1, but there are 30 boxes"));
}

TEST_F(Detection, BrokenFilesAreRefused)
{
    const auto refuse = [&](const std::string& json, const std::string& words) {
        ExpectFailure(Run({"-g", Truth(json)}), 3, words);
    };
    refuse("{\"images\": [", "it is no valid JSON: parse error at line 1, column 13");
    refuse("{\"images\": [{\"id\": 1e999}]}", "it is no valid JSON");
    refuse("[1, 2]", "it has no list 'images', as COCO's files");
    refuse("{\"images\": [], \"annotations\": []}", "it has no list 'categories'");
    refuse("{\"a\": " + std::string(100, '['), "its values are nested in more than 64 others");
    refuse("{\"images\": [], \"annotations\": [], " + Categories() + "}", "it has no pictures");
    const auto refuseAnnotation = [&](const std::string& json, const std::string& words)
    { refuse(WithAnnotations(json), "annotations[0]: " + words); };
    refuseAnnotation(R"({"id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]})", "it has no number 'image_id'");
    refuseAnnotation(R"({"id": 1, "image_id": "3", "category_id": 1, "bbox": [0, 0, 1, 1]})",
                     "it has no number 'image_id'");
    refuseAnnotation(R"({"id": 1.5, "image_id": 3, "category_id": 1, "bbox": [0, 0, 1, 1]})",
                     "'id' is 1.5, no whole number");
    refuseAnnotation(R"({"id": 1, "image_id": 3, "category_id": 1, "bbox": [0, 0, 1]})", "'bbox' must be four numbers");
    refuseAnnotation(R"({"id": 1, "image_id": 3, "category_id": 1, "bbox": [0, 0, -1, 1]})",
                     "'bbox' must be four numbers");
    refuseAnnotation(R"({"id": 1, "image_id": 3, "category_id": 1, "bbox": [0, 0, 1, 1, 1, 1, 1, 1]})",
                     "'bbox' must be four numbers");
    refuseAnnotation(R"({"id": 1, "image_id": 3, "category_id": 1})", "'bbox' must be four numbers");
    refuseAnnotation(R"({"id": 1, "image_id": 4, "category_id": 1, "bbox": [0, 0, 1, 1]})",
                     "there is no image with the id 4");
    refuseAnnotation(R"({"id": 1, "image_id": 3, "category_id": 5, "bbox": [0, 0, 1, 1]})",
                     "there is no category with the id 5");
    const std::string twice = R"({"id": 1, "image_id": 3, "category_id": 1, "bbox": [0, 0, 1, 1]})";
    refuse(WithAnnotations(twice + "," + twice), "annotations[1]: the id 1 is there twice");
    const auto refusePictures = [&](const std::string& pictures, const std::string& words)
    { refuse("{\"images\": [" + pictures + "], \"annotations\": [], " + Categories() + "}", words); };
    const std::string a = R"({"id": 1, "file_name": "a.npy"})";
    refusePictures(a + "," + a, "images[1]: the id 1 is there twice");
    refusePictures(a + R"(, {"id": 2, "file_name": "a.npy"})", "images[1]: the file 'a.npy' is there twice");
    refusePictures(a + R"(, {"id": 2, "file_name": "other/a.npy"})", "are the same picture");
    refusePictures(R"({"id": 1})", "images[0]: it has no text 'file_name'");
    refusePictures(R"({"id": 1, "file_name": "none.jpg"}, {"id": 2, "file_name": "a.npy"})",
                   "1 of 2 pictures are not in '" + m_Folder.Path("in") + "': 'none.jpg'");
    refuse("{\"images\": [" + a +
               R"(], "annotations": [], "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "a"}]})",
           "categories[1]: the name 'a' is there twice");
    const Outcome size = Run({"-g", Truth("{\"images\": [" + a + "], \"annotations\": [], " + Categories() + "}")});
    EXPECT_TRUE(Has(size.m_Error, "the ground truth must say 'width' and 'height'")) << size.m_Error;
    ExpectFailure(size, 3, "1 of 1 pictures failed");
}

} // namespace
} // namespace tenon::tools::evaluate
