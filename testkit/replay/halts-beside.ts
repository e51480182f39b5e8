// Halts of a running platform, timed while nobody asks for the past, then while one person has its decisions verified and two others ask for moments and pages of its
// timeline, one question after the other, and then in peace again: what the past costs a halt is a ratio within one run, whatever else the machine does.
import type { DecisionsVerdict } from "../../contracts/src/generated/svc/v1/replay.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../login.ts";
import { eventually, pause, type RunningPlatform } from "../platform.ts";
import { prng } from "../virtual/prng.ts";
import { momentIn, type RecordedPast } from "./recorded-past.ts";

/** Each is halted once; nothing is let go meanwhile. */
const scopesBefore = ["alpha-momentum", "alpha-meanrev"];
const scopesMeanwhile = ["beta-trend", "gamma-income", "beta", "gamma"];
const scopesAfter = ["alpha", ""];
const haltsPath = "/v1/halts";
const tooOften = 429;
const tokenMsMax = 120_000;
const atItMsMax = 600_000;

export interface HaltsBeside {
  readonly calmMs: readonly number[];
  readonly busyMs: readonly number[];
  /** Of the medians. */
  readonly ratio: number;
  readonly verdict: Readonly<Record<(typeof counted)[number], number>>;
  /** Questions about moments and timelines. */
  readonly answered: number;
  /** The longest task of operations in each second of it. */
  readonly taskMs: readonly number[];
}

interface Wanted {
  readonly platform: RunningPlatform;
  readonly past: RecordedPast;
  /** Of operations, since it was asked last. */
  readonly longestTaskMs: () => number;
  /** Until every decision was judged; else until the last halt. */
  readonly isWhole: boolean;
  readonly progress: (line: string) => void;
}

const counted = ["decisions", "same", "different", "skipped"] as const;

export async function haltsBeside({ platform, past, longestTaskMs, isWhole, progress }: Wanted): Promise<HaltsBeside> {
  const ask = askingOf(platform);
  const halt = haltingBy(ask);
  const [calmMs, busyMs, taskMs]: [number[], number[], number[]] = [[], [], []];
  for (const scope of scopesBefore) calmMs.push(await halt(scope));
  const verdict = { decisions: 0, same: 0, different: 0, skipped: 0 };
  let [isOver, answered] = [false, 0];
  const verifying = async (): Promise<void> => {
    for (let from = past.from; !isOver; ) {
      const found = await ask<DecisionsVerdict>("viewer", "/v1/replay/verify", {
        fund_id: past.fundId,
        from,
        to: past.to,
      });
      for (const name of counted) verdict[name] += Number(found[name]);
      const isThrough = found.through >= past.to || found.through <= from;
      if (isThrough && isWhole) return;
      from = isThrough ? past.from : found.through;
    }
  };
  const rolls = prng(47);
  const looking = async (who: string): Promise<void> => {
    while (!isOver) {
      const at = momentIn(past, rolls);
      await ask(who, `/v1/replay/moment?fund_id=${past.fundId}&at=${at}`);
      await ask(who, `/v1/replay/timeline?fund_id=${past.fundId}&from=${at}&to=${past.to}&count_max=500`);
      answered += 2;
    }
  };
  const watching = async (): Promise<void> => {
    longestTaskMs();
    while (!isOver) {
      // tidy: sleeps because the longest task of each second is looked at, however many there were
      await pause(1_000);
      taskMs.push(longestTaskMs());
    }
  };
  const judged = verifying();
  const busy = [judged, looking("duty"), looking("relief"), watching()];
  try {
    for (const [index, scope] of scopesMeanwhile.entries()) {
      const enough = 6 * (index + 1);
      await Promise.race([eventually("they are at it", () => answered >= enough, atItMsMax), failing(busy)]);
      busyMs.push(await halt(scope));
      progress(
        `halted in ${busyMs.at(-1)} ms with ${verdict.decisions} judged and ${answered} answers; calm ${calmMs} ms`,
      );
    }
    if (isWhole) await judged;
  } finally {
    isOver = true;
    await Promise.allSettled(busy);
  }
  await Promise.all(busy);
  for (const scope of scopesAfter) calmMs.push(await halt(scope));
  return { calmMs, busyMs, ratio: median(busyMs) / median(calmMs), verdict, answered, taskMs };
}

/** Only ever ends by what went wrong in one of them. */
const failing = async (all: readonly Promise<void>[]): Promise<never> => {
  await Promise.all(all);
  return new Promise(() => undefined);
};

type Ask = <Answer>(who: string, path: string, body?: object) => Promise<Answer>;

/** Tokens are short-lived. */
function askingOf(platform: RunningPlatform): Ask {
  const known = new Map<string, { readonly at: number; readonly headers: Readonly<Record<string, string>> }>();
  const headersOf = async (who: string): Promise<Readonly<Record<string, string>>> => {
    const before = known.get(who);
    if (before !== undefined && Date.now() - before.at < tokenMsMax) return before.headers;
    const headers = await bearerOf(platform, who);
    known.set(who, { at: Date.now(), headers });
    return headers;
  };
  return async <Answer>(who: string, path: string, body?: object): Promise<Answer> => {
    for (;;) {
      const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
        headers: { ...(await headersOf(who)), "content-type": "application/json" },
        ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      });
      const document = (await answer.json()) as Answer;
      if (answer.ok) return document;
      // A halt is never asked for again: it is timed.
      if (answer.status !== tooOften || path === haltsPath)
        throw new Error(`${path}: ${answer.status} ${JSON.stringify(document)}`);
      // tidy: sleeps because the server said that it was asked too often
      await pause(200);
    }
  };
}

/** Milliseconds until it is answered, which is when every engine has it. */
function haltingBy(ask: Ask): (scope: string) => Promise<number> {
  return async (scope) => {
    // The token is there by then.
    await ask("duty", "/v1/halts/status");
    const began = Date.now();
    const { acknowledged } = await ask<{ readonly acknowledged: boolean }>("duty", haltsPath, {
      ...(scope !== "" && { id: scope }),
      reason: "while the past is looked at",
      confirmation: "HALT",
    });
    if (!acknowledged) throw new Error(`The halt of ${scope} was not acknowledged.`);
    return Date.now() - began;
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
