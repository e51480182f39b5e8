// Scheduled reports in virtual time: each moment is made once and each target gets it once, whoever dies, is away, or runs at the same time.
import { createHash } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import { cronMoments } from "../../../adapters/cron/cron-moments.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format, type Instant, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { ReportTarget } from "../../../contracts/src/records/report-schedule.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { ChatMessage } from "../../../ports/chat.ts";
import type { MailMessage } from "../../../ports/mail.ts";
import type { StoredReport } from "../../../ports/report-records.ts";
import type { StoredFile } from "../../../ports/report-storage.ts";
import { factsHash } from "../../../reports/facts.ts";
import { navReport } from "../../../reports/nav-report.ts";
import { renderJson } from "../../../reports/render/json.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { reportFactsOf } from "../../../testkit/report-facts.ts";
import { memoryStoreFixture } from "../../../testkit/virtual/memory-fixture.ts";
import { createReportScheduler, type ReportScheduler, type SchedulerParts } from "./report-scheduler.ts";
import type { SchedulePlan } from "./schedule-plan.ts";

const hourMs = 3_600_000;
const facts = reportFactsOf({ days: 12, tradesEvery: 3, moves: 0.02 });
const json = new TextEncoder().encode(
  renderJson(
    navReport.build({
      facts,
      factsSha256: factsHash(facts, (text) => createHash("sha256").update(text).digest()),
      start: facts.navs[1]?.day ?? "",
      end: facts.navs.at(-1)?.day ?? "",
    }),
  ),
);
const pdf = new TextEncoder().encode("%PDF-1.7 a report");

const plan = (more: Partial<SchedulePlan> & { readonly cron?: string } = {}): SchedulePlan => {
  const { cron = "30 2 * * *", timeZone = "America/New_York" } = more;
  const targets: readonly ReportTarget[] = ["email", "chat", "pdf-to-storage"];
  const funds = ["alpha"];
  const named = { name: "daily-nav", report: "nav_report", window: "1d", cron, timeZone } as const;
  return { ...named, funds, targets, ...cronMoments(cron, timeZone), ...more };
};

const closes: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

/** What stands outside: the clock, the queue that makes reports, and the targets, each of which can be away. */
async function fixture(start: string) {
  const { store, close, committed } = await memoryStoreFixture({ seed: 1 });
  closes.push(close);
  let now: Instant = parse(start);
  let ids = 0;
  const uuid = (): string => {
    ids += 1;
    return `00000000-${ids}`;
  };
  const mails: MailMessage[] = [];
  const chats: ChatMessage[] = [];
  const files: StoredFile[] = [];
  const alarms: (readonly [string, string | undefined])[] = [];
  const reports = new Map<string, StoredReport>();
  const state = { away: new Set<string>(), failing: false, asks: 0, hang: false };
  const mustAnswer = (target: string): void => {
    if (state.away.has(target)) throw new Fault("CHAT_UNAVAILABLE", `${target} is away.`, { retry: "later" });
  };
  const queue: SchedulerParts["queue"] = {
    async ask({ reportId = "", ...asked }) {
      state.asks += 1;
      const kept = { ...asked, reportId, requestedAt: now, progress: "" };
      const made = { title: "", reconciled: true, factsSha256: "", question: "", documents: {} };
      const report: StoredReport = state.failing
        ? { ...kept, status: "FAILED", detail: "Treasury is away." }
        : { ...kept, status: "DONE", made };
      reports.set(reportId, report);
      return report;
    },
    report: async (reportId) => reports.get(reportId),
    document: async (_reportId, asked) => (asked === "json" ? json : pdf),
    reports: async () => [],
    stop: async () => undefined,
  };
  const schedulerOf = (holder: string, plans: readonly SchedulePlan[] = [plan()]): ReportScheduler =>
    createReportScheduler({
      store,
      queue,
      plans,
      clock: { now: () => now },
      timers: { sleep: async () => undefined, after: () => () => undefined, soon: (run) => run() },
      random: { uuid, bytes: (count) => new Uint8Array(count) },
      log: quietLog,
      holder: () => holder,
      funds: async () => ["alpha", "beta"],
      undelivered: (about, sentence) => alarms.push([about, sentence]),
      ending: new AbortController().signal,
      delivery: {
        baseUrl: () => "https://desk.example",
        mail: {
          name: "test",
          async send(message) {
            mustAnswer("email");
            mails.push(message);
            // As a process that dies when the server has taken it.
            if (state.hang) await new Promise(() => undefined);
            return { refused: [] };
          },
          close: async () => undefined,
        },
        chat: {
          name: "test",
          async send(message) {
            mustAnswer("chat");
            chats.push(message);
          },
          close: async () => undefined,
        },
        storage: {
          name: "test",
          async put(file) {
            mustAnswer("pdf-to-storage");
            files.push(file);
            return `/kept/${file.key}`;
          },
          close: async () => undefined,
        },
      },
    });
  /** A minute of ticks, or longer with fewer. */
  const pass = async (scheduler: ReportScheduler, ms: number, everyMs = 1_000): Promise<void> => {
    for (const end = plusMilliseconds(now, ms); now < end; ) {
      now = plusMilliseconds(now, everyMs);
      await scheduler.tick();
      await scheduler.idle();
    }
  };
  const lease = (incarnation: string, ms: number) =>
    store.transact("lease.register", async (unit) => {
      await unit.instances.register({
        service: "gateway",
        incarnation,
        host: "h",
        pid: 1,
        startedAt: now,
        leaseUntil: plusMilliseconds(now, ms),
      });
      await unit.events.publish(subjects.serviceStarted, {
        service: "gateway",
        incarnation,
        host: "h",
        pid: 1,
        at: format(now),
      });
    });
  const jump = (to: string): void => {
    now = parse(to);
  };
  return { store, committed, mails, chats, files, alarms, state, schedulerOf, pass, jump, lease, asOf: () => now };
}

