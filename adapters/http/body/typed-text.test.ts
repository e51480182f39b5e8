// The invariants of the door: what a person typed is refused or marked, and nothing else is looked at.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Operation } from "../../../contracts/src/authority.ts";
import { typed } from "../../../contracts/src/text/typed.ts";
import { duty, machine } from "../../../testkit/gateway/parts.ts";
import { ask, expectProblem, posted, serve } from "../../../testkit/http/test-client.ts";
import { judgeTypedText } from "./typed-text.ts";

const body = z
  .strictObject({
    reason: typed(z.string().max(500)).optional(),
    order_id: z.string().optional(),
    reduce_only: z.boolean().optional(),
    step_up_proof: z.string().optional(),
    rows: z.array(z.strictObject({ note: typed(z.string()).nullable(), id: z.string() })).optional(),
    by_name: z.record(z.string(), typed(z.string())).optional(),
    data: typed(z.record(z.string(), z.unknown())).optional(),
  })
  .refine(() => true);

const judged = (operation: Operation, sent: unknown, identity: typeof duty | undefined = duty) =>
  judgeTypedText({ operation, body, query: z.strictObject({ reason: typed(z.string()).optional() }) }, identity, {
    body: sent,
    query: {},
  });

const hidden = "a\u202eb";
const told = "text in which every character can be seen: U+202E is its character 2";

describe("what a person typed", () => {
  it("1: is refused with field, character and place, wherever it stands", () => {
    const sent = {
      reason: hidden,
      rows: [
        { note: "ok", id: hidden },
        { note: hidden, id: "1" },
        { note: null, id: "2" },
      ],
      by_name: { x: hidden },
      data: { deep: [{ [hidden]: 1 }, hidden] },
    };
    const { errors } = judged("SubmitOrder", sent);
    expect(errors).toEqual(
      ["reason", "rows[1].note", "by_name.x", "data.deep[0]", "data.deep[1]"].map((place) => {
        return { field: `body.${place}`, expected: told };
      }),
    );
  });

  it("1: is refused in a query as well", () => {
    const query = z.strictObject({ reason: typed(z.string()) });
    const route = { operation: "PutSecret", query } as const;
    const { errors } = judgeTypedText(route, duty, { query: { reason: hidden }, body: undefined });
    expect(errors).toEqual([{ field: "query.reason", expected: told }]);
  });

  it("1: goes on where all of it can be seen", () => {
    const sent = { reason: "می‌خواهم 👩‍🔬", data: { a: [1, null, true] } };
    expect(judged("SubmitOrder", sent)).toEqual({ sent: { body: sent, query: {} }, errors: [] });
  });

  it.each([
    ["halting", "RequestHalt", {}],
    ["cancelling", "CancelAll", {}],
    ["revoking", "RevokeSessions", {}],
    ["an exit", "SubmitOrder", { reduce_only: true }],
    ["limits without the proof of loosening", "UpdateEnvelope", {}],
  ] as const)("2: is marked and never refused for %s", (_what, operation, more) => {
    const { sent, errors } = judged(operation, {
      ...more,
      reason: hidden,
      data: { [hidden]: [hidden] },
      order_id: hidden,
    });
    expect(errors).toEqual([]);
    const shown = "a⟨U+202E⟩b";
    expect(sent.body).toEqual({ ...more, reason: shown, data: { [shown]: [shown] }, order_id: hidden });
  });

  it.each([
    ["an order that may open", "SubmitOrder", { reduce_only: false }],
    ["limits with the proof of loosening", "UpdateEnvelope", { step_up_proof: "p" }],
    ["lifting", "ResumeHalt", {}],
  ] as const)("1: is refused for %s", (_what, operation, more) => {
    expect(judged(operation, { ...more, reason: hidden }).errors).toHaveLength(1);
  });

  it("2: is never too long for its marks", () => {
    const { sent } = judged("RequestHalt", { reason: "\u200b".repeat(500) });
    expect(body.safeParse(sent.body).success).toBe(true);
  });

  it("3: is left as it came where nothing declares it, where it is no text, and where a machine or nobody sends it", () => {
    const sent = { reason: hidden, data: hidden };
    expect(judged("SubmitOrder", sent, machine)).toEqual({ sent: { body: sent, query: {} }, errors: [] });
    expect(judgeTypedText({ operation: "SubmitOrder", body }, undefined, { body: sent, query: {} }).errors).toEqual([]);
    for (const odd of [null, 7, "text", [hidden], { reason: { a: hidden } }, { rows: hidden }, { rows: [hidden] }]) {
      expect(judged("SubmitOrder", odd)).toEqual({ sent: { body: odd, query: {} }, errors: [] });
    }
  });
});

it("stands before the schemas of a route", async () => {
  const seen: unknown[] = [];
  const route = (operation: Operation) =>
    ({
      id: operation,
      method: "POST",
      path: `/v1/${operation}`,
      listeners: ["operator"],
      sentence: "Takes a reason.",
      operation,
      body: z.strictObject({
        reason: typed(
          z
            .string()
            .max(20)
            .regex(/^\P{Cf}*$/u),
        ),
      }),
      answers: { 200: z.looseObject({}) },
      handle: async (request: { readonly body: unknown }) => {
        seen.push(request.body);
        return { status: 200, body: {} };
      },
    }) as const;
  const { server } = await serve([route("ResumeHalt"), route("CancelAll")]);
  const refused = await ask(server, "/v1/ResumeHalt", posted({ reason: hidden }));
  const { errors } = expectProblem(refused, 400, "INVALID_ARGUMENT", "/v1/ResumeHalt");
  expect(errors).toEqual([{ field: "body.reason", expected: told }]);
  expect((await ask(server, "/v1/CancelAll", posted({ reason: hidden }))).status).toBe(200);
  expect(seen).toEqual([{ reason: "a⟨U+202E⟩b" }]);
});
