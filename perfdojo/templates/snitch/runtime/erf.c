/* The error function of f64: a polynomial for each interval of length 1/2. */

/* erf(x) / x - 1 in powers of x^2, for |x| <= 0.5 */
static const double pd_erf_terms[] = {
  0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b29p-4, -0x1.b82ce3127f739p-6,
  0x1.565bcd0aa6349p-8, -0x1.c02db23d41138p-11, 0x1.f9a2a6635fe79p-14, -0x1.f4bb9f7301dedp-17,
  0x1.b776442df304p-20, -0x1.39fb524e9c1efp-23,
};

/* rows for [0.5, 1] to [5.5, 6]: erf in the middle m, in two parts; terms of (erf(m + t) - erf m) / t */
static const double pd_erf_table[][16] = {
  { /* 0.75: largest error 1.1e-17 */
    0x1.6c1c9759d0e5fp-1, 0x1.b1432f2cbc455p-55, 0x1.492e42d78d2c5p-1, -0x1.edc5644353c27p-2,
    0x1.b6e8591f668b1p-6, 0x1.349b5eaa145eap-3, -0x1.b42a1890a0eb8p-5, -0x1.b8477966dbf42p-6,
    0x1.2e0afae9b530ep-6, 0x1.2db3337432936p-9, -0x1.04104485a7efbp-8, 0x1.8621f0de0d331p-13,
    0x1.4713cff8b7184p-11, -0x1.bd1e9c7fe50b1p-14, -0x1.372fab2a1ba55p-14, 0x1.675395e3bdbf4p-16},
  { /* 1.25: largest error 2.1e-18 */
    0x1.d8865d98abe01p-1, -0x1.fcec4afb974d9p-55, 0x1.e4652fadcb6b2p-3, -0x1.2ebf3dcc9f22fp-2,
    0x1.571d01c5c576p-3, -0x1.93a9a7bb7f1c7p-8, -0x1.8281ce0b5d725p-5, 0x1.5d0003af8124bp-6,
    0x1.db43ca6554e5ap-9, -0x1.75672d04e991p-8, 0x1.cc21a7ad7d28ap-11, 0x1.a00773a339255p-11,
    -0x1.539192b8c3af5p-12, -0x1.ba9b344b2cf86p-15, 0x1.c8ae910f36d87p-15, -0x1.6dbb6aec33b37p-19},
  { /* 1.75: largest error 1.2e-18 */
    0x1.f92d077f8d56dp-1, 0x1.8b55ef493fce7p-56, 0x1.b055303221016p-5, -0x1.7a4a8a2bdce13p-4,
    0x1.7148c3d57c26ep-4, -0x1.8a0da54306143p-5, 0x1.b22257dda5c39p-8, 0x1.25b378c926554p-7,
    -0x1.8d10fba945f4bp-8, 0x1.7ec1d1f17005dp-11, 0x1.d4cf632c29957p-11, -0x1.d041f779426fp-12,
    -0x1.717f97218bc12p-18, 0x1.200aed2ea315bp-14, -0x1.1d7248362f9a6p-16, -0x1.38d78c66b2429p-18},
  { /* 2.25: largest error 2.1e-19 */
    0x1.ff404760319b4p-1, 0x1.f142071432025p-56, 0x1.d4143a9dfe964p-8, -0x1.074b60f8df349p-6,
    0x1.63ef61e8244dp-6, -0x1.38a98327890c5p-6, 0x1.5d3b17bbcb923p-7, -0x1.7cae0d45c2258p-9,
    -0x1.5f8313369b94p-11, 0x1.0602e347fbee3p-10, -0x1.8352faf51808cp-12, -0x1.80c24d48c8063p-17,
    0x1.11430333dd2cep-14, -0x1.7c985a3b48a97p-16, -0x1.971515026dcb1p-20, 0x1.c65b166c62ff5p-19},
  { /* 2.75: largest error 1.2e-20 */
    0x1.fff2cfb0453d9p-1, 0x1.9a913686042a3p-55, 0x1.3360ccd23db3ap-11, -0x1.a6a519a114d7p-10,
    0x1.69cf466ccdf6ap-9, -0x1.ab0c273ac26ecp-9, 0x1.69359606645b3p-9, -0x1.b2755bfd5d9dbp-10,
    0x1.52b6263fbd742p-11, -0x1.755772e5cf495p-14, -0x1.2abb3d9b15bcp-14, 0x1.cd5952dfd66bp-15,
    -0x1.09d0591ac5944p-16, -0x1.20104c843c482p-20, 0x1.68a9225d22a6dp-19, -0x1.de97da11a90ap-21},
  { /* 3.25: largest error 8.5e-21 */
    0x1.ffff6f9f67e55p-1, 0x1.e1e4483ba034bp-55, 0x1.e9b5e8d00ce8p-16, -0x1.8de3cd290a7c1p-14,
    0x1.9aa489e3ca63dp-13, -0x1.2c7d5ef053d4dp-12, 0x1.490a4d2345c9dp-12, -0x1.145464ea3ea46p-12,
    0x1.647f71f2bfb67p-13, -0x1.567479a82ea0dp-14, 0x1.b2c35b1c8c428p-16, -0x1.3893fa844ef4dp-19,
    -0x1.809bd02211cc8p-19, 0x1.ff552dcb696bep-20, -0x1.1e7cc89ce34dfp-21, -0x1.5a9cc83adaf4p-29},
  { /* 3.75: largest error 1.6e-21 */
    0x1.fffffc2f171e3p-1, 0x1.85edd0395f475p-55, 0x1.d9371e2ff7bf9p-21, -0x1.bba3ac4cf847p-19,
    0x1.0b6a7b0f1cc93p-17, -0x1.d06f58609413ep-17, 0x1.3436bc9f0bfd4p-16, -0x1.4357b55459e4dp-16,
    0x1.110de4e13c93dp-16, -0x1.7566befdb0014p-17, 0x1.99f593d6ebea4p-18, -0x1.5d68f88f822cbp-19,
    0x1.a06761d95439fp-21, -0x1.835421a5a8338p-24, -0x1.037beec04147dp-24, 0x1.70fe33befefedp-25},
  { /* 4.25: largest error 6.8e-23 */
    0x1.fffffff01a8b6p-1, 0x1.23370eca5ca6ap-60, 0x1.155a09065d4b8p-26, -0x1.26afa996c3232p-24,
    0x1.95ea6fdffe3e1p-23, -0x1.96ba7366c1e94p-22, 0x1.3b468018fcb3p-21, -0x1.8868e1d18b0f7p-21,
    0x1.916e9278424b6p-21, -0x1.566f02264ebcfp-21, 0x1.eab4cd71f6037p-22, -0x1.275891fcab90bp-22,
    0x1.27de23e0bfae1p-23, -0x1.e0569906939e8p-25, 0x1.2496c69a00a91p-26, -0x1.8e903fcd79c2ap-29},
  { /* 4.75: largest error 3.1e-23 */
    0x1.ffffffffd759dp-1, 0x1.f7bee7eb2342p-55, 0x1.8a61745ec8f2p-33, -0x1.d453ba308d59dp-31,
    0x1.6a8aeba4080a2p-29, -0x1.9b017abbe490ap-28, 0x1.6b43c96e96861p-27, -0x1.042f2a6971f11p-26,
    0x1.35dc7dedbca55p-26, -0x1.3834e3aec9615p-26, 0x1.0d4de0d7704f3p-26, -0x1.90aa80b288d06p-27,
    0x1.01b972fdd330ap-27, -0x1.1ed6e987814ap-28, 0x1.19bad55fa1f3bp-29, -0x1.bffd73223bb6p-31},
  { /* 5.25: largest error 2.3e-24 */
    0x1.ffffffffffc05p-1, 0x1.07ba96a6b2e1ap-55, 0x1.5422ef5d93bf3p-40, -0x1.be6dda2ac53e3p-38,
    0x1.7f8a0f3a22a32p-36, -0x1.e4cb4ae9a2e52p-35, 0x1.e044b4eb32629p-34, -0x1.83ea4bd5e0266p-33,
    0x1.065940b2186f7p-32, -0x1.2ec544ec7ce54p-32, 0x1.2e3ca696517a6p-32, -0x1.07831523c117dp-32,
    0x1.935d883f87f62p-33, -0x1.1176acf1145cep-33, 0x1.5a5a77795b393p-34, -0x1.6a98a7d902e56p-35},
  { /* 5.75: largest error 6.1e-26 */
    0x1.ffffffffffffcp-1, 0x1.8115fd1b12786p-56, 0x1.63daf8b4f56dfp-48, -0x1.ff8ac583c84d4p-46,
    0x1.e2d06d55f8efbp-44, -0x1.505d953256cb2p-42, 0x1.70b70451091d2p-41, -0x1.4aed68fbd911fp-40,
    0x1.f3c4f7d4b2dfbp-40, -0x1.43c0fc7dd0662p-39, 0x1.6d26b2b537a5ep-39, -0x1.6a55415e480e6p-39,
    0x1.3dc604ba24573p-39, -0x1.f4671b928c8f3p-40, 0x1.7ec7f88c56bb1p-40, -0x1.de94f3adccedfp-41},
};

