// What reading a body would lose in silence is refused before any route sees it, by the place where it stands; everything else is read as ever.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Route } from "../../../ports/http.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { anyBody, ask, expectProblem, serve } from "../../../testkit/http/test-client.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { refusingLossyJson, strictText } from "./strict-json.ts";

function complaintAbout(text: string): string | undefined {
  try {
    for (const _ of refusingLossyJson(text));
    return undefined;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT", retry: "never" });
    return (thrown as Error).message;
  }
}

const twice = "expected this member once, and it stands there twice.";
const digits = "expected a number that keeps its digits, and this one would lose some: send it as text.";
const half = "expected whole characters, and it has half of a surrogate pair.";

describe("a text that is JSON", () => {
  it.each([
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', undefined],
    ['{"a":"\\"a\\":1,\\\\","b":"{\\"a\\":1,\\"a\\":2}"}', undefined],
    ['{"a":"\\ud83d\\ude00","\\u0061b":"\\u0000"}', undefined],
    ['"\\\\ud800"', undefined],
    ['{"a":[1e30,9007199254740991,-9007199254740992,1.12345678901234567890,0.10000000000000001,1e-400]}', undefined],
    ['{"a":"9007199254740993","9007199254740993":1}', undefined],
    ['{"a":9007199254740993}', `body.a: ${digits}`],
    ['{"data":[0, -9007199254740993 ]}', `body.data[1]: ${digits}`],
    ['{"a":{"uuid":340282366920938463463374607431768211455}}', `body.a.uuid: ${digits}`],
    [`{"a":1${"0".repeat(400)}}`, `body.a: ${digits}`],
    ['{"a":1,"a":1}', `body.a: ${twice}`],
    ['{"a":1,"\\u0061":2}', `body.a: ${twice}`],
    ['{"data":{"list":[1,{"x":[],"y":"}","x":0}]}}', `body.data.list[1].x: ${twice}`],
    ['{ "a" : [ ] , "b" : { } , "a" : null }', `body.a: ${twice}`],
    ['{"data":{"note":"a\\ud800"}}', `body.data.note: ${half}`],
    ['{"data":[["\\udc00\\ud800"]]}', `body.data[0][0]: ${half}`],
    ['"\\uD800\\u0041"', `body: ${half}`],
    ['{"\\ud800":1}', `body.\ufffd: ${half}`],
  ])("%s", (text, complaint) => {
    JSON.parse(text);
    expect(complaintAbout(text)).toBe(complaint);
  });

  const seed = 41;
  it(`made at random is refused exactly when writing it again would not be the same (seed ${seed})`, () => {
    const throwing = prng(seed);
    const texts = ['"a"', '"b"', '"\\u0061"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\\\"', '"\\"{"', '"],"'];
    const pick = () => texts[throwing.below(texts.length)] ?? '""';
    const make = (levels: number): string => {
      const kind = levels === 0 ? 2 : throwing.below(4);
      if (kind > 1) return throwing.chance(0.7) ? pick() : "12";
      const inside = Array.from({ length: throwing.below(4) }, () => make(levels - 1));
      if (kind === 0) return `[${inside.join(" ,")}]`;
      return `{${inside.map((value) => `${pick()}: ${value}`).join(",")}}`;
    };
    let refusals = 0;
    const made = inputCount(3_000);
    for (let n = 0; n < made; n += 1) {
      const text = make(4);
      const isLossy = loses(text);
      if (isLossy) refusals += 1;
      expect([text, complaintAbout(text) !== undefined]).toEqual([text, isLossy]);
    }
    expect(refusals).toBeGreaterThan(made / 10);
    expect(refusals).toBeLessThan((made * 9) / 10);
  });
});

/** By another way: members are counted in the text and in the value, and the value is written as bytes. */
function loses(text: string): boolean {
  const value = parseJson(text);
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  const members = (of: unknown): number =>
    typeof of !== "object" || of === null
      ? 0
      : Object.values(of).reduce<number>(
          (sum, inner) => sum + members(inner),
          Array.isArray(of) ? 0 : Object.keys(of).length,
        );
  const isWhole = (of: unknown): boolean =>
    typeof of === "string"
      ? Buffer.from(of).toString() === of
      : typeof of !== "object" || of === null || Object.entries(of).every((pair) => pair.every(isWhole));
  return members(value) !== (bare.match(/:/g) ?? []).length || !isWhole(value);
}

describe("bytes", () => {
  it("that are no UTF-8 are refused with their place", () => {
    expect(strictText(Buffer.from('{"a":"größer \ufffd"}'))).toBe('{"a":"größer \ufffd"}');
    const at = (bytes: readonly number[]) => () => strictText(Buffer.from([...Buffer.from('{"a":"'), ...bytes]));
    expect(at([0xff, 0x22])).toThrow("body: expected UTF-8, and it is not at or shortly before byte 6.");
    expect(at([0xed, 0xa0, 0x80])).toThrow(/byte 6\./);
    expect(at([0x61, 0xc3])).toThrow(/byte 7\./);
  });
});

describe("a route", () => {
  const taken: unknown[] = [];
  const loose: Route = {
    id: "loose",
    method: "POST",
    path: "/v1/loose",
    listeners: ["operator"],
    sentence: "Takes anything.",
    operation: "ReadHealth",
    body: anyBody,
    answers: { 200: z.looseObject({}) },
    handle: async ({ body }) => ({ status: taken.push(body) > 0 ? 200 : 500, body: {} }),
  };

  it("is never asked with what was lost, and the answer is a problem that says where", async () => {
    const { server } = await serve([loose]);
    const send = (body: string | Buffer) =>
      ask(server, "/v1/loose", { method: "POST", headers: { "content-type": "application/json" }, body });
    for (const [body, detail] of [
      ['{"data":{"a":1,"a":2}}', `body.data.a: ${twice}`],
      ['{"idempotency_key":"\\ud800"}', `body.idempotency_key: ${half}`],
      [Buffer.from([0x22, 0xff, 0x22]), "body: expected UTF-8, and it is not at or shortly before byte 1."],
    ] as const) {
      const reported = expectProblem(await send(body), 400, "INVALID_ARGUMENT", "/v1/loose");
      expect(reported["detail"]).toBe(detail);
    }
    expect(taken).toEqual([]);
    expect((await send('{"a":"\\ud83d\\ude00"}')).status).toBe(200);
    expect(taken).toEqual([{ a: "😀" }]);
  });

  it("is asked with the names that were sent, whatever was sent before; and never with one that would be a prototype", async () => {
    const { server } = await serve([loose]);
    const send = (body: string) =>
      ask(server, "/v1/loose", { method: "POST", headers: { "content-type": "application/json" }, body });
    taken.splice(0);
    for (const name of ["\\\\", "__pro\\\\", "const\\\\"]) expect((await send(`{"b":1,"${name}":2}`)).status).toBe(200);
    expect((await send('\ufeff{"b":1,"\\n":2}')).status).toBe(200);
    expect(taken.at(-1)).toEqual({ b: 1, "\n": 2 });
    for (const name of ['"__pro\\u0074o__"', '"const\\u0072uctor"']) {
      expectProblem(await send(`{"b":1,${name}:{"prototype":{}}}`), 400, "INVALID_ARGUMENT", "/v1/loose");
    }
    expect(taken).toHaveLength(4);
  });
});
