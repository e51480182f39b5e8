// Every body has an end: each list, map and text of each route says what it may hold, never less than the release said, and what a person or a program
// sends as the examples have it is within.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { beyondBound } from "../../adapters/http/body/beyond-bound.ts";
import { type BoundedPlace, bodyBytesMaxOf, boundOf, placesOf } from "../../adapters/http/body/bound.ts";
import type { Route } from "../../ports/http.ts";
import { routeExamples } from "./examples.ts";
import { gatewayRoutes } from "./index.ts";
import type { GatewayParts } from "./parts.ts";

const noParts = new Proxy({} as GatewayParts, {
  get: (_target, part) => {
    throw new Error(`${String(part)} was used before any request came`);
  },
});

const routes = gatewayRoutes(noParts).filter(({ body }) => body !== undefined);
const boundOfRoute = ({ id, body }: Route) => boundOf(body ?? expect.fail(`${id} takes no body`), id);
const placesById = new Map(routes.map((route) => [route.id, placesOf(boundOfRoute(route))]));

interface JsonSchema {
  readonly $ref?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
}

interface Released {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ReleasedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

interface ReleasedOperation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
}

const released = JSON.parse(readFileSync("contracts/released/0.1.0/openapi.json", "utf8")) as Released;

/** What the release declared of each place in a body. */
function declaredIn(schema: JsonSchema, place = ""): readonly BoundedPlace[] {
  if (schema.$ref !== undefined)
    return declaredIn(released.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, place);
  const { maxLength, maxItems, items, properties = {}, additionalProperties, anyOf = [] } = schema;
  const at = (name: string): string => (place === "" ? name : `${place}.${name}`);
  return [
    ...(maxLength === undefined ? [] : [{ place, most: maxLength, unit: "characters" as const }]),
    ...(maxItems === undefined ? [] : [{ place, most: maxItems, unit: "entries" as const }]),
    ...(items === undefined ? [] : declaredIn(items, `${place}[]`)),
    ...Object.entries(properties).flatMap(([name, inner]) => declaredIn(inner, at(name))),
    ...(typeof additionalProperties === "object" ? declaredIn(additionalProperties, at("*")) : []),
    ...anyOf.flatMap((one) => declaredIn(one, place)),
  ];
}

describe("a route", () => {
  it("says what its body may hold, place by place", () => {
    expect(routes.length).toBeGreaterThan(55);
    expect(placesById.get("diffEnvelopes")).toEqual(
      expect.arrayContaining([
        { place: "proposed.sector_limits_pct", most: 1_000, unit: "members" },
        { place: "proposed.allowed_brokers", most: 1_000, unit: "entries" },
      ]),
    );
    expect(placesById.get("acceptBlock")).toContainEqual({ place: "gaps[].missing", most: 200, unit: "entries" });
  });

  it("holds nobody to less than the release declared", () => {
    const operations = Object.values(released.paths).flatMap((methods) => Object.values(methods));
    const tighter = operations.flatMap(({ operationId, requestBody }) => {
      const places = placesById.get(operationId);
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
      if (places === undefined || schema === undefined) return [];
      return declaredIn(schema).filter(({ place, most, unit }) =>
        places.some((now) => now.place === place && now.unit === unit && now.most < most),
      );
    });
    expect(tighter).toEqual([]);
    expect(operations.filter(({ operationId }) => placesById.has(operationId)).length).toBeGreaterThan(40);
  });

  it("takes what its example sends", () => {
    const beyond = routes.map((route) => {
      const sent = Buffer.from(JSON.stringify(routeExamples[route.id]?.body ?? {}));
      const bound = boundOfRoute(route);
      return { id: route.id, beyond: beyondBound(sent, bound), isTooLong: sent.length > bodyBytesMaxOf(bound) };
    });
    expect(beyond.filter((one) => one.beyond !== undefined || one.isTooLong)).toEqual([]);
  });

  it("takes as many bytes as its parts, and never more than a mebibyte", () => {
    const bytes = new Map(routes.map((route) => [route.id, bodyBytesMaxOf(boundOfRoute(route))]));
    expect(bytes.get("cancelOrder")).toBe(120_832);
    // A reason, however long, never keeps anybody from halting; and reference data is as large as it was.
    expect([bytes.get("requestHalt"), bytes.get("setReferenceData")]).toEqual([1_048_576, 1_048_576]);
    expect([...bytes.values()].filter((most) => most < 16_384 || most > 1_048_576)).toEqual([]);
  });
});
