// Judges events of foreign systems where they enter over gRPC, by the same rules as the risk engine, so that their publisher reads at once what is wrong.
// It answers only: the risk engine refuses, counts and lists the event, as it does with what comes over NATS.
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { isPossiblePrice, type Mark } from "../../../contracts/src/records/market.ts";
import { type BookedFill, bookedFill, type Fill, type FillBusted } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import {
  type EventStanding,
  impossiblePrice,
  type KnownReference,
  priceNotYours,
  refusalOf,
  unknownSymbol,
} from "../../../core/foreign/judge-event.ts";
import type { Refusal } from "../../../core/foreign/refusal.ts";
import { type ReferenceView, referenceReader } from "../../reference/reference-view.ts";
import { bustStanding } from "../../shared/bust-standing.ts";
import { orderIdOf, ownersOf } from "../../shared/order-owners.ts";
import type { FollowedSources } from "../../shared/price-sources.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Taken } from "./read-event.ts";

type DoorPorts = Pick<ServicePorts, "referenceData" | "riskStore" | "store" | "clock">;

export interface DoorJudge {
  /** What is wrong with each, in their order; undefined for what may enter. */
  events(events: readonly Taken[]): Promise<readonly (Refusal | undefined)[]>;
  price(mark: Mark): Promise<Refusal | undefined>;
  /** As of the last judgement. */
  knowsFund(fundId: string): boolean;
}

/** A feed may publish thousands of prices a second of what nobody knows. */
const lookAgainMsMin = 1_000;
const decoder = new TextDecoder();

export function judgeAtDoor(
  { referenceData, riskStore, store, clock }: DoorPorts,
  sources: Pick<FollowedSources, "ask" | "look">,
): DoorJudge {
  const reader = referenceReader(referenceData);
  let lookedAt: Instant | undefined;

  /** The fills that the books have under the ids that these name. */
  async function bookedFills(events: readonly Taken[]): Promise<Map<string, BookedFill>> {
    const ids = events.flatMap((event) => (isFill(event) || isBust(event) ? [(event.payload as Fill).fill_id] : []));
    const known = ids.length === 0 ? [] : [...(await riskStore.knownFills([...new Set(ids)]))];
    const booked = new Map<string, BookedFill>();
    for (const id of known) {
      const bytes = await riskStore.fillEntry(id);
      if (bytes !== undefined) booked.set(id, bookedFill.parse(parseJson(decoder.decode(bytes))));
    }
    return booked;
  }

  /** Those that wait together with it stand before it. */
  async function standingOfBust(
    { source, payload }: Taken,
    booked: BookedFill | undefined,
    before: readonly FillBusted[],
  ): Promise<EventStanding> {
    const bust = payload as FillBusted;
    const kept = await store.transact("foreign.look", (unit) => bustStanding(unit, source, bust, booked));
    const same = kept.same ?? before.find(({ bust_id: id }) => id === bust.bust_id);
    const others = before.filter(({ fill_id, bust_id }) => fill_id === bust.fill_id && bust_id !== bust.bust_id);
    return { bust: { ...kept, same, others: [...kept.others, ...others] } };
  }

  async function another(mark: Mark, now: Instant): Promise<Refusal | undefined> {
    // The first price is answered by what is named, too, and not by what was read before.
    await sources.look(mark);
    const { kind, whose } = sources.ask(mark, now);
    return kind === "NOT_YOURS" ? priceNotYours(mark.symbol, whose) : undefined;
  }

  return {
    async events(events) {
      const known = knownIn(await reader.refresh());
      const booked = await bookedFills(events);
      const orderIds = events.map(orderIdIn);
      const owners = await ownersOf(
        { store, riskStore },
        orderIds.filter((id) => id !== undefined),
      );
      const busts = new Map<string, FillBusted[]>();
      const refusals: (Refusal | undefined)[] = [];
      for (const [index, event] of events.entries()) {
        const { source, subject, payload } = event;
        const orderId = orderIds[index];
        const order = orderId === undefined ? undefined : { source, isUnpaired: false, ...owners(orderId) };
        const { fill_id: fillId } = payload as Partial<Fill>;
        const fillBooked = fillId === undefined ? undefined : booked.get(fillId);
        const ownBusts = busts.get(source) ?? [];
        const standing = isBust(event) ? await standingOfBust(event, fillBooked, ownBusts) : { booked: fillBooked };
        const refusal = refusalOf({ subject: subject.name, payload, source }, known, { ...standing, order });
        refusals.push(refusal);
        if (refusal !== undefined) continue;
        // The second of two that wait together is held against the first.
        if (isBust(event)) busts.set(source, [...ownBusts, payload as FillBusted]);
        else if (isFill(event) && fillBooked === undefined)
          booked.set((payload as Fill).fill_id, { ...(payload as Fill), published_by: source });
      }
      return refusals;
    },
    async price(mark) {
      if (!isPossiblePrice(mark)) {
        return { code: "EVENT_PRICE_IMPOSSIBLE", sentence: impossiblePrice(mark.symbol, mark.price) };
      }
      const now = clock.now();
      if (reader.current().instruments.has(mark.symbol)) return another(mark, now);
      if (lookedAt === undefined || Math.abs(millisecondsBetween(lookedAt, now)) >= lookAgainMsMin) {
        lookedAt = now;
        await reader.refresh();
      }
      return reader.current().instruments.has(mark.symbol) ? another(mark, now) : unknownSymbol(mark.symbol);
    },
    knowsFund: (fundId) => reader.current().funds.has(fundId),
  };
}

const isFill = ({ subject }: Taken): boolean => subject.name === subjects.fillsCreated.name;
const isBust = ({ subject }: Taken): boolean => subject.name === subjects.fillsBusted.name;

const orderIdIn = ({ subject, payload }: Taken): string | undefined => orderIdOf({ subject: subject.name, payload });

function knownIn({ funds, instruments }: ReferenceView): KnownReference {
  return { fund: (fundId) => funds.get(fundId), currencyOf: (symbol) => instruments.get(symbol)?.currency };
}
