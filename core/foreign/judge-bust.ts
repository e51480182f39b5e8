// Whether a bust may enter: it must name a fill of its own publisher, exactly, and each fill is busted once. A bust may come before its fill; what is held
// against the fill is held against it then.
import type { BookedFill, FillBusted } from "../../contracts/src/records/order.ts";
import type { Refusal } from "./refusal.ts";

/** What is known when a bust is judged. */
export interface BustStanding {
  /** Who sends it: the token's name over gRPC, the login's over NATS. */
  readonly source: string;
  /** The login under which it came, where a token speaks through it: what that published before the token named it is its own as well. */
  readonly login?: string | undefined;
  /** The fill as it was booked; undefined when it is not there yet. */
  readonly booked: BookedFill | undefined;
  /** It is booked, and not as a foreign program's. */
  readonly isOurs: boolean;
  /** Of the same source under the same bust_id, as it was taken first. */
  readonly same: FillBusted | undefined;
  /** Of the same source, of the same fill, under other ids. */
  readonly others: readonly FillBusted[];
  /** The symbol was split or renamed after the fill. */
  readonly isTurned: boolean;
}

const named = ["order_id", "fund_id", "strategy_id", "symbol"] as const;

/** Undefined when it may enter, or wait for its fill. */
export function refusedBust(bust: FillBusted, standing: BustStanding): Refusal | undefined {
  const { same, booked, others } = standing;
  const { bust_id: id, fill_id: fillId } = bust;
  if (same !== undefined) {
    const changed = (["fill_id", ...named] as const).filter((field) => same[field] !== bust[field]);
    if (changed.length > 0) {
      const sentence = `Bust ${id} was taken before with another ${changed.join(", ")}; the first one counts. Publish a bust under an id of its own.`;
      return { code: "EVENT_BUST_CHANGED", sentence };
    }
  }
  const refusal = standing.isOurs ? notYours(bust, standing) : refusedForFill(bust, standing);
  if (refusal !== undefined) return refusal;
  // One that waited and named the fill wrongly was never carried out.
  const first = others.find((other) => booked === undefined || differing(other, booked).length === 0);
  if (first === undefined) return undefined;
  const sentence = `Fill ${fillId} is busted by ${first.bust_id} already; a fill is taken back once.`;
  return { code: "EVENT_FILL_BUSTED", sentence };
}

function notYours({ fill_id: fillId }: FillBusted, { source }: BustStanding): Refusal {
  const sentence = `Fill ${fillId} is not known as one that ${source} published. Only its own publisher may take a fill back.`;
  return { code: "EVENT_BUST_NOT_YOURS", sentence };
}

function refusedForFill(bust: FillBusted, standing: BustStanding): Refusal | undefined {
  const { source, login, booked, isTurned } = standing;
  const { fill_id: fillId } = bust;
  if (booked === undefined) return undefined;
  const by = booked.published_by;
  if (by !== source && (by === undefined || by !== login)) return notYours(bust, standing);
  const { kind = "TRADE" } = booked;
  if (kind !== "TRADE") {
    const sentence = `Fill ${fillId} is of the kind ${kind}, and only trades are busted. Publish the opposite as a fill of the kind ADJUSTMENT.`;
    return { code: "EVENT_BUST_KIND", sentence };
  }
  const wrong = differing(bust, booked);
  if (wrong.length > 0) {
    const sentence = `Fill ${fillId} was booked with another ${wrong.join(", ")}. Publish the bust again as the fill has them.`;
    return { code: "EVENT_BUST_MISMATCH", sentence };
  }
  if (!isTurned) return undefined;
  const sentence = `${booked.symbol} was split or renamed after fill ${fillId}, so that its quantity is not what is held. Publish an ADJUSTMENT of what is.`;
  return { code: "EVENT_BUST_TOO_LATE", sentence };
}

function differing(bust: FillBusted, booked: BookedFill): readonly string[] {
  return named.filter((field) => bust[field] !== booked[field]);
}
