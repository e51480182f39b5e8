// Rebuilding a fund's ledger: a random life is what the rebuild makes of it, damage is put right in one transaction with one event, and what must not
// be rebuilt is refused with nothing changed. The numbers are those of rebuild-ledger.ts.
import { afterEach, describe, expect, it } from "vitest";
import * as decimal from "../../contracts/src/decimal.ts";
import type { LedgerRebuild } from "../../contracts/src/generated/svc/v1/platform.ts";
import * as instant from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, UnaryHandler } from "../../ports/rpc.ts";
import { giveProof } from "../../testkit/memory/units/step-up.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { call, provenFlow, type TestBooks, testBooks } from "../../testkit/virtual/treasury-books.ts";
import type { RunningService } from "../shared/service.ts";
import { rebuildAction } from "./rebuild-ledger.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? "20261117");
const identity = { kind: "operator", actor: "operator:duty", subject: "issuer|duty" };
let books: TestBooks;
afterEach(() => books.close());

const settle = () => books.fixture.time.timers.sleep(2_000);

function begin(): TestBooks {
  books = testBooks(seed);
  return books;
}

type Answer = LedgerRebuild & Partial<DeniedAnswer>;
async function rebuild(running: RunningService, differs: object = {}): Promise<Answer> {
  const handler = running.rpc[0]?.handlers["RebuildLedger"] as UnaryHandler;
  const request = { fund_id: "alpha", reason: "books differ", dry_run: false, step_up_proof: proof(), ...differs };
  return (await handler(request as never, { identity } as never)) as Answer;
}
const proof = (fundId = "alpha", reason = "books differ") =>
  giveProof(books.fixture.tables.stepUps, {
    identity,
    named: rebuildAction(fundId, reason),
    at: books.fixture.time.clock.now(),
  });

const all = () =>
  books.look(async (unit) => ({
    ...(await unit.ledger.sumsOf("alpha")),
    balances: await unit.ledger.balances(),
  }));

/** As somebody who owns the database would: past the ledger. */
function damage(symbol: string, by: string): void {
  const { holdings } = books.fixture.tables.risk;
  for (const [key, held] of holdings) {
    if (held.fundId !== "alpha" || held.symbol !== symbol) continue;
    holdings.set(key, { ...held, quantity: decimal.add(held.quantity, decimal.parse(by)) });
  }
}

const trade = (fill_id: string, differs: Partial<Fill> = {}): Partial<Fill> => ({
  fill_id,
  symbol: "AAPL",
  side: "BUY",
  quantity: "10",
  price: "200",
  ...differs,
});

