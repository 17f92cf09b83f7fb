#include "evidence/units.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace runwarden::plugins {
namespace {

/// The larger of two units expressed in the smaller, by definition: inches in centimeters, feet and yards in meters, feet and yards in
/// centimeters, miles in kilometers and meters, pounds in kilograms and grams, ounces in grams, gallons (US, imperial) in liters, fluid
/// ounces in milliliters, cups and pints (US) in liters, acres in hectares.
constexpr double kFactors[] = {2.54,      0.3048,       0.9144,      30.48,   91.44,         1.609344,     1609.344,    0.45359237,
                               453.59237, 28.349523125, 3.785411784, 4.54609, 29.5735295625, 0.2365882365, 0.473176473, 0.40468564224};

}  // namespace

bool is_conversion(double known, double told, std::size_t decimals) {
  const double tolerance = 0.51 * std::pow(10.0, -static_cast<double>(decimals));
  const auto near = [&](double result) { return std::abs(result - told) <= tolerance; };
  constexpr double kZeroCelsius = 273.15;  // kelvins
  const double celsius = known - kZeroCelsius;
  if (near(celsius) || near(celsius * 1.8 + 32) || near(known + kZeroCelsius)) return true;
  return near(known * 1.8 + 32) || near((known - 32) / 1.8) ||
         std::any_of(std::begin(kFactors), std::end(kFactors), [&](double factor) { return near(known * factor) || near(known / factor); });
}

}  // namespace runwarden::plugins
