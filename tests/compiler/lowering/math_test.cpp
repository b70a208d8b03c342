// Elementwise mathematics, compiled and run: expected values were computed with 40 digits.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "run_function.h"
#include "run_operation.h"

using namespace nocturne::compiler;
using namespace nocturne::compiler::testing;

namespace {

// An operation on vectors of one type; elements are separated by commas, operands by bars.
struct Row {
  const char* operation;
  std::string operands;
  std::string expected;
};

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos;
       begin = end + separator.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

// Operands and expected values come from functions, so that nothing can be folded; the check of a
// row is on its own line.
class Program {
public:
  explicit Program(std::string element, unsigned ulps = 3) : element_(element), ulps_(ulps) {}

  void add(const Row& row) {
    bool isComplex = element_.starts_with("complex");
    size_t elements = split(row.expected, isComplex ? "), " : ", ").size();
    std::string type = "tensor<" + std::to_string(elements) + "x" + element_ + ">";
    std::string types, names;
    for (const std::string& operand : split(row.operands, " | ")) {
      types += (types.empty() ? "" : ", ") + type;
      names += (names.empty() ? "" : ", ") + source(type, operand);
    }
    std::string expected = source(type, row.expected);
    std::string result = "%r" + std::to_string(count_++);
    body_ += result + " = \"" + row.operation + "\"(" + names + ") : (" + types + ") -> " + type +
             " \"check.expect_close\"(" + result + ", " + expected +
             ") {max_ulp_difference = " + std::to_string(ulps_) + " : i64} : (" + type + ", " +
             type + ") -> ()\n";
  }

  void run() const {
    std::string text = "func.func @main() {\n" + body_ + "return\n}\n" + functions_;
    ProgramReport report = runProgramText(text, "math.mlir", {});
    INFO(text);
    INFO(report.message);
    CHECK(std::string(toString(report.outcome)) == "pass");
  }

private:
  std::string source(const std::string& type, const std::string& elements) {
    std::string name = "v" + std::to_string(count_++);
    functions_ += "func.func private @" + name + "() -> " + type +
                  " { %0 = stablehlo.constant dense<[" + elements + "]> : " + type +
                  " return %0 : " + type + " }\n";
    body_ += "%" + name + " = call @" + name + "() : () -> " + type + " ";
    return "%" + name;
  }

