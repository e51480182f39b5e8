// The risk engine's books as they were at a moment, in an engine that decides nothing: the books that were kept before it, and what the journal
// recorded until then. Positions and open orders, and what they use of limits, are counted by the engine itself and by nobody else.
import { fromNumber } from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { createEngine, type Engine } from "../../../core/engine/engine.ts";
import { type EngineSnapshot, isWhole } from "../../../core/engine/snapshot.ts";
import { compileEnvelope } from "../../../core/envelope/envelope.ts";
import type { ReplayQueries, Standing } from "../../../ports/replay-queries.ts";
import { applyRow } from "../../shared/journal-fold.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { type Costs, createCosts } from "./costs.ts";
import type { Slices } from "./slices.ts";

export type PastEnginePorts = Pick<ServicePorts, "settings" | "blake3" | "stopwatch"> & {
  readonly replayQueries: ReplayQueries;
};

const pageMax = 500;
/** Entries of a fund since the books that were kept; more are not gone through while somebody waits. */
const entriesMax = 500_000;
/** Keys are none of its business. */
const keyWindowMs = 1_000;

export interface PastEngine {
  readonly engine: Engine;
  readonly costs: Costs;
}

export async function pastEngine(
  ports: PastEnginePorts,
  { fundId, at, standing }: { readonly fundId: string; readonly at: Instant; readonly standing: Standing },
  slices: Slices,
): Promise<PastEngine> {
  const { replayQueries } = ports;
  const engine = newEngine(ports);
  engine.setReference(standing.reference);
  if (standing.envelope !== undefined) engine.setEnvelope(compileEnvelope(standing.envelope));
  const kept = await replayQueries.booksBefore(at);
  const content = kept === undefined ? undefined : (parseJson(new TextDecoder().decode(kept.engine)) as EngineSnapshot);
  const isRestored = content !== undefined && isWhole(content);
  if (isRestored) engine.restore(content);
  const costs = createCosts(isRestored ? kept?.costs : undefined);
  let after = isRestored ? (kept?.through ?? 0n) : 0n;
  for (let entries = 0; ; ) {
    const rows = await replayQueries.journal({ fundId, after, at, countMax: pageMax });
    for (const row of rows) {
      await slices.next();
      applyRow(engine, row);
      costs.add(row);
    }
    entries += rows.length;
    after = rows.at(-1)?.id ?? after;
    if (rows.length < pageMax) return { engine, costs };
    if (entries >= entriesMax) {
      const sentence = `More than ${entriesMax} entries lie between the books that were kept and that moment.`;
      throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "never" });
    }
  }
}

function newEngine({ settings, blake3, stopwatch }: PastEnginePorts): Engine {
  const { markAgeMsMax, navAgeMsMax, fxAgeMsMax, borrowAgeMsMax, approvalValidMs, openOrdersPerFundMax } =
    settings.risk;
  return createEngine({
    blake3,
    stopwatch,
    ages: { mark: markAgeMsMax, nav: navAgeMsMax, fx: fxAgeMsMax, borrow: borrowAgeMsMax },
    keyWindowMs,
    approvalValidMs,
    openOrdersPerFundMax,
    valueUnexplainedMax: fromNumber(settings.risk.valueUnexplainedMax),
    // The prices of then were believed then.
    priceJumpMax: undefined,
  });
}
