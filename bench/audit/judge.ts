// What was promised of the audit log and what was seen: the figures, the table for people, and every promise that was not kept.
import type { BenchResult } from "../bench.ts";
import { median } from "../bus/contender.ts";
import type { ProofFigure } from "./proofs.ts";

/** What every window showed, window by window: each is compared with its neighbours in time. */
export interface Seen {
  readonly raw: readonly number[];
  /** By how many are in flight. */
  readonly appends: ReadonlyMap<number, readonly number[]>;
  readonly verifyBundle: readonly number[];
  readonly rawHash: readonly number[];
  readonly verifyDatabase: readonly number[];
  readonly rawRead: readonly number[];
  readonly proof: Readonly<Record<string, ProofFigure>>;
  readonly entries: number;
  readonly facts: object;
}

/** The floors; docs/benchmarks.md has what is seen. */
const promised = {
  appendsOfRaw: { inFlight: 1_024, least: 0.5 },
  bundleOfRawHash: 0.3,
  databaseOfRawRead: 0.5,
  proof: { size: 1_000_000, bytesBelow: 2_048 },
} as const;

export function judge(seen: Seen): BenchResult {
  const appends: Record<string, number> = {};
  const appendRatios: Record<string, number> = {};
  for (const [inFlight, rates] of seen.appends) {
    appends[inFlight] = Math.round(median(rates));
    appendRatios[inFlight] = ratio(rates, seen.raw);
  }
  const figures = {
    raw: { appends_per_s: Math.round(median(seen.raw)) },
    appends,
    verify_bundle_per_s: Math.round(median(seen.verifyBundle)),
    raw_hash_per_s: Math.round(median(seen.rawHash)),
    verify_database_per_s: Math.round(median(seen.verifyDatabase)),
    raw_read_per_s: Math.round(median(seen.rawRead)),
    proof: seen.proof,
    ratios: {
      appends: appendRatios,
      verify_bundle: ratio(seen.verifyBundle, seen.rawHash),
      verify_database: ratio(seen.verifyDatabase, seen.rawRead),
    },
    promised,
    entries: seen.entries,
    windows: seen.raw.length,
    ...seen.facts,
  };
  return { figures, table: tableOf(figures), shortfalls: shortfallsOf(figures) };
}

/** Window against window and then the median, because neighbours in time have the machine in the same mood. */
function ratio(above: readonly number[], below: readonly number[]): number {
  const ratios = above.map((value, window) => value / (below[window] ?? Number.NaN));
  return Math.round(median(ratios) * 1_000) / 1_000;
}

interface Figures {
  readonly raw: { readonly appends_per_s: number };
  readonly appends: Readonly<Record<string, number>>;
  readonly verify_bundle_per_s: number;
  readonly raw_hash_per_s: number;
  readonly verify_database_per_s: number;
  readonly raw_read_per_s: number;
  readonly proof: Readonly<Record<string, ProofFigure>>;
  readonly ratios: {
    readonly appends: Readonly<Record<string, number>>;
    readonly verify_bundle: number;
    readonly verify_database: number;
  };
}

function shortfallsOf({ ratios, proof }: Figures): readonly string[] {
  const found: string[] = [];
  const must = (isKept: boolean, sentence: string): void => {
    if (!isKept) found.push(sentence);
  };
  const { inFlight, least } = promised.appendsOfRaw;
  const append = ratios.appends[inFlight];
  must(
    append === undefined || append >= least,
    `appends with ${inFlight} in flight are ${append} of the raw limit, promised ${least}`,
  );
  must(
    ratios.verify_bundle >= promised.bundleOfRawHash,
    `a bundle is verified at ${ratios.verify_bundle} of raw hashing, promised ${promised.bundleOfRawHash}`,
  );
  must(
    ratios.verify_database >= promised.databaseOfRawRead,
    `the database is verified at ${ratios.verify_database} of a plain read, promised ${promised.databaseOfRawRead}`,
  );
  const largest = proof[promised.proof.size];
  must(
    largest === undefined || largest.bytes < promised.proof.bytesBelow,
    `a proof in ${promised.proof.size} entries has ${largest?.bytes} bytes, promised less than ${promised.proof.bytesBelow}`,
  );
  return found;
}

function tableOf(figures: Figures): string {
  const row = (name: string, ...cells: readonly (string | number)[]): string =>
    name.padEnd(34) + cells.map((cell) => String(cell).padStart(14)).join("");
  const { ratios } = figures;
  return [
    row("", "per second", "of the limit"),
    row("raw limit of appends", figures.raw.appends_per_s),
    ...Object.entries(figures.appends).map(([inFlight, rate]) =>
      row(`appends, ${inFlight} in flight`, rate, ratios.appends[inFlight] ?? ""),
    ),
    row("raw hashing", figures.raw_hash_per_s),
    row("verification of a bundle", figures.verify_bundle_per_s, ratios.verify_bundle),
    row("plain read of the database", figures.raw_read_per_s),
    row("verification from the database", figures.verify_database_per_s, ratios.verify_database),
    "",
    row("proof", "bytes", "ms"),
    ...Object.entries(figures.proof).map(([size, { bytes, ms }]) => row(`of one in ${size}`, bytes, ms)),
  ].join("\n");
}
