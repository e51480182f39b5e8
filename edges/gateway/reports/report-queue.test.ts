// Reports asked of the platform: one at a time, few wait, one that fails fails alone, what is made is kept, audited and compared with what was said before.
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { ReportDocument } from "../../../reports/document.ts";
import { factsHash } from "../../../reports/facts.ts";
import { navReport } from "../../../reports/nav-report.ts";
import { renderJson } from "../../../reports/render/json.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { reportFactsOf } from "../../../testkit/report-facts.ts";
import { memoryStoreFixture } from "../../../testkit/virtual/memory-fixture.ts";
import type { MakeReport, ReportOutcome } from "./report-maker.ts";
import { type ReportQueue, startReportQueue, waitingReportsMax } from "./report-queue.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const asking = { report: "nav_report", parameters: { fund_id: "alpha", window: "itd" }, format: "html" } as const;
const by = { requestedBy: "operator:duty" };

function documentOf(price = 0.02): ReportDocument {
  const facts = reportFactsOf({ days: 12, tradesEvery: 3, moves: price });
  const factsSha256 = factsHash(facts, (text) => createHash("sha256").update(text).digest());
  return navReport.build({ facts, factsSha256, start: facts.navs[1]?.day ?? "", end: facts.navs.at(-1)?.day ?? "" });
}
const madeOf = (document: ReportDocument): ReportOutcome => ({
  kind: "made",
  files: new Map([
    ["json", bytes(renderJson(document))],
    ["html", bytes("<p>page</p>")],
  ]),
});

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

async function fixture() {
  const opened = await memoryStoreFixture({ seed: 1 });
  closes.push(opened.close);
  let ticks = 0;
  const tick = (): number => {
    ticks += 1;
    return ticks;
  };
  const alarms: (readonly [string, string | undefined])[] = [];
  const start = async (make: MakeReport): Promise<ReportQueue> => {
    const queue = await startReportQueue({
      store: opened.store,
      clock: { now: () => fromMicroseconds(1_700_000_000_000_000 + tick()) },
      random: { bytes: (count) => new Uint8Array(count), uuid: () => `r-${tick()}` },
      log: quietLog,
      make,
      unreconciled: (about, sentence) => alarms.push([about, sentence]),
    });
    closes.push(() => queue.stop());
    return queue;
  };
  return { ...opened, alarms, start };
}

const patience = { timeout: 30_000, interval: 10 };
const ended = (queue: ReportQueue, id: string) =>
  vi.waitFor(async () => {
    const found = await queue.report(id);
    if (found?.status !== "DONE" && found?.status !== "FAILED") throw new Error(`it is ${found?.status}`);
    return found;
  }, patience);

describe("what is made", () => {
  it("is kept with its documents and hashes", async () => {
    const { start } = await fixture();
    const queue = await start(async (_task, say) => {
      say("Reading values");
      return madeOf(documentOf());
    });
    const { reportId, status } = await queue.ask({ ...asking, ...by });
    expect(status).toBe("QUEUED");
    const done = await ended(queue, reportId);
    expect(done).toMatchObject({ status: "DONE", made: { reconciled: true, title: "NAV report: alpha" } });
    const html = await queue.document(reportId, "html");
    expect(done.made?.documents.html).toEqual({
      sha256: createHash("sha256").update(bytes("<p>page</p>")).digest("hex"),
      bytes: 11,
    });
    expect(html).toEqual(bytes("<p>page</p>"));
    expect(await queue.document(reportId, "pdf")).toBeUndefined();
  });

  it("is restated when other facts say something else, with what changed, and not when they say the same", async () => {
    const { start } = await fixture();
    const answers = [documentOf(), { ...documentOf(), facts_sha256: "ab".repeat(32) }, documentOf(0.03)];
    const queue = await start(async () => madeOf(answers.shift() ?? documentOf()));
    const made = async () => ended(queue, (await queue.ask({ ...asking, ...by })).reportId);
    const first = await made();
    const second = await made();
    const third = await made();
    expect([first.made?.restates, second.made?.restates]).toEqual([undefined, undefined]);
    expect(third.made?.restates?.report_id).toBe(second.reportId);
    expect(third.made?.restates?.changes.join(" ")).toMatch(/closing_nav was .* and is /);
  });

  it("raises an alarm when its books do not tie, and ends it when they do", async () => {
    const { start, alarms } = await fixture();
    const line = { name: "NAV = cash + positions", left: "2", right: "1", difference: "1" };
    const answers = [{ ...documentOf(), reconciliation: [line] }, documentOf()];
    const queue = await start(async () => madeOf(answers.shift() ?? documentOf()));
    for (const reconciled of [false, true]) {
      const { made } = await ended(queue, (await queue.ask({ ...asking, ...by })).reportId);
      expect(made?.reconciled).toBe(reconciled);
    }
    expect(alarms[0]?.[1]).toContain("NAV = cash + positions differs by 1");
    expect(alarms[1]).toEqual(["nav_report alpha", undefined]);
  });
});