  std::string element_;
  unsigned ulps_;
  std::string body_, functions_;
  size_t count_ = 0;
};

void check(const std::string& element, const std::vector<Row>& rows, unsigned ulps = 3) {
  Program program(element, ulps);
  for (const Row& row : rows)
    program.add(row);
  program.run();
}

const std::vector<Row> kElementary = {
    {"stablehlo.cbrt", "27.0, -0.29999999999999999, 1.0e-300",
     "3.0, -0.66943295008216951, 1.0e-100"},
    {"stablehlo.cosine", "0.5, -3.0, 1.0e+6",
     "0.87758256189037272, -0.98999249660044546, 0.93675212753314479"},
    {"stablehlo.sine", "0.5, -3.0, 1.0e+6",
     "0.479425538604203, -0.14112000805986722, -0.34999350217129295"},
    {"stablehlo.tan", "0.5, -3.0, 1.5",
     "0.54630248984379051, 0.14254654307427781, 14.101419947171719"},
    {"stablehlo.tanh", "1.0000000000000001e-5, -0.5, 30.0",
     "9.9999999996666675e-6, -0.46211715726000976, 1.0"},
    {"stablehlo.exponential", "0.5, -20.0, 700.0",
     "1.6487212707001281, 2.0611536224385578e-9, 1.0142320547350045e+304"},
    {"stablehlo.exponential_minus_one", "9.9999999999999998e-13, -0.5, 3.0",
     "1.0000000000005e-12, -0.39346934028736658, 19.085536923187668"},
    {"stablehlo.log", "0.5, 1.0009999999999999, 1.0000000000000001e+300",
     "-0.69314718055994531, 9.9950033308342314e-4, 690.77552789821371"},
    {"stablehlo.log_plus_one", "9.9999999999999998e-13, -0.5, 3.0",
     "9.9999999999949998e-13, -0.69314718055994531, 1.3862943611198906"},
    {"stablehlo.sqrt", "2.0, 0.0, 1.0e-300", "1.414213562373095, 0.0, 1.0e-150"},
    {"stablehlo.rsqrt", "2.0, 4.0, 1.0e-300", "0.70710678118654752, 0.5, 9.9999999999999999e+149"},
    {"stablehlo.logistic", "0.5, -30.0, 40.0", "0.62245933120185456, 9.357622968839299e-14, 1.0"},
    {"stablehlo.atan2", "1.0, -1.0, 0.5 | 2.0, -3.0, 0.0",
     "0.46364760900080612, -2.819842099193151, 1.5707963267948966"},
    {"stablehlo.power", "2.0, -2.0, 10.0 | 0.5, 3.0, -3.0", "1.414213562373095, -8.0, 0.001"},
    {"chlo.acos", "0.5, -0.25, 1.0", "1.0471975511965977, 1.8234765819369753, 0.0"},
    {"chlo.acosh", "1.5, 1.0, 1.0e+10", "0.96242365011920689, 0.0, 23.718998110500402"},
    {"chlo.asin", "0.5, -0.25, 1.0",
     "0.52359877559829887, -0.25268025514207865, 1.5707963267948966"},
    {"chlo.asinh", "1.0e-8, -2.0, 1.0e+10", "1.0e-8, -1.4436354751788103, 23.718998110500402"},
    {"chlo.atan", "1.0e-8, -2.0, 1.0e+10",
     "9.9999999999999999e-9, -1.1071487177940905, 1.5707963266948966"},
    {"chlo.atanh", "1.0e-8, -0.5, 0.999",
     "1.0000000000000001e-8, -0.54930614433405485, 3.8002011672501996"},
    {"chlo.cosh", "1.0e-8, -2.0, 700.0", "1.0, 3.7621956910836315, 5.0711602736750225e+303"},
    {"chlo.sinh", "1.0e-8, -2.0, 700.0", "1.0e-8, -3.6268604078470188, 5.0711602736750225e+303"},
    {"chlo.tan", "0.5, -3.0, 1.5", "0.54630248984379051, 0.14254654307427781, 14.101419947171719"},
    {"chlo.erf", "1.0e-8, -0.5, 2.0",
     "1.1283791670955126e-8, -0.52049987781304654, 0.99532226501895273"},
    {"chlo.erfc", "1.0e-8, -0.5, 6.0",
     "0.99999998871620833, 1.5204998778130465, 2.1519736712498913e-17"},
};

const std::vector<Row> kSpecial = {
    {"chlo.bessel_i1e", "0.10000000000000001, -3.0, 7.9900000000000002, 8.0099999999999998, 500.0",
     "0.045298446808809327, -0.19682671329730085, 0.13421733957828099, 0.13406776900984483, "
     "0.017827851852898056"},
    {"chlo.digamma", "0.10000000000000001, 1.0, 7.0, 30.0, -0.29999999999999999, -20.25",
     "-10.423754940411076, -0.57721566490153286, 1.8727843350984671, 3.3844381326855249, "
     "2.1133097796353989, 6.1742356336144838"},
    {"chlo.erf_inv",
     "9.0949470177292824e-13, -0.25, 0.5, 0.75, 0.99990000000000001, 0.99999999906867743",
     "8.0601869326779526e-13, -0.2253120550121781, 0.47693627620446987, 0.81341984759761854, "
     "2.7510639057120797, 4.3280282758009465"},
    {"chlo.lgamma", "0.10000000000000001, 3.5, 100.0, -0.5, -2.7000000000000002",
     "2.2527126517342059, 1.2009736023470742, 359.1342053695754, 1.2655121234846454, "
     "-0.071407085315645688"},
    {"chlo.polygamma", "0.0, 1.0, 2.0, 5.0 | 2.5, 0.5, 3.0, 10.0",
     "0.70315664064524319, 4.9348022005446793, -0.15411380631918857, 3.0594516211726821e-4"},
    {"chlo.zeta", "2.0, 1.5, 3.0, 30.0 | 1.0, 0.25, 20.0, 2.0",
     "1.6449340668482264, 10.213055360466601, 0.0013140612011573273, 9.3132743241966818e-10"},
};

const std::vector<Row> kComplex = {
    {"stablehlo.exponential", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(1.5974665191199127, 0.40790017007835977), (-0.092854910284026332, 0.20289168047016951), "
     "(-7.3151100949011025, -1.0427436562359044)"},
    {"stablehlo.exponential_minus_one", "(1.0e-8, 1.0e-9), (-1.5, 2.0), (0.25, -0.5)",
     "(1.00000000495e-8, 1.00000001e-9), (-1.0928549102840263, 0.20289168047016951), "
     "(0.12683831470918151, -0.61559457697700665)"},
    {"stablehlo.log", "(0.5, 0.0), (-1.5, 2.0), (1.0, 9.5367431640625e-7)",
     "(-0.69314718055994531, 0.0), (0.91629073187415507, 2.214297435588181), "
     "(4.5474735088625732e-13, 9.5367431640596088e-7)"},
    {"stablehlo.log_plus_one",
     "(9.3132257461547852e-10, -3.7252902984619141e-9), (-4.76837158203125e-7, 9.765625e-4), (3.0, "
     "-4.0)",
     "(9.3132258112069154e-10, -3.7252902949924671e-9), (1.1368683772160311e-13, "
     "9.7656265522038469e-4), (1.7328679513998633, -0.78539816339744831)"},
    {"stablehlo.sqrt", "(-4.0, 0.0), (-1.5, 2.0), (3.0, -4.0)",
     "(0.0, 2.0), (0.70710678118654752, 1.414213562373095), (2.0, -1.0)"},
    {"stablehlo.rsqrt", "(-4.0, 0.0), (-1.5, 2.0), (3.0, -4.0)",
     "(0.0, -0.5), (0.28284271247461901, -0.56568542494923802), (0.4, 0.2)"},
    {"stablehlo.cbrt", "(8.0, 0.0), (-1.5, 2.0), (3.0, -4.0)",
     "(2.0, 0.0), (1.0039937871212632, 0.91324269761224865), (1.6289371459221759, "
     "-0.52017450230454584)"},
    {"stablehlo.sine", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.49448578093319499, 0.2216881641495748), (-3.7527713404792983, 0.25655395609048179), "
     "(9.1544991469114296, 4.1689069599665644)"},
    {"stablehlo.cosine", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.9051501505596067, -0.12110879604381165), (0.26612719531354576, 3.6177750739401374), "
     "(-4.1896256909688072, 9.1092278937553366)"},
    {"stablehlo.tan", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.50450070269856398, 0.31242069250258881), (-0.0053620609220030569, 1.0369202821001851), "
     "(-0.0037640256415042483, -1.0032386273536098)"},
    {"stablehlo.tanh", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.48548728102413535, 0.19805544995134953), (-1.064144399176537, -0.080391015310168173), "
     "(0.96538587902213312, 0.0098843750383224937)"},
    {"stablehlo.logistic", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.62427516441996125, 0.059002964314508019), (-0.049842582970244244, 0.23480734041636899), "
     "(1.1541476496139678, -0.025452681163614312)"},
    {"stablehlo.sign", "(3.0, -4.0), (0.0, -0.5), (2.0, 0.0)",
     "(0.6, -0.8), (0.0, -1.0), (1.0, 0.0)"},
    {"stablehlo.divide",
     "(1.0, 2.0), (-1.0, 0.0), (0.0, 5.0) | (3.0, -4.0), (0.0, 0.5), (1.0, 1.0)",
     "(-0.2, 0.4), (0.0, 2.0), (2.5, 2.5)"},
    {"stablehlo.power", "(1.0, 2.0), (-1.0, 0.5), (0.0, 2.0) | (2.0, 0.0), (0.5, -1.0), (0.0, 1.0)",
     "(-3.0, 4.0), (5.181670399868321, 14.491671497477462), (0.15990905692806805, "
     "0.13282699942462052)"},
    {"stablehlo.atan2", "(1.0, 0.5), (0.5, -1.0) | (2.0, 0.25), (1.5, 0.0)",
     "(0.49309753533728514, 0.14511850451395811), (0.49139686162366453, -0.64123733936538418)"},
    {"chlo.acos", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(1.0691874735193959, -0.28139605624529277), (2.1773078449946514, -1.6224941488715938), "
     "(1.0001435424737972, 1.9833870299165354)"},
    {"chlo.acosh", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.28139605624529277, 1.0691874735193959), (1.6224941488715938, 2.1773078449946514), "
     "(1.9833870299165354, -1.0001435424737972)"},
    {"chlo.asin", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.50160885327550076, 0.28139605624529277), (-0.60651151819975475, 1.6224941488715938), "
     "(0.5706527843210994, -1.9833870299165354)"},
    {"chlo.asinh", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.49267568342077062, 0.2243284526346675), (-1.6004100552346136, 0.88776514618390509), "
     "(1.9686379257930963, -0.96465850440760279)"},
    {"chlo.atan", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.48425449032996622, 0.20058661813123432), (-1.3112232696716351, 0.31042828307719576), "
     "(1.4099210495965755, -0.22907268296853877)"},
    {"chlo.atanh", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.50037000005253102, 0.31439814320771648), (-0.22008968066202293, 1.2452579660726567), "
     "(0.14694666622552975, -1.3389725222944936)"},
    {"chlo.cosh", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(1.0925708047319177, 0.12892104172809825), (-0.97894781964655776, -1.9361483295105072), "
     "(-3.7245455049153226, -0.51182256998738461)"},
    {"chlo.sinh", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.50489571438799502, 0.27897912835026152), (0.88609290936253142, 2.1390400099806767), "
     "(-3.59056458998578, -0.53092108624851981)"},
    {"chlo.tan", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.50450070269856398, 0.31242069250258881), (-0.0053620609220030569, 1.0369202821001851), "
     "(-0.0037640256415042483, -1.0032386273536098)"},
    {"chlo.square", "(0.5, 0.25), (-1.5, 2.0), (2.0, -3.0)",
     "(0.1875, 0.25), (-1.75, -6.0), (-5.0, -12.0)"},
};

