// What a refused request was about: the order, strategy or fund that it names, so that whoever asks the audit log about a fund finds the attempts at
// it as well. A request is a stranger's text here, so only what looks like an identifier counts.
import { idText } from "../../contracts/src/records/fields.ts";

/** The narrowest first: an order is of a strategy, and a strategy of a fund. */
const names = ["order_id", "halt_id", "strategy_id", "fund_id", "subject_id", "key_id", "token_id"] as const;

/** Looks at the members of the request and of the messages directly in it; undefined when nothing is named. */
export function attemptSubject(request: unknown): string | undefined {
  const own = namedIn(request);
  if (own !== undefined || typeof request !== "object" || request === null) return own;
  for (const inner of Object.values(request)) {
    const found = Array.isArray(inner) ? undefined : namedIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function namedIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const name of names) {
    const named = Object.hasOwn(value, name) ? idText.safeParse((value as Record<string, unknown>)[name]) : undefined;
    if (named?.success === true) return named.data;
  }
  return undefined;
}