describe(`23.5: rebuilding a ledger, seed ${seed}`, () => {
  it("makes of any life of a fund what was kept of it along the way", async () => {
    const random = prng(seed);
    begin();
    const running = await books.start();
    const sides = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const;
    const symbols = ["AAPL", "MSFT", "XOM"];
    const strategies = ["alpha-momentum", "alpha-meanrev"];
    const ago = instant.format(instant.minusMilliseconds(books.fixture.time.clock.now(), 3 * 86_400_000));
    for (let step = 0; step < 60; step += 1) {
      const what = random.below(10);
      if (what === 0) {
        const asked = { fund_id: "alpha", idempotency_key: `k-${step}`, currency: "USD", reason: "r" };
        const amount = `${random.below(2) === 0 ? "-" : ""}${step + 1}.25`;
        await call(running, "BookFlow", provenFlow(books, { ...asked, amount }));
      } else if (what === 1) {
        const ex_date = instant.format(books.fixture.time.clock.now()).slice(0, 10);
        const action = {
          action_id: `d-${step}`,
          kind: "CASH_DIVIDEND",
          amount_per_share: "0.13",
          ex_date,
          reason: "r",
        };
        await call(running, "BookCorporateAction", { ...action, symbol: symbols[random.below(3)] });
      } else {
        await books.tell(
          trade(`f-${random.below(50)}`, {
            symbol: symbols[random.below(3)] ?? "AAPL",
            side: sides[random.below(4)] ?? "BUY",
            strategy_id: strategies[random.below(2)] ?? "",
            quantity: `${random.below(100) + 1}.5`,
            price: `${random.below(500) + 1}.000001`,
            filled_at: ago,
          }),
        );
      }
      if (random.below(4) === 0) await settle();
    }
    await settle();
    const { added, kept, entries } = await all();
    expect(kept).toEqual(added);
    const answer = await rebuild(running);
    expect(answer).toMatchObject({ fund_id: "alpha", dry_run: false, entries, differences: [], booked_fills: [] });
    expect((await all()).kept).toEqual(added);
  });

  it("puts damage right, tells it once with the differences, and shows it before in a dry run that changes nothing", async () => {
    begin();
    const running = await books.start();
    await books.tell(trade("f-1"), trade("f-2", { strategy_id: "alpha-meanrev", side: "SELL", quantity: "4" }));
    await settle();
    const before = await all();
    damage("AAPL", "3");
    damage("USD", "-1000000.01");
    const expected = [
      { record: "HOLDING", symbol: "AAPL", kept: "9", rebuilt: "6" },
      { record: "HOLDING", symbol: "USD", kept: "8998798.87", rebuilt: "9998798.88" },
    ];
    const dry = await rebuild(running, { dry_run: true, reason: "", step_up_proof: "" });
    expect(dry.dry_run).toBe(true);
    expect(dry.differences.map(({ record, symbol }) => `${record} ${symbol}`)).toEqual(["HOLDING AAPL", "HOLDING USD"]);
    expect(dry.differences[0]).toMatchObject(expected[0] ?? {});
    expect(books.fixture.reported(subjects.ledgerRebuilt)).toEqual([]);
    expect((await all()).kept).not.toEqual(before.kept);
    const done = await rebuild(running);
    expect(done.differences).toEqual(dry.differences);
    const after = await all();
    expect(after).toEqual(before);
    expect(books.fixture.reported(subjects.ledgerRebuilt)).toEqual([
      expect.objectContaining({
        fund_id: "alpha",
        entries: before.entries,
        difference_count: 2,
        differences: done.differences,
        rebuilt_by: "operator:duty",
        reason: "books differ",
        booked_fill_count: 0,
      }),
    ]);
    expect((await rebuild(running)).differences).toEqual([]);
  });

  it("books a trade of order management that treasury never got, and the same trade that comes later is not booked twice", async () => {
    begin();
    const running = await books.start();
    const lost = { ...exampleFill, ...trade("lost", { sequence: 7 }), fund_id: "alpha" } as Fill;
    await books.fixture.portsOf("oms").store.transact("oms.history", (unit) => unit.oms.insertFill(lost));
    const before = await books.held("alpha");
    expect((await rebuild(running, { dry_run: true })).booked_fills).toEqual(["lost"]);
    expect(await books.held("alpha")).toEqual(before);
    expect(await rebuild(running)).toMatchObject({ booked_fills: ["lost"], differences: [] });
    expect((await books.held("alpha"))["AAPL"]).toBe("10");
    await books.tell(lost);
    await settle();
    expect((await books.held("alpha"))["AAPL"]).toBe("10");
  });

  it("3: is refused while fills wait, without reason or second factor, and for funds that are not ours, with nothing changed", async () => {
    begin();
    const running = await books.start();
    damage("USD", "5");
    const before = await all();
    expect((await rebuild(running, { reason: " " })).denial?.code).toBe("REASON_MISSING");
    expect((await rebuild(running, { step_up_proof: "" })).denial?.code).toBe("STEP_UP_REQUIRED");
    expect((await rebuild(running, { step_up_proof: proof("beta") })).denial?.code).toBe("STEP_UP_WRONG");
    expect((await rebuild(running, { step_up_proof: proof("alpha", "another") })).denial?.code).toBe("STEP_UP_WRONG");
    await expect(rebuild(running, { fund_id: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(rebuild(running, { fund_id: "../" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(rebuild(running, { reason: "a\u0000b" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await books.tell({ fill_id: "u-1", fund_id: "alpha", symbol: "NEW", price: "2" });
    await settle();
    const held = proof();
    for (const dry_run of [false, true]) {
      expect((await rebuild(running, { dry_run, step_up_proof: held })).denial?.code).toBe("REBUILD_FILLS_WAIT");
    }
    expect([...books.fixture.tables.stepUps.entries()].find(([key]) => key === held)?.[1].isRedeemed).toBe(false);
    expect((await all()).kept).toEqual(before.kept);
    expect(books.fixture.reported(subjects.ledgerRebuilt)).toEqual([]);
  });
});
