// The table in docs/api.md of what each route's body may hold, made from the schemas that the gateway reads bodies with.
import { type BoundedPlace, bodyBytesMaxOf, boundOf, placesOf } from "../../adapters/http/body/bound.ts";
import { gatewayRoutes } from "../../edges/gateway/index.ts";
import type { GatewayParts } from "../../edges/gateway/parts.ts";
import type { Route } from "../../ports/http.ts";

const begin = "<!-- bounds: made from the routes -->";
const end = "<!-- end of bounds -->";

/** The routes are only looked at: one that used a part here would get an error that says so. */
const noParts = new Proxy({} as GatewayParts, {
  get: (_target, part) => {
    throw new Error(`a route uses ${String(part)} before any request came`);
  },
});

/** Shorter texts say in OpenAPI how long they may be, or what form they have. */
const shownCharactersMin = 1_000;

function boundsTable(): string {
  const rows = gatewayRoutes(noParts).flatMap((route) => rowOf(route) ?? []);
  return ["| Route | Bytes | At most |", "|---|---|---|", ...rows].join("\n");
}

function rowOf({ id, method, path, body, intake }: Route): string | undefined {
  if (body === undefined) return undefined;
  const bound = boundOf(body, id);
  const places = placesOf(bound).filter(({ most, unit }) => unit !== "characters" || most >= shownCharactersMin);
  const bytes = intake?.bodyBytesMax ?? bodyBytesMaxOf(bound);
  return `| \`${method} ${path}\` | ${grouped(bytes)} | ${places.map(shown).join("; ")} |`;
}

function shown({ place, most, unit }: BoundedPlace): string {
  return `${place === "" ? "the body" : `\`${place}\``} ${grouped(most)} ${unit}`;
}

const grouped = (amount: number): string => amount.toLocaleString("en-US");

/** The document with its table replaced by the one that the routes say. */
export function withBoundsTable(document: string): string {
  const [before, rest] = document.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the document lacks "${begin}" or "${end}"`);
  return `${before}${begin}\n${boundsTable()}\n${end}${after}`;
}
