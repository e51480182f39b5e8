// Makes a table fit the screen of whoever reads it: empty columns go, what every row says is reported once above, free text wraps, and the least important
// columns go first. What went is reported to the caller, who names it.

/** One column as it is drawn: its head, its cells in the order of the rows, and what may be done to it. */
export interface DrawnColumn {
  readonly head: string;
  readonly cells: readonly string[];
  readonly right: boolean;
  /** PAPER or LIVE, halted, stale: seen even when every row says the same. */
  readonly always: boolean;
  /** Names its row, so it stays in it even when every row says the same; it goes for want of room only when it is minor. */
  readonly key: boolean;
  /** Free text: wraps where the table would be too wide. */
  readonly wraps: boolean;
  /** The highest goes first where the table is too wide; of equals the rightmost. */
  readonly minor: number;
}

export interface Fitted {
  readonly columns: readonly DrawnColumn[];
  /** Of each column that is left; undefined where it takes what it needs. */
  readonly widths: readonly (number | undefined)[];
  /** What every row says: head and cell. */
  readonly constant: readonly (readonly [string, string])[];
  /** The heads of what had no room. */
  readonly dropped: readonly string[];
}

const gap = 2;
/** Free text in fewer columns than this is a tower of syllables. */
const wrapWidthMin = 24;
/** Two rows that agree prove nothing. */
const rowsForConstant = 3;

function withoutEmpty(columns: readonly DrawnColumn[]): readonly DrawnColumn[] {
  return columns.filter(({ cells, always }) => always || cells.some((cell) => cell !== ""));
}

export function fit(columns: readonly DrawnColumn[], width: number | undefined): Fitted {
  const filled = withoutEmpty(columns);
  const isConstant = ({ cells, always, key }: DrawnColumn): boolean =>
    !always && !key && cells.length >= rowsForConstant && cells.every((cell) => cell === cells[0]);
  const constant = filled.filter(isConstant).map(({ head, cells }) => [head, cells[0] ?? ""] as const);
  let kept = filled.filter((column) => !isConstant(column));
  const dropped: string[] = [];
  while (width !== undefined && leastWidth(kept) > width) {
    const least = leastImportant(kept);
    if (least === undefined) break;
    kept = kept.filter((column) => column !== least);
    dropped.push(least.head);
  }
  return { columns: kept, widths: widthsOf(kept, width), constant, dropped };
}

function leastImportant(columns: readonly DrawnColumn[]): DrawnColumn | undefined {
  const candidates = columns.filter(({ always, key, minor }) => !always && (!key || minor > 0));
  return candidates.reduce<DrawnColumn | undefined>(
    (least, column) => (least === undefined || column.minor >= least.minor ? column : least),
    undefined,
  );
}

function leastWidth(columns: readonly DrawnColumn[]): number {
  const least = columns.map((column) =>
    column.wraps ? Math.min(naturalWidth(column), Math.max(wrapWidthMin, column.head.length)) : naturalWidth(column),
  );
  return least.reduce((sum, each) => sum + each, gap * Math.max(0, columns.length - 1));
}

/** What is left over is shared among the texts, the shortest first, so that none takes room that it does not fill. */
function widthsOf(columns: readonly DrawnColumn[], width: number | undefined): readonly (number | undefined)[] {
  const natural = columns.map(naturalWidth);
  const total = natural.reduce((sum, each) => sum + each, gap * Math.max(0, columns.length - 1));
  if (width === undefined || total <= width) return columns.map(() => undefined);
  const texts = columns.flatMap(({ wraps }, at) => (wraps ? [at] : []));
  const fixed = natural.reduce((sum, each, at) => (texts.includes(at) ? sum : sum + each), 0);
  let left = width - fixed - gap * (columns.length - 1);
  const widths: (number | undefined)[] = columns.map(() => undefined);
  const byWidth = [...texts].sort((one, other) => (natural[one] ?? 0) - (natural[other] ?? 0));
  byWidth.forEach((at, done) => {
    const share = Math.max(1, Math.floor(left / (byWidth.length - done)));
    const taken = Math.min(natural[at] ?? 0, share);
    widths[at] = taken;
    left -= taken;
  });
  return widths;
}

function naturalWidth({ head, cells }: DrawnColumn): number {
  return cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), widthOf(head));
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/gu;

/** In columns of a terminal. */
export function widthOf(text: string): number {
  const characters = [...text.replace(/\p{Mark}/gu, "")].length;
  return characters + (text.match(wide)?.length ?? 0);
}

/** As many characters as tell ids apart, eight at least; ids that are no longer than that, or equal, stay whole. */
export function shortened(ids: readonly string[]): readonly string[] {
  const lengthMin = 8;
  const different = new Set(ids);
  const lengthMax = Math.max(0, ...ids.map((id) => id.length));
  for (let length = lengthMin; length < lengthMax; length += 1) {
    if (new Set([...different].map((id) => id.slice(0, length))).size === different.size) {
      // A stub that saves less than a few characters only costs whoever copies it.
      return ids.map((id) => (id.length > length + 2 ? id.slice(0, length) : id));
    }
  }
  return ids;
}
