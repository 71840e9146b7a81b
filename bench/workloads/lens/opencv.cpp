// SPDX-License-Identifier: MIT
// lens: undistort has the same model, with the distance to the corner as its focal length, and black outside.
#include <cmath>
#include <opencv2/calib3d.hpp>
#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    int width = images[0].extent[0], height = images[0].extent[1];
    double cx = (width - 1) / 2.0, cy = (height - 1) / 2.0, corner = std::sqrt(cx * cx + cy * cy);
    cv::Matx33d camera(corner, 0, cx, 0, corner, cy, 0, 0, 1);
    cv::Vec4d distortion(-0.1, 0.02, 0, 0);
    cv::Mat in(height, width, CV_8UC3, images[0].data, images[0].stride[1]);
    cv::Mat out(height, width, CV_8UC3, images[1].data, images[1].stride[1]);
    cv::undistort(in, out, camera, distortion);
}