it("over both clock changes of a year each day is made once, and each target has it once", async () => {
  for (const [from, to] of [
    ["2026-03-06T12:00:00Z", "2026-03-10T12:00:00Z"],
    ["2026-10-30T12:00:00Z", "2026-11-03T12:00:00Z"],
  ] as const) {
    const { schedulerOf, pass, mails, chats, files, state } = await fixture(from);
    const scheduler = schedulerOf("one");
    await pass(scheduler, parse(to) / 1_000 - parse(from) / 1_000, 600_000);
    expect(mails.length).toBe(4);
    expect([chats.length, files.length, state.asks]).toEqual([4, 4, 4]);
    expect(new Set([...mails.map(({ messageId }) => messageId), ...files.map(({ key }) => key)]).size).toBe(8);
  }
});

it("a report says its figures, whether it reconciles and where it is; the names follow from its moment", async () => {
  const { schedulerOf, pass, mails, chats, files, committed } = await fixture("2026-03-09T06:29:00Z");
  await pass(schedulerOf("one"), 120_000);
  expect(files.map(({ key }) => key)).toEqual(["daily-nav/alpha/nav-report-20260309T063000Z.pdf"]);
  expect(mails[0]?.subject).toContain("NAV report: alpha (PAPER)");
  expect(mails[0]?.text).toMatch(
    /Reconciled: every line that must tie does\.[\s\S]*Closing NAV: [\d,.]+ USD[\s\S]*https:\/\/desk\.example\/v1\/reports\/00000000-1/,
  );
  expect(mails[0]?.attachments[0]?.content).toEqual(pdf);
  expect(Object.keys(chats[0]?.facts ?? {}).length).toBe(7);
  expect(chats[0]?.text).toContain("reconciled");
  const published = (await committed()).filter(({ subject }) => subject.includes(".report."));
  expect(published.map(({ subject }) => subject.split(".").at(-1))).toEqual([
    "run",
    "delivered",
    "delivered",
    "delivered",
  ]);
});

it("a target that is away is tried alone with back-off until it is back, and gets it once", async () => {
  const { schedulerOf, pass, mails, chats, files, state } = await fixture("2026-03-09T06:29:00Z");
  const scheduler = schedulerOf("one");
  state.away.add("chat");
  await pass(scheduler, 20 * 60_000);
  expect([mails.length, chats.length, files.length]).toEqual([1, 0, 1]);
  const [standing] = await scheduler.schedules();
  const chat = standing?.lastRuns[0]?.deliveries.find(({ target }) => target === "chat");
  // 5, 10, 20 … seconds apart.
  expect(chat).toMatchObject({ status: "PENDING", attempts: 8, detail: "chat is away." });
  state.away.clear();
  await pass(scheduler, 2 * hourMs, 10_000);
  expect([mails.length, chats.length, files.length]).toEqual([1, 1, 1]);
});