double erf(double x) {
  const double a = fabs(x);
  if (!(a < 6.0)) { /* from 5.93 on it is 1 */
    return x != x ? x + x : copysign(1.0, x);
  }
  const int32_t interval = (int32_t)(2.0 * a);
  if (interval == 0) {
    const double *const c = pd_erf_terms;
    const double z = x * x, z2 = z * z, z4 = z2 * z2;
    const double a0 = fma(c[1], z, c[0]), a1 = fma(c[3], z, c[2]), a2 = fma(c[5], z, c[4]);
    const double a3 = fma(c[7], z, c[6]), a4 = fma(c[9], z, c[8]);
    const double b0 = fma(a1, z2, a0), b1 = fma(a3, z2, a2);
    return fma(x, fma(fma(a4, z4, b1), z4, b0), x);
  }
  const double *const c = pd_erf_table[interval - 1] + 2;
  const double t = a - fma(0.5, (double)interval, 0.25), z = t * t, z2 = z * z;
  const double a0 = fma(c[1], t, c[0]), a1 = fma(c[3], t, c[2]), a2 = fma(c[5], t, c[4]);
  const double a3 = fma(c[7], t, c[6]), a4 = fma(c[9], t, c[8]), a5 = fma(c[11], t, c[10]);
  const double a6 = fma(c[13], t, c[12]);
  const double b0 = fma(a1, z, a0), b1 = fma(a3, z, a2), b2 = fma(a5, z, a4);
  const double d0 = fma(b1, z2, b0), d1 = fma(a6, z2, b2);
  return copysign(c[-2] + fma(t, fma(d1, z2 * z2, d0), c[-1]), x);
}
