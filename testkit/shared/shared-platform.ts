// One running platform for all test files of a run that only ask, or put back what they change. It begins with the first file that needs it and ends with
// the run. Each file gets funds and people of its own; what is the firm's, its halts, faults, restarts, keys and reference data, is nobody's to touch. When
// a file ends, what it left behind fails it by name.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { alwaysOpen } from "../../contracts/src/calendars.ts";
import { envelopeAction } from "../../services/riskengine/envelope-proof.ts";
import { flowAction } from "../../services/treasury/book-flow.ts";
import { ampleEnvelope } from "../ample-envelope.ts";
import { smallHeap } from "../hostile/small-heap.ts";
import type { DevelopmentOperator } from "../login.ts";
import { giveMadeDatabase } from "../made-cluster.ts";
import { eventually, pause, type RunningPlatform, temporaryFolder } from "../platform.ts";
import { type Asking, withAsking } from "./asking.ts";
import { detachedAt, detachedReady, launchDetached } from "./detached-platform.ts";
import { leaveShared, type Started, startedFile } from "./end-shared.ts";
import { onceInRun, runFolder, runPid, tryToTake, writeWhole } from "./once-in-run.ts";
import { lockOut, makePerson, type PersonKind } from "./people.ts";
import { leftBehind, type Own, type Standing, standingOf } from "./standing.ts";

/** Files may ask for this many funds together; more are put in here. */
const fundCount = 12;

export interface SharedFund {
  readonly fundId: string;
  readonly strategyId: string;
}

export interface SharedPlatform {
  /** These four once the file's hooks have run. */
  readonly platform: RunningPlatform;
  readonly funds: readonly SharedFund[];
  /** The first fund. */
  readonly fund: SharedFund;
  person(kind: PersonKind): DevelopmentOperator;
}

export interface Wanted {
  /** How many funds; one when absent. */
  readonly funds?: number;
  readonly people?: readonly PersonKind[];
}

interface HandedOut {
  readonly platform: RunningPlatform;
  readonly funds: readonly SharedFund[];
  readonly people: ReadonlyMap<PersonKind, DevelopmentOperator>;
  readonly own: Own;
  readonly before: Standing;
}

/** Called once, at the top of a test file: the platform is there from the file's first test on. */
export function sharedPlatform(wanted: Wanted = {}): SharedPlatform {
  let handedOut: HandedOut | undefined;
  const given = (): HandedOut => {
    if (handedOut === undefined) throw new Error("the shared platform is there when the file's hooks have run");
    return handedOut;
  };
  beforeAll(async () => {
    handedOut = await handOut(wanted);
  }, 180_000);
  // Registered before the file's own, so it runs after them.
  afterAll(async () => {
    if (handedOut === undefined) return;
    const left = await takeBackForGood(handedOut);
    const file = expect.getState().testPath?.replace(`${process.cwd()}/`, "");
    if (left.length > 0) throw new Error(`${file} left behind on the shared platform:\n${left.join("\n")}`);
  }, 60_000);
  return {
    get platform() {
      return given().platform;
    },
    get funds() {
      return given().funds;
    },
    get fund() {
      const [first] = given().funds;
      if (first === undefined) throw new Error("this file asked for no fund");
      return first;
    },
    person: (kind) => {
      const found = given().people.get(kind);
      if (found === undefined) throw new Error(`this file asked for no ${kind}`);
      return found;
    },
  };
}

export async function handOut({ funds: count = 1, people: kinds = [] }: Wanted): Promise<HandedOut> {
  const folder = await onceInRun("shared-platform", startShared);
  const platform = detachedAt(folder);
  const funds = Array.from({ length: count }, takeFund);
  const prefix = takePrefix();
  const own = {
    fundIds: funds.map(({ fundId }) => fundId),
    strategyIds: funds.map(({ strategyId }) => strategyId),
    prefix,
  };
  return withAsking(platform, async (asking) => {
    // People are locked out again by who made them, so they are no part of what the file has to put back.
    const before = await standingOf(platform, asking, own);
    const people = new Map<PersonKind, DevelopmentOperator>();
    for (const kind of kinds) people.set(kind, await makePerson(platform, asking, kind, `${prefix}${kind}`));
    return { platform, funds, people, own, before };
  });
}

