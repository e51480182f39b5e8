// Every dangerous action of the web desks to its end, by keyboard alone on the whole platform: what it will hit, the word, the server's outcome and the id under
// which the audit log has it.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../edges/client/src/client.ts";
import type { Client } from "../edges/client/src/types.ts";
import { launchChromium } from "../testkit/chromium.ts";
import { logInAs, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";
import { type DeskPerson, openPerson } from "../testkit/web/desk-browser.ts";
import { confirmByKeyboard, isFocused, leaveDialog, press, retype, tabTo } from "../testkit/web/keyboard.ts";

let platform: Platform;
let browser: Browser;
let duty: DeskPerson;

beforeAll(async () => {
  // Nobody trades but this test; the funds hold what they were seeded with.
  platform = startPlatform();
  [browser] = await Promise.all([launchChromium(), platform.ready()]);
  duty = await openPerson(browser, platform, "duty", { path: "/risk?fund=alpha" });
  duty.page.setDefaultTimeout(30_000);
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await platform?.end();
}, 90_000);

const timeout = 300_000;

async function clientOf(): Promise<Client> {
  const { access_token } = await logInAs(platform, "duty");
  return createClient({ baseUrl: operatorUrl(platform), token: async () => access_token });
}

const button = (panel: string, name: string | RegExp) =>
  duty
    .at(`panel-${panel}`)
    .getByRole("button", { name, exact: typeof name === "string" })
    .first();

async function openPath(path: string): Promise<void> {
  await duty.page.goto(`${operatorUrl(platform)}${path}`);
  await expect.poll(() => duty.at("link-state").getAttribute("data-state"), { timeout: 60_000 }).toBe("live");
}

/** The entry that the outcome names is in the log, under this action and by this person. */
async function expectAudited(outcome: string, action: string): Promise<void> {
  const [, auditId = "", sequence] = /Audit ([0-9a-f-]{32,36})(?:, entry (\d+))?/.exec(outcome) ?? [];
  expect(auditId, outcome).not.toBe("");
  const client = await clientOf();
  await eventually("the log has that entry", async () => {
    const { size } = await client.getAuditStatus();
    const from = sequence === undefined ? Math.max(0, size - 500) : Number(sequence);
    const { texts } = await client.readAudit({ fromSequence: from, countMax: sequence === undefined ? 500 : 1 });
    return texts
      .map((text) => JSON.parse(text) as { action: string; actor: string; data: { event_id?: string } })
      .some((one) => one.data.event_id === auditId && one.action === action && one.actor === "operator:duty");
  });
}

async function resting(id: string): Promise<void> {
  const client = await clientOf();
  const price = Number(
    (await client.getPositions({ fundId: "alpha" })).find(({ symbol }) => symbol === "AAPL")?.mark_price,
  );
  const order = {
    idempotencyKey: `key-${id}`,
    orderId: id,
    fundId: "alpha",
    strategyId: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "1",
    orderType: "LIMIT",
    limitPrice: (price * 0.97).toFixed(2),
    tif: "DAY",
    broker: "paper",
    assetClass: "EQUITY",
    actor: "test",
  } as const;
  expect((await client.submitOrder(order)).state).not.toBe("REJECTED");
}

describe("on /risk", () => {
  test("cancel all: order by order", { timeout }, async () => {
    await openPath("/risk?fund=alpha");
    await resting("web-rests-1");
    await resting("web-rests-2");
    await press(duty.page, button("halts", "Cancel all…"));
    expect(await duty.at("danger-effects").textContent()).toContain("Positions stay");
    await expect.poll(() => duty.at("danger-effects").textContent()).toContain("PAPER alpha");
    const outcome = await confirmByKeyboard(duty, { word: "CANCEL", reason: "test" });
    expect(outcome).toContain("2 of 2 ended.");
    for (const id of ["web-rests-1", "web-rests-2"]) expect(outcome).toMatch(new RegExp(`CANCELLED\\s+${id}`));
    await expectAudited(outcome, "operator.attempted");
    await leaveDialog(duty);
    expect(await isFocused(button("halts", "Cancel all…"))).toBe(true);
  });

  test("envelope: the difference first, then tighter without and looser with a code", { timeout }, async () => {
    await openPath("/risk?fund=alpha");
    const field = duty.at("panel-envelope").getByLabel("max_notional");
    for (const [text, effect, reason] of [
      ["240000", "TIGHTENS", "less"],
      ["250000", "LOOSENS", "as before"],
    ] as const) {
      await retype(duty.page, field, text);
      await press(duty.page, button("envelope", "Compare"));
      await duty.at("envelope-diff").waitFor();
      expect(await duty.at("envelope-diff").textContent()).toContain(effect);
      await press(duty.page, button("envelope", /^Set version/));
      expect(await duty.at("danger-effects").textContent()).toContain(`${effect}: max_notional`);
      // A code that was read before the first of them has run out on a busy machine.
      const typed = effect === "LOOSENS" ? { reason, code: await duty.code() } : { reason };
      const outcome = await confirmByKeyboard(duty, typed);
      expect(outcome).toMatch(/IN FORCE: version \d+/);
      await expectAudited(outcome, "envelope.updated");
      await leaveDialog(duty);
      await expect.poll(() => field.inputValue()).toBe(text);
    }
  });

  test("a throttle that tripped is released", { timeout }, async () => {
    const client = await clientOf();
    const { version, ...limits } = await client.getEnvelope({ fundId: "alpha" });
    const { hash: _hash, updated_by: _by, updated_at: _at, ...kept } = limits;
    await client.updateEnvelope({ ...asCamel(kept), version: version + 1, repeatedExecutionMax: 1 } as never);
    await eventually("it tripped", async () => {
      await resting(`web-same-${Date.now()}`).catch(() => undefined);
      return (await client.listBlocks({ fundId: "alpha" })).some(({ code }) => code.includes("THROTTLE"));
    });
    await openPath("/risk?fund=alpha");
    await press(duty.page, button("blocks", "Release…"));
    const outcome = await confirmByKeyboard(duty, { reason: "seen" });
    expect(outcome).toContain("RELEASED alpha-momentum");
    await expectAudited(outcome, "throttle.released");
    await leaveDialog(duty);
  });

  test("reconcile", { timeout }, async () => {
    await openPath("/risk");
    await press(duty.page, button("differences", "Reconcile…"));
    const outcome = await confirmByKeyboard(duty, {});
    expect(outcome).toMatch(/COMPARED \d+ symbols of .*alpha/);
    await expectAudited(outcome, "operator.attempted");
    await leaveDialog(duty);
  });

  test("a stop that owes its exit is ended", { timeout }, async () => {
    const client = await clientOf();
    const silent = new Date(Date.now() + 240_000).toISOString();
    await client.setPaperWeather({
      brokerSilentUntil: silent,
      gaps: [{ symbol: "XOM", pct: -0.2 }],
      reason: "test",
    } as never);
    await eventually("a stop is owed", async () => (await client.listStops({ owed: true })).length > 0, 120_000);
    await openPath("/risk?fund=alpha");
    await press(duty.page, button("stops", "End…"));
    const outcome = await confirmByKeyboard(duty, { reason: "kept on purpose" });
    expect(outcome).toMatch(/XOM of alpha/);
    await expectAudited(outcome, "stop.ended");
    await leaveDialog(duty);
    await client.setPaperWeather({ reason: "test over" } as never);
  });
});

describe("on /funds", () => {
  test("a flow is booked once", { timeout }, async () => {
    await openPath("/funds?fund=beta");
    await retype(duty.page, duty.at("panel-ledger").getByPlaceholder("amount, USD"), "1234.5");
    await press(duty.page, button("ledger", "Book a flow…"));
    const outcome = await confirmByKeyboard(duty, { reason: "test", code: await duty.code() });
    expect(outcome).toContain("BOOKED: 1,234.50 USD, fund beta.");
    await expectAudited(outcome, "ledger.booked");
    await leaveDialog(duty);
    await expect.poll(() => duty.at("panel-ledger").textContent(), { timeout: 30_000 }).toContain("1,234.50");
  });

  test("a strategy's status and allocation", { timeout }, async () => {
    await openPath("/funds?fund=alpha");
    await tabTo(duty.page, duty.page.getByLabel("Status of alpha-meanrev"));
    await duty.page.keyboard.press("ArrowDown");
    await retype(duty.page, duty.page.getByLabel("Allocation of alpha-meanrev, a fraction"), "0.09");
    await press(duty.page, duty.page.locator("tr", { hasText: "alpha-meanrev" }).getByRole("button", { name: "Set…" }));
    expect(await duty.at("danger-effects").textContent()).toContain("Status from trading to shadow.");
    const outcome = await confirmByKeyboard(duty, { reason: "test" });
    expect(outcome).toContain("alpha-meanrev (alpha) is shadow");
    await expectAudited(outcome, "strategy.changed");
    await leaveDialog(duty);
  });

  test("flatten paper, position by position", { timeout }, async () => {
    await openPath("/funds?fund=beta");
    await press(duty.page, button("funds", "Flatten paper…"));
    await expect.poll(() => duty.at("danger-effects").textContent()).toContain("PAPER beta");
    const outcome = await confirmByKeyboard(duty, { word: "FLATTEN", reason: "test" });
    expect(outcome).toContain("FLAT: the broker says that nothing is left.");
    for (const symbol of ["BTC-USD", "ETH-USD", "SOL-USD"]) expect(outcome).toContain(`beta ${symbol}`);
    await expectAudited(outcome, "flatten.requested");
    await leaveDialog(duty);
    await expect.poll(() => duty.at("panel-positions").getAttribute("data-state"), { timeout: 60_000 }).toBe("empty");
  });
});

describe("on /ops", () => {
  test("a watchdog is paused and watches again", { timeout }, async () => {
    await openPath("/ops");
    await press(duty.page, button("watchdogs", "Pause…"));
    const paused = await confirmByKeyboard(duty, { reason: "test" });
    expect(paused).toMatch(/^PAUSED until/);
    await expectAudited(paused, "operator.attempted");
    // That one alone: not every fund's, where it belongs to none.
    const quiet = (await (await clientOf()).listWatchdogs()).filter((one) => one.paused !== null);
    expect(quiet.length).toBeGreaterThan(0);
    expect(new Set(quiet.map((one) => `${one.watchdog}/${one.fund_id ?? "firm"}`)).size).toBe(1);
    await leaveDialog(duty);
    await press(duty.page, button("watchdogs", "Watch again…"));
    const again = await confirmByKeyboard(duty, { reason: "test over" });
    expect(again).toMatch(/^WATCHES/);
    await expectAudited(again, "operator.attempted");
    await leaveDialog(duty);
  });

  test("a drill", { timeout }, async () => {
    await openPath("/ops");
    await press(duty.page, button("drills", "Run a drill…"));
    const outcome = await confirmByKeyboard(duty, {});
    expect(outcome).toMatch(/^PASSED/);
    await expectAudited(outcome, "drill.measured");
    await leaveDialog(duty);
    await expect.poll(() => duty.at("panel-drills").textContent(), { timeout: 30_000 }).toContain("passed");
  });

  test("a simulated fault begins and ends", { timeout }, async () => {
    await openPath("/ops");
    await press(duty.page, button("weather", "Silence the broker…"));
    const set = await confirmByKeyboard(duty, { reason: "test" });
    expect(set).toMatch(/^SET/);
    await expectAudited(set, "paper.weather");
    await leaveDialog(duty);
    await press(duty.page, button("weather", "End all…"));
    const ended = await confirmByKeyboard(duty, { reason: "test" });
    expect(ended).toMatch(/^ENDED/);
    await expectAudited(ended, "paper.weather");
    await leaveDialog(duty);
  });

  test("the audit log is verified", { timeout }, async () => {
    await openPath("/ops");
    await press(duty.page, button("audit", "Verify…"));
    expect(await confirmByKeyboard(duty, {}, 150_000)).toMatch(/^VERIFIED \d+ entries/);
    await leaveDialog(duty);
  });

  test("all services are restarted", { timeout }, async () => {
    await openPath("/ops");
    await press(duty.page, button("services", "Restart all…"));
    const outcome = await confirmByKeyboard(duty, { reason: "test" }, 240_000);
    expect(outcome).toMatch(/ALL ARE HEALTHY AGAIN/);
    await expectAudited(outcome, "restart.requested");
    await leaveDialog(duty);
    expect(duty.complaints).toEqual([]);
  });
});

/** Only the fields' own names are converted. */
function asCamel(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key.replace(/_(.)/g, (_all, first: string) => first.toUpperCase()),
      value,
    ]),
  );
}
