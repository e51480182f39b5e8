// What a body may hold is counted on its bytes: exactly as a count of the values that they say, whatever they are, and nothing is decoded, built or asked
// of a body that holds too much.
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { beyondBound, levelsMax } from "./beyond-bound.ts";
import { type Bound, boundOf, unknownMax } from "./bound.ts";
import { refuseBeyond } from "./refuse-beyond.ts";

afterEach(() => vi.restoreAllMocks());

const schema = z.strictObject({
  id: z.string().regex(/^[a-z]{1,8}$/),
  reason: z.string().max(10).optional(),
  names: z.array(z.string().max(5)).max(3).optional(),
  limits: atMost(z.record(z.string().max(4), z.number()), { members: 2 }).optional(),
  rows: z
    .array(z.strictObject({ id: z.string().max(5), tags: z.array(z.number()).max(2) }))
    .max(2)
    .optional(),
  data: atMost(z.record(z.string(), z.unknown()), { any: { values: 4, characters: 20 } }).optional(),
  either: z.union([z.array(z.number()).max(2), z.strictObject({ x: z.string().max(3) })]).optional(),
});
const bound = boundOf(schema);
const astray = "expected no more values of a kind that is not taken here: 100 came before.";
const unknowns = (count: number): string => Array.from({ length: count }, (_, index) => `"u${index}":0`).join();

function complaintAbout(text: string): string | undefined {
  try {
    refuseBeyond(Buffer.from(text), bound);
    return undefined;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT", retry: "never" });
    return (thrown as Error).message;
  }
}

describe("a body", () => {
  it.each([
    ['{"names":["a","b","c"]}', undefined],
    ['{"names":["a","b","c","d"]}', "body.names: expected at most 3 entries, and 4 were sent."],
    [`{"names":[${'"a",'.repeat(99)}"a"]}`, "body.names: expected at most 3 entries, and 100 were sent."],
    ['{"names":["a","b","toolong"]}', "body.names[2]: expected at most 5 characters, and 7 were sent."],
    ['{"names":["\\u0061bcde"]}', undefined],
    ['{"names":["\\u0061bcdef"]}', "body.names[0]: expected at most 5 characters, and 6 were sent."],
    ['{"names":["\ud83d\ude00\ud83d\ude00a"]}', undefined],
    [
      '{"names":["\ud83d\ude00\ud83d\ude00\ud83d\ude00"]}',
      "body.names[0]: expected at most 5 characters, and 6 were sent.",
    ],
    ['{"n\\u0061mes":["a","b","c","d"]}', "body.names: expected at most 3 entries, and 4 were sent."],
    ['{"limits":{"a":1,"b":2}}', undefined],
    ['{"limits":{"a":1,"a":2,"a":3}}', "body.limits: expected at most 2 members, and 3 were sent."],
    ['{"limits":{"longer":1}}', "body.limits.longer: expected at most 4 characters, and 6 were sent."],
    [
      '{"rows":[{"id":"a","tags":[1,2]},{"id":"b","tags":[1,2,3]}]}',
      "body.rows[1].tags: expected at most 2 entries, and 3 were sent.",
    ],
    ['{"data":{"a":[1,2],"b":{}}}', undefined],
    ['{"data":{"a":[1,2,{"x":1}]}}', "body.data: expected at most 4 values, and 5 were sent."],
    ['{"data":{"a":"0123456789","b":"0123456789"}}', "body.data: expected at most 20 characters, and it has more."],
    ['{"either":[1,2,3]}', "body.either: expected at most 2 entries, and 3 were sent."],
    ['{"either":{"x":"long"}}', "body.either.x: expected at most 3 characters, and 4 were sent."],
    [`{${unknowns(7 + unknownMax)}}`, undefined],
    [`{${unknowns(60_000)}}`, `body: expected at most ${7 + unknownMax} members, and 60000 were sent.`],
    [`{"id":[${"0,".repeat(98)}0]}`, undefined],
    [`{"id":[${"0,".repeat(99)}0]}`, `body.id[99]: ${astray}`],
    [`{"x":{"y":[${"[],".repeat(500)}0]}}`, `body.x.y[98]: ${astray}`],
    [`[${"1,".repeat(50_000)}1]`, `body[99]: ${astray}`],
    ['{"data":[1,2,3,4,5,6]}', undefined],
    ['{"data":"longer than it might be"}', undefined],
    [`${"[".repeat(levelsMax)}${"]".repeat(levelsMax)}`, undefined],
    [`${"[".repeat(90_000)}`, `body: expected at most ${levelsMax} levels, and 90000 were sent.`],
    ['"just a text of no bound"', undefined],
    ["", undefined],
    ["}]},,:", undefined],
    ['{"names', undefined],
    ['\ufeff{"names":[1,2,3,4]}', "body.names: expected at most 3 entries, and 4 were sent."],
  ])("%.60s", (text, complaint) => {
    expect(complaintAbout(text)).toBe(complaint);
  });

  it("that holds too much is neither decoded nor read, and costs a look or two at each of its bytes", () => {
    const bytes = Buffer.from(`{"data":{${unknowns(8_000)}}}`);
    const [parse, decode] = [vi.spyOn(JSON, "parse"), vi.spyOn(Buffer.prototype, "toString")];
    let looks = 0;
    const counted = new Proxy(bytes, {
      get: (of, name) => {
        if (typeof name === "string" && /^\d+$/.test(name)) looks += 1;
        const member: unknown = Reflect.get(of, name, of);
        return typeof member === "function" ? member.bind(of) : member;
      },
    });
    expect(beyondBound(counted, bound)).toEqual({ path: ["data"], most: 4, unit: "values", sent: 8_000 });
    expect(parse).not.toHaveBeenCalled();
    // The name on the way there, to know what stands under it and to say where it is.
    expect(decode).toHaveBeenCalledTimes(2);
    expect(looks).toBeLessThan(3 * bytes.length);
  });
});