describe("what fails", () => {
  it("fails alone", async () => {
    const { start } = await fixture();
    const outcomes: ReportOutcome[] = [{ kind: "failed", detail: "It died." }, madeOf(documentOf())];
    const queue = await start(async () => outcomes.shift() ?? Promise.reject(new Error("a defect")));
    const ids = [];
    for (let count = 0; count < 3; count += 1) ids.push((await queue.ask({ ...asking, ...by })).reportId);
    const [died, made, broken] = await Promise.all(ids.map((id) => ended(queue, id)));
    expect(died).toMatchObject({ status: "FAILED", detail: "It died." });
    expect(made).toMatchObject({ status: "DONE" });
    expect(broken).toMatchObject({ status: "FAILED", detail: expect.stringContaining("gateway's log") });
  });

  it("too many wait: the next one is refused, and what ran is made all the same", async () => {
    const { start } = await fixture();
    let release: () => void = () => undefined;
    const held = new Promise<void>((done) => {
      release = done;
    });
    const queue = await start(async () => {
      await held;
      return madeOf(documentOf());
    });
    const first = await queue.ask({ ...asking, ...by });
    await vi.waitFor(async () => expect((await queue.report(first.reportId))?.status).toBe("RUNNING"), patience);
    for (let count = 0; count < waitingReportsMax; count += 1) await queue.ask({ ...asking, ...by });
    await expect(queue.ask({ ...asking, ...by })).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    release();
    expect((await ended(queue, first.reportId)).status).toBe("DONE");
  });

  it("what waited or ran when the platform ended has failed, and says to ask again", async () => {
    const { start } = await fixture();
    const first = await start(
      (_task, _say, signal) =>
        new Promise((done) => signal.addEventListener("abort", () => done({ kind: "failed", detail: "ended" }))),
    );
    const ids = [(await first.ask({ ...asking, ...by })).reportId, (await first.ask({ ...asking, ...by })).reportId];
    await vi.waitFor(async () => expect((await first.report(ids[0] ?? ""))?.status).toBe("RUNNING"), patience);
    await first.stop();
    const second = await start(async () => madeOf(documentOf()));
    for (const id of ids) {
      expect(await second.report(id)).toMatchObject({
        status: "FAILED",
        detail: expect.stringContaining("ask for it again"),
      });
    }
  });
});

it("the event that the audit log hears carries the hashes", () => {
  const event = {
    report_id: "r-1",
    report: "nav_report",
    parameters: { fund_id: "alpha" },
    requested_by: "operator:duty",
    reconciled: true,
    facts_sha256: "ab".repeat(32),
    documents: { json: { sha256: "cd".repeat(32), bytes: 1 } },
    at: "2026-11-18T00:00:00Z",
  };
  expect(subjects.reportMade.schema.parse(event)).toEqual(event);
});
