// How services ask each other, over gRPC and without a network: the same questions, the same answers, denials and silences.
import { afterEach, describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import type { Identity } from "../../ports/identity.ts";
import type { RpcService, UnaryHandler } from "../../ports/rpc.ts";
import { createInProcessPeers } from "../../testkit/memory/in-process-peers.ts";
import { orderOf } from "../../testkit/oms-fixture.ts";
import { exampleDecision, exampleEnvelope } from "../../testkit/record-examples.ts";
import { systemTimers } from "../system/timers.ts";
import type { Peers } from "./peers.ts";

const identity = { kind: "service", actor: "service:oms", name: "oms" } as Identity;
const timers = systemTimers();
const asked: { readonly method: string; readonly request: unknown }[] = [];

afterEach(() => {
  asked.length = 0;
});

function peersWith(handlers: Readonly<Record<string, (request: never) => unknown>>, answerMsMax = 5_000): Peers {
  const noted: Record<string, UnaryHandler> = Object.fromEntries(
    Object.entries(handlers).map(([method, handler]) => [
      method,
      async (request: never) => {
        asked.push({ method, request });
        return handler(request);
      },
    ]),
  );
  const find = (name: string): RpcService => ({ name, handlers: noted });
  return createInProcessPeers({ timers, identity, find, answerMsMax });
}

describe("peers", () => {
  it("a check passes the wire and comes back as a record, encoded or not", async () => {
    const message = { ...exampleDecision, checks: [], warnings: [] } as unknown as RiskDecision;
    const encoded = { encoded: RiskDecision.encode(message).finish() };
    for (const answer of [message, encoded]) {
      const { riskChecks } = peersWith({ CheckOrder: () => answer });
      const decision = await riskChecks.check(orderOf("o-1", { reduce_only: true }));
      expect(decision).toMatchObject({ decision_id: exampleDecision.decision_id, approved: exampleDecision.approved });
    }
    expect(asked[0]?.request).toMatchObject({ order_id: "o-1", reduce_only: true, limit_price: "230" });
  });

  it("an envelope that is not there is undefined, and one that is comes whole", async () => {
    const missing = peersWith({
      GetEnvelope: () => {
        throw new Fault("NOT_FOUND", "none", { retry: "never" });
      },
    });
    expect(await missing.riskChecks.envelope("alpha")).toBeUndefined();
    const there = peersWith({ GetEnvelope: () => exampleEnvelope });
    expect(await there.riskChecks.envelope("alpha")).toEqual(exampleEnvelope);
  });

  it("every approval is read, page by page, and what was left out of a question is not asked", async () => {
    const approval = (number: number) => ({
      order_id: `o-${number}`,
      fund_id: "alpha",
      strategy_id: "s",
      symbol: "AAPL",
      side: "BUY",
      quantity: "1",
      filled_quantity: "0",
      reserved_quantity: "1",
      state: "UNSENT",
      valid_until: "2026-11-15T13:30:00.000000Z",
    });
    const { riskBooks } = peersWith({
      ListApprovals: ({ after_approval: after }: { after_approval?: string }) => ({
        approvals: Array.from({ length: after === undefined ? 5_000 : 2 }, (_, index) =>
          approval(after === undefined ? index : 5_000 + index),
        ),
      }),
    });
    const all = await riskBooks.approvals();
    expect([all.length, all.at(-1)?.orderId]).toEqual([5_002, "o-5001"]);
    expect(asked.map(({ request }) => (request as { after_approval?: string }).after_approval)).toEqual([
      undefined,
      "2026-11-15T13:30:00.000000Z/o-4999",
    ]);
  });

  it("what the other side denied is an answer, what it did not answer is trouble", async () => {
    const denial = { code: "ORDER_KEY_CONFLICT", reason: "taken" } as const;
    const { orderManagement } = peersWith({ SubmitOrder: () => ({ denial }), AdjustPosition: () => ({ denial }) });
    expect(await orderManagement.submit(orderOf("o-1"))).toEqual({ denial });
    const adjustment = { adjustmentId: "a-1", fundId: "alpha", strategyId: "s", symbol: "AAPL", reason: "r" };
    const numbers = { fromQuantity: "1", toQuantity: "2", price: "3", broker: "paper" };
    expect(await orderManagement.adjust({ ...adjustment, ...numbers })).toEqual({ denial });
    expect(asked[1]?.request).toMatchObject({ adjustment_id: "a-1", from_quantity: "1", to_quantity: "2" });
    const silent = peersWith({ CheckOrder: () => new Promise(() => undefined) }, 20);
    await expect(silent.riskChecks.check(orderOf("o-1"))).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    const absent = createInProcessPeers({ timers, identity, find: () => undefined });
    await expect(absent.orderManagement.order("o-1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
});