// Infinities and NaN as MLIR writes them.
const std::string kInf = "0x7FF0000000000000";
const std::string kMinusInf = "0xFFF0000000000000";
const std::string kNan = "0x7FF8000000000000";

} // namespace

TEST_CASE("elementary functions of doubles are within three units in the last place") {
  check("f64", kElementary);
}

TEST_CASE("special functions of doubles keep nearly all digits") {
  check("f64", kSpecial, 16);
}

TEST_CASE("functions of double complex keep nearly all digits") {
  check("complex<f64>", kComplex, 8);
}

TEST_CASE(
    "real functions have the values of IEEE 754 at infinities, zeros and outside of their domain") {
  check(
      "f64",
      {
          {"stablehlo.exponential", kInf + ", " + kMinusInf + ", " + kNan, kInf + ", 0.0, " + kNan},
          {"stablehlo.exponential_minus_one", kMinusInf + ", 1000.0", "-1.0, " + kInf},
          {"stablehlo.log", "0.0, -1.0, " + kInf, kMinusInf + ", " + kNan + ", " + kInf},
          {"stablehlo.sqrt", "-1.0, " + kInf, kNan + ", " + kInf},
          {"stablehlo.rsqrt", "0.0, " + kInf, kInf + ", 0.0"},
          {"stablehlo.logistic", kMinusInf + ", " + kInf, "0.0, 1.0"},
          {"stablehlo.power", "0.0, 0.0, -8.0 | 0.0, -1.0, 0.5", "1.0, " + kInf + ", " + kNan},
          {"chlo.erf_inv", "1.0, -1.0, 2.0, 0.0", kInf + ", " + kMinusInf + ", " + kNan + ", 0.0"},
          {"chlo.digamma", "0.0, -3.0, " + kInf, kNan + ", " + kNan + ", " + kInf},
          {"chlo.zeta", "1.0, 0.5, 2.0, 3.0 | 2.0, 2.0, -1.0, -1.0",
           kInf + ", " + kNan + ", " + kInf + ", " + kNan},
          {"chlo.polygamma", "-1.0, 0.5 | 2.0, 2.0", kNan + ", " + kNan},
          {"chlo.lgamma", "0.0, -2.0, " + kMinusInf, kInf + ", " + kInf + ", " + kInf},
          {"chlo.bessel_i1e", "0.0, " + kInf, "0.0, 0.0"},
      },
      0);
}

