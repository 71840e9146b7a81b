#include <opencv2/imgproc.hpp>

#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    const halo_image &src = images[0], &out = images[1];
    cv::Mat from(src.extent[1], src.extent[0], CV_32FC3, src.data, (size_t)src.stride[1]);
    cv::Mat to(out.extent[1], out.extent[0], CV_32FC3, out.data, (size_t)out.stride[1]);
    cv::GaussianBlur(from, to, {31, 31}, 0, 0, cv::BORDER_REPLICATE);
}
