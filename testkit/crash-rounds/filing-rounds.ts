// Rounds of kill -9 of operations and PostgreSQL on a whole platform while events for a regulator arrive, by call and by themselves. Judged at the end: every
// acknowledged record is there once, the files are their records, and the audit log explains all of them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FilingReconciliation, FilingVerification } from "../../contracts/src/generated/svc/v1/filingchecks.ts";
import type { RegulatoryReceipt } from "../../contracts/src/generated/svc/v1/operations.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { operatorUrl } from "../login.ts";
import { type Platform, pause, startPlatform, temporaryFolder, within } from "../platform.ts";
import { type Asking, withAsking } from "../shared/asking.ts";

interface FilingSummary {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly submitted: number;
  readonly reconciled: Pick<FilingReconciliation, "expected" | "recorded" | "by_call">;
}

const configuration = `funds:
  - fund_id: alpha
    compliance:
      cat_enabled: true
      cat_subscriber_id: "1234"
      cat_reporter_imid: ABCD
      cat_crd: "149224"
      cat_destinations: { paper: { type: F, id: "456:EFGH" } }
`;
const loadMs = 1_500;
const settledMsMax = 120_000;
/** Events that are said again at the end although they were acknowledged. */
const repeated = 50;
const terms = { side: "BUY", order_type: "MARKET", tif: "DAY", broker: "paper", asset_class: "EQUITY" };

interface Said {
  readonly eventId: string;
  readonly date: string;
  readonly line: number;
  readonly recordId: string;
}

export async function runFilingRounds(rounds: number, victims: readonly ("operations" | "database")[]) {
  const folder = temporaryFolder("filings");
  const path = join(folder, "portcullis.yaml");
  writeFileSync(path, configuration);
  const platform = startPlatform({ environment: { PORTCULLIS_CONFIG: path } });
  try {
    await platform.ready();
    const token = await withAsking(platform, tokenOf);
    const load = loadOf(platform, token);
    for (let round = 0; round < rounds; round += 1) {
      const victim = victims[round % victims.length] ?? "operations";
      const working = load.run(loadMs);
      await pause(200 + ((round * 311) % (loadMs - 300)));
      kill(platform, victim);
      await working;
      await within(settledMsMax, `health after round ${round}`, async () => (await platform.health()) === 200);
    }
    await load.sayAgain();
    return await withAsking(platform, (asking) => judge(asking, load, rounds));
  } finally {
    await platform.end();
  }
}

async function tokenOf({ askProven }: Asking): Promise<string> {
  const operations = ["ReportRegulatoryEvent", "SubmitOrder"];
  const parameters = { name: "desk-oms", operations, expires_in_s: 3_600 };
  const made = await askProven("POST", "/v1/service-tokens", { action: "IssueServiceToken", parameters }, parameters);
  return (made as { readonly token: string }).token;
}

function kill(platform: Platform, victim: "operations" | "database"): void {
  const { processes, database } = platform.runFile();
  const pid = victim === "operations" ? processes["operations"] : database.pid;
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

function loadOf(platform: Platform, token: string) {
  const acknowledged = new Map<string, Said>();
  const open = new Map<string, object>();
  let [count, refused, submitted] = [0, 0, 0];

  async function post(path: string, body: object): Promise<unknown> {
    try {
      const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return answer.status < 300 ? await answer.json() : undefined;
    } catch {
      // The process that would have answered was killed.
      return undefined;
    }
  }

  async function say(eventId: string, event: object): Promise<void> {
    open.set(eventId, event);
    const answer = await post("/v1/operations/filings/events", event);
    if (answer === undefined) {
      refused += 1;
      return;
    }
    const [only] = (answer as RegulatoryReceipt).submissions;
    if (only === undefined) throw new Error(`${eventId} was submitted to nobody`);
    const said = { eventId, date: only.submission_date, line: only.line, recordId: only.record_id };
    const before = acknowledged.get(eventId);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(said)) {
      throw new Error(`${eventId} was acknowledged as ${JSON.stringify(before)} and as ${JSON.stringify(said)}`);
    }
    acknowledged.set(eventId, said);
    open.delete(eventId);
  }

  async function submit(id: string): Promise<void> {
    const about = { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL", actor: "desk" };
    const order = { idempotency_key: `o-${id}`, order_id: `o-${id}`, ...about, ...terms, quantity: "1" };
    if ((await post("/v1/oms/orders", order)) !== undefined) submitted += 1;
  }

  return {
    acknowledged,
    open,
    figures: () => ({ acknowledged: acknowledged.size, refused, submitted }),
    async run(ms: number): Promise<void> {
      const until = Date.now() + ms;
      while (Date.now() < until) {
        count += 1;
        const id = `filed-${count}`;
        await Promise.all([say(`${id}-new`, eventOf(id, "new_order")), submit(id)]);
        await say(`${id}-route`, eventOf(id, "order_routed"));
      }
    },
    /** What was not acknowledged is said once more, and some of the rest: it is the same event. */
    async sayAgain(): Promise<void> {
      for (const [eventId, event] of [...open]) await say(eventId, event);
      for (const eventId of [...acknowledged.keys()].slice(-repeated)) {
        const type = eventId.endsWith("-new") ? "new_order" : "order_routed";
        await say(eventId, eventOf(eventId.replace(/-(new|route)$/, ""), type));
      }
    },
  };
}

function eventOf(id: string, type: string): object {
  const order = { order_id: id, fund_id: "alpha", symbol: "MSFT", ...terms, quantity: "10" };
  return { event_type: type, order, details: { event_id: `${id}-${type === "new_order" ? "new" : "route"}` } };
}

async function judge({ ask }: Asking, load: ReturnType<typeof loadOf>, rounds: number): Promise<FilingSummary> {
  const dates = [...new Set([...load.acknowledged.values()].map(({ date }) => date))];
  const sums = { expected: 0, recorded: 0, by_call: 0 };
  for (const date of dates) {
    const query = `regime=CAT&fund_id=alpha&date=${date}`;
    let found: FilingReconciliation | undefined;
    await within(settledMsMax, `nothing of ${date} is pending`, async () => {
      found = (await ask("GET", `/v1/operations/filings/reconciliation?${query}`)) as FilingReconciliation;
      return found.pending === 0;
    });
    const { missing, unexpected, different, ...counts } = found as FilingReconciliation;
    if (missing.length + unexpected.length + different.length > 0) {
      throw new Error(`the day is not whole: ${JSON.stringify({ missing, unexpected, different }).slice(0, 2_000)}`);
    }
    sums.expected += counts.expected;
    sums.recorded += counts.recorded;
    sums.by_call += counts.by_call;
    await within(settledMsMax, `the files of ${date} are their records`, async () => {
      const verified = (await ask("GET", `/v1/operations/filings/verification?${query}`)) as FilingVerification;
      const isBehind = verified.findings.every(({ kind }) => kind === "FILE_BEHIND") && verified.finding_count > 0;
      if (verified.finding_count > 0 && !isBehind) throw new Error(JSON.stringify(verified.findings));
      return verified.finding_count === 0 && verified.pending === 0;
    });
  }
  if (sums.by_call !== load.acknowledged.size + load.open.size) {
    throw new Error(
      `${load.acknowledged.size} were acknowledged, ${load.open.size} not, and ${sums.by_call} are there`,
    );
  }
  const lines = new Set([...load.acknowledged.values()].map(({ recordId }) => recordId));
  if (lines.size !== load.acknowledged.size) throw new Error("two events were acknowledged with one line");
  return { rounds, ...load.figures(), reconciled: sums };
}