it("a day later it raises the alarm, ends it when it is delivered, and gives up after a week", async () => {
  const { schedulerOf, pass, chats, state, alarms } = await fixture("2026-03-09T06:27:00Z");
  const scheduler = schedulerOf("one", [plan({ cron: "30 2 9 3 *", targets: ["chat", "email"] })]);
  state.away.add("chat");
  await pass(scheduler, 23.9 * hourMs, 120_000);
  expect(alarms.filter(([, sentence]) => sentence !== undefined)).toEqual([]);
  await pass(scheduler, 0.3 * hourMs, 60_000);
  expect(alarms.at(-1)?.[1]).toMatch(/daily-nav for alpha.*is not delivered to chat after \d+ attempts: chat is away/);
  state.away.clear();
  await pass(scheduler, 2 * hourMs, 60_000);
  expect(alarms.at(-1)?.[1]).toBeUndefined();
  expect(chats.length).toBe(1);
  state.away.add("email");
  await scheduler.runNow("daily-nav", "operator:duty");
  await pass(scheduler, 7.2 * 24 * hourMs, 600_000);
  const [newest] = await scheduler.runs("daily-nav", { countMax: 1 });
  expect(newest?.deliveries.map(({ target, status }) => [target, status])).toEqual([
    ["chat", "DELIVERED"],
    ["email", "UNDELIVERED"],
  ]);
});

it("killed between making and delivering, or between sending and recording: the next one goes on, with the same names", async () => {
  const { schedulerOf, pass, mails, files, chats, state, lease } = await fixture("2026-03-09T06:29:00Z");
  const first = schedulerOf("one");
  await lease("one", 150_000);
  state.hang = true;
  // It is due, made, sent by mail, and never recorded; chat and storage are.
  for (let count = 0; count < 70; count += 1)
    await Promise.race([pass(first, 1_000), new Promise((done) => setTimeout(done, 5))]);
  expect([mails.length, files.length, chats.length, state.asks]).toEqual([1, 1, 1, 1]);
  state.hang = false;
  const second = schedulerOf("two");
  // While the other is alive its work is its own.
  await pass(second, 60_000);
  expect(mails.length).toBe(1);
  await pass(second, 60_000);
  expect([mails.length, files.length, chats.length, state.asks]).toEqual([2, 1, 1, 1]);
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
});

it("two at the same time enter, make and deliver one", async () => {
  const { schedulerOf, mails, files, chats, state, jump, lease } = await fixture("2026-03-09T06:00:00Z");
  const both = [schedulerOf("one"), schedulerOf("two")];
  for (const holder of ["one", "two"]) await lease(holder, hourMs);
  for (let second = 0; second < 90; second += 1) {
    jump(`2026-03-09T06:${second < 60 ? "29" : "30"}:${String(second % 60).padStart(2, "0")}Z`);
    await Promise.all(both.map((one) => one.tick()));
    await Promise.all(both.map((one) => one.idle()));
  }
  expect([mails.length, files.length, chats.length, state.asks]).toEqual([1, 1, 1, 1]);
});

it("away for days: the newest of the last day is made up, the others are recorded as missed, once", async () => {
  const { schedulerOf, pass, jump, mails } = await fixture("2026-03-09T00:00:00Z");
  await pass(schedulerOf("one"), 2_000);
  jump("2026-03-12T20:00:00Z");
  const second = schedulerOf("two");
  await pass(second, 5_000);
  const runs = await second.runs("daily-nav", { countMax: 10 });
  expect(runs.map(({ run }) => [format(run.dueAt).slice(5, 16), run.status, run.trigger])).toEqual([
    ["03-12T06:30", "MADE", "MADE_UP"],
    ["03-11T06:30", "MISSED", "MADE_UP"],
    ["03-10T06:30", "MISSED", "MADE_UP"],
    ["03-09T06:30", "MISSED", "MADE_UP"],
  ]);
  expect(runs[0]?.run.parameters["as_of"]).toBe("2026-03-12T06:30:00.000000Z");
  expect(mails.length).toBe(1);
  // More than a day late: missed, all of them.
  const weekly = { name: "weekly-tca", report: "tca_report", cron: "0 6 * * MON" } as const;
  const [before, after] = [schedulerOf("three", [plan(weekly)]), schedulerOf("four", [plan(weekly)])];
  await pass(before, 1_000);
  jump("2026-03-18T20:00:00Z");
  await pass(after, 5_000);
  expect((await after.runs("weekly-tca", { countMax: 10 })).map(({ run }) => run.status)).toEqual(["MISSED"]);
  // Another cron line begins anew.
  const changed = schedulerOf("five", [plan({ ...weekly, cron: "0 5 * * *" })]);
  jump("2026-03-20T20:00:00Z");
  await pass(changed, 5_000);
  expect((await changed.runs("weekly-tca", { countMax: 10 })).length).toBe(1);
});

