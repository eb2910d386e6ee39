/* The same under its other name. */
#pragma once
#include "cuda_pipeline.h"
