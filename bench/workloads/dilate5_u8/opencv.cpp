// SPDX-License-Identifier: MIT
// dilate5_u8: the largest of a square of five, made once. Its border counts as less than everything.
#include <opencv2/imgproc.hpp>
#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    static const cv::Mat square = cv::getStructuringElement(cv::MORPH_RECT, {5, 5});
    cv::Mat in(images[0].extent[1], images[0].extent[0], CV_8UC1, images[0].data, images[0].stride[1]);
    cv::Mat out(images[1].extent[1], images[1].extent[0], CV_8UC1, images[1].data, images[1].stride[1]);
    cv::dilate(in, out, square);
}
