// OpenCV's version as a contender.
#include <opencv2/core.hpp>

#include "runtime/include/halo/abi.h"

extern "C" {

void opencv(const halo_image *images);

void contender_prepare(int threads)
{
    cv::setNumThreads(threads);
}

int contender_run(const halo_image *images, const halo_exec *)
{
    try {
        opencv(images);
        return 0;
    } catch (const cv::Exception &) {
        return 1;
    }
}

}
