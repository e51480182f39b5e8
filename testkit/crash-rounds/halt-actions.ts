// What is done in the halts' crash rounds: halts raised through either service and by a loss, one fund's halts lifted, everything asked for and signed; what
// the engine says of each desk afterwards; and restarts of the five services in random orders while halts are in force.
import { readFileSync } from "node:fs";
import { format, fromUnixMs } from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { eventually, pause } from "../platform.ts";
import type { Prng } from "../virtual/prng.ts";
import type { EngineFixture } from "./engine-fixture.ts";
import { tradedLines } from "./engine-orders.ts";
import { type HaltFacts, type HaltRow, inForce, readFacts } from "./halt-ledger.ts";
import { type Door, type HaltPeople, listedHalts, type Scope } from "./halt-people.ts";

export type HaltAction =
  | `${"halt" | "resume" | "ask" | "sign"} through ${Door}`
  /** Valuations that show one; nobody is there to be answered. */
  | "loss";

export interface HaltActor {
  readonly people: HaltPeople;
  /** Lifts what is in force, and raises what the action wants to lift. */
  prepare(action: HaltAction): Promise<void>;
  /** Whether there was an answer. */
  act(action: HaltAction): Promise<boolean>;
  /** What the living engine says of orders that add risk, where that is not what is in force; one that has just started may deny for want of prices. */
  wrongWithEngine(facts: HaltFacts, mayDenyBefore?: boolean): Promise<readonly string[]>;
}

export const services = ["riskengine", "operations", "oms", "treasury", "research"] as const;
const doors: readonly Door[] = ["operations", "riskengine"];
const firm: Scope = { severity: "FIRM_HALT", fund_id: "" };
const beta: Scope = { severity: "FUND_HALT", fund_id: "beta" };
const momentum: Scope = { severity: "STRATEGY_HALT", fund_id: "", strategy_id: "alpha-momentum" };
const lossFund = "gamma";
const lossMsMax = 8_000;
const settleMsMax = 60_000;
const asked = tradedLines.filter(({ symbol }) => ["AAPL", "JPM", "BTC-USD", "SPY"].includes(symbol));

export function haltActor(fixture: EngineFixture, people: HaltPeople, throws: Prng): HaltActor {
  const { owner } = fixture;
  let losses = 0;
  let lastLossAtMs = 0;
  let halts: readonly HaltRow[] = [];
  let valued: NavUpdated | undefined;
  let waiting: { readonly requestId: string; readonly haltIds: readonly string[] } | undefined;
  const door = (): Door => doors[throws.below(doors.length)] ?? "operations";
  const standing = async (): Promise<readonly HaltRow[]> => inForce(await readFacts(owner));
  const ids = (rows: readonly HaltRow[]): readonly string[] => rows.map(({ haltId }) => haltId);

  /** By both people, until nothing is in force; a loss may raise something in between. */
  async function liftAll(): Promise<void> {
    await eventually(
      "everything is lifted",
      async () => {
        const halts = ids(await standing());
        if (halts.length === 0) return true;
        await people.freshCodes();
        const request = await people.askForAll(door(), halts).catch(() => undefined);
        if (request !== undefined) await people.sign(door(), request, halts).catch(() => undefined);
        return false;
      },
      settleMsMax,
    );
  }

  async function prepare(action: HaltAction): Promise<void> {
    await pause(Math.max(0, lastLossAtMs + lossMsMax - Date.now()));
    await liftAll();
    const verb = action.split(" ")[0];
    if (verb === "halt" || verb === "loss") return;
    for (const scope of [momentum, beta, beta, firm]) await must(people.halt(door(), scope));
    if (verb !== "sign") return;
    const haltIds = ids(await standing());
    await people.freshCodes();
    const requestId = await people.askForAll(door(), haltIds);
    if (requestId === undefined) throw new Error("nobody took the request to lift everything");
    waiting = { requestId, haltIds };
  }

  async function prepareAll(action: HaltAction): Promise<void> {
    await prepare(action);
    await people.freshCodes();
    // Read now: while something is done, the database may be gone.
    halts = await standing();
    const found = await owner.query("select content from portcullis.risk_nav where fund_id = $1", [lossFund]);
    valued = found.rows[0]?.content as NavUpdated;
  }

  async function act(action: HaltAction): Promise<boolean> {
    const [verb, , through] = action.split(" ") as [string, string, Door];
    if (verb === "loss") return lose();
    if (verb === "halt") return people.halt(through, [firm, beta, momentum][throws.below(3)] ?? firm);
    if (verb === "sign") {
      if (waiting === undefined) throw new Error("there is nothing to sign");
      return people.sign(through, waiting.requestId, waiting.haltIds);
    }
    if (verb === "ask") return (await people.askForAll(through, ids(halts))) !== undefined;
    return people.resumeFund(
      through,
      "beta",
      ids(halts.filter(({ severity, fundId }) => severity === "FUND_HALT" && fundId === "beta")),
    );
  }

  /** Two valuations in a row, each lower than any loss before. */
  async function lose(): Promise<boolean> {
    losses += 1;
    const known = valued;
    if (known === undefined) throw new Error(`${lossFund} was never valued`);
    const share = 0.5 - 0.02 * losses;
    const lower = (afterMs: number): NavUpdated => ({
      ...known,
      nav: String(Math.round(5_000_000 * share)),
      as_of: format(fromUnixMs(Date.now() + afterMs)),
    });
    const publishing = fixture.store.transact("crash rounds", async (unit) => {
      for (const afterMs of [0, 1]) await unit.events.publish(subjects.navUpdated, lower(afterMs));
    });
    // The database may be what was killed: then nobody has heard of a loss.
    await publishing.catch(() => undefined);
    lastLossAtMs = Date.now();
    return false;
  }

  async function wrongWithEngine(facts: HaltFacts, mayDenyBefore = false): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const traded of asked) {
      const expected = strictest(inForce(facts), traded.fundId, traded.strategyId);
      const { approved, checks } = await fixture.dryRun(traded, throws.uuid());
      const gate = checks.find((check) => check.gate === "drawdown_halt");
      // An engine that has just started knows no prices yet, and denies before it comes to the halts.
      if (mayDenyBefore && gate === undefined && !approved) continue;
      const said = gate?.figures.find(({ name }) => name === "halt")?.value;
      if (said !== expected || (expected !== "none" && (approved || gate?.result !== "FAILED"))) {
        wrong.push(`${traded.strategyId} is under ${expected}, and the engine says ${said}, ${gate?.result}`);
      }
    }
    return wrong;
  }

  return { people, prepare: prepareAll, act, wrongWithEngine };
}

