// Keeps the books of the risk engine once an hour, with what positions cost, so that a moment of the past is made of an hour's entries. They follow from the
// journal: where none were kept, it is gone through from further back.
import {
  type Instant,
  millisecondsBetween,
  millisecondsPerDay,
  minusMilliseconds,
} from "../../../contracts/src/instant.ts";
import type { ReplayQueries } from "../../../ports/replay-queries.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { breathe } from "../../shared/waiting.ts";
import { createCosts } from "./costs.ts";
import { createSlices } from "./slices.ts";

type KeepBooksPorts = Pick<ServicePorts, "clock" | "timers" | "stopwatch" | "riskStore" | "log" | "crash"> & {
  readonly replayQueries: ReplayQueries;
};

const lookEveryMs = 60_000;
const everyMs = 3_600_000;
const keptDays = 90;
const pageMax = 500;

export function keepBooks(ports: KeepBooksPorts): Loop {
  const what = "the record of the engine's books";
  return startLoop({ ports, what, firstAfterMs: lookEveryMs, run: (ending) => keepNewest(ports, ending) });
}

/** Gives how long to wait until the next look. */
async function keepNewest(ports: KeepBooksPorts, ending: AbortSignal): Promise<number> {
  const { clock, timers, riskStore, replayQueries } = ports;
  const snapshot = await riskStore.snapshot();
  const now = clock.now();
  const before = await replayQueries.booksBefore(now);
  const isDue = before === undefined || millisecondsBetween(before.at, snapshot?.takenAt ?? before.at) >= everyMs;
  if (snapshot === undefined || !isDue || snapshot.through <= (before?.through ?? 0n)) return lookEveryMs;
  const costs = createCosts(before?.costs);
  const slices = createSlices(ports, ending);
  let after = before?.through ?? 0n;
  for (;;) {
    const rows = await replayQueries.journal({
      after,
      through: snapshot.through,
      at: farAhead(now),
      countMax: pageMax,
    });
    for (const row of rows) {
      await slices.next();
      costs.add(row);
    }
    after = rows.at(-1)?.id ?? after;
    if (rows.length < pageMax) break;
    await breathe(timers, ending);
  }
  const forgetBefore = minusMilliseconds(now, keptDays * millisecondsPerDay);
  const kept = { through: snapshot.through, at: snapshot.takenAt, engine: snapshot.content, costs: costs.stored() };
  await replayQueries.keepBooks(kept, forgetBefore);
  return lookEveryMs;
}

/** Whatever the clock showed when they were recorded: entries up to the snapshot's are in it. */
const farAhead = (now: Instant): Instant => minusMilliseconds(now, -keptDays * millisecondsPerDay);
