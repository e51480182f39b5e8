// Events about a fund that their publisher's token does not name: invariant 7 of publish-events.ts, on memory.
import { afterEach, expect, it } from "vitest";
import type { ForeignReceipt } from "../../../contracts/src/generated/svc/v1/foreign.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { exampleFill, exampleNav } from "../../../testkit/record-examples.ts";
import { type ServiceFixture, serviceFixture } from "../../../testkit/virtual/service-fixture.ts";
import { foreignEvents } from "./publish-events.ts";

let fixture: ServiceFixture | undefined;
afterEach(async () => {
  await fixture?.close();
  fixture = undefined;
});

const operations = ["Publish", "PublishOrders", "PublishValues", "PublishPrices"];
const funds = [exampleFill.fund_id, "harbor"].map((fund_id) => ({
  fund_id,
  currency: "USD",
  strategies: [exampleFill.strategy_id],
}));

function begin(named: readonly string[] | undefined) {
  const platform = serviceFixture(20_261_119);
  fixture = platform;
  const ports = platform.portsOf("operations");
  const instruments = [{ symbol: exampleFill.symbol, calendar: "c", currency: "USD" }];
  const reference = { instruments, funds, fx: [], borrow: [], restricted: [], calendars: [], venues: [], change: 1 };
  const referenceData = { changed: async () => 1, read: async () => reference as never };
  const { handlers } = foreignEvents(
    { ...ports, referenceData },
    {
      ask: () => ({ kind: "COUNTS", whose: [] }),
      look: async () => undefined,
    },
  );
  const identity = { kind: "service", name: "my-oms", roles: ["service"], operations, ...(named && { funds: named }) };
  const publish = (subject: string, id: string, payload: object, dry_run = false): Promise<ForeignReceipt> => {
    const event = { id, subject, payload_json: JSON.stringify(payload), dry_run };
    return handlers["Publish"]?.(event as never, { identity } as unknown as RpcCall) as Promise<ForeignReceipt>;
  };
  const told = () => platform.tables.log.map(({ subject, source }) => [subject, source]);
  return { publish, told };
}

const { fillsCreated, fillsBusted, ordersUpdated, navUpdated, foreignRefused } = subjects;
const { fill_id, order_id, strategy_id, symbol, filled_at: at } = exampleFill;
const bust = { bust_id: "b-1", fill_id, order_id, fund_id: exampleFill.fund_id, strategy_id, symbol, reason: "x", at };

it("7: of every kind are refused, also one that cannot be read, and hold nothing: told once a day", async () => {
  const { publish, told } = begin(["harbor"]);
  const theirs = [
    await publish(fillsCreated.name, "e-1", { ...exampleFill, sequence: 1 }),
    await publish(fillsCreated.name, "e-2", { ...exampleFill, side: "HOLD", sequence: 2 }),
    await publish(fillsBusted.name, "e-3", bust),
    await publish(ordersUpdated.name, "e-4", { fund_id: exampleFill.fund_id }),
    await publish(navUpdated.name, "e-5", exampleNav),
    await publish(fillsCreated.name, "e-1", exampleFill, true),
  ];
  for (const answer of theirs) {
    expect(answer).toMatchObject({
      accepted: false,
      repeated: false,
      number_used: false,
      code: "EVENT_FUND_NOT_YOURS",
      reason: expect.stringContaining('speaks of "harbor"'),
    });
  }
  expect(told()).toEqual([[foreignRefused.name, "operations"]]);
  // The id is not used up by what was refused.
  const own = { ...exampleFill, fund_id: "harbor" };
  expect(await publish(fillsCreated.name, "e-1", own)).toMatchObject({ accepted: true, repeated: false });
  expect(told()).toEqual([
    [foreignRefused.name, "operations"],
    [fillsCreated.name, "my-oms"],
  ]);
});

it("7: are anybody's whose token names no funds, and a price is of no fund", async () => {
  const { publish, told } = begin(undefined);
  expect(await publish(fillsCreated.name, "e-1", exampleFill)).toMatchObject({ accepted: true });
  expect(told()).toEqual([[fillsCreated.name, "my-oms"]]);
});

it("7: about a fund that nobody knows are answered alike, and told to nobody", async () => {
  const { publish, told } = begin(["harbor"]);
  const answer = await publish(fillsCreated.name, "e-1", { ...exampleFill, fund_id: "hrabor" });
  expect(answer.code).toBe("EVENT_FUND_NOT_YOURS");
  expect(told()).toEqual([]);
});
