// Every text that a person can send with a request that changes something is typed text, has a form of its own, or says why it is taken as it is: a new
// route cannot bring one that nobody thought of.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { operations } from "../../contracts/src/authority.ts";
import { isTakenAsItIs, isTyped } from "../../contracts/src/text/typed.ts";
import type { Route } from "../../ports/http.ts";
import { gatewayRoutes } from "./index.ts";
import type { GatewayParts } from "./parts.ts";

const noParts = new Proxy({} as GatewayParts, {
  get: (_target, part) => {
    throw new Error(`${String(part)} was used before any request came`);
  },
});

/** Nothing is written by what only reads, and nobody logs in to what anyone may call. */
const changing = gatewayRoutes(noParts).filter(({ operation }) => {
  const { reads, allowed }: { readonly reads: boolean; readonly allowed: unknown } = operations[operation];
  return !reads && allowed !== "anyone";
});

/** A pattern that lists what may stand there, and does not say only what may not. */
function isForm(pattern: RegExp): boolean {
  const outside = pattern.source.replaceAll(/\\./g, "").replaceAll(/\[[^\]^][^\]]*\]/g, "");
  return !/\[\^|\./.test(outside) && !/\\[SWDpP]/.test(pattern.source);
}

function hasForm(schema: z.ZodString): boolean {
  const checks = (schema._zod.def.checks ?? []).map((check) => check._zod.def as { readonly pattern?: RegExp });
  const formats = ["date", "date-time", "decimal"];
  return (
    checks.some(({ pattern }) => pattern !== undefined && isForm(pattern)) ||
    formats.includes(String(z.globalRegistry.get(schema)?.["format"]))
  );
}

/** The places of texts that nothing is said of. */
function undeclared(schema: z.ZodType, place: string): readonly string[] {
  if (isTyped(schema) || isTakenAsItIs(schema)) return [];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return undeclared(schema.unwrap() as z.ZodType, place);
  }
  if (schema instanceof z.ZodString) return hasForm(schema) ? [] : [place];
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, inner]) => undeclared(inner as z.ZodType, `${place}.${name}`));
  }
  if (schema instanceof z.ZodArray) return undeclared(schema.element as z.ZodType, `${place}[]`);
  if (schema instanceof z.ZodRecord) {
    const names = undeclared(schema.keyType as z.ZodType, `${place}.NAME`);
    return [...names, ...undeclared(schema.valueType as z.ZodType, `${place}.*`)];
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => undeclared(one as z.ZodType, place));
  return textless.some((known) => schema instanceof known) ? [] : [place];
}

const textless = [z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral, z.ZodNull];

const placesOf = ({ id, query, body }: Route): readonly string[] => [
  ...(query === undefined ? [] : undeclared(query, `${id} query`)),
  ...(body === undefined ? [] : undeclared(body, `${id} body`)),
];

describe("what people can write with a request", () => {
  it("is declared, text by text, on every route that changes something", () => {
    expect(changing.length).toBeGreaterThan(40);
    expect(changing.flatMap(placesOf)).toEqual([]);
  });

  it("is found where nothing is said of it", () => {
    const body = z.strictObject({
      reason: z.string().max(10),
      line: z.string().regex(/^[^\n]*$/),
      id: z.string().regex(/^[a-z.]{1,8}$/),
      more: z.record(z.string(), z.unknown()).optional(),
      list: z.array(z.strictObject({ thesis: z.string().nullable() })),
    });
    expect(undeclared(body, "body")).toEqual([
      "body.reason",
      "body.line",
      "body.more.NAME",
      "body.more.*",
      "body.list[].thesis",
    ]);
  });

  it("is a reason wherever there is one", () => {
    const reasons = changing.flatMap(({ id, body, query }) =>
      [body, query].flatMap((schema) => {
        const reason: unknown = schema instanceof z.ZodObject ? schema.shape["reason"] : undefined;
        const inner = reason instanceof z.ZodOptional ? reason.unwrap() : reason;
        return inner === undefined ? [] : [[id, isTyped(inner as z.ZodType)] as const];
      }),
    );
    expect(reasons.length).toBeGreaterThan(25);
    expect(reasons.filter(([, isTypedText]) => !isTypedText)).toEqual([]);
  });
});
