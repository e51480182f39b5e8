// Least squares by an orthogonal basis of the columns, and the errors of its coefficients for rows whose neighbours resemble each other. Columns that
// depend on each other are refused: there would be many answers, and one would look like the only one.
import { neweyWestLag } from "./long-run-variance.ts";

export interface Fit {
  readonly coefficients: readonly number[];
  readonly residuals: readonly number[];
  /** The inverse of X'X. */
  readonly inverse: readonly (readonly number[])[];
  /** The observations, row by row. */
  readonly rows: readonly (readonly number[])[];
}

interface Basis {
  readonly rank: number;
  readonly columns: readonly (readonly number[])[];
  /** The basis vectors, and the upper triangle that makes the columns of them. */
  readonly basis: readonly (readonly number[])[];
  readonly triangle: readonly (readonly number[])[];
}

/** A column whose part outside those before it is smaller than this share of it depends on them. */
const dependentShare = 1e-10;

/** Gram and Schmidt's way, each column projected twice, which keeps the basis orthogonal to rounding. */
export function orthogonalBasis(columns: readonly (readonly number[])[]): Basis {
  const basis: (readonly number[])[] = [];
  const triangle: number[][] = [];
  let rank = 0;
  for (const column of columns) {
    const row = new Array<number>(columns.length).fill(0);
    let rest = [...column];
    for (let pass = 0; pass < 2; pass += 1) {
      for (const [index, direction] of basis.entries()) {
        const share = dot(direction, rest);
        row[index] = (row[index] ?? 0) + share;
        rest = rest.map((value, at) => value - share * (direction[at] ?? 0));
      }
    }
    const [length, before] = [Math.sqrt(dot(rest, rest)), Math.sqrt(dot(column, column))];
    const independent = length > dependentShare * before;
    if (independent) rank += 1;
    row[basis.length] = independent ? length : 0;
    basis.push(independent ? rest.map((value) => value / length) : rest.map(() => 0));
    triangle.push(row);
  }
  return { rank, columns, basis, triangle };
}

/** Null when the columns depend on each other, or when there are not more observations than columns. */
export function leastSquares(columns: readonly (readonly number[])[], y: readonly number[]): Fit | null {
  const found = orthogonalBasis(columns);
  const width = columns.length;
  if (found.rank < width || y.length <= width) return null;
  // triangle[column][row]: the column's share of each basis vector.
  const inverseTriangle = invertTriangle(found.triangle);
  const shares = found.basis.map((direction) => dot(direction, y));
  const coefficients = columns.map((_column, at) =>
    shares.reduce((total, share, index) => total + (inverseTriangle[at]?.[index] ?? 0) * share, 0),
  );
  const rows = y.map((_value, row) => columns.map((column) => column[row] ?? 0));
  return {
    coefficients,
    residuals: y.map((value, row) => value - dot(coefficients, rows[row] ?? [])),
    inverse: columns.map((_one, left) =>
      columns.map((_other, right) => dot(inverseTriangle[left] ?? [], inverseTriangle[right] ?? [])),
    ),
    rows,
  };
}

/** The inverse of R, as rows, where triangle[column][row] is R's entry. */
function invertTriangle(triangle: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const width = triangle.length;
  const entry = (row: number, column: number): number => triangle[column]?.[row] ?? 0;
  const inverse = Array.from({ length: width }, () => new Array<number>(width).fill(0));
  for (let column = 0; column < width; column += 1) {
    for (let row = column; row >= 0; row -= 1) {
      let value = row === column ? 1 : 0;
      for (let next = row + 1; next <= column; next += 1) value -= entry(row, next) * (inverse[next]?.[column] ?? 0);
      const target = inverse[row];
      if (target !== undefined) target[column] = value / entry(row, row);
    }
  }
  return inverse;
}

/** The errors of the coefficients as if residuals were independent and equally wide. */
export function plainErrors(fit: Fit): readonly number[] {
  const [count, width] = [fit.rows.length, fit.coefficients.length];
  const variance = dot(fit.residuals, fit.residuals) / (count - width);
  return fit.inverse.map((row, index) => Math.sqrt((row[index] ?? 0) * variance));
}

/** Newey and West's errors with Bartlett weights and the small sample's correction n / (n - k). */
export function neweyWestErrors(fit: Fit, lag: number = neweyWestLag(fit.rows.length)): readonly number[] {
  const [count, width] = [fit.rows.length, fit.coefficients.length];
  const scores = fit.rows.map((row, index) => row.map((value) => value * (fit.residuals[index] ?? 0)));
  const middle = Array.from({ length: width }, () => new Array<number>(width).fill(0));
  for (let step = 0; step <= lag; step += 1) {
    const weight = 1 - step / (lag + 1);
    for (let index = step; index < count; index += 1)
      addProducts(middle, scores[index], scores[index - step], weight, step);
  }
  const correction = count / (count - width);
  return fit.inverse.map((row) => {
    // The diagonal of A M A, with A symmetric: row' M row.
    const through = middle.map((line) => dot(line, row));
    return Math.sqrt(Math.max(0, dot(row, through) * correction));
  });
}

function addProducts(
  into: number[][],
  one: readonly number[] | undefined,
  other: readonly number[] | undefined,
  weight: number,
  step: number,
): void {
  if (one === undefined || other === undefined) return;
  for (const [left, row] of into.entries()) {
    for (let right = 0; right < row.length; right += 1) {
      const forward = (one[left] ?? 0) * (other[right] ?? 0);
      const backward = step === 0 ? 0 : (other[left] ?? 0) * (one[right] ?? 0);
      row[right] = (row[right] ?? 0) + weight * (forward + backward);
    }
  }
}

export function dot(left: readonly number[], right: readonly number[]): number {
  let total = 0;
  for (let index = 0; index < left.length; index += 1) total += (left[index] ?? 0) * (right[index] ?? 0);
  return total;
}