it("what cannot be made is tried again and fails for good after a day; the next one that is due takes its place", async () => {
  const { schedulerOf, pass, state, alarms, mails } = await fixture("2026-03-09T06:28:00Z");
  const scheduler = schedulerOf("one", [plan({ cron: "30 2 9 3 *" })]);
  state.failing = true;
  await pass(scheduler, 25 * hourMs, 60_000);
  const [failed] = await scheduler.runs("daily-nav", { countMax: 1 });
  expect(failed?.run).toMatchObject({ status: "FAILED", detail: "Treasury is away." });
  expect(failed?.run.attempts).toBeGreaterThan(10);
  expect(alarms.at(-1)?.[1]).toContain("is not made");
  const hourly = schedulerOf("two", [plan({ name: "hourly-nav", cron: "0 * * * *" })]);
  await pass(hourly, 3.5 * hourMs, 30_000);
  state.failing = false;
  await pass(hourly, hourMs, 30_000);
  const statuses = (await hourly.runs("hourly-nav", { countMax: 10 })).map(({ run }) => run.status);
  expect(statuses.slice(0, 2).includes("MADE")).toBe(true);
  expect(statuses.filter((status) => status === "MISSED").length).toBeGreaterThanOrEqual(2);
  expect(mails.length).toBe(statuses.filter((status) => status === "MADE").length);
});

it("a daily report that is never made is an alarm although the next one takes its place: one, with the reason, until one is made", async () => {
  const { schedulerOf, pass, state, alarms } = await fixture("2026-03-09T12:00:00Z");
  const scheduler = schedulerOf("one", [plan()]);
  state.failing = true;
  await pass(scheduler, 3 * 24 * hourMs, 300_000);
  const raised = alarms.filter(([, sentence]) => sentence !== undefined);
  expect(new Set(raised.map(([about]) => about))).toEqual(new Set(["daily-nav alpha not made"]));
  expect(raised[0]?.[1]).toContain("Treasury is away.");
  state.failing = false;
  await pass(scheduler, 24 * hourMs, 300_000);
  expect(alarms.findLast(([about]) => about === "daily-nav alpha not made")).toEqual([
    "daily-nav alpha not made",
    undefined,
  ]);
});

it("run now: once for each fund, shown as asked for; an unknown name is said with those that there are", async () => {
  const { schedulerOf, pass, chats } = await fixture("2026-03-09T12:00:00Z");
  const { funds: _named, ...everyFund } = plan();
  const scheduler = schedulerOf("one", [{ ...everyFund, funds: undefined, targets: ["chat"] }]);
  const runs = await scheduler.runNow("daily-nav", "operator:duty", "for the board");
  expect(runs.map(({ fundId, trigger, reason }) => [fundId, trigger, reason])).toEqual([
    ["alpha", "OPERATOR", "for the board"],
    ["beta", "OPERATOR", "for the board"],
  ]);
  await pass(scheduler, 5_000);
  expect(chats.map(({ facts: shown }) => shown?.["schedule"])).toEqual([
    "daily-nav (asked for by operator:duty)",
    "daily-nav (asked for by operator:duty)",
  ]);
  await expect(scheduler.runNow("nightly", "operator:duty")).rejects.toThrow(
    "There is no schedule nightly. There are daily-nav.",
  );
});

it("a new schedule's name has no separator at its end; one that has runs keeps its name", async () => {
  const { schedulerOf, pass, mails, alarms, store, asOf } = await fixture("2026-11-15T12:00:00Z");
  const named = plan({ name: "daily-nav." });
  await pass(schedulerOf("one", [named]), 24 * hourMs, 600_000);
  expect(mails).toEqual([]);
  expect(alarms).toEqual([["schedule daily-nav.", expect.stringContaining('"daily-nav."')]]);
  const cursor = { definition: "30 2 * * * in America/New_York", considered: asOf() };
  await store.transact("report.run", (unit) => unit.reportRuns.putCursor("daily-nav.", "alpha", cursor));
  await pass(schedulerOf("one", [named]), 24 * hourMs, 600_000);
  expect(mails).toHaveLength(1);
});
