/* Rounding to integers: adding 2^52 (2^23) leaves no bits behind the point. */

double rint(double x) {
  const double a = fabs(x), whole = (a + 0x1p52) - 0x1p52;
  return copysign(a < 0x1p52 ? whole : a, x);
}

float rintf(float x) {
  const float a = fabsf(x), whole = (a + 0x1p23f) - 0x1p23f;
  return copysignf(a < 0x1p23f ? whole : a, x);
}

double floor(double x) {
  const double whole = rint(x);
  return copysign(whole > x ? whole - 1.0 : whole, x);
}

float floorf(float x) {
  const float whole = rintf(x);
  return copysignf(whole > x ? whole - 1.0f : whole, x);
}

double ceil(double x) {
  const double whole = rint(x);
  return copysign(whole < x ? whole + 1.0 : whole, x);
}

float ceilf(float x) {
  const float whole = rintf(x);
  return copysignf(whole < x ? whole + 1.0f : whole, x);
}

/* the f64 helpers of f32 pow need these two, too; a NaN gives way to the other operand */
double fmin(double x, double y) {
  return x < y || y != y ? x : y;
}

double fmax(double x, double y) {
  return x > y || y != y ? x : y;
}