TEST_CASE("rounding goes to the integers that the names say") {
  check("f32",
        {
            {"stablehlo.floor", "-1.5, 2.5", "-2.0, 2.0"},
            {"stablehlo.ceil", "-1.5, 2.5", "-1.0, 3.0"},
            {"stablehlo.round_nearest_afz", "-1.5, 2.5, 0.5", "-2.0, 3.0, 1.0"},
            {"stablehlo.round_nearest_even", "-1.5, 2.5, 0.5", "-2.0, 2.0, 0.0"},
        },
        0);
}

TEST_CASE("complex division recovers infinities and zeros and does not overflow on the way") {
  check(
      "complex<f64>",
      {
          {"stablehlo.divide", "(1.0, 2.0) | (0.0, 0.0)", "(" + kInf + ", " + kInf + ")"},
          {"stablehlo.divide", "(" + kInf + ", 1.0) | (2.0, 0.0)", "(" + kInf + ", " + kNan + ")"},
          {"stablehlo.divide", "(1.0, 2.0) | (" + kInf + ", 1.0)", "(0.0, 0.0)"},
          {"stablehlo.divide", "(1.0e+300, 1.0e+300) | (2.0e+300, 2.0e+300)", "(0.5, 0.0)"},
          {"stablehlo.divide", "(1.0e-310, 0.0) | (1.0e-310, 1.0e-310)", "(0.5, -0.5)"},
          {"stablehlo.power", "(0.0, 0.0), (0.0, 0.0) | (2.0, 1.0), (0.0, 0.0)",
           "(0.0, 0.0), (1.0, 0.0)"},
          {"stablehlo.sign", "(0.0, 0.0), (3.0e+307, -4.0e+307)", "(0.0, 0.0), (0.6, -0.8)"},
      },
      1);
}

