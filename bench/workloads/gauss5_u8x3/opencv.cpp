// Fixed point, with several threads.
#include <opencv2/imgproc.hpp>

#include "runtime/include/halo/abi.h"

extern "C" void opencv(const halo_image *images)
{
    cv::Mat src(images[0].extent[1], images[0].extent[0], CV_8UC3, images[0].data, images[0].stride[1]);
    cv::Mat out(images[1].extent[1], images[1].extent[0], CV_8UC3, images[1].data, images[1].stride[1]);
    cv::GaussianBlur(src, out, cv::Size(5, 5), 0, 0, cv::BORDER_REPLICATE);
}
