/* OpenCV's functions behind one another: grey and its blur in whole numbers, the detail added to the three components. */
#include <opencv2/imgproc.hpp>

#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    const halo_image &src = images[0], &out = images[1];
    cv::Mat from(src.extent[1], src.extent[0], CV_8UC3, src.data, (size_t)src.stride[1]);
    cv::Mat to(out.extent[1], out.extent[0], CV_8UC3, out.data, (size_t)out.stride[1]);
    static cv::Mat grey, blurred, detail, details;
    cv::cvtColor(from, grey, cv::COLOR_RGB2GRAY);
    cv::GaussianBlur(grey, blurred, {7, 7}, 1.5, 1.5, cv::BORDER_REPLICATE);
    cv::addWeighted(grey, 0.8, blurred, -0.8, 0, detail, CV_16S);
    cv::merge(std::vector<cv::Mat>{detail, detail, detail}, details);
    cv::add(from, details, to, cv::noArray(), CV_8U);
}
