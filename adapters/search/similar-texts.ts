// Finds texts that read alike, for duplicates of an issue: words are weighed by how rare they are, and a text's own score is the measure of another's.
import MiniSearch from "minisearch";

interface Searched {
  readonly number: number;
  readonly title: string;
  readonly body: string;
}

const textCharactersMax = 2_000;

/** Best first; 1 is as alike as the text is to itself. */
export function similarTexts(
  text: string,
  among: readonly Searched[],
): readonly { readonly number: number; readonly score: number }[] {
  const index = new MiniSearch({ idField: "number", fields: ["text"] });
  const own = -1;
  const rows = among.map(({ number, title, body }) => ({
    number,
    text: `${title}\n${body}`.slice(0, textCharactersMax),
  }));
  index.addAll([...rows, { number: own, text: text.slice(0, textCharactersMax) }]);
  const found = index.search(text.slice(0, textCharactersMax), { combineWith: "OR" });
  const most = found.find(({ id }) => id === own)?.score ?? 0;
  if (most === 0) return [];
  return found.filter(({ id }) => id !== own).map(({ id, score }) => ({ number: Number(id), score: score / most }));
}
