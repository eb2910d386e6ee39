/* Bits of floats, and what gcc has no plain C for. */

static inline uint32_t pd_bits_of_f32(float x) {
  union { float f; uint32_t i; } u = {x};
  return u.i;
}

static inline float pd_f32_of_bits(uint32_t x) {
  union { uint32_t i; float f; } u = {x};
  return u.f;
}

static inline uint64_t pd_bits_of_f64(double x) {
  union { double f; uint64_t i; } u = {x};
  return u.i;
}

static inline double pd_f64_of_bits(uint64_t x) {
  union { uint64_t i; double f; } u = {x};
  return u.f;
}

/* sign, exponent and the first 20 bits of the fraction */
static inline uint32_t pd_high_of_f64(double x) {
  union { double f; uint32_t i[2]; } u = {x};
  return u.i[1];
}

static inline uint32_t pd_low_of_f64(double x) {
  union { double f; uint32_t i[2]; } u = {x};
  return u.i[0];
}

static inline double pd_f64_of_words(uint32_t high, uint32_t low) {
  union { uint32_t i[2]; double f; } u = {{low, high}};
  return u.f;
}
