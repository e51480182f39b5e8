// What CAT asks of several fields at once, each with the number of its error.
import * as decimal from "../../../contracts/src/decimal.ts";
import { catDate, easternDate } from "../eastern-time.ts";
import type { FilingMistake } from "../mistake.ts";
import { isExchange } from "./choices.ts";
import type { CatFields } from "./fields.ts";
import { catVersion } from "./layouts.ts";

/** The first sentence of what a rule finds wrong; undefined when it finds nothing. */
interface CrossRule {
  readonly code: string;
  readonly field: string;
  find(fields: CatFields, eventDate: string): string | undefined;
}

const rules: readonly CrossRule[] = [
  {
    code: "2033",
    field: "firmROEID",
    find({ firmROEID: id, eventTimestamp: at }) {
      if (typeof id !== "string" || typeof at !== "object" || !("time" in at)) return undefined;
      const date = catDate(easternDate(at.time));
      return id.startsWith(`${date}_`) ? undefined : `firmROEID does not begin with the event's date ${date}.`;
    },
  },
  {
    code: "2040",
    field: "leavesQty",
    find({ leavesQty, quantity }) {
      const [left, whole] = [numberOf(leavesQty), numberOf(quantity)];
      if (left === undefined || whole === undefined || left <= whole) return undefined;
      return `leavesQty ${decimal.format(left)} is above quantity ${decimal.format(whole)}.`;
    },
  },
  {
    code: "2093",
    field: "session",
    find({ destinationType, session }) {
      const isNeeded = destinationType === "E" || destinationType === "D";
      return isNeeded && session === undefined
        ? "A route to an exchange needs the session that it went by."
        : undefined;
    },
  },
  {
    code: "2189",
    field: "destination",
    find({ senderIMID, destination }) {
      return senderIMID !== undefined && senderIMID === destination
        ? "senderIMID and destination are the same."
        : undefined;
    },
  },
  {
    code: "2209",
    field: "priorRoutedOrderID",
    find({ priorRoutedOrderID: before, routedOrderID: now }) {
      return before !== undefined && before === now ? "priorRoutedOrderID and routedOrderID are the same." : undefined;
    },
  },
  {
    code: "FILING_FIELD_MISSING",
    field: "price",
    find({ orderType, price }) {
      return orderType === "LMT" && price === undefined ? "A limit order has no price." : undefined;
    },
  },
  {
    code: "FILING_FIELD_MISSING",
    field: "destination",
    find({ destinationType, destination }) {
      const isNeeded = destinationType !== undefined && destinationType !== "N";
      return isNeeded && destination === undefined ? "The route has no destination." : undefined;
    },
  },
  {
    code: "FILING_FIELD_INVALID",
    field: "destination",
    find({ destinationType, destination }, eventDate) {
      if (destinationType !== "E" || typeof destination !== "string") return undefined;
      const version = catVersion(eventDate);
      return isExchange(destination, version) ? undefined : `${destination} is no exchange of CAT ${version}.`;
    },
  },
  {
    code: "FILING_FIELD_INVALID",
    field: "side",
    find({ side, optionID }) {
      if (typeof side !== "string") return undefined;
      const isRight = optionID === undefined ? side !== "S" : side === "B" || side === "S";
      return isRight ? undefined : `side ${side} is not one of ${optionID === undefined ? "an equity" : "an option"}.`;
    },
  },
];

export function crossMistakes(fields: CatFields, eventDate: string): readonly FilingMistake[] {
  return rules.flatMap(({ code, field, find }) => {
    const sentence = find(fields, eventDate);
    return sentence === undefined ? [] : [{ code, field, sentence }];
  });
}

function numberOf(value: CatFields[string]): decimal.Decimal | undefined {
  return typeof value === "object" && "number" in value ? decimal.tryParse(value.number) : undefined;
}
