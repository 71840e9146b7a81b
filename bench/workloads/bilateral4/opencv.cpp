// SPDX-License-Identifier: MIT
// bilateral4: the same disk of 49 neighbours; the weights of values come from a table with interpolation.
#include <opencv2/imgproc.hpp>
#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    cv::Mat in(images[0].extent[1], images[0].extent[0], CV_32FC1, images[0].data, images[0].stride[1]);
    cv::Mat out(images[1].extent[1], images[1].extent[0], CV_32FC1, images[1].data, images[1].stride[1]);
    cv::bilateralFilter(in, out, 9, 0.1, 2.0, cv::BORDER_REFLECT_101);
}