async function must(answered: Promise<boolean>): Promise<void> {
  if (!(await answered)) throw new Error("nobody answered, and nobody was killed");
}

function strictest(halts: readonly HaltRow[], fundId: string, strategyId: string): string {
  const has = (severity: string, isMeant: (halt: HaltRow) => boolean): boolean =>
    halts.some((halt) => halt.severity === severity && isMeant(halt));
  if (has("FIRM_HALT", () => true)) return "FIRM_HALT";
  if (has("FUND_HALT", (halt) => halt.fundId === fundId)) return "FUND_HALT";
  return has("STRATEGY_HALT", (halt) => halt.strategyId === strategyId) ? "STRATEGY_HALT" : "none";
}

/** Ends each of the five in a random order, cleanly or not, alone or while another is still getting up; gives the number of looks that were answered. */
export async function restartEverybody(
  fixture: EngineFixture,
  actor: HaltActor,
  throws: Prng,
  times: number,
  say: (line: string) => void,
): Promise<number> {
  await actor.prepare("resume through operations");
  const facts = await readFacts(fixture.owner);
  const expected = String([...inForce(facts)].map(({ haltId }) => haltId).sort());
  let looks = 0;
  const look = async (): Promise<void> => {
    const listed = await listedHalts(actor.people).catch(() => undefined);
    if (listed !== undefined && String([...listed].sort()) !== expected) throw new Error(`listed are ${listed}`);
    const wrong = await actor.wrongWithEngine(facts, true).catch(() => undefined);
    if (wrong !== undefined && wrong.length > 0) throw new Error(wrong.join("; "));
    looks += Number(listed !== undefined) + Number(wrong !== undefined);
  };
  const looksHealthy = async (): Promise<boolean> => {
    await look();
    return (await fixture.platform().health()) === 200;
  };
  for (let time = 1; time <= times; time += 1) {
    const left: string[] = [...services];
    const order: string[] = [];
    while (left.length > 0) {
      const [part] = left.splice(throws.below(left.length), 1);
      if (part === undefined) break;
      end(fixture, part, throws.chance(0.5) ? "SIGKILL" : "SIGTERM");
      order.push(part);
      await look();
      if (throws.chance(0.3) && left.length > 0) continue;
      await eventually(`healthy after ${part}`, looksHealthy, settleMsMax);
    }
    say(`halts: restarted ${order.join(", ")}; ${looks} looks`);
  }
  return looks;
}

function end(fixture: EngineFixture, part: string, signal: NodeJS.Signals): void {
  const pid = fixture.platform().runFile().processes[part] ?? 0;
  // Only after looking at it: its number may be another process's by now.
  if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`portcullis-${part}`))
    throw new Error(`${pid} is not ${part}`);
  process.kill(pid, signal);
}
