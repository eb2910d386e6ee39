"""Small programs that reach every row of the language page and every decision of the planner."""

from __future__ import annotations

from functools import cache

from perfdojo.compiler.bind import bind
from perfdojo.compiler.ir import Program
from perfdojo.compiler.text.parse import parse

TEXTS: dict[str, str] = {
    "softmax": """
size B = 5
size N = 19
in  s: f32[B, N]
out d: f32[B, N]
tmp m: f32[B]
tmp x: f32[B, N]
tmp e: f32[B, N]
tmp a: f32[B]
tmp i: f32[B]
B N m[{0}] max= s[{0},{1}]
| N x[{0},{1}] = s[{0},{1}] - m[{0}]
| | e[{0},{1}] = exp(x[{0},{1}])
| | a[{0}] += e[{0},{1}]
B i[{0}] = 1 / a[{0}]
| N d[{0},{1}] = e[{0},{1}] * i[{0}]
""",
    "matmul": """
in a: f32[7, 5]
in b: f32[5, 9]
out c: f32[7, 9]
7 9 5 c[{0},{1}] += a[{0},{2}] * b[{2},{1}]
""",
    "matmul_outer_product_order": """
in a: f32[7, 5]
in b: f32[5, 9]
out c: f32[7, 9]
5 7 9 c[{1},{2}] += a[{1},{0}] * b[{0},{2}]
""",
    "reductions_of_floats": """
in x: f32[6, 11]
out s: f32[6]
out p: f32[6]
out h: f32[6]
out l: f32[6]
6 11 s[{0}] += x[{0},{1}]
| | p[{0}] *= x[{0},{1}]
| | h[{0}] max= x[{0},{1}]
| | l[{0}] min= x[{0},{1}]
""",
    "reductions_of_f16": """
in x: f16[6, 11]
out s: f16[6]
out p: f16[6]
out h: f16[6]
out l: f16[6]
6 11 s[{0}] += x[{0},{1}]
| | p[{0}] *= x[{0},{1}]
| | h[{0}] max= x[{0},{1}]
| | l[{0}] min= x[{0},{1}]
""",
    "reductions_of_bf16": """
in x: bf16[6, 11]
out s: bf16[6]
out p: bf16[6]
out h: bf16[6]
out l: bf16[6]
6 11 s[{0}] += x[{0},{1}]
| | p[{0}] *= x[{0},{1}]
| | h[{0}] max= x[{0},{1}]
| | l[{0}] min= x[{0},{1}]
""",
    "reductions_of_f64": """
in x: f64[6, 11]
out s: f64[6]
out p: f64[6]
out h: f64[6]
out l: f64[6]
6 11 s[{0}] += x[{0},{1}]
| | p[{0}] *= x[{0},{1}]
| | h[{0}] max= x[{0},{1}]
| | l[{0}] min= x[{0},{1}]
""",
    "reductions_of_integers": """
in x: i8[6, 11]
in y: i64[6, 11]
in z: u8[6, 11]
out s: i8[6]
out p: i64[6]
out h: u8[6]
out l: i8[6]
6 11 s[{0}] += x[{0},{1}]
| | p[{0}] *= y[{0},{1}]
| | h[{0}] max= z[{0},{1}]
| | l[{0}] min= x[{0},{1}]
""",
    "reductions_under_guards": """
in x: f32[6, 13]
in k: i16[6, 13]
out s: f32[6]
out p: f32[6]
out h: f32[6]
out n: i16[6]
6 13 s[{0}] += x[{0},{1}] if {1} <= {0}
| | p[{0}] *= x[{0},{1}] if k[{0},{1}] > 0
| | h[{0}] max= x[{0},{1}] if x[{0},{1}] < 0.5
| | n[{0}] += 1 if k[{0},{1}] % 3 == 0 and not {1} == 4
""",
    "sum_of_everything": """
in x: f32[4, 3, 5]
inout y: f32[]
4 3 5 y[] += x[{0},{1},{2}]
""",
    "start_of_a_whole_buffer": """
in x: f32[3, 4, 5]
out y: f32[4, 5]
3 4 5 y[{1},{2}] += x[{0},{1},{2}]
""",
    "start_within_an_outer_scope": """
in x: f32[3, 4, 5]
tmp a: f32[3, 5]
out y: f32[3, 4, 5]
3 4 5 a[{0},{2}] += x[{0},{1},{2}]
| | 5 y[{0},{1},{2}] = a[{0},{2}]
""",
    "start_at_the_statement": """
in x: f32[3, 4]
out y: f32[3, 4]
3 4 y[{0},{1}] += x[{0},{1}]
| | y[{0},{1}] *= x[{0},{1}]
""",
    "start_of_a_scalar_by_an_inner_scope": """
in x: f32[6]
tmp a: f32[]
out y: f32[6]
6 a[] += x[{0}]
| y[{0}] = a[]
""",
    "start_of_a_reused_row": """
in x: f32[3, 4]
tmp a: f32[3] reuse(0)
out y: f32[3]
3 4 a[{0}] += x[{0},{1}]
| y[{0}] = a[{0}] * 2
""",
    "start_of_a_guarded_footprint": """
in x: f32[9]
out y: f32[4, 3]
4 5 y[{0},{1}-1] += x[{0}+{1}] if {1} >= 1 and {1} <= 3
""",
    "continues_from_a_statement": """
in x: f32[5, 7]
in b: f32[5]
out y: f32[5]
5 y[{0}] = b[{0}]
| 7 y[{0}] += x[{0},{1}]
""",
    "overlap_add": """
in x: f32[6, 3]
out y: f32[8]
8 y[{0}] = 0
6 3 y[{0}+{1}] += x[{0},{1}]
""",
    "strided_overlap_add": """
in x: f32[4, 5]
out y: f32[11]
11 y[{0}] = 0
4 5 y[2*{0}+{1}] += x[{0},{1}]
""",
    "histogram": """
in k: i32[40] values(0, 7)
in x: f32[40]
out h: f32[7]
out n: i32[7]
7 h[{0}] = 0
| n[{0}] = 0
40 h[k[{0}]] += x[{0}]
| n[k[{0}]] += 1
""",
    "cumulative_sum": """
in x: f32[3, 9]
out y: f32[3, 9]
3 9 y[{0},{1}] = {1} >= 1 ? y[{0},{1}-1] + x[{0},{1}] : x[{0},{1}]
""",
    "cumulative_sum_by_a_scalar": """
in x: f32[3, 9]
out y: f32[3, 9]
tmp s: f32[]
3 s[] = 0
| 9 s[] += x[{0},{1}]
| | y[{0},{1}] = s[]
""",
    "recurrence_between_columns": """
in x: f32[6, 5]
out y: f32[6, 5]
6 y[{0},0] = x[{0},0]
4 6 y[{1},{0}+1] = y[5-{1},{0}] * x[{1},{0}+1]
""",
    "in_place_neighbour": """
inout x: f32[12]
11 x[{0}] = x[{0}+1] + x[{0}]
11 x[{0}+1] = x[{0}] - x[{0}+1]
""",
    "in_place_butterfly": """
inout x: f32[3, 16]
tmp t: f32[]
3 4 2 t[] = x[{0},4*{1}+{2}] - x[{0},4*{1}+{2}+2]
| | | x[{0},4*{1}+{2}] = x[{0},4*{1}+{2}] + x[{0},4*{1}+{2}+2]
| | | x[{0},4*{1}+{2}+2] = t[]
""",
    "last_write_stays": """
in x: f32[9, 4]
out y: f32[4]
9 4 y[{1}] = x[{0},{1}]
""",
    "last_guarded_write_stays": """
in x: f32[9, 4]
out y: f32[4]
4 y[{0}] = -1
9 4 y[{1}] = x[{0},{1}] if x[{0},{1}] > 0
""",
    "scratch_rows": """
in x: f32[5, 6]
out y: f32[5, 6]
tmp r: f32[5, 6] reuse(0)
tmp q: f32[5, 6] reuse(0, 1)
5 6 r[{0},{1}] = x[{0},{1}] * 2
| 6 q[{0},{1}] = r[{0},5-{1}] + 1
| | y[{0},{1}] = q[{0},{1}] * q[{0},{1}]
""",
    "scratch_that_remembers": """
in x: f32[5, 4]
out y: f32[5, 4]
tmp t: f32[4]
4 t[{0}] = 1
5 4 y[{0},{1}] = t[{1}] + x[{0},{1}]
| | t[{1}] = y[{0},{1}] if x[{0},{1}] > 0
""",
    "reuse_between_iterations": """
in x: f32[7]
out y: f32[7]
tmp t: f32[8] reuse(0)
t[0] = 0
7 y[{0}] = t[{0}] + x[{0}]
| t[{0}+1] = x[{0}]
""",
    "online_softmax": """
in x: f32[4, 9]
out y: f32[4, 9]
tmp m: f32[4] reuse(0)
tmp p: f32[4] reuse(0)
tmp a: f32[4] reuse(0)
4 m[{0}] = -inf
| a[{0}] = 0
| 9 p[{0}] = m[{0}]
| | m[{0}] max= x[{0},{1}]
| | a[{0}] = a[{0}] * exp(p[{0}] - m[{0}]) + exp(x[{0},{1}] - m[{0}])
| 9 y[{0},{1}] = exp(x[{0},{1}] - m[{0}]) / a[{0}]
""",
    "argmax": """
in x: f32[5, 12]
out y: i32[5]
tmp m: f32[5]
5 m[{0}] = -inf
| y[{0}] = 0
| 12 y[{0}] = i32({1}) if x[{0},{1}] > m[{0}]
| | m[{0}] max= x[{0},{1}]
""",
    "padding_by_select": """
in x: f32[8, 11]
in w: f32[3, 3]
out o: f32[8, 9]
tmp p: f32[8, 9, 3, 3]
8 9 3 3 p[{0},{1},{2},{3}] = {0}+{2} >= 1 and {0}+{2} <= 8 and {1}+{3} > 0 ? x[{0}+{2}-1,{1}+{3}-1] : 0
8 9 3 3 o[{0},{1}] += p[{0},{1},{2},{3}] * w[{2},{3}]
""",
    "padding_by_guard": """
in x: f32[8]
in w: f32[3]
out o: f32[8]
8 3 o[{0}] += x[{0}+{1}-1] * w[{1}] if {0} + {1} >= 1 and {0} + {1} <= 8
""",
    "either_branch": """
in x: f32[9]
out y: f32[9]
9 y[{0}] = {0} == 0 or x[{0}-1] > 0 ? ({0} < 8 ? x[{0}+1] : -1) : x[8-{0}]
""",
    "window": """
in x: f32[3, 20]
out y: f32[3, 6]
3 6 4 y[{0},{1}] += x[{0}, 3*{1}+{2}] * x[{0}, 19-3*{1}-{2}]
""",
    "reshape": """
in x: f32[4, 6]
out y: f32[24]
out z: f32[3, 8]
24 y[{0}] = x[{0}//6, {0}%6]
24 z[{0}//8, {0}%8] = y[23-{0}]
""",
    "reshape_of_tiles": """
in x: f32[24]
out y: f32[4, 6]
6 4 y[({0}*4+{1})//6, ({0}*4+{1})%6] = x[{0}*4+{1}]
""",
    "gather": """
in t: f32[6, 5]
in k: i32[7] values(0, 6)
out y: f32[7, 5]
7 5 y[{0},{1}] = t[k[{0}],{1}]
""",
    "gather_of_a_gather": """
in t: f32[6]
in k: u8[7] values(0, 6)
in j: i64[5] values(0, 7)
out y: f32[5]
5 y[{0}] = t[k[j[{0}]]]
""",
    "gather_clamped": """
in t: f32[6]
in k: i16[9]
out y: f32[9]
9 y[{0}] = t[min(max(k[{0}], 0), 5)] + t[k[{0}] % 6]
""",
    "scatter_of_rows": """
in x: f32[5, 3]
in k: i32[5] values(0, 4)
out y: f32[5, 4]
5 4 y[{0},{1}] = 0
5 y[{0},k[{0}]] = x[{0},1]
""",
    "int8_matmul": """
in a: i8[4, 6]
in b: i8[6, 5]
in z: u8[6]
out c: i32[4, 5]
out q: i8[4, 5]
4 5 6 c[{0},{1}] += i32(a[{0},{2}]) * (i32(b[{2},{1}]) - i32(z[{2}]))
4 5 q[{0},{1}] = i8(max(min(round(f32(c[{0},{1}]) * 0.01), 127), -128))
""",
    "integer_operations": """
in a: i8[40]
in b: i8[40]
out y: i8[40, 9]
40 y[{0},0] = a[{0}] + b[{0}]
| y[{0},1] = a[{0}] - b[{0}]
| y[{0},2] = a[{0}] * b[{0}]
| y[{0},3] = a[{0}] // b[{0}]
| y[{0},4] = a[{0}] % b[{0}]
| y[{0},5] = -a[{0}]
| y[{0},6] = abs(a[{0}])
| y[{0},7] = min(a[{0}], b[{0}])
| y[{0},8] = max(a[{0}], b[{0}])
""",
    "wide_integer_operations": """
in a: i64[30]
in b: i64[30]
out y: i64[30, 5]
30 y[{0},0] = a[{0}] + b[{0}]
| y[{0},1] = a[{0}] * b[{0}] - b[{0}]
| y[{0},2] = a[{0}] // (b[{0}] % 3 - 1)
| y[{0},3] = a[{0}] % (b[{0}] % 3 - 1)
| y[{0},4] = abs(a[{0}]) - (-b[{0}])
""",
    "float_operations": """
in a: f32[30]
in b: f32[30]
in c: f32[30]
out y: f32[30, 12]
30 y[{0},0] = a[{0}] + b[{0}]
| y[{0},1] = a[{0}] - b[{0}]
| y[{0},2] = a[{0}] * b[{0}]
| y[{0},3] = a[{0}] / b[{0}]
| y[{0},4] = fma(a[{0}], b[{0}], c[{0}])
| y[{0},5] = -abs(a[{0}])
| y[{0},6] = min(a[{0}], b[{0}])
| y[{0},7] = max(a[{0}], b[{0}])
| y[{0},8] = floor(a[{0}]) + ceil(b[{0}])
| y[{0},9] = round(a[{0}] * 4)
| y[{0},10] = sqrt(a[{0}])
| y[{0},11] = a[{0}] + b[{0}] + c[{0}]
""",
    "f16_operations": """
in a: f16[30]
in b: f16[30]
in c: f16[30]
out y: f16[30, 6]
30 y[{0},0] = a[{0}] + b[{0}] * c[{0}]
| y[{0},1] = a[{0}] / b[{0}] - c[{0}]
| y[{0},2] = fma(a[{0}], b[{0}], c[{0}])
| y[{0},3] = sqrt(abs(a[{0}]))
| y[{0},4] = max(a[{0}], b[{0}])
| y[{0},5] = round(c[{0}])
""",
    "bf16_operations": """
in a: bf16[30]
in b: bf16[30]
in c: bf16[30]
out y: bf16[30, 6]
30 y[{0},0] = a[{0}] + b[{0}] * c[{0}]
| y[{0},1] = a[{0}] / b[{0}] - c[{0}]
| y[{0},2] = fma(a[{0}], b[{0}], c[{0}])
| y[{0},3] = sqrt(abs(a[{0}]))
| y[{0},4] = max(a[{0}], b[{0}])
| y[{0},5] = floor(c[{0}])
""",
    "f64_operations": """
in a: f64[30]
in b: f64[30]
in c: f64[30]
out y: f64[30, 6]
30 y[{0},0] = a[{0}] + b[{0}] * c[{0}]
| y[{0},1] = a[{0}] / b[{0}] - c[{0}]
| y[{0},2] = fma(a[{0}], b[{0}], c[{0}])
| y[{0},3] = sqrt(abs(a[{0}]))
| y[{0},4] = min(a[{0}], b[{0}])
| y[{0},5] = ceil(c[{0}])
""",
    "functions": """
in a: f32[20]
in b: f32[20]
out y: f32[20, 10]
20 y[{0},0] = exp(a[{0}])
| y[{0},1] = log(a[{0}])
| y[{0},2] = tanh(a[{0}])
| y[{0},3] = erf(a[{0}])
| y[{0},4] = sin(a[{0}])
| y[{0},5] = cos(a[{0}])
| y[{0},6] = sigmoid(a[{0}])
| y[{0},7] = pow(abs(a[{0}]), b[{0}])
| y[{0},8] = rsqrt(abs(a[{0}]))
| y[{0},9] = sqrt(a[{0}])
""",
    "functions_of_narrow_floats": """
in a: f16[20]
in b: bf16[20]
in c: f64[20]
out y: f16[20]
out z: bf16[20]
out w: f64[20]
20 y[{0}] = exp(a[{0}]) + tanh(a[{0}])
| z[{0}] = sigmoid(b[{0}]) * erf(b[{0}])
| w[{0}] = cos(c[{0}]) - log(abs(c[{0}]))
""",
    "conversions_of_floats": """
in x: f64[40]
out a: f32[40]
out b: f16[40]
out c: bf16[40]
out d: f64[40]
out e: bf16[40]
out f: f16[40]
40 a[{0}] = f32(x[{0}])
| b[{0}] = f16(x[{0}])
| c[{0}] = bf16(x[{0}])
| d[{0}] = f64(bf16(f32(x[{0}])))
| e[{0}] = bf16(f16(x[{0}]))
| f[{0}] = f16(bf16(x[{0}]))
""",
    "conversions_to_integers": """
in x: f32[40]
in z: f64[40]
out a: i64[40]
out b: i32[40]
out c: i16[40]
out d: i8[40]
out e: u8[40]
out f: bool[40]
40 a[{0}] = i64(z[{0}] * 1e30)
| b[{0}] = i32(x[{0}] * 1e9)
| c[{0}] = i16(x[{0}] * 20000)
| d[{0}] = i8(f16(x[{0}] * 100))
| e[{0}] = u8(bf16(x[{0}] * 200))
| f[{0}] = bool(x[{0}])
""",
    "conversions_of_integers": """
in x: i64[40]
in y: i8[40]
in g: bool[40]
out a: f32[40]
out b: f16[40]
out c: bf16[40]
out d: u8[40]
out e: i32[40]
out f: f64[40]
out h: i8[40]
out k: bf16[40]
40 a[{0}] = f32(x[{0}])
| b[{0}] = f16(x[{0}])
| c[{0}] = bf16(x[{0}])
| d[{0}] = u8(x[{0}]) + u8(y[{0}])
| e[{0}] = i32(x[{0}])
| f[{0}] = f64(x[{0}]) + f64(g[{0}])
| h[{0}] = i8(g[{0}]) - i8(x[{0}])
| k[{0}] = bf16(i32(x[{0}]))
""",
    "bools": """
in a: f32[20]
in b: f32[20]
in g: bool[20]
out y: bool[20, 8]
20 y[{0},0] = a[{0}] < b[{0}]
| y[{0},1] = a[{0}] <= b[{0}] and g[{0}]
| y[{0},2] = a[{0}] > b[{0}] or g[{0}]
| y[{0},3] = not a[{0}] >= b[{0}]
| y[{0},4] = a[{0}] == b[{0}]
| y[{0},5] = a[{0}] != b[{0}]
| y[{0},6] = g[{0}] == g[19-{0}] ? false : true
| y[{0},7] = g[{0}] != (a[{0}] < 0)
""",
    "iteration_numbers": """
out y: i64[6, 7]
out z: f32[6, 7]
6 7 y[{0},{1}] = ({0} - 3) // 2 * 10 + ({1} - 4) % 3 - {0} * {1}
| | z[{0},{1}] = f32({0} * {1} - 11) / 7
""",
    "named_scopes_and_marks": """
in x: f32[6, 8]
out y: f32[6, 8]
row:6@parallel col:8@vector y[{row},{col}] = x[{row},{col}] * 2
6 4@unroll 2 y[{0},{1}*2+{2}] += 1
""",
    "layouts": """
in x: f32[4, 6] order(1, 0) pad(0, 3)
out y: f32[6, 4]
tmp t: f32[4, 6] order(1, 0) space(stack)
4 6 t[{0},{1}] = x[{0},{1}] + 1
6 4 y[{0},{1}] = t[{1},{0}]
""",
    "elements_and_scalars": """
in x: f32[]
inout n: i32[]
out y: f32[]
y[] = x[] * 3
y[] += x[] if n[] > 0
n[] = n[] + 1
""",
    "single_iterations": """
in x: f32[1, 3, 1]
out y: f32[1, 1]
1 1 3 1 y[{0},{1}] += x[{0},{2},{3}]
""",
    "reduction_between_loops": """
in x: f32[3, 4, 5]
out y: f32[5]
tmp c: f32[5]
5 y[{0}] = 0
| c[{0}] = 1
3 4 5 c[{2}] = c[{2}] * 0.5 + x[{0},{1},{2}]
| 5 y[{1}] += c[{1}]
""",
    "sum_over_a_loop_that_cannot_be_an_axis": """
in x: f32[4, 6]
out y: f32[]
out z: f32[6]
6 z[{0}] = 1
y[] = 0
4 5 z[{1}+1] = z[{1}] * 0.5 + x[{0},{1}]
| | y[] += z[{1}]
""",
    "sum_inside_a_loop_that_cannot_be_an_axis": """
in x: f32[4, 6]
out y: f32[]
tmp z: f32[6]
6 z[{0}] = 1
y[] = 0
4 5 z[{1}+1] = z[{1}] * 0.5 + x[{0},{1}]
| 6 y[] += z[{1}]
""",
    "attention": """
in q: f32[3, 7, 4]
in k: f32[3, 7, 4]
in v: f32[3, 7, 4]
out o: f32[3, 7, 4]
tmp s: f32[7, 7]
tmp m: f32[]
tmp a: f32[]
tmp z: f32[]
3 7 7 s[{1},{2}] = -inf
| | | s[{1},{2}] = 0 if {2} <= {1}
| | | 4 s[{1},{2}] += q[{0},{1},{3}] * k[{0},{2},{3}] if {2} <= {1}
| 7 m[] = -inf
| | 7 m[] max= s[{1},{2}]
| | a[] = 0
| | 7 s[{1},{2}] = exp(s[{1},{2}] - m[])
| | | a[] += s[{1},{2}]
| | 4 z[] = 0
| | | 7 z[] += s[{1},{3}] * v[{0},{3},{2}]
| | | o[{0},{1},{2}] = z[] / a[]
""",
}


@cache
def program(name: str) -> Program:
    """Return one of the programs, bound."""
    return text_program(TEXTS[name])


def text_program(text: str) -> Program:
    """Return the bound program of a text without its first line."""
    return bind(parse(f"kernel k\n{text}", "k.ir"))
