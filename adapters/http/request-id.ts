// The request id that follows one call through logs, answers and spans. A caller may bring its own, but it lands in log
// lines and headers, so only short, plain ones are accepted; anything else is replaced, never refused.
import type { Random } from "../../ports/random.ts";

export const requestIdHeader = "x-request-id";

const sane = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export function requestIdFrom(given: unknown, random: Random): string {
  return typeof given === "string" && sane.test(given) ? given : random.uuid();
}
