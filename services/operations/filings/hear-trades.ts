// The trades of orders that are heard: what a fill waits for is kept with it, and each is recorded once for the regimes that want trades.

import { Fault } from "../../../contracts/src/fault.ts";
import { parse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type RiskBlockEnded, riskBlock } from "../../../contracts/src/records/block.ts";
import { enabledRegimes } from "../../../core/filings/index.ts";
import { eventsOfTrades } from "../../../core/filings/trades.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { KeptStep } from "../../../ports/filing-steps.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ReferenceView } from "../../reference/reference-view.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { pollUntil } from "../../shared/waiting.ts";
import type { FilingParts } from "./filing-parts.ts";
import { recordEvent } from "./record-event.ts";
import { isEnabledAt, type LifeToRecord } from "./record-life.ts";

const stepsMax = 10_000;
/** An order has some entries; one with more is amended by a machine that does nothing else. */
const entriesMax = 10_000;
/** A fill has one block for each cause, in one batch with it. */
const entriesBefore = 64;
const firstPollMs = 20;
const pollMsMax = 1_000;
const pollsMax = 12;
const decoder = new TextDecoder();

/** Blocks of one fill are few, one for each cause. */
const pointersMax = 100;

/** The steps with what their fills wait for, where the fund's trades are reported. */
export async function withStanding({ ports }: FilingParts, kept: readonly KeptStep[]): Promise<readonly KeptStep[]> {
  const [first] = kept;
  const regimes = enabledRegimes(ports.settings.filings?.funds[first?.fundId ?? ""]);
  if (!regimes.some(({ tradeMark }) => tradeMark !== undefined)) return kept;
  const all: KeptStep[] = [];
  for (const one of kept) {
    const { step, orderId, fundId, source } = one;
    if (step.kind !== "filled" || step.trade === undefined) {
      all.push(one);
      continue;
    }
    const { fillId } = step.trade;
    const blocks = await blocksOf(ports, orderId, fillId);
    if (blocks.length === 0) all.push(one);
    else all.push({ ...one, step: { ...step, waitsFor: blocks } });
    for (const blockId of blocks) {
      const pointer = { kind: "blocked", id: `${blockId} ${fillId}`, at: step.at, orderId, fillId } as const;
      all.push({ fundId, orderId: nameOfBlock(blockId), source, step: pointer });
    }
  }
  return all;
}

/** What the end of a block accepts: the fill that waited for it. */
export async function acceptedBy({ ports }: FilingParts, event: BusEvent): Promise<readonly KeptStep[]> {
  const { block_id: blockId, fund_id: fundId, at } = event.payload as RiskBlockEnded;
  if (ports.settings.filings?.funds[fundId] === undefined) return [];
  const pointers = await ports.store.transact(
    "filings.look",
    (unit) => unit.filingSteps.ofOrder(fundId, nameOfBlock(blockId), pointersMax),
    { isOneStatement: true },
  );
  const accepted: KeptStep[] = [];
  for (const { step, source } of pointers) {
    if (step.kind !== "blocked") continue;
    const { orderId, fillId } = step;
    const accept = { kind: "accepted", id: event.id, at: parse(at), fillId, blockId } as const;
    accepted.push({ fundId, orderId, source, step: accept });
  }
  return accepted;
}

/** A block is no order: its name is one that no order has. */
function nameOfBlock(blockId: string): string {
  return `block ${blockId}`;
}

/** What of an order's trades is not recorded yet. */
export async function recordTrades(
  unit: UnitOfWork,
  fundId: string,
  orderId: string,
  life: LifeToRecord & { readonly reference: Pick<ReferenceView, "funds" | "instruments"> },
): Promise<readonly FilingRecord[]> {
  const { regime, switches, sha256, reference, ...rest } = life;
  if (regime.tradeMark === undefined) return [];
  const kept = await unit.filingSteps.ofOrder(fundId, orderId, stepsMax);
  const created = kept.find(({ step }) => step.kind === "created");
  if (created === undefined) return [];
  if (switches !== undefined && !isEnabledAt(switches, created.step.at)) return [];
  const made: FilingRecord[] = [];
  for (const event of eventsOfTrades(kept.map(({ step }) => step))) {
    if ((await unit.filings.ofEvent(regime.name, fundId, event.key)) !== undefined) continue;
    const contentHash = sha256(JSON.stringify(event));
    const instrument = reference.instruments.get(event.order.symbol);
    const strategies = [...reference.funds.values()].flatMap((one) => one.strategies);
    const given = { ...rest, event, contentHash, source: created.source, instrument, strategies };
    const recorded = await recordEvent(unit, regime, given, sha256);
    if ("record" in recorded) made.push(recorded.record);
  }
  return made;
}

/**
 * What a fill waits for: the blocks that it was booked with, read from the engine's journal, in which a block stands right before its fill. Rejects when the engine has not booked it for some seconds: it is heard
 * again later.
 */
async function blocksOf(
  { riskStore, timers }: Pick<ServicePorts, "riskStore" | "timers">,
  orderId: string,
  fillId: string,
): Promise<readonly string[]> {
  const polling = { timers, everyMs: firstPollMs, everyMsMax: pollMsMax, timesMax: pollsMax };
  const booked = await pollUntil(polling, async () => {
    const rows = await riskStore.entriesOfOrder(orderId, entriesMax);
    return rows.find((row) => row.kind === "fill" && row.fillId === fillId);
  });
  if (booked === undefined) {
    const sentence = `The risk engine has not booked the fill ${fillId} of order ${orderId} yet.`;
    throw new Fault("SERVICE_UNAVAILABLE", sentence, { retry: "later" });
  }
  const from = booked.id - BigInt(entriesBefore) - 1n;
  const before = await riskStore.entries(from < 0n ? 0n : from, entriesBefore);
  const blocks = before
    .filter(({ kind, id }) => kind === "block" && id < booked.id)
    .map(({ payload }) => riskBlock.parse(parseJson(decoder.decode(payload))))
    .filter(({ fill }) => fill?.fill_id === fillId);
  return [...new Set(blocks.map(({ block_id: blockId }) => blockId))];
}
