// What was put aside because no record said how its order began is judged again, in the transaction that writes that beginning. What it was stays as it is; the
// new record names it.
import { parse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type FundFilings, filedDetails, filedEventType, filedOrder } from "../../../contracts/src/records/filing.ts";
import type { FilingRegime } from "../../../core/filings/regime.ts";
import { beginnings, type HexSha256, type RegulatoryEvent } from "../../../core/filings/regulatory-event.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import { againKey, type EventToRecord, recordEvent } from "./record-event.ts";

/** Of one order; what is beyond is judged again by hand. */
const waitingMax = 1_000;

interface Given extends Pick<EventToRecord, "now"> {
  readonly fund: FundFilings;
  readonly sha256: HexSha256;
}

export async function judgeWaiting(
  unit: UnitOfWork,
  regime: FilingRegime,
  begun: FilingRecord,
  { now, fund, sha256 }: Given,
): Promise<readonly FilingRecord[]> {
  if (begun.status !== "WRITTEN" || !beginnings.includes(begun.eventType)) return [];
  const made: FilingRecord[] = [];
  const orders = [begun.orderId];
  for (let orderId = orders.shift(); orderId !== undefined; orderId = orders.shift()) {
    const waiting = await unit.filings.waitingFor(regime.name, begun.fundId, orderId, waitingMax);
    for (const record of waiting) {
      if ((await unit.filings.ofEvent(regime.name, record.fundId, againKey(record.eventKey))) !== undefined) continue;
      const { contentHash, source, mode } = record;
      const given = { event: eventOf(record), contentHash, source, mode, now, fund, strategies: [], again: record };
      const recorded = await recordEvent(unit, regime, given, sha256);
      if (!("record" in recorded)) continue;
      made.push(recorded.record);
      if (recorded.record.status === "WRITTEN" && beginnings.includes(record.eventType)) orders.push(record.orderId);
    }
  }
  return made;
}

/** As its line among what was put aside says it. */
function eventOf({ text, eventKey }: FilingRecord): RegulatoryEvent {
  const line = parseJson(text) as Readonly<Record<string, unknown>>;
  return {
    type: filedEventType.parse(line["event_type"]),
    at: parse(String(line["at"])),
    order: filedOrder.parse(line["order"]),
    details: filedDetails.parse(line["details"]),
    key: eventKey,
  };
}
