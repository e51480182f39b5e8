// Asks both verifiers about the same bytes and says where they differ: in the verdict, the level, the code or the sequence.
import { prng } from "../../virtual/prng.ts";
import { loadVerifier } from "../run-attack.ts";
import { nowS, type Verdict } from "../test-log.ts";
import { verifyWithCore } from "./core-verifier.ts";
import { randomCase } from "./random-bundles.ts";

export interface Comparison {
  readonly differences: readonly string[];
  /** How often each answer was given. */
  readonly answers: ReadonlyMap<string, number>;
}

const shownMax = 20;

export async function compareVerifiers(seed: number, count: number): Promise<Comparison> {
  const offline = await loadVerifier();
  const random = prng(seed);
  const differences: string[] = [];
  const answers = new Map<string, number>();
  for (let round = 0; round < count && differences.length < shownMax; round += 1) {
    const { what, bytes, trust } = randomCase(random);
    const core = lineOf(verifyWithCore(Uint8Array.from(bytes), trust));
    // The offline verifier works in the bytes that it is given.
    const other = lineOf(await offline.verifyBytes(Buffer.from(bytes), { ...trust, nowS }));
    if (core !== other) differences.push(`round ${round}, ${what}: core ${core}, offline ${other}`);
    const code = core.split(" ")[0] ?? "";
    answers.set(code, (answers.get(code) ?? 0) + 1);
  }
  return { differences, answers };
}

function lineOf({ verdict, level, code, sequence }: Verdict): string {
  return verdict === "yes" ? `${level}` : `${code} at ${sequence}`;
}

export function countsText(answers: ReadonlyMap<string, number>): string {
  return [...answers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([answer, count]) => `${answer} ${count}`)
    .join(", ");
}
