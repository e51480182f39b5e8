// What watchdogs limit of an order: how far gross exposure may go, and options that may not be sold short. Every denial names the watchdog and its
// episode, and so do the noted inputs. New risk only. What they keep from being done altogether is a condition (core/blocks/index.ts).
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { restrictionFacts, saidBy } from "../blocks/restriction-book.ts";
import type { Notional } from "../money/exact.ts";
import * as exact from "../money/exact.ts";
import type { Notes } from "../state/gate.ts";
import type { FundView, RestrictedBy } from "../state/view.ts";
import { money, quoted } from "../state/wording.ts";

function note(notes: Notes, by: RestrictedBy): void {
  for (const [name, value] of restrictionFacts(by)) notes.word(name, value);
}

/** Of the gross exposure that could result. */
export function grossDenial(view: FundView, gross: Notional, notes: Notes): Denial | undefined {
  const by = view.restrictions?.gross;
  if (by?.allowed === undefined) return undefined;
  note(notes, by);
  notes.exact("gross_allowed", by.allowed);
  if (!exact.isMore(gross, by.allowed)) return undefined;
  const { fundCurrency } = view;
  const most = `${money(by.allowed, fundCurrency)} is the most by ${saidBy(by)}`;
  return {
    code: "GROSS_EXPOSURE_REDUCED",
    reason: `Gross exposure could reach ${money(gross, fundCurrency)}; ${most}.`,
  };
}

/** Of a sale that could leave an option short. */
export function shortOptionDenial(order: Order, view: FundView, notes: Notes): Denial | undefined {
  const by = view.restrictions?.noShortOptions;
  if (by === undefined || view.instrument?.assetClass !== "OPTION") return undefined;
  note(notes, by);
  const reason = `The order could leave ${quoted(order.symbol)} short, and ${saidBy(by)} lets no option be sold short.`;
  return { code: "SHORT_OPTIONS_BLOCKED", reason };
}
