// `ctl report`: from kept facts without a server, from a server's answers, and what it refuses.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { factsText, type ReportFacts } from "../../reports/facts.ts";
import { type FakeServer, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";
import { reportFactsOf } from "../../testkit/report-facts.ts";

let home = "";
let server: FakeServer;
const facts = reportFactsOf({ days: 30, tradesEvery: 3, deposit: "1000" });
const lastDay = facts.navs.at(-1)?.day ?? "";

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-report-"));
  server = await startFakeServer();
  kept("facts.json", facts);
  const { limit_use: _use, ...plain } = facts;
  kept("plain.json", plain);
  kept("backwards.json", { ...facts, navs: [...facts.navs].reverse() });
  kept("twice.json", { ...facts, navs: facts.navs.flatMap((nav) => [nav, nav]) });
  kept("empty.json", { ...facts, navs: [] });
  kept("newer.json", { ...facts, version: 3 as 2 });
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

function kept(name: string, content: ReportFacts): void {
  writeFileSync(join(home, name), factsText(content));
}
const read = (name: string): string => readFileSync(join(home, name), "utf8");
const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse(`${lastDay}T23:59:59.900Z`)),
    folder: home,
  });

describe("from kept facts", () => {
  it("writes the file whose ending was named, with nothing asked of a server", async () => {
    const made = await run("report nav --facts facts.json --window itd --output nav.html --json");
    expect(made.exit).toBe(0);
    const answer = JSON.parse(made.stdout);
    expect(answer).toMatchObject({ report: "nav_report", format: "html", reconciled: true });
    expect(answer.report_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const same = await run("report nav --facts facts.json --window itd --output nav.json --json");
    expect(JSON.parse(same.stdout).report_id).toBe(answer.report_id);
    const other = await run("report nav --facts facts.json --window 7d --output nav.json --json");
    expect(JSON.parse(other.stdout).report_id).not.toBe(answer.report_id);
    expect(read("nav.html")).toContain("<svg");
    expect(server.seen).toEqual([]);
  });
  it("makes equal bytes again", async () => {
    await run("report nav --facts facts.json --window itd --output again.html");
    expect(read("again.html")).toBe(read("nav.html"));
  });
  it("makes a PDF, and names what it wrote", async () => {
    const made = await run("report nav --facts facts.json --window itd --output nav.pdf --json");
    const bytes = readFileSync(join(home, "nav.pdf"));
    expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect(JSON.parse(made.stdout)).toMatchObject({ format: "pdf", sha256, reconciled: true });
  });
  it("names the file itself when it is not named, and prints the document to stdout", async () => {
    const { start, end } = { start: facts.navs[2]?.day ?? "", end: lastDay };
    expect(await run(`report trade --facts facts.json --start ${start} --end ${end} --output csv`)).toMatchObject({
      exit: 0,
    });
    expect(read(`trade-report-alpha-${start}-${end}.csv`)).toMatch(/^symbol,strategy_id,/);
    const printed = await run("report nav --facts facts.json --window itd --output - --json");
    expect(JSON.parse(printed.stdout)).toMatchObject({ report: "nav_report", fund_id: "alpha", mode: "PAPER" });
  });
  it.each([
    ["nav", "--window 7d", { report: "nav_report", start: "2025-12-09", end: "2025-12-15" }],
    [
      "trade",
      "--start 2025-11-10 --end 2025-12-05 --include summary --include costs",
      { report: "trade_report", start: "2025-11-10", end: "2025-12-05", include: ["summary", "costs"] },
    ],
    ["settlement", "--year 2025", { report: "settlement_report", start: "2025-01-01", end: "2025-12-31" }],
    [
      "postmortem",
      "--drawdown-start 2025-11-10 --drawdown-end 2025-12-05",
      { report: "postmortem_auto_rca", start: "2025-11-10", end: "2025-12-05" },
    ],
    [
      "alpha-decay",
      "--strategy-id alpha-momentum --window 30d",
      { report: "alpha_decay", start: "2025-11-16", end: "2025-12-15", strategy_id: "alpha-momentum" },
    ],
    [
      "regime-attribution",
      "--start 2025-11-10 --end 2025-12-05",
      { report: "regime_attribution", start: "2025-11-10", end: "2025-12-05" },
    ],
  ])("%s takes what is not typed from the facts that were saved for it", async (verb, options, made_for) => {
    kept("saved.json", { ...facts, made_for });
    const parts = async (line: string) => {
      const made = await run(`report ${verb} --facts saved.json${line} --output - --json`);
      const { period, sections, metrics } = JSON.parse(made.stdout || made.stderr);
      return { period, sections, metrics };
    };
    const again = await parts("");
    expect(again).toEqual(await parts(` ${options}`));
    expect(again.period).toEqual({ start: made_for.start, end: made_for.end });
  });
  it.each([
    ["nav --window itd", "nav_report"],
    ["trade --start 2025-11-04 --end 2025-12-15", "trade_report"],
    ["settlement --year 2025", "settlement_report"],
    ["tca --window itd", "tca_report"],
    ["postmortem --drawdown-start 2025-11-04 --drawdown-end 2025-12-15", "postmortem_auto_rca"],
    ["alpha-decay --strategy-id alpha-momentum", "alpha_decay"],
    ["alpha-decay", "alpha_decay"],
    ["risk-envelope", "risk_envelope_report"],
    ["regime-attribution --start 2025-11-04 --end 2025-12-15", "regime_attribution"],
    ["factor-attribution --start 2025-11-04 --end 2025-12-15", "factor_attribution"],
    ["position-attribution --start 2025-11-04 --end 2025-12-15", "position_attribution"],
  ])("%s ends with 10 when a fill is missing, and says what differs", async (line, report) => {
    const whole = await run(`report ${line} --facts facts.json --output whole.html --json`);
    expect([whole.exit, JSON.parse(whole.stdout)]).toMatchObject([0, { report, reconciled: true }]);
    kept("missing.json", { ...facts, fills: facts.fills.slice(1) });
    const made = await run(`report ${line} --facts missing.json --output missing.html`);
    expect(made.exit).toBe(10);
    expect(made.stdout).toContain("DOES NOT RECONCILE");
    expect(read("missing.html")).toContain("DOES NOT RECONCILE");
  });
});

describe("what it refuses", () => {
  it.each([
    ["report nav --window itd", "Name the fund with --fund-id"],
    ["report trade --fund-id alpha --start 2025-11-10", "--end, or a facts file with --facts"],
    ["report trade --facts facts.json --start 2025-11-10", "the facts were not saved for this report"],
    ["report settlement --fund-id alpha", "Name the year with --year"],
    ["report settlement --facts facts.json", "the facts were not saved for this report"],
    ["report alpha-decay --window itd", "Name the strategy with --strategy-id"],
    ["report nav --facts nothing.json", "cannot be read"],
    ["report nav --facts facts.json --window 2w", "is no window"],
    ["report nav --facts facts.json --fund-id beta", "has the facts of alpha"],
    ["report nav --facts facts.json --window itd --output x.doc", "ends with .html, .pdf, .json or .csv"],
    ["report nav --facts facts.json --window itd --output toString", "ends with .html, .pdf, .json or .csv"],
    ["report nav --facts facts.json --rf-annual 0.02", "--facts has them already"],
    ["report nav --facts facts.json --benchmark none", "--facts has them already"],
    ["report settlement --facts facts.json --year 26", "which is no year"],
    ["report alpha-decay --facts facts.json --strategy-id beta-trend", "Its strategies are alpha-momentum"],
    ["report risk-envelope --facts plain.json", "These facts have no limit use: they were read for another report"],
    [
      "report factor-attribution --facts facts.json --factors x.csv --start 2025-11-04 --end 2025-12-15",
      "leave one of",
    ],
    [
      "report postmortem --facts facts.json --drawdown-start 2025-12-15 --drawdown-end 2025-12-01",
      "ends before it begins",
    ],
    ["report nav --facts backwards.json --window itd", "expected one value a day, ascending"],
    ["report nav --facts twice.json --window itd", "expected one value a day, ascending"],
    ["report nav --facts empty.json --window itd", "expected a value"],
    ["report nav --facts newer.json --window itd", "expected version 1 or 2: this program reads no other"],
    ["report nav --fund-id alpha --as-of yesterday", "which is no time"],
    ["report nav --fund-id alpha --as-of 2199-01-01T00:00:00Z", "yet to come"],
    ["report nav --fund-id alpha --output one.json --save-facts ./one.json", "name two files"],
    ["report nav --fund-id alpha --rf-annual -2", "between -1 and 1"],
    ["report nav --fund-id alpha --window 31d", "is no window"],
    ["report nav --fund-id alpha --window 2026-01-01..2026-02-30", "2026-02-30 is no day of the calendar"],
    ["report trade --fund-id alpha --start 2026-01-01 --end 2026-11-31", "2026-11-31 is no day of the calendar"],
    ["report nav --fund-id alpha --output x.doc", "ends with .html, .pdf, .json or .csv"],
    ["report trade --facts facts.json --start 2025-11-04 --end 2025-11-20 --include nonesuch", "The sections are"],
    ["report trade --facts facts.json --start 2020-11-04 --end 2020-11-20", "has no value from 2020-11-04"],
  ])("%s", async (line, sentence) => {
    const made = await run(line);
    expect(made.exit).toBe(2);
    expect(made.stderr).toContain(sentence);
  });
});

describe("from a server", () => {
  it("gathers the facts that the same document is made of", async () => {
    answerFrom(facts);
    const made = await run(
      "report nav --fund-id alpha --window 7d --rf-annual 0.02 --output served.html --save-facts kept.json --json",
    );
    expect([made.stderr, made.exit]).toEqual([expect.any(String), 0]);
    const gathered = JSON.parse(read("kept.json")) as ReportFacts;
    expect(gathered.navs).toEqual(facts.navs);
    expect(gathered.fills).toEqual(facts.fills);
    expect(gathered.ledger).toEqual(facts.ledger);
    expect(gathered.backtests).toEqual(facts.backtests);
    expect(createHash("sha256").update(read("kept.json")).digest("hex")).toBe(JSON.parse(made.stdout).facts_sha256);
    // The file says what it was read for: its window need not be typed again.
    await run("report nav --facts kept.json --output offline.html");
    expect(read("offline.html")).toBe(read("served.html"));
    await run("report nav --facts kept.json --window itd --output other.html");
    expect(read("other.html")).not.toBe(read("served.html"));
  });
});

function answerFrom(given: ReportFacts): void {
  const navs = given.navs.map(({ day, prices, ...nav }) => ({
    fund_id: "alpha",
    ...nav,
    currency: "USD",
    trading_day: day,
    prices: Object.entries(prices ?? {}).map(([symbol, valued]) => ({ symbol, ...valued })),
  }));
  const ledger = given.ledger.map((entry) => ({
    ...entry,
    fund_id: "alpha",
    reason: "",
    booked_by: "service:treasury",
  }));
  const body = (value: unknown) => ({ body: value });
  server.on("GET /v1/treasury/reference/funds", body({ kind: "funds", version: 1, reason: "", content: [given.fund] }));
  server.on("GET /v1/operations/audit/status", body({ size: 42 }));
  const from = "from=2000-01-01T00%3A00%3A00.000000Z";
  server.on(`GET /v1/treasury/navs?fund_id=alpha&${from}&every=day&count_max=500`, body(navs));
  server.on("GET /v1/oms/fills?fund_id=alpha&count_max=500", body([...given.fills].reverse()));
  server.on("GET /v1/treasury/ledger?fund_id=alpha&count_max=500", body([...ledger].reverse()));
  server.on(
    "GET /v1/research/strategies?fund_id=alpha",
    body([{ strategy_id: "alpha-momentum", fund_id: "alpha", status: "live", allocation_pct: 0.1 }]),
  );
  const [backtest] = given.backtests ?? [];
  server.on("GET /v1/research/strategies/alpha-momentum/backtest", body(backtest));
  server.on("GET /v1/treasury/instruments", body(given.instruments));
  const bars = (symbol: string, closes: readonly { readonly day: string; readonly close: string }[]) => {
    const end = encodeURIComponent(`${lastDay}T23:59:59.900000Z`);
    const start = encodeURIComponent("2025-10-27T00:00:00.000000Z");
    const rows = closes.map(({ day, close }) => ({ symbol, start: `${day}T00:00:00.000000Z`, close }));
    server.on(`GET /v1/market/bars/${symbol}?interval=1d&start=${start}&count_max=1000&end=${end}`, body(rows));
  };
  for (const [symbol, closes] of Object.entries(given.closes)) bars(symbol, closes);
  if (given.benchmark !== null) bars(given.benchmark.symbol, given.benchmark.closes);
}
