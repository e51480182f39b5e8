// A request whose data came from a decoder is written by a shorter way; what comes out must be the same bytes as by the careful one.
import { expect, test } from "vitest";
import { systemSha256OfBytes } from "../../../../adapters/system/signing.ts";
import { createEntryMaker } from "../../../../core/audit/entry.ts";
import { zeroHex } from "../../../../core/audit/hash.ts";
import { prng } from "../../../../testkit/virtual/prng.ts";
import type { AppendRequest } from "./append-request.ts";
import { beginBatch, type Chained, chainSome } from "./batch.ts";

const seed = Math.floor(Math.random() * 1_000_000);
const names = ["at", "payload", "subject", "subject_previou", "subject_previous!", "tail", "ä", "Z", "0", "__proto__"];
const values: readonly unknown[] = [
  "",
  "größer \u{1f600}",
  'a "quoted" \\ud',
  null,
  true,
  0,
  -7,
  [1, ["two"]],
  { b: 1, a: { c: [] } },
  {},
];

interface Waiting {
  readonly request: AppendRequest;
  readonly reject: (fault: Error) => void;
}

function chained(requests: readonly AppendRequest[], isPlain: boolean): Chained<Waiting> {
  const batch = beginBatch<Waiting>({ size: 5, hash: zeroHex, timestamp: "" });
  const waiting = requests.map((request) => ({
    request: { ...request, isPlain },
    reject(fault: Error) {
      throw fault;
    },
  }));
  const known = { sequences: undefined, newest: new Map([["known", 3]]) };
  const maker = createEntryMaker(systemSha256OfBytes);
  const options = { known, before: undefined, maker, now: "2026-11-15T09:30:00.123456Z" };
  expect(chainSome(batch, waiting, 0, requests.length, options)).toBe(requests.length);
  return batch;
}

test(`the short way writes what the careful one writes, seed ${seed}`, () => {
  const throws = prng(seed);
  const requests = Array.from({ length: 400 }, (_, n): AppendRequest => {
    const data: Record<string, unknown> = {};
    for (let count = throws.below(6); count > 0; count -= 1) {
      const name = names[throws.below(names.length)] ?? "";
      Object.defineProperty(data, name, {
        value: values[throws.below(values.length)],
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    const subjectId = throws.below(3) === 0 ? "known" : `subject-${throws.below(20)}`;
    return { eventId: `event-${n}`, actor: "service:oms", action: "order.updated", subjectId, data };
  });
  const [short, careful] = [chained(requests, true), chained(requests, false)];
  const textsOf = ({ rows }: Chained<Waiting>) => rows.map(({ text }) => Buffer.from(text).toString());
  expect(textsOf(short)).toEqual(textsOf(careful));
  expect(short.head).toEqual(careful.head);
  const last = new Map<string, number>([["known", 3]]);
  for (const { sequence, subjectId, text } of short.rows) {
    const entry = JSON.parse(Buffer.from(text).toString()) as { readonly data: { readonly subject_previous: unknown } };
    expect(entry.data.subject_previous).toBe(last.get(subjectId) ?? null);
    last.set(subjectId, sequence);
  }
});
