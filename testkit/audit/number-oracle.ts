// How RFC 8785 writes a double, worked out from its bits with whole numbers alone: the shortest digits that lie nearer to it than to any other, of those
// the nearest, then point and exponent as section 3.2.2.3 has them. It shares nothing with the engine's own conversion.

export function numberText(value: number): string {
  if (value === 0) return "0";
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const power = Number((bits >> 52n) & 0x7ffn);
  const { digits, exponent } = shortest(power === 0 ? fraction : fraction | (1n << 52n), Math.max(power, 1) - 1_075);
  return (value < 0 ? "-" : "") + written(digits, exponent);
}

/** Of mantissa times two to that power: 0.digits times ten to the exponent. */
function shortest(mantissa: bigint, power: number): { readonly digits: string; readonly exponent: number } {
  // Everything in quarters of the last place, so that half the way to both neighbours is whole; the one below is nearer at a power of two.
  const isPowerOfTwo = mantissa === 1n << 52n && power > -1_074;
  const scale = power - 2 < 0 ? 1n << BigInt(2 - power) : 1n;
  const factor = power - 2 < 0 ? 1n : 1n << BigInt(power - 2);
  const [middle, low, high] = [4n * mantissa, 4n * mantissa - (isPowerOfTwo ? 1n : 2n), 4n * mantissa + 2n].map(
    (quarter) => quarter * factor,
  ) as [bigint, bigint, bigint];
  const isEven = mantissa % 2n === 0n;
  for (let count = 1; ; count += 1) {
    const best = nearest(count, { middle, low, high, scale, isEven });
    if (best !== undefined) return best;
  }
}

interface Span {
  readonly middle: bigint;
  readonly low: bigint;
  readonly high: bigint;
  readonly scale: bigint;
  /** A number of an even mantissa takes what lies exactly between it and its neighbour. */
  readonly isEven: boolean;
}

/** The nearest text of so many digits, if one is the number's. */
function nearest(count: number, { middle, low, high, scale, isEven }: Span) {
  const exponent = magnitude(middle, scale);
  const shift = exponent - count;
  const unit = shift >= 0 ? scale * 10n ** BigInt(shift) : scale;
  const times = shift >= 0 ? 1n : 10n ** BigInt(-shift);
  const below = (middle * times) / unit;
  const fitting = [below, below + 1n].filter((digits) => {
    const at = digits * unit;
    return isEven ? at >= low * times && at <= high * times : at > low * times && at < high * times;
  });
  const away = (digits: bigint): bigint => {
    const difference = digits * unit - middle * times;
    return difference < 0n ? -difference : difference;
  };
  const best = fitting.sort(
    (one, other) => Number(away(one) - away(other) > 0n) - Number(away(one) - away(other) < 0n),
  )[0];
  if (best === undefined) return undefined;
  const text = String(best);
  return { digits: text.replace(/0+$/, ""), exponent: exponent + text.length - count };
}

/** How many digits stand before the point; zero or less for how many zeros behind it. */
function magnitude(middle: bigint, scale: bigint): number {
  let exponent = 0;
  if (middle >= scale) while (middle >= scale * 10n ** BigInt(exponent)) exponent += 1;
  else while (middle * 10n ** BigInt(1 - exponent) < scale) exponent -= 1;
  return exponent;
}

function written(digits: string, exponent: number): string {
  if (digits.length <= exponent && exponent <= 21) return digits.padEnd(exponent, "0");
  if (exponent > 0 && exponent <= 21) return `${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
  if (exponent > -6 && exponent <= 0) return `0.${"0".repeat(-exponent)}${digits}`;
  const power = exponent - 1;
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${digits.slice(0, 1)}${rest}e${power < 0 ? "-" : "+"}${Math.abs(power)}`;
}
