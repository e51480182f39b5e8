// The corporate actions that risk officers book: dividends, splits and changes of symbols, of what is held, traded and about to be stopped out. Ids come
// again with the same terms and with others; some terms are none.
import { format, type Instant, minusMilliseconds } from "../../contracts/src/instant.ts";
import { one } from "../people.ts";
import { type Act, type ActionParts, asOfficer, earlier, freshKey, someReason, symbols } from "./action.ts";

interface Booked {
  readonly action_id: string;
  readonly kind: string;
  readonly symbol: string;
  readonly amount_per_share: string;
  readonly ex_date: string;
  readonly ratio: string;
  readonly new_symbol: string;
  readonly reason: string;
}

type Terms = Omit<Booked, "action_id" | "symbol" | "reason">;

export const bookCorporateAction: Act = (parts) => {
  const thrown = parts.prng.below(100);
  const again = thrown < 20 ? earlier<Booked>(parts, "BookCorporateAction") : undefined;
  if (again === undefined) return book(parts, freshAction(parts));
  return book(parts, thrown < 12 ? again : { ...again, ...otherTerms(again) });
};

function book(parts: ActionParts, action: Booked): Promise<unknown> {
  return asOfficer(parts, "Treasury", "BookCorporateAction", action);
}

/** Shares that are held and traded, by the names that they have now; seldom something that is no share. */
function freshAction(parts: ActionParts): Booked {
  const { prng, platform } = parts;
  const listed = prng.chance(0.95) ? one(prng, shares) : one(prng, symbols);
  const symbol = prng.chance(0.95) ? platform.outside.nameNow(listed) : listed;
  const reason = someReason(parts);
  return { action_id: freshKey(parts, "action"), symbol, ...freshTerms(parts, listed), reason };
}

function freshTerms(parts: ActionParts, listed: string): Terms {
  const { prng } = parts;
  const thrown = prng.below(100);
  if (thrown < 30) return dividend(parts);
  if (thrown < 65) return { ...none, kind: "SPLIT", ratio: one(prng, prng.chance(0.9) ? ratios : wrongRatios) };
  if (thrown < 95) return { ...none, kind: "SYMBOL_CHANGE", new_symbol: newName(parts, listed) };
  return { ...none, kind: "GIFT" };
}

const none: Terms = { kind: "", amount_per_share: "", ex_date: "", ratio: "", new_symbol: "" };
/** Rather those that are traded all the time. */
const shares = ["AAPL", "AAPL", "XOM", "XOM", "NVDA", "MSFT", "SPY"];
/** Far enough from 1:1 that a price or a quantity of the other side of it is no price that a market comes to. */
const ratios = ["4:1", "2:1", "3:1", "5:2", "1:2", "1:10", "3:10"];
const wrongRatios = ["1:1", "0:2", "4", "1:5000", "-2:1"];

/** A name that nobody has; now and then one that another has, its first one again, or none at all. */
function newName({ prng }: ActionParts, listed: string): string {
  const thrown = prng.below(100);
  if (thrown < 70) return `${listed}.${prng.below(1_000)}`;
  if (thrown < 85) return listed;
  return thrown < 95 ? one(prng, symbols) : "no name";
}

function dividend({ prng, time }: ActionParts): Terms {
  const thrown = prng.below(100);
  return {
    ...none,
    kind: "CASH_DIVIDEND",
    amount_per_share: thrown < 5 ? "-0.2" : `0.${1 + prng.below(90)}`,
    ex_date: thrown < 10 ? "2031-01-02" : prng.chance(0.7) ? today(time.clock.now()) : "2026-01-01",
  };
}

function otherTerms({ kind }: Booked): Partial<Booked> {
  if (kind === "SPLIT") return { ratio: "7:1" };
  return kind === "SYMBOL_CHANGE" ? { new_symbol: "OTHER" } : { amount_per_share: "0.77" };
}

/** The date of New York, as far as a winter's day goes. */
function today(at: Instant): string {
  return format(minusMilliseconds(at, 5 * 3_600_000)).slice(0, 10);
}
