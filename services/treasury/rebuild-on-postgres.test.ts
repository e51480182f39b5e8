// A rebuild on the database: rows that its owner changed behind everybody's back are put right, and the books agree again.
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeProof } from "../../adapters/identity/step-up-proofs.ts";
import { openPool } from "../../adapters/postgres/connection.ts";
import { createBooksQueries } from "../../adapters/postgres/queries/books-queries.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { flowEntry } from "../../core/ledger/ledger.ts";
import { addLook, compareBooks, noTotals } from "../../core/reconcile/books.ts";
import { testDatabase } from "../../testkit/postgres.ts";
import { openPeer, type PostgresPeer } from "../../testkit/postgres-fixture.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { exampleFill } from "../../testkit/record-examples.ts";
import type { ReferenceReader } from "../reference/reference-view.ts";
import { bookEntry } from "./book-entry.ts";
import { bookFill } from "./book-fills.ts";
import { rebuildAction, rebuildLedger } from "./rebuild-ledger.ts";

let peer: PostgresPeer;
let owner: ReturnType<typeof openPool>;
const clock = systemClock();
const identity = { kind: "operator", actor: "operator:duty", subject: "issuer|duty" } as never;
const fund = { fund_id: "alpha", mode: "PAPER", currency: "USD" };
const view = {
  funds: new Map([["alpha", fund]]),
  instruments: new Map([["AAPL", { symbol: "AAPL", currency: "USD", multiplier: "1" }]]),
} as never;
const reader: ReferenceReader = { current: () => view, refresh: async () => view };

beforeAll(async () => {
  const { address } = await testDatabase();
  peer = openPeer(address.app);
  owner = openPool(address.owner, { log: quietLog, applicationName: "owner", sizeMax: 1 });
  const trade = {
    ...exampleFill,
    fund_id: "alpha",
    strategy_id: "alpha-one",
    symbol: "AAPL",
    quantity: "3.5",
    price: "200",
  };
  for (const fill_id of ["f-1", "f-2"]) {
    await peer.store.transact("fixture", (unit) =>
      bookFill(unit, view, { ...trade, fill_id, side: "BUY", fee: "0.1" }),
    );
  }
  const common = { fundId: "alpha", currency: "USD", bookedBy: "operator:duty", reason: "r", at: clock.now() };
  await peer.store.transact("fixture", (unit) =>
    bookEntry(unit, flowEntry({ ...common, entryId: "flow-1", amount: 5_000_000_000_000_000_000_000n as never })),
  );
});
afterAll(async () => {
  await owner.end();
  await peer.close();
});

const ask = async (isDry: boolean) => {
  const named = rebuildAction("alpha", "books differ");
  const { proof } = await peer.store.transactSql("fixture", (_unit, sql) =>
    makeProof(sql, systemRandom(), { identity, named, at: clock.now() }),
  );
  const request = { fund_id: "alpha", reason: "books differ", dry_run: isDry, step_up_proof: proof };
  const answer = await rebuildLedger(request, { identity }, { clock, store: peer.store }, { reader, book: bookFill });
  if ("denial" in answer) throw new Error(answer.denial.reason);
  return answer.differences.map(
    (one) => `${one.record} ${one.strategy_id ?? one.account ?? ""} ${one.symbol}: ${one.kept} -> ${one.rebuilt}`,
  );
};

async function ledgerDifferences(): Promise<number> {
  const look = await createBooksQueries(peer.pool).look(noTotals.marks, undefined, []);
  const engine = { believed: undefined, approvals: undefined, overReserved: new Set<string>() };
  const moment = { liveBefore: [], late: new Set<string>(), at: clock.now(), ledgerBefore: [] };
  return compareBooks({ totals: addLook(noTotals, look), look, ...engine, ...moment }).ledger.differences.length;
}

it("23.5: puts right what the owner of the database changed, and the books agree again", async () => {
  expect(await ask(true)).toEqual([]);
  expect(await ledgerDifferences()).toBe(0);
  await owner.query("update treasury_holding set quantity = quantity + 1 where symbol = 'AAPL'");
  await owner.query("update treasury_balance set amount = 12 where account = 'cash'");
  await owner.query("delete from treasury_strategy_holding where symbol = 'USD'");
  await owner.query("insert into treasury_holding (fund_id, symbol, quantity) values ('alpha', 'NEVER', 4)");
  expect(await ledgerDifferences()).toBeGreaterThan(0);
  const expected = [
    "BALANCE cash USD: 12 -> 3599.8",
    "HOLDING  AAPL: 8 -> 7",
    "HOLDING  NEVER: 4 -> 0",
    "STRATEGY_HOLDING alpha-one USD: 0 -> -1400.2",
  ];
  expect(await ask(true)).toEqual(expected);
  expect(await ask(false)).toEqual(expected);
  expect(await ask(false)).toEqual([]);
  expect(await ledgerDifferences()).toBe(0);
  const reported = await owner.query(
    "select convert_from(payload, 'UTF8')::json as reported from outbox where subject = $1 order by id",
    [subjects.ledgerRebuilt.name],
  );
  expect(reported.rows.map(({ reported: { difference_count: count } }) => count)).toEqual([4, 0]);
});
