// Enums that a program may handle case by case: within v1 no value is added to them. All others are open, and a reader takes a value that it does not
// know for "something else". docs/compatibility.md names the same ones.
export const closedEnums = [
  "severity",
  "side",
  "order_type",
  "tif",
  "gate",
  "rejecting_gate",
  "classification",
  "mode",
];
