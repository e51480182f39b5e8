// Whether a fill may enter under its id. Ids are everybody's: what another source used first stays in the books, and the fill that comes second is refused, which may
// be the true one. So its fund waits until somebody has dealt with it.
import * as decimal from "../../contracts/src/decimal.ts";
import type { BookedFill, Fill } from "../../contracts/src/records/order.ts";
import type { Refusal } from "./refusal.ts";

/** Whoever publishes a fill: the source, and the login through which it speaks. */
interface Publisher {
  readonly source: string;
  readonly numberedBy?: string | undefined;
}

/** The source that booked another fill under the id before; undefined where it is the publisher's own, ours, or nobody kept whose it is. */
export function otherSourceOf(booked: BookedFill | undefined, { source, numberedBy }: Publisher): string | undefined {
  const by = booked?.published_by;
  return by === source || by === numberedBy ? undefined : by;
}

export function changedFill(fill: Fill, booked: BookedFill | undefined, publisher: Publisher): Refusal | undefined {
  const changed = booked === undefined ? [] : changedFields(booked, fill);
  if (changed.length === 0) return undefined;
  const other = otherSourceOf(booked, publisher);
  const differs = `with another ${changed.join(", ")}; the books keep the first.`;
  const sentence =
    other === undefined
      ? `Fill ${fill.fill_id} was booked before ${differs} Publish a new fill under an id of its own, or a bust.`
      : `The id of fill ${fill.fill_id} was used by ${other} before, ${differs} Publish this fill again under another fill_id, and have this one discarded (ctl operations parked discard): until then its fund waits.`;
  return { code: "EVENT_FILL_CHANGED", sentence };
}

const sameText = ["order_id", "fund_id", "strategy_id", "symbol", "side"] as const;

/** Which of the fields that move the books differ; "10" and "10.0" do not. */
function changedFields(one: Fill, other: Fill): readonly string[] {
  const changed: string[] = sameText.filter((field) => one[field] !== other[field]);
  if (decimal.parse(one.quantity) !== decimal.parse(other.quantity)) changed.push("quantity");
  if (decimal.parse(one.price) !== decimal.parse(other.price)) changed.push("price");
  if (decimal.parse(one.fee ?? "0") !== decimal.parse(other.fee ?? "0")) changed.push("fee");
  if ((one.kind ?? "TRADE") !== (other.kind ?? "TRADE")) changed.push("kind");
  return changed;
}