const seed = 46;
interface Left {
  strays: number;
}

/** What the schema declares, counted on the value. */
function fits(value: unknown, of: Bound, left: Left): boolean {
  const kind = kindOf(value);
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  if (of.any !== undefined && (kind === "object" || !of.any.isObject)) {
    const [values, characters] = spentIn(value);
    return values <= of.any.values && characters <= of.any.characters;
  }
  if (kind === "text" && of.characters !== undefined) return String(value).length <= of.characters;
  if (kind === "scalar" && of.scalar === true) return true;
  const declared = kind === "list" ? of.list : kind === "object" ? of.members : undefined;
  if (declared === undefined) {
    left.strays -= 1;
    return entries.every(([, inner]) => fits(inner, {}, left)) && left.strays >= 0;
  }
  if (entries.length > declared.most) return false;
  return entries.every(([name, inner]) => {
    if ("each" in declared) return fits(inner, declared.each, left);
    const known = declared.known.get(name);
    if (known === undefined && name.length > (declared.others?.characters ?? Number.POSITIVE_INFINITY)) return false;
    return fits(inner, known ?? declared.others?.each ?? {}, left);
  });
}

function kindOf(value: unknown): "text" | "scalar" | "list" | "object" {
  if (typeof value === "string") return "text";
  if (typeof value !== "object" || value === null) return "scalar";
  return Array.isArray(value) ? "list" : "object";
}

function spentIn(value: unknown): readonly [values: number, characters: number] {
  if (typeof value === "string") return [0, value.length];
  if (typeof value !== "object" || value === null) return [0, 0];
  return Object.entries(value).reduce<readonly [number, number]>(
    ([values, characters], [name, inner]) => {
      const [more, longer] = spentIn(inner);
      return [values + 1 + more, characters + longer + (Array.isArray(value) ? 0 : name.length)];
    },
    [0, 0],
  );
}

it(`counts on bytes what a count of the values says, however they are written (seed ${seed})`, () => {
  const throwing = prng(seed);
  const names = [
    "id",
    "reason",
    "names",
    "limits",
    "rows",
    "tags",
    "data",
    "either",
    "x",
    "u",
    'q"{[,',
    "\u00e4\ud83d\ude00",
  ];
  const pick = (): string => names[throwing.below(names.length)] ?? "";
  const texts = ["", "abc", "abcdef", "\\", '"', "\ud83d\ude00\ud83d\ude00", "\u00e4".repeat(11), "},]", "\n\t"];
  const make = (levels: number): unknown => {
    const kind = levels === 0 ? 2 : throwing.below(4);
    if (kind === 0) return Array.from({ length: throwing.below(5) }, () => make(levels - 1));
    if (kind === 1)
      return Object.fromEntries(Array.from({ length: throwing.below(5) }, () => [pick(), make(levels - 1)]));
    return throwing.chance(0.6) ? texts[throwing.below(texts.length)] : [true, null, 1.5e3, -7][throwing.below(4)];
  };
  const written = (value: unknown): string => {
    const text = JSON.stringify(value, null, throwing.below(3)) ?? "";
    if (!throwing.chance(0.3)) return text;
    return text.replaceAll(/[a-z](?=[^"]*":)/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
  };
  let [beyond, within] = [0, 0];
  for (let count = inputCount(2_000, 200_000); count > 0; count -= 1) {
    const value = Object.fromEntries(Array.from({ length: 1 + throwing.below(4) }, () => [pick(), make(3)]));
    const text = written(value);
    if (JSON.stringify(parseJson(text)) !== JSON.stringify(value)) continue;
    const found = beyondBound(Buffer.from(text), bound);
    if (found === undefined) within += 1;
    else beyond += 1;
    expect(found === undefined, text).toBe(fits(value, bound, { strays: 100 }));
  }
  expect(Math.min(beyond, within)).toBeGreaterThan(10);
});
