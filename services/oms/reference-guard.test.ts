// An approval is not believed about reference data: what an order names is looked up in the transaction of its sending.
import { afterEach, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { orderOf } from "../../testkit/oms-fixture.ts";
import { call, provenReference, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService } from "../shared/service.ts";
import { createReferenceGuard } from "./reference-guard.ts";

let books: TestBooks;
afterEach(() => books.close());

async function set<One>(running: RunningService, kind: string, change: (all: readonly One[]) => readonly One[]) {
  const document = await call<ReferenceDocument>(running, "GetReferenceData", { kind });
  const content_json = JSON.stringify(change(JSON.parse(document.content_json)));
  const next = { kind, version: document.version + 1, content_json, reason: "tested" };
  expect(await call(running, "SetReferenceData", provenReference(books.fixture, next))).toMatchObject({
    version: next.version,
  });
}

it("23.4: an order whose instrument or strategy went away after its approval is not sent, unless it is a marked exit", async () => {
  books = testBooks(20_261_115);
  const running = await books.start();
  const guard = createReferenceGuard(books.fixture.portsOf("oms"));
  const order = orderOf("o-1", { fund_id: "alpha", strategy_id: "alpha-meanrev", symbol: "XOM" });
  const at = books.fixture.time.clock.now();
  const stored = {
    order,
    state: "ACCEPTED" as const,
    bodyHash: "ab",
    submittedBy: "x",
    createdAt: at,
    updatedAt: at,
    filledQuantity: decimal.zero,
    filledValue: decimal.zero,
  };
  const ask = (differs: object) => books.look((unit) => guard(unit, { ...stored, order: { ...order, ...differs } }));
  expect(await ask({})).toBeUndefined();
  await set<{ readonly symbol: string }>(running, "instruments", (all) => all.filter(({ symbol }) => symbol !== "XOM"));
  expect(await ask({})).toMatchObject({ code: "ORDER_REFERENCE_GONE", reason: expect.stringContaining("XOM") });
  expect(await ask({ reduce_only: true })).toBeUndefined();
  expect(await ask({ symbol: "AAPL" })).toBeUndefined();
  await set<FundReference>(running, "funds", (all) =>
    all.map((fund) => ({ ...fund, strategies: fund.strategies.filter((one) => one !== "alpha-meanrev") })),
  );
  expect(await ask({ symbol: "AAPL" })).toMatchObject({ code: "ORDER_REFERENCE_GONE" });
  expect(await ask({ symbol: "AAPL", strategy_id: "alpha-momentum" })).toBeUndefined();
  expect(await ask({ symbol: "AAPL", strategy_id: "alpha-momentum", fund_id: "beta" })).toBeDefined();
});
