// A watchdog's configuration: keys with defaults and ranges. A value out of its range is refused with key, value and range, and nothing of that
// configuration is used: the caller keeps the last good one.

interface NumberKey {
  readonly kind: "number";
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
  readonly unit: string;
  readonly sentence: string;
}

interface WordKey<Word extends string> {
  readonly kind: "word";
  readonly default: Word;
  readonly words: readonly Word[];
  readonly sentence: string;
}

export type ConfigKeys = Readonly<Record<string, NumberKey | WordKey<string>>>;

export type ConfigOf<Keys extends ConfigKeys> = {
  readonly [Key in keyof Keys]: Keys[Key] extends WordKey<infer Word> ? Word : number;
};

interface ConfigProblem {
  readonly key: string;
  readonly value: unknown;
  readonly range: string;
  /** What is wrong and what to write instead. */
  readonly sentence: string;
}

export type ConfigRead<Config> =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

interface Configurable<Keys extends ConfigKeys> {
  readonly config: Keys;
  readonly refuses?: (config: ConfigOf<Keys>) => string | undefined;
}

export const number = (
  fallback: number,
  [min, max]: readonly [number, number],
  unit: string,
  sentence: string,
): NumberKey => ({ kind: "number", default: fallback, min, max, whole: false, unit, sentence });

export const whole = (
  fallback: number,
  range: readonly [number, number],
  unit: string,
  sentence: string,
): NumberKey => ({ ...number(fallback, range, unit, sentence), whole: true });

export const word = <Word extends string>(
  fallback: NoInfer<Word>,
  words: readonly Word[],
  sentence: string,
): WordKey<Word> => ({ kind: "word", default: fallback, words, sentence });

/** What every watchdog has. Each gives its own defaults to threshold, period, persistence and clearing. */
export type CommonKeys = {
  readonly threshold: NumberKey;
  readonly every_s: NumberKey;
  readonly persistence: NumberKey;
  readonly clear_after: NumberKey;
  readonly stale_s: NumberKey;
  readonly mode: WordKey<"act" | "dry_run">;
};

export type CommonConfig = ConfigOf<CommonKeys>;

export function common(
  threshold: NumberKey,
  over: {
    readonly everyS?: number;
    readonly persistence?: number;
    readonly clearAfter?: number;
    readonly staleS?: number;
  } = {},
): CommonKeys {
  return {
    threshold,
    every_s: number(over.everyS ?? 60, [1, 86_400], "s", "How often it is judged."),
    persistence: whole(
      over.persistence ?? 1,
      [1, 60],
      "observations",
      "Consecutive observations past the threshold that open an episode.",
    ),
    clear_after: whole(
      over.clearAfter ?? 1,
      [1, 60],
      "observations",
      "Consecutive ordinary observations that clear an episode.",
    ),
    stale_s: number(over.staleS ?? 300, [1, 2_592_000], "s", "The oldest input that is judged; older is STALE."),
    mode: word("act", ["act", "dry_run"], "dry_run judges and reports and acts on nothing."),
  };
}

/** As a sentence and a table say it. */
export function rangeOf(key: NumberKey | WordKey<string>): string {
  if (key.kind === "word") return key.words.join(" | ");
  return `${key.whole ? "a whole number " : ""}${key.min} to ${key.max} ${key.unit}`.trim();
}

export function defaultsOf<Keys extends ConfigKeys>(keys: Keys): ConfigOf<Keys> {
  return Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.default])) as ConfigOf<Keys>;
}

/** JSON as it lies in the secrets store; what it leaves out has its default. */
export function readConfig<Keys extends ConfigKeys>(
  { config: keys, refuses }: Configurable<Keys>,
  raw: unknown,
): ConfigRead<ConfigOf<Keys>> {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    return { ok: false, problems: [problem("", raw, "a JSON object", "Write a JSON object of keys and values.")] };
  }
  const given = Object.entries(raw);
  const problems = given.flatMap(([name, value]) => {
    const found = problemOf(keys, name, value);
    return found === undefined ? [] : [found];
  });
  if (problems.length > 0) return { ok: false, problems };
  const config = { ...defaultsOf(keys), ...Object.fromEntries(given) } as ConfigOf<Keys>;
  const refused = refuses?.(config);
  if (refused !== undefined) return { ok: false, problems: [problem("", raw, "", refused)] };
  return { ok: true, config };
}

function problemOf(keys: ConfigKeys, name: string, value: unknown): ConfigProblem | undefined {
  const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (key === undefined) {
    const known = Object.keys(keys).join(", ");
    return problem(name, value, known, `There is no key ${JSON.stringify(name)}. The keys are ${known}.`);
  }
  if (fits(key, value)) return undefined;
  const range = rangeOf(key);
  return problem(name, value, range, `${name} is ${JSON.stringify(value) ?? "missing"}; it may be ${range}.`);
}

function fits(key: NumberKey | WordKey<string>, value: unknown): boolean {
  if (key.kind === "word") return typeof value === "string" && key.words.includes(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  return value >= key.min && value <= key.max && (!key.whole || Number.isInteger(value));
}

const problem = (key: string, value: unknown, range: string, sentence: string): ConfigProblem => ({
  key,
  value,
  range,
  sentence,
});

/** A value as typed on a command line, `--set k=v`: a number where the key takes one, else the word itself. */
export function parseConfigValue(keys: ConfigKeys, name: string, text: string): unknown {
  const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (key?.kind !== "number") return text;
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text;
}
