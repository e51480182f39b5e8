// What stands on the shared platform that outlasts whoever made it: of one test file's funds and people, and of the firm, which no file may touch.
// Taken when a platform is handed out and when the file ends; the difference is what the file left behind.
import type { RunningPlatform } from "../platform.ts";
import type { Asking } from "./asking.ts";

/** What stands, each by the name under which a person would look for it, with its state. */
export type Standing = Readonly<Record<string, string>>;

export interface Own {
  readonly fundIds: readonly string[];
  readonly strategyIds: readonly string[];
  /** What the names of its people begin with. */
  readonly prefix: string;
}

type Row = Readonly<Record<string, unknown>>;

/** Orders that can still trade or are not known to have ended. */
const endedStates: ReadonlySet<unknown> = new Set(["FILLED", "CANCELLED", "REJECTED", "EXPIRED"]);
/** Those that the paper platform itself writes anew are not among them. */
const referenceKinds = ["funds", "instruments", "calendars", "restricted"] as const;

export async function standingOf(platform: RunningPlatform, { ask }: Asking, own: Own): Promise<Standing> {
  const rowsOf = async (path: string): Promise<readonly Row[]> => (await ask("GET", path)) as Row[];
  const stands: Record<string, string> = {};
  for (const halt of await rowsOf("/v1/halts")) {
    const { fund_id: fund, strategy_id: strategy } = halt;
    const isFirms = halt["severity"] === "FIRM_HALT";
    if (isFirms || own.fundIds.includes(String(fund)) || own.strategyIds.includes(String(strategy)))
      stands[`halt ${halt["halt_id"]} of ${isFirms ? "the firm" : strategy || fund}`] = String(halt["reason"]);
  }
  for (const fundId of [...own.fundIds, "alpha", "beta", "gamma"]) {
    const envelope = (await ask("GET", `/v1/riskengine/envelopes/${fundId}`)) as Row;
    stands[`envelope of ${fundId}`] = `version ${envelope["version"]}`;
  }
  for (const fundId of own.fundIds) {
    for (const status of await rowsOf(`/v1/oms/orders?fund_id=${fundId}&count_max=500`))
      if (!endedStates.has(status["state"]))
        stands[`order ${(status["order"] as Row)["order_id"]} of ${fundId}`] = String(status["state"]);
    for (const block of await rowsOf(`/v1/riskengine/blocks?fund_id=${fundId}`))
      if (block["scope"] !== "firm")
        stands[`block ${block["code"]} of ${block["symbol"] ?? block["strategy_id"] ?? fundId}`] = String(
          block["ends"],
        );
  }
  for (const kind of referenceKinds) {
    const { version } = (await ask("GET", `/v1/treasury/reference/${kind}`)) as Row;
    stands[`reference data ${kind}`] = `version ${version}`;
  }
  stands["simulated faults"] = JSON.stringify(await ask("GET", "/v1/oms/paper-weather"));
  const { events } = (await ask("GET", "/v1/operations/parked")) as { readonly events: Row[] };
  for (const event of events) stands[`parked event ${event["event_id"]}`] = `of ${event["subscription"]}`;
  Object.assign(stands, await standingOfPeople(rowsOf, own.prefix));
  const { keys } = (await ask("GET", "/oidc/jwks")) as { readonly keys: readonly Row[] };
  stands["signing keys"] = keys.map(({ kid }) => kid).join(", ");
  for (const [service, pid] of Object.entries(platform.runFile().processes)) stands[`process ${service}`] = `${pid}`;
  return stands;
}

async function standingOfPeople(rowsOf: (path: string) => Promise<readonly Row[]>, prefix: string): Promise<Standing> {
  const isAnothers = (name: unknown): boolean =>
    /^shared-file-\d/.test(String(name)) && !String(name).startsWith(prefix);
  const people = (await rowsOf("/v1/auth/operators")).filter(
    ({ state, name }) => state === "active" && !isAnothers(name),
  );
  const tokens = (await rowsOf("/v1/service-tokens")).filter(({ revoked_at, issued_by, name }) => {
    return revoked_at === undefined && !isAnothers(String(issued_by).replace(/^operator:/, "")) && !isAnothers(name);
  });
  return Object.fromEntries([
    ...people.map(({ name, roles }) => [`person ${name}`, String(roles)]),
    ...tokens.map(({ id, name }) => [`service token ${id}`, String(name)]),
  ]);
}

/** One line for each thing that is there and was not, is another, or is gone. */
export function leftBehind(before: Standing, after: Standing): readonly string[] {
  const lines = Object.entries(after).flatMap(([name, state]) => {
    const earlier = before[name];
    if (earlier === state) return [];
    return [earlier === undefined ? `${name}: ${state}` : `${name}: ${state}, before it was ${earlier}`];
  });
  const gone = Object.entries(before).flatMap(([name, state]) => (name in after ? [] : [`${name} is gone: ${state}`]));
  return [...lines, ...gone];
}
