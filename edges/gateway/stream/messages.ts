// What a client said, read: the channels that it names, or why the message is nothing. What is no message at all ends the connection; one that asks for
// what cannot be is answered with an error frame, and the connection goes on.
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { testSymbol } from "../../../contracts/src/records/market.ts";
import { type ClientFrame, clientFrame } from "../../../contracts/src/stream-frames.ts";
import type { MarketFeed } from "../public/market-sources.ts";

type ReadMessage =
  | { readonly kind: "malformed" }
  | { readonly kind: "refused"; readonly id?: string | number; readonly code: string; readonly detail: string }
  | { readonly kind: "read"; readonly frame: ClientFrame };

export function readMessage(text: string): ReadMessage {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // Whatever it was, it was no JSON; the closing says so.
    return { kind: "malformed" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { kind: "malformed" };
  const { type, id } = value as { readonly type?: unknown; readonly id?: unknown };
  if (typeof type !== "string") return { kind: "malformed" };
  const read = clientFrame.safeParse(value);
  if (read.success) return { kind: "read", frame: read.data };
  const named = (typeof id === "string" && id.length <= 64) || Number.isSafeInteger(id) ? { id: id as string } : {};
  return { kind: "refused", ...named, code: "INVALID_ARGUMENT", detail: detailOf(type, read.error.issues) };
}

function detailOf(type: string, issues: readonly { readonly path: PropertyKey[]; readonly message: string }[]): string {
  if (type !== "subscribe" && type !== "unsubscribe") {
    return `${JSON.stringify(type.slice(0, 40))} is no message: send subscribe or unsubscribe.`;
  }
  return issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "message"}: ${message}`)
    .join("; ");
}

/** In the order in which they are named, each once. */
export function channelsOf({ quotes = [], bars = [], funds, halts }: ClientFrame): readonly string[] {
  const all = [
    ...quotes.map((symbol) => `quotes:${symbol}`),
    ...bars.map((name) => `bars:${name}`),
    ...(funds === true ? ["funds"] : []),
    ...(halts === true ? ["halts"] : []),
  ];
  return [...new Set(all)];
}

/** Why these cannot be subscribed; undefined when they can. */
export function whyNot(
  { quotes = [], bars = [], funds, halts }: ClientFrame,
  feed: MarketFeed,
): { readonly code: string; readonly detail: string } | undefined {
  const asked = [...quotes, ...bars.map((name) => name.slice(0, name.lastIndexOf(":")))];
  const traded = asked.filter((symbol) => symbol !== testSymbol);
  const known = feed.instruments.newest()?.value;
  const silent =
    (traded.length > 0 && known === undefined) ||
    (funds === true && feed.funds.newest() === undefined) ||
    (halts === true && feed.halts.newest() === undefined);
  if (silent)
    return { code: "SERVICE_UNAVAILABLE", detail: "The services have not said anything yet: ask again in a second." };
  const symbols = new Set(known?.map(({ symbol }) => symbol));
  const strange = traded.find((symbol) => !symbols.has(symbol) && feed.quotes.newest()?.value.has(symbol) !== true);
  if (strange !== undefined)
    return { code: "NOT_FOUND", detail: `No instrument ${JSON.stringify(strange)} is traded here.` };
  if (bars.some((name) => name.startsWith(`${testSymbol}:`))) {
    return { code: "NOT_FOUND", detail: "TEST has quotes and no bars." };
  }
  return undefined;
}
