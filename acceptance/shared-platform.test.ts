// The platform that test files share, and the check that nobody leaves anything on it: what is planted here is found by name, and nothing is found when it was
// put back.
import { expect, test } from "vitest";
import { withAsking } from "../testkit/shared/asking.ts";
import { handOut, type SharedFund, sharedPlatform, takeBack } from "../testkit/shared/shared-platform.ts";

const shared = sharedPlatform({ people: ["duty"] });

test("is healthy, and its funds can be traded by the people of the file alone", async () => {
  await expect.poll(() => shared.platform.health()).toBe(200);
  await withAsking(shared.platform, async ({ ask }) => {
    const operators = (await ask("GET", "/v1/auth/operators")) as readonly { readonly name: string }[];
    expect(operators.map(({ name }) => name)).toContain(shared.person("duty").name);
    const limits = await ask("GET", `/v1/riskengine/envelopes/${shared.fund.fundId}`);
    expect(limits).toMatchObject({ fund_id: shared.fund.fundId, version: 1 });
  });
});

test("a halt, a resting order, a person and a token that a file leaves there are named", async () => {
  const file = await handOut({ funds: 2, people: ["viewer"] });
  const [{ fundId, strategyId }, { strategyId: halted }] = file.funds as [SharedFund, SharedFund];
  const person = `${file.own.prefix}left`;
  await withAsking(file.platform, async ({ ask, askProven }) => {
    const named = { name: person, roles: ["viewer"] };
    const add = { action: "AddOperator", parameters: named } as const;
    await askProven("POST", "/v1/auth/operators", add, { ...named, reason: "left on purpose" });
    // By its name the file's own, so that another file that begins meanwhile does not miss it later.
    const token = { name: person, operations: ["GetEnvelope"], expires_in_s: 600 };
    const issued = (await askProven(
      "POST",
      "/v1/service-tokens",
      { action: "IssueServiceToken", parameters: token },
      token,
    )) as { readonly id: string };
    const [quote] = (await ask("GET", "/v1/market/quotes?symbols=AAPL")) as [{ readonly bid: string }];
    const order = {
      order_id: `${fundId}-resting`,
      idempotency_key: `${fundId}-resting`,
      fund_id: fundId,
      strategy_id: strategyId,
      symbol: "AAPL",
      side: "BUY",
      quantity: "1",
      order_type: "LIMIT",
      // Below the market, so that it rests, and within the collar of 5 %.
      limit_price: (Number(quote.bid) * 0.97).toFixed(2),
      tif: "GTC",
      broker: "paper",
      asset_class: "EQUITY",
    };
    expect(await ask("POST", "/v1/oms/orders", order)).toMatchObject({ order: { order_id: order.order_id } });
    const halt = (await ask("POST", "/v1/halts", { id: halted, reason: "planted", confirmation: "HALT" })) as {
      readonly halt_id: string;
    };
    const left = await takeBack(file, 1);
    expect(left).toEqual(
      expect.arrayContaining([
        expect.stringMatching(`^order ${order.order_id} of ${fundId}: WORKING`),
        `halt ${halt.halt_id} of ${halted}: planted`,
        `person ${person}: viewer`,
        `service token ${issued.id}: ${person}`,
      ]),
    );
    await ask("POST", "/v1/halts/resume", { id: halted, reason: "over", confirmation: "RESUME" });
    await ask("POST", `/v1/oms/orders/${order.order_id}/cancel`, { reason: "over" });
    await ask("DELETE", `/v1/service-tokens/${issued.id}`);
    const out = { name: person, keep_tokens: false };
    await askProven(
      "POST",
      `/v1/auth/operators/${person}/disable`,
      { action: "DisableOperator", parameters: out },
      { reason: "over" },
    );
  });
  expect(await takeBack({ ...file, people: new Map() })).toEqual([]);
});
