// The nearest known word to a misspelt one, by edit distance with neighbouring letters swapped counting as one slip, or by
// the words that two long names share.

const wordCharsMax = 64;

/** Insertions, deletions, substitutions and swaps of neighbours between two words. */
export function editDistance(left: string, right: string): number {
  const width = right.length + 1;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: width }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column < width; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const ways = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        ...(swapped ? [(beforeLast[column - 2] ?? 0) + 1] : []),
      ];
      current.push(Math.min(...ways));
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? left.length;
}

/** The candidate within a third of the word's length, the closest first; undefined when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > wordCharsMax) return undefined;
  const plain = (text: string): string => text.toLowerCase().replaceAll("-", "_");
  const slipsMax = Math.max(1, Math.floor(word.length / 3));
  let best: { readonly candidate: string; readonly slips: number } | undefined;
  for (const candidate of candidates) {
    const slips = editDistance(plain(word), plain(candidate));
    if (slips <= slipsMax && (best === undefined || slips < best.slips)) best = { candidate, slips };
  }
  return best?.candidate;
}

/** The nearest name, else those that share the most words with it (`PORT` -> `HTTP_PORT`, `GRPC_PORT`), shortest and most alike first. */
export function nearestNames(name: string, candidates: readonly string[], countMax = 3): readonly string[] {
  const near = nearest(name, candidates);
  if (near !== undefined) return [near];
  const wordsOf = (text: string): readonly string[] => text.toLowerCase().split(/[_-]+/);
  const words = new Set(wordsOf(name));
  const scored = candidates
    .map((candidate) => {
      const own = wordsOf(candidate);
      const shared = own.filter((word) => word !== "" && words.has(word)).length;
      return { candidate, shared, others: own.length - shared, slips: editDistance(name, candidate) };
    })
    .filter(({ shared }) => shared > 0)
    .sort((left, right) => right.shared - left.shared || left.others - right.others || left.slips - right.slips);
  const [best] = scored;
  return scored
    .filter(({ shared, others }) => shared === best?.shared && others === best.others)
    .slice(0, countMax)
    .map(({ candidate }) => candidate);
}