/** What was left behind, as lines. What is on its way, as a cancelled order or a price that comes late, gets a few seconds. */
export async function takeBack(
  { platform, people, own, before }: HandedOut,
  looksMax = settlingLooks,
): Promise<readonly string[]> {
  return withAsking(platform, async (asking) => {
    for (const { name } of people.values()) await lockOut(asking, name);
    for (let looks = 1; ; looks += 1) {
      const left = leftBehind(before, await standingOf(platform, asking, own));
      if (left.length === 0 || looks === looksMax) return left;
      await pause(settleMs);
    }
  });
}

async function takeBackForGood(handedOut: HandedOut): Promise<readonly string[]> {
  try {
    return await takeBack(handedOut);
  } finally {
    await leaveShared();
  }
}

const settlingLooks = 5;
const settleMs = 1_000;

const sharedFund = (number: number): SharedFund => {
  const fundId = `shared-${String(number).padStart(2, "0")}`;
  return { fundId, strategyId: `${fundId}-desk` };
};

/** What the names of a file's people begin with. */
function takePrefix(): string {
  for (let number = 1; ; number += 1) {
    const name = `shared-file-${number}`;
    if (tryToTake(join(runFolder(), `${name}.taken`))) return `${name}-`;
  }
}

function takeFund(): SharedFund {
  for (let number = 1; number <= fundCount; number += 1) {
    const fund = sharedFund(number);
    if (tryToTake(join(runFolder(), `${fund.fundId}.taken`))) return fund;
  }
  throw new Error(`all ${fundCount} funds of the shared platform are taken: let fundCount grow with the files`);
}

async function startShared(): Promise<string> {
  const folder = temporaryFolder("shared");
  const started: Started = { folder, atMs: Date.now() };
  writeWhole(join(runFolder(), startedFile), JSON.stringify(started));
  const configuration = join(folder, "portcullis.yaml");
  const all = Array.from({ length: fundCount }, (_, index) => sharedFund(index + 1));
  const webhookFunds = all.map(({ fundId }) => `    ${fundId}: { on_mismatch: refuse }\n`).join("");
  writeFileSync(configuration, `tradingview:\n  funds:\n${webhookFunds}`);
  giveMadeDatabase(join(folder, "data"));
  const environment = {
    ...smallHeap,
    PORTCULLIS_CONFIG: configuration,
    // All files ask from one address.
    PORTCULLIS_PUBLIC_RATE_PER_S: "200",
    PORTCULLIS_PUBLIC_BURST: "400",
    PORTCULLIS_TRUSTED_PROXIES: "127.0.0.1",
  };
  launchDetached({ environment }, folder, runPid());
  await detachedReady(folder);
  await withAsking(detachedAt(folder), (asking) => seed(asking, all));
  return folder;
}

/** What every fund of a test file has: ten million, wide limits, and a strategy. */
async function seed({ ask, askProven }: Asking, funds: readonly SharedFund[]): Promise<void> {
  const known = (await ask("GET", "/v1/treasury/reference/funds")) as { version: number; content: object[] };
  const added = funds.map(({ fundId, strategyId }) => ({
    fund_id: fundId,
    name: `Fund of a test file, ${fundId}`,
    mode: "PAPER",
    currency: "USD",
    calendar: alwaysOpen.definition.name,
    strategies: [strategyId],
  }));
  const content = [...known.content, ...added];
  await ask("PUT", "/v1/treasury/reference/funds", { version: known.version + 1, content, reason: "funds of tests" });
  for (const { fundId } of funds) {
    const reason = "capital of a test's fund";
    const flow = { fund_id: fundId, idempotency_key: fundId, currency: "USD", amount: "10000000" };
    await askProven("POST", "/v1/treasury/flows", flowAction(flow, reason), { ...flow, reason });
  }
  for (const { fundId } of funds) {
    const envelope = ampleEnvelope(fundId, {
      allowed_asset_classes: ["EQUITY", "CRYPTO", "OPTION"],
      allowed_order_types: ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"],
    });
    // The engine looks for new funds once a second.
    await eventually(`the limits of ${fundId} are set`, async () =>
      askProven("PUT", `/v1/riskengine/envelopes/${fundId}`, envelopeAction(envelope), envelope).then(
        () => true,
        () => false,
      ),
    );
  }
}
