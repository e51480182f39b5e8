// What a route that is left behind says with every answer: since when (RFC 9745), until when (RFC 8594), and what to use (as a Link to this API's reference).
import { Defect } from "../../contracts/src/fault.ts";
import { parse, toUnixMs, tryParseDate } from "../../contracts/src/instant.ts";
import type { Route } from "../../ports/http.ts";

export function deprecationHeaders({
  id,
  deprecated,
}: Pick<Route, "id" | "deprecated">): Readonly<Record<string, string>> {
  if (deprecated === undefined) return {};
  const { since, sunset } = deprecated;
  const [from, until] = [unixMsOf(id, since), unixMsOf(id, sunset)];
  if (until <= from) throw new Defect(`The route ${id} ends on ${sunset}, before it is deprecated on ${since}.`);
  return {
    deprecation: `@${from / 1_000}`,
    sunset: new Date(until).toUTCString(),
    link: '</docs>; rel="deprecation"; type="text/html"',
  };
}

function unixMsOf(id: string, date: string): number {
  if (tryParseDate(date) === undefined)
    throw new Defect(`The route ${id} names the date ${JSON.stringify(date)}, which is none.`);
  return toUnixMs(parse(`${date}T00:00:00Z`));
}