TEST_CASE("functions of single complex numbers are rounded once") {
  check("complex<f32>",
        {
            {"stablehlo.log_plus_one", "(-4.7683716e-7, 9.765625e-4)",
             "(1.1368684e-13, 9.7656265e-4)"},
            {"stablehlo.divide", "(1.0e+38, 1.0e+38) | (2.0e+38, 2.0e+38)", "(0.5, 0.0)"},
            {"stablehlo.sqrt", "(-4.0, -0.0)", "(0.0, -2.0)"},
            {"stablehlo.negate", "(1.0, -2.0)", "(-1.0, 2.0)"},
            {"chlo.conj", "(1.0, -2.0)", "(1.0, 2.0)"},
        },
        0);
}

TEST_CASE("the absolute value of a complex number is real and does not overflow on the way") {
  auto abs = [](const std::string& part, const std::string& numbers) {
    std::string from = "tensor<2xcomplex<" + part + ">>";
    std::string to = "tensor<2x" + part + ">";
    return runFunction({{from, numbers}},
                       "%r = stablehlo.abs %a : (" + from + ") -> " + to + "\nreturn %r : " + to,
                       to);
  };
  CHECK(abs("f32", "[(3.0, -4.0), (0x7F800000, 0x7FC00000)]") ==
        std::vector<std::string>{"f32[2] = [5, inf]"});
  CHECK(abs("f64", "[(3.0e+307, -4.0e+307), (0.0, 0.0)]") ==
        std::vector<std::string>{"f64[2] = [5e+307, 0]"});
}

