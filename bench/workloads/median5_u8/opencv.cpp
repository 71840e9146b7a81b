// SPDX-License-Identifier: MIT
// median5_u8: medianBlur repeats the edge, as the script does.
#include <opencv2/imgproc.hpp>
#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    cv::Mat in(images[0].extent[1], images[0].extent[0], CV_8UC1, images[0].data, images[0].stride[1]);
    cv::Mat out(images[1].extent[1], images[1].extent[0], CV_8UC1, images[1].data, images[1].stride[1]);
    cv::medianBlur(in, out, 5);
}
