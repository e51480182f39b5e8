// Rounds of kill -9 of operations and PostgreSQL on a whole platform while events for a regulator arrive, by call and by themselves. Judged at the end: every
// acknowledged record is there once, the files are their records, and the audit log explains all of them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FilingReconciliation, FilingVerification } from "../../contracts/src/generated/svc/v1/filingchecks.ts";
import type { RegulatoryReceipt } from "../../contracts/src/generated/svc/v1/operations.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { operatorUrl } from "../login.ts";
import { eventually, type Platform, pause, startPlatform, temporaryFolder } from "../platform.ts";
import { type Asking, withAsking } from "../shared/asking.ts";

export interface FilingSummary {
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
    const load = new Load(platform, token);
    for (let round = 0; round < rounds; round += 1) {
      const victim = victims[round % victims.length] ?? "operations";
      const working = load.run(loadMs);
      await pause(200 + ((round * 311) % (loadMs - 300)));
      kill(platform, victim);
      await working;
      await eventually(`health after round ${round}`, settledMsMax, async () => (await platform.health()) === 200);
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

class Load {
  readonly acknowledged = new Map<string, Said>();
  readonly open = new Map<string, object>();
  refused = 0;
  submitted = 0;
  #count = 0;
  readonly #platform: Platform;
  readonly #token: string;

  constructor(platform: Platform, token: string) {
    this.#platform = platform;
    this.#token = token;
  }

  async run(ms: number): Promise<void> {
    const until = Date.now() + ms;
    while (Date.now() < until) {
      this.#count += 1;
      const id = `filed-${this.#count}`;
      await Promise.all([this.say(`${id}-new`, eventOf(id, "new_order")), this.submit(id)]);
      await this.say(`${id}-route`, eventOf(id, "order_routed"));
    }
  }

  /** What was not acknowledged is said once more: it is the same event. */
  async sayAgain(): Promise<void> {
    for (const [eventId, event] of [...this.open]) await this.say(eventId, event);
    for (const [eventId] of [...this.acknowledged].slice(-50)) {
      const [id = "", type] = eventId.split(/-(?=new|route)/);
      await this.say(eventId, eventOf(id, type === "new" ? "new_order" : "order_routed"));
    }
  }

  async say(eventId: string, event: object): Promise<void> {
    this.open.set(eventId, event);
    const answer = await this.#post("/v1/operations/filings/events", event);
    if (answer === undefined) {
      this.refused += 1;
      return;
    }
    const [only] = (answer as RegulatoryReceipt).submissions;
    if (only === undefined) throw new Error(`${eventId} was submitted to nobody`);
    const said = { eventId, date: only.submission_date, line: only.line, recordId: only.record_id };
    const before = this.acknowledged.get(eventId);
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(said)) {
      throw new Error(`${eventId} was acknowledged as ${JSON.stringify(before)} and as ${JSON.stringify(said)}`);
    }
    this.acknowledged.set(eventId, said);
    this.open.delete(eventId);
  }

  async submit(id: string): Promise<void> {
    const terms = { side: "BUY", quantity: "1", order_type: "MARKET", tif: "DAY", broker: "paper", asset_class: "EQUITY" };
    const about = { fund_id: "alpha", strategy_id: "alpha-momentum", symbol: "AAPL", actor: "desk" };
    const order = { idempotency_key: `o-${id}`, order_id: `o-${id}`, ...about, ...terms };
    if ((await this.#post("/v1/oms/orders", order)) !== undefined) this.submitted += 1;
  }

  async #post(path: string, body: object): Promise<unknown> {
    try {
      const answer = await fetchOnNewConnection(`${operatorUrl(this.#platform)}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return answer.status < 300 ? await answer.json() : undefined;
    } catch {
      // The process that would have answered was killed.
      return undefined;
    }
  }
}

function eventOf(id: string, type: string): object {
  const order = {
    order_id: id,
    fund_id: "alpha",
    symbol: "MSFT",
    side: "BUY",
    quantity: "10",
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
  };
  return { event_type: type, order, details: { event_id: `${id}-${type === "new_order" ? "new" : "route"}` } };
}

async function judge({ ask }: Asking, load: Load, rounds: number): Promise<FilingSummary> {
  const dates = [...new Set([...load.acknowledged.values()].map(({ date }) => date))];
  const sums = { expected: 0, recorded: 0, by_call: 0 };
  for (const date of dates) {
    const query = `regime=CAT&fund_id=alpha&date=${date}`;
    let found: FilingReconciliation | undefined;
    await eventually(`nothing of ${date} is pending`, settledMsMax, async () => {
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
    await eventually(`the files of ${date} are their records`, settledMsMax, async () => {
      const verified = (await ask("GET", `/v1/operations/filings/verification?${query}`)) as FilingVerification;
      const isBehind = verified.findings.every(({ kind }) => kind === "FILE_BEHIND") && verified.finding_count > 0;
      if (verified.finding_count > 0 && !isBehind) throw new Error(JSON.stringify(verified.findings));
      return verified.finding_count === 0 && verified.pending === 0;
    });
  }
  if (sums.by_call !== load.acknowledged.size + load.open.size) {
    throw new Error(`${load.acknowledged.size} were acknowledged, ${load.open.size} not, and ${sums.by_call} are there`);
  }
  const lines = new Set([...load.acknowledged.values()].map(({ recordId }) => recordId));
  if (lines.size !== load.acknowledged.size) throw new Error("two events were acknowledged with one line");
  const { acknowledged, refused, submitted } = load;
  return { rounds, acknowledged: acknowledged.size, refused, submitted, reconciled: sums };
}
