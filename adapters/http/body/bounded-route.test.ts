// A body that holds too much never reaches a schema: the caller hears which field it is, what it may hold and what was sent, and a person's attempt is
// reported like any other. What comes in a form that nobody decodes here is refused by its header.
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Route } from "../../../ports/http.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { everyRole } from "../../../testkit/grpc/test-verifier.ts";
import { anyBody, ask, expectProblem, rawAsk, serve } from "../../../testkit/http/test-client.ts";
import { testPorts } from "../../../testkit/http/test-ports.ts";
import { prng } from "../../../testkit/virtual/prng.ts";

afterEach(() => vi.restoreAllMocks());

const path = "/v1/bounded";
const json = { "content-type": "application/json" };
const sends = (body: string | Buffer, headers: Readonly<Record<string, string>> = json) => ({
  method: "POST",
  headers,
  body,
});

function bounded(body: z.ZodType): Route {
  return {
    id: "bounded",
    method: "POST",
    path,
    listeners: ["operator"],
    sentence: "Takes so much and no more.",
    operation: "UpdateEnvelope",
    body,
    answers: { 200: z.looseObject({}) },
    handle: async ({ body: taken }) => ({ status: 200, body: { taken } }),
  };
}

describe("a body", () => {
  it("with more than its route takes is 400 with the field, before it is read or any schema is asked", async () => {
    let asked = 0;
    const names = z.array(z.string().max(10)).max(100);
    const body = z.strictObject({ names, once: z.boolean().optional() }).refine(() => {
      asked += 1;
      return true;
    });
    const reported: unknown[] = [];
    const { server } = await serve([bounded(body)], { tellRefusal: (refused) => reported.push(refused) });
    const parse = vi.spyOn(JSON, "parse");
    const names40000 = JSON.stringify({ names: Array.from({ length: 1_500 }, () => "a") });
    const answer = expectProblem(await ask(server, path, sends(names40000)), 400, "INVALID_ARGUMENT", path);
    const expected = "at most 100 entries, and 1500 were sent";
    expect(answer).toMatchObject({
      detail: `body.names: expected ${expected}.`,
      errors: [{ field: "body.names", expected }],
    });
    expect(parse.mock.calls.filter(([text]) => text === names40000)).toEqual([]);
    expect(asked).toBe(0);
    expect(reported).toMatchObject([
      { operation: "UpdateEnvelope", code: "INVALID_ARGUMENT", reason: `body.names: expected ${expected}.` },
    ]);
    expect((await ask(server, path, sends('{"names":["a"]}'))).status).toBe(200);
  });

  it("with more bytes than its route takes is 413 with both numbers, announced or not", async () => {
    const { server } = await serve([bounded(z.strictObject({ id: z.string().max(10) }))]);
    const tooMuch = `{"id":"a"${" ".repeat(20_000)}}`;
    const announced = expectProblem(await ask(server, path, sends(tooMuch)), 413, "MESSAGE_TOO_LARGE", path);
    const expected = `at most 16384 bytes, and ${tooMuch.length} were sent`;
    expect(announced).toMatchObject({ detail: `body: expected ${expected}.`, errors: [{ field: "body", expected }] });
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${everyRole}\r\ncontent-type: application/json\r\n`;
    const pieces = `${head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n${tooMuch.length.toString(16)}\r\n${tooMuch}\r\n0\r\n\r\n`;
    expect(await rawAsk(server, pieces)).toContain("body: expected at most 16384 bytes, and it has more.");
    expect((await ask(server, path, sends(`{"id":"a"${" ".repeat(16_000)}}`))).status).toBe(200);
  });

  it("that would have to be decoded first is 415", async () => {
    const { server } = await serve([bounded(z.strictObject({ id: z.string().max(10) }))]);
    const text = '{"id":"a"}';
    for (const coding of ["gzip", "identity, br", "what"]) {
      const body = coding === "gzip" ? gzipSync(text) : text;
      const refused = await ask(server, path, sends(body, { ...json, "content-encoding": coding }));
      expectProblem(refused, 415, "INVALID_ARGUMENT", path);
      expect(refused.headers["accept-encoding"]).toBe("identity");
    }
    for (const coding of ["identity", " Identity "]) {
      expect((await ask(server, path, sends(text, { ...json, "content-encoding": coding }))).status).toBe(200);
    }
  });
});

describe("a body within its bounds", () => {
  const seed = 94;
  it(`is read as ever, small or in slices (seed ${seed})`, async () => {
    const throwing = prng(seed);
    const letters = ["a", "\\", '"', "\n", "\u00e4", "\ud83d\ude00", "{", "]", ":", ","];
    const text = (): string =>
      Array.from({ length: throwing.below(6) }, () => letters[throwing.below(letters.length)]).join("");
    const make = (levels: number): unknown => {
      const kind = levels === 0 ? 2 : throwing.below(4);
      if (kind === 0) return Array.from({ length: throwing.below(4) }, () => make(levels - 1));
      if (kind === 1)
        return Object.fromEntries(Array.from({ length: throwing.below(4) }, () => [text(), make(levels - 1)]));
      return throwing.chance(0.6) ? text() : [true, null, 1.5e3, -7][throwing.below(4)];
    };
    const timers = testPorts().ports.timers;
    let slices = 0;
    const soon = (run: () => void): void => {
      slices += 1;
      timers.soon(run);
    };
    const { server } = await serve([bounded(anyBody)], { timers: { ...timers, soon } });
    const read = async (value: unknown) => parseJson((await ask(server, path, sends(JSON.stringify(value)))).text);
    const count = inputCount(200);
    for (let asked = 0; asked < count; asked += 1) {
      const taken = make(5);
      expect(await read(taken)).toEqual({ taken });
    }
    // Each question ends its turn of the loop once, whatever it brings.
    expect(slices).toBeLessThanOrEqual(count + 1);
    const before = slices;
    const large = Array.from({ length: 12_000 }, (_, index) => ({ [`k\\${index}`]: make(1) }));
    expect(await read(large)).toEqual({ taken: large });
    expect(slices - before).toBeGreaterThan(2 + 12_000 / 4_096);
  });
});

describe("a route", () => {
  it.each([
    ["a list", z.strictObject({ rows: z.array(z.number()) }), "rows"],
    ["a list in a list", z.strictObject({ rows: z.array(z.array(z.number())).max(2) }), "rows[]"],
    ["a map", z.strictObject({ by: z.record(z.string().max(3), z.number()) }), "by"],
    ["a map's names", z.strictObject({ by: atMost(z.record(z.string(), z.number()), { members: 3 }) }), "by.NAME"],
    ["members of any name", z.looseObject({ a: z.number() }), ""],
    ["a text", z.strictObject({ reason: z.string().optional() }), "reason"],
    ["a text of a form without an end", z.strictObject({ id: z.string().regex(/^[a-z]+$/) }), "id"],
    ["free JSON", z.strictObject({ data: z.unknown() }), "data"],
    ["one of several forms", z.union([z.null(), z.strictObject({ a: z.string() })]), "a"],
  ])("with %s of any length is not served", async (_name, body, place) => {
    const where = place === "" ? "The body of bounded" : `The body of bounded.${place}`;
    await expect(serve([bounded(body)])).rejects.toThrow(`${where} may be as long as it likes`);
  });
});
