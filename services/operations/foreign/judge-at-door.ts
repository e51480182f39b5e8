// Judges events of foreign systems where they enter over gRPC, by the same rules as the risk engine, so that their publisher reads at once what is wrong.
// It answers only: the risk engine refuses, counts and lists the event, as it does with what comes over NATS.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type Fill, fill as fillRecord } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type ForeignEvent, type KnownReference, refusalOf } from "../../../core/foreign/judge-event.ts";
import type { Refusal } from "../../../core/foreign/refusal.ts";
import { type ReferenceView, referenceReader } from "../../reference/reference-view.ts";
import type { ServicePorts } from "../../shared/service.ts";

type DoorPorts = Pick<ServicePorts, "referenceData" | "riskStore">;

/** What is wrong with each, in their order; undefined for what may enter. */
export type JudgeAtDoor = (events: readonly ForeignEvent[]) => Promise<readonly (Refusal | undefined)[]>;

const decoder = new TextDecoder();

export function judgeAtDoor({ referenceData, riskStore }: DoorPorts): JudgeAtDoor {
  const reader = referenceReader(referenceData);

  /** The fills that the books have under the ids of these. */
  async function bookedFills(events: readonly ForeignEvent[]): Promise<Map<string, Fill>> {
    const ids = events.flatMap((event) => (isFill(event) ? [(event.payload as Fill).fill_id] : []));
    const known = ids.length === 0 ? [] : [...(await riskStore.knownFills([...new Set(ids)]))];
    const booked = new Map<string, Fill>();
    for (const id of known) {
      const bytes = await riskStore.fillEntry(id);
      if (bytes !== undefined) booked.set(id, fillRecord.parse(parseJson(decoder.decode(bytes))));
    }
    return booked;
  }

  return async (events) => {
    const known = knownIn(await reader.refresh());
    const booked = await bookedFills(events);
    return events.map((event) => {
      if (!isFill(event)) return refusalOf(event, known);
      const fill = event.payload as Fill;
      const refusal = refusalOf(event, known, { booked: booked.get(fill.fill_id) });
      // The second of two that wait together is held against the first.
      if (refusal === undefined && !booked.has(fill.fill_id)) booked.set(fill.fill_id, fill);
      return refusal;
    });
  };
}

/** What a bust may take back is known where it is carried out. */
const isFill = ({ subject }: ForeignEvent): boolean => subject === subjects.fillsCreated.name;

function knownIn({ funds, instruments }: ReferenceView): KnownReference {
  return { fund: (fundId) => funds.get(fundId), currencyOf: (symbol) => instruments.get(symbol)?.currency };
}