TEST_CASE("infinities are told by their sign") {
  const std::string type = "tensor<3xf32>", flags = "tensor<3xi1>";
  std::string body;
  for (std::string name : {"is_inf", "is_pos_inf", "is_neg_inf"})
    body += "%" + name + " = \"chlo." + name + "\"(%a) : (" + type + ") -> " + flags + "\n";
  body += "return %is_inf, %is_pos_inf, %is_neg_inf : " + flags + ", " + flags + ", " + flags;
  CHECK(runFunction({{type, "[0x7F800000, 1.0, 0xFF800000]"}}, body,
                    flags + ", " + flags + ", " + flags) ==
        std::vector<std::string>{"i1[3] = [true, false, true]", "i1[3] = [true, false, false]",
                                 "i1[3] = [false, false, true]"});
}

TEST_CASE("integers are raised to powers modulo their width") {
  check("i32",
        {
            {"stablehlo.power", "3, -2, 2, 7, 0 | 4, 3, 31, 0, 0", "81, -8, -2147483648, 1, 1"},
            {"stablehlo.power", "1, -1, -1, 2, 0 | -5, -3, -2, -1, -1", "1, -1, 1, 0, 0"},
        },
        0);
  check("ui8", {{"stablehlo.power", "2, 3, 255 | 8, 5, 200", "0, 243, 1"}}, 0);
}

TEST_CASE("next_after goes to the neighbour in the type of its operands") {
  check("bf16",
        {{"chlo.next_after", "1.0, 1.0, 0.0, 2.0 | 2.0, 0.0, -1.0, 2.0",
          "1.0078125, 0.99609375, -9.1835496157991212e-41, 2.0"}},
        0);
  check("f16",
        {{"chlo.next_after", "1.0, -65504.0, 0.0 | 2.0, -70000.0, 1.0",
          "1.0009765625, 0xFC00, 5.9604644775390625e-8"}},
        0);
  check("f32", {{"chlo.next_after", "1.0, -1.0 | 2.0, 0.0", "1.0000001, -0.99999994"}}, 0);
}

TEST_CASE("the reciprocal square root of complex numbers keeps its last digits") {
  check("complex<f64>",
        {{"stablehlo.rsqrt",
          "(-5.620717439695976, -0.09449955391382421), (6.30066538315589, -0.7843236120811725)",
          "(0.0035451565465106226, 0.42175291700370415), "
          "(0.3960993009658292, 0.024558972796394775)"}},
        2);
}

TEST_CASE("operations of chlo that broadcast are those of StableHLO on equal shapes") {
  check("f32",
        {
            {"chlo.broadcast_add", "1.0, 2.0 | 0.5, -2.0", "1.5, 0.0"},
            {"chlo.broadcast_power", "2.0, 3.0 | 3.0, 2.0", "8.0, 9.0"},
            {"chlo.broadcast_next_after", "1.0 | 2.0", "1.0000001"},
        },
        0);
}

TEST_CASE("operations of chlo stretch dimensions of size 1 and add dimensions in front") {
  const TestValue row{"tensor<1x2xf32>", "[[1.0, 2.0]]"},
      column{"tensor<2x1xf32>", "[[10.0], [20.0]]"};
  const TestValue sums{"tensor<2x2xf32>", "[[11.0, 12.0], [21.0, 22.0]]"};
  CHECK(runOperation({row, column},
                     "%out = chlo.broadcast_add %in0, %in1 : (tensor<1x2xf32>, tensor<2x1xf32>) -> "
                     "tensor<2x2xf32>",
                     sums) == "pass");
  CHECK(runOperation({{"tensor<2xf32>", "[1.0, 2.0]"}, column},
                     "%out = chlo.broadcast_add %in0, %in1 : (tensor<2xf32>, tensor<2x1xf32>) -> "
                     "tensor<2x2xf32>",
                     sums) == "pass");
  CHECK(runOperation({{"tensor<2xf32>", "[10.0, 20.0]"}, row},
                     "%out = \"chlo.broadcast_add\"(%in0, %in1) {broadcast_dimensions = "
                     "array<i64: 0>} : (tensor<2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>",
                     sums) == "pass");
}
