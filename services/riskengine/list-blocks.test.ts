// 22.10: ListBlocks on the whole shell: what is reported, to whom it belongs, and that a store that is away is reported as well.
import { describe, expect, it } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Blocks } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { format } from "../../contracts/src/instant.ts";
import { operator, riskEngineFixture } from "../../testkit/risk/service-fixture.ts";
import { createListBlocks } from "./list-blocks.ts";

const firm = { severity: "FIRM_HALT", fund_id: "", reason: "drill", requested_by: "", confirmation: "HALT" };

describe("22.10: ListBlocks", () => {
  it("names a halt once for all funds, with its beginning and the command that ends it, and nothing before", async () => {
    const fixture = await riskEngineFixture({ seed: 2210 });
    const life = await fixture.start();
    const ask = async (fund_id?: string) => (await fixture.finish(life.call("ListBlocks", { fund_id }))) as Blocks;
    const before = await ask("alpha");
    expect(before.blocks.filter(({ scope }) => scope !== "symbol")).toEqual([]);
    await fixture.finish(life.call("RequestHalt", firm, operator));
    for (const fund of [undefined, "alpha"]) {
      const halts = (await ask(fund)).blocks.filter(({ code }) => code === "FIRM_HALTED");
      expect(halts).toMatchObject([{ scope: "firm", fund_id: undefined, since_unknown: undefined }]);
      expect(halts[0]?.since).toMatch(/Z$/);
      expect(halts[0]?.command).toContain("ctl cmd resume");
    }
    await fixture.finish(life.call("RequestHalt", { ...firm, severity: "FUND_HALT", fund_id: "alpha" }, operator));
    const both = (await ask("alpha")).blocks.map(({ code, fund_id }) => [code, fund_id]);
    expect(both).toEqual(
      expect.arrayContaining([
        ["FIRM_HALTED", undefined],
        ["FUND_HALTED", "alpha"],
      ]),
    );
    await expect(fixture.finish(life.call("ListBlocks", { fund_id: "nobody" }))).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  it("names a fund that a flatten closes, until its broker calls it flat", async () => {
    const fixture = await riskEngineFixture({ seed: 2211 });
    const life = await fixture.start();
    const ask = async (fund_id?: string) =>
      ((await fixture.finish(life.call("ListBlocks", { fund_id }))) as Blocks).blocks.filter(
        ({ code }) => code === "ORDER_FUND_FLATTENING",
      );
    const at = fixture.time.clock.now();
    const asked = { flattenId: "f-1", requestedBy: "operator:duty", reason: "", at, auditId: "a" };
    const running = { ...asked, fundIds: ["alpha", "beta"], provedFundIds: ["beta"] };
    await fixture.finish(fixture.outside.store.transact("flatten", (unit) => unit.flattens.insert(running)));
    for (const fund of [undefined, "alpha"]) {
      expect(await ask(fund)).toMatchObject([
        { scope: "fund", fund_id: "alpha", since: format(at), command: "ctl operations flatten show" },
      ]);
    }
    expect(await ask("beta")).toEqual([]);
    const done = { ...running, provedFundIds: ["alpha", "beta"], doneAt: at };
    await fixture.finish(fixture.outside.store.transact("flatten", (unit) => unit.flattens.update(done)));
    expect(await ask()).toEqual([]);
  });

  it("tells of a store that does not answer, and bounds what it tells and who waits", async () => {
    const sleeps: (() => void)[] = [];
    const many = Array.from({ length: 3_000 }, (_, n) => ({ fundId: `f${n}`, currency: "USD" }));
    const list = createListBlocks({
      ports: {
        clock: { now: () => 0 as never },
        store: {} as never,
        timers: { sleep: () => new Promise<void>((resolve) => sleeps.push(resolve)) } as never,
      },
      engine: {
        blocks: {
          funds: () => many,
          symbols: () => [],
          ofFirm: () => [],
          ofFund: (fundId) => [{ code: "NAV_STALE", scope: "fund", fundId, reason: "old", since: undefined }],
          ofSymbols: () => [],
        },
      },
      watch: { freshen: () => undefined },
      commit: { complaint: () => new Fault("STORE_UNAVAILABLE", "It is away.", { retry: "later" }) },
    });
    const answers = Array.from({ length: 30 }, () =>
      list({ fund_id: "f1" }).then(
        () => "reported",
        (fault: Fault) => fault.code,
      ),
    );
    expect((await Promise.all(answers)).filter((end) => end === "RESOURCE_EXHAUSTED")).toHaveLength(10);
    const answering = list({});
    let turns = 0;
    const give = setInterval(() => {
      for (const go of sleeps.splice(0)) {
        turns += 1;
        go();
      }
    }, 0);
    const { blocks, more } = await answering;
    clearInterval(give);
    expect(turns, "the engine goes on deciding in between").toBe(299);
    expect([blocks.length, more]).toEqual([2_000, true]);
    expect(blocks[0]).toMatchObject({ code: "STORE_UNAVAILABLE", scope: "firm", reason: "It is away." });
    expect(blocks[1]).toMatchObject({ code: "NAV_STALE", since: undefined, since_unknown: expect.any(String) });
  });
});
