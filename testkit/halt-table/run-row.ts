// One row of the table on one surface: puts the platform so, asks, and looks at what came of it: the answer, the halts in force, and the audit log.
import { expect } from "vitest";
import type { FoundEntry, HaltTableFixture, SignedState, Standing, TableCaller } from "./fixture.ts";
import { type Code, type Row, rowText, said, type Verb } from "./rows.ts";
import type { Request, SurfaceAnswer } from "./surface-answer.ts";
import type { Surface } from "./surfaces.ts";

/** The target of a request that halts or lifts one scope by itself; the standing halts are of alpha and of the firm. */
const targets = {
  halt: { STRATEGY_HALT: "gamma-income", FUND_HALT: "gamma", FIRM_HALT: "" },
  resume: { STRATEGY_HALT: "alpha-momentum", FUND_HALT: "alpha", FIRM_HALT: "" },
  "covered from above": { STRATEGY_HALT: "beta-trend", FUND_HALT: "beta", FIRM_HALT: "" },
} as const;

/** False when the surface has no words for the row. */
export async function runRow(fixture: HaltTableFixture, surface: Surface, row: Row): Promise<boolean> {
  const what = `${surface.name}: ${rowText(row)}`;
  const standing = await fixture.stand();
  const request = row.verb === "co-sign" ? await requestIn(fixture, row.request) : undefined;
  const caller = await callerOf(fixture, row, request?.by);
  const haltRequest = await requestOf(fixture, row, caller, standing, request?.id);
  const before = await fixture.inForce();
  const from = await fixture.mark();
  const answer = await surface.ask(caller, haltRequest);
  if (answer === undefined) return false;

  const refusedAtHome = surface.name === "ctl" ? whyNotSent(row) : undefined;
  const expected = refusedAtHome ?? expectedOf(surface, row);
  expect([answer.code, answer.reported], `${what}: ${answer.sentence}`).toEqual(expected);
  if (answer.code !== "") expect(answer.sentence, what).toMatch(/^\S[^\n]{10,}$/);
  const entries = await fixture.entriesSince(from, refusedAtHome === undefined ? 1 : 0);
  const attempts = entries.filter(({ action }) => action === "operator.attempted");
  if (refusedAtHome !== undefined) expect(attempts, `${what}: nothing was sent`).toEqual([]);
  else looksAttempted(what, row, caller, attempts);
  const after = await fixture.inForce();
  if (row.expected !== "" || refusedAtHome !== undefined) {
    expect(after, `${what}: what is in force`).toEqual(before);
    expect(changesIn(entries, before), what).toEqual([]);
  } else {
    looksGranted(what, { row, caller, standing, before, after, answer, entries, haltRequest });
  }
  return true;
}

/** What ctl says by itself, before anything is sent: that nobody is logged in. */
function whyNotSent({ who }: Row): [string, number] | undefined {
  return who === "nobody" ? ["UNAUTHENTICATED", 4] : undefined;
}

function expectedOf({ name }: Surface, { expected, verb }: Row): [string, string | number] {
  const place = name === "REST" ? 1 : name === "ctl" ? 2 : 0;
  const granted = ["OK", verb === "halt" ? 201 : 200, verb === "request-all" ? 8 : 0] as const;
  const words = expected === "" ? granted : said[expected];
  if (words === undefined) throw new Error(`the table does not say how ${expected} is reported`);
  return [expected, words[place]];
}

const verbNames: Readonly<Record<Verb, string>> = {
  halt: "RequestHalt",
  resume: "ResumeHalt",
  "request-all": "ResumeHalt",
  "co-sign": "ResumeHalt",
};

/** Exactly one entry says who tried, what, and why not. */
function looksAttempted(what: string, row: Row, caller: TableCaller, attempts: readonly FoundEntry[]): void {
  const reported = attempts.map(({ actor, data }) => ({
    actor,
    operator: data["operator"],
    verb: data["verb"],
    allowed: data["allowed"],
    ...(data["code"] === undefined ? {} : { code: data["code"] }),
  }));
  const actor = caller.kind === "nobody" ? "principal:nobody" : caller.actor;
  const one = {
    actor,
    operator: actor,
    verb: verbNames[row.verb],
    allowed: row.expected === "",
    ...(row.expected === "" ? {} : { code: row.expected }),
  };
  expect(reported, `${what}: the attempts in the audit log`).toEqual([one]);
}

const changes: ReadonlySet<string> = new Set(["halt.requested", "halt.latched", "halt.lifted", "resume.requested"]);

/** That the halt manager takes over what the scene latched is none. */
function changesIn(entries: readonly FoundEntry[], before: readonly string[]): readonly string[] {
  const isOfScene = ({ action, data }: FoundEntry): boolean =>
    action === "halt.requested" && before.includes(String(data["halt_id"]));
  return entries
    .filter((entry) => !isOfScene(entry))
    .map(({ action }) => action)
    .filter((action) => changes.has(action));
}

interface Granted {
  readonly row: Row;
  readonly caller: TableCaller;
  readonly standing: Standing;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly answer: SurfaceAnswer;
  readonly entries: readonly FoundEntry[];
  readonly haltRequest: Request;
}

function looksGranted(what: string, granted: Granted): void {
  const { row, caller, standing, before, after, answer, entries, haltRequest } = granted;
  const { body } = answer;
  const reported = entries.find(({ eventId }) => eventId === body["audit_id"]);
  expect(reported, `${what}: the audit id is an entry's`).toBeDefined();
  const { action = "", actor = "", data = {} } = reported ?? {};
  if (row.verb === "halt") {
    expect(after, what).toEqual([...before, body["halt_id"]]);
    expect(body, what).toMatchObject({ acknowledged: true });
    expect(["halt.requested", "halt.latched"], what).toContain(action);
    const reason = haltRequest.reason ?? "manual";
    expect({ actor, ...data }, what).toMatchObject({ actor: caller.actor, halt_id: body["halt_id"], reason });
    return;
  }
  if (row.verb === "request-all") {
    expect(after, what).toEqual(before);
    expect([action, actor, data["halt_ids"]], what).toEqual(["resume.requested", caller.actor, before]);
    expect(body["request_id"], what).toBe(data["request_id"]);
    return;
  }
  const own = row.level === "STRATEGY_HALT" ? standing.strategy : standing.fund;
  const lifted = row.verb === "co-sign" ? before : [own];
  expect(body["lifted_halt_ids"], what).toEqual(lifted);
  expect(after, `${what}: a lift of one level lifts no other`).toEqual(before.filter((id) => !lifted.includes(id)));
  const lifts = entries.filter((one) => one.action === "halt.lifted").map((one) => one.data);
  expect(
    lifts.map((lift) => [lift["halt_id"], lift["cosigned_by"]]),
    what,
  ).toEqual(lifted.map((id) => [id, caller.actor]));
}

interface Asked {
  readonly id: string;
  readonly by: TableCaller;
}

/** A request to lift everything that is as old, as signed or as overtaken as the row wants it. */
async function requestIn(fixture: HaltTableFixture, state: Row["request"]): Promise<Asked> {
  if (state === "unknown") return { id: "there-is-no-such-request", by: await fixture.caller("operator") };
  const asked = await askForAll(fixture);
  const ways: Readonly<Record<SignedState, () => Promise<unknown>>> = {
    fresh: async () => undefined,
    expired: () => fixture.expire(asked.id),
    replaced: () => askForAll(fixture),
    signed: async () => {
      const by = await fixture.caller("operator");
      await mustBeGranted(fixture, by, { ...everything, requestId: asked.id, code: await fixture.codeOf(by, "right") });
      await fixture.raise();
    },
    "one more halt since": () => fixture.raise(),
    "one halt less since": async () => {
      const by = await fixture.caller("operator");
      const strategy = { level: "STRATEGY_HALT", target: "alpha-momentum" } as const;
      await mustBeGranted(fixture, by, { ...everything, ...strategy, reason: "fixed" });
    },
  };
  await ways[state]();
  return asked;
}

const everything = { verb: "resume", level: "FIRM_HALT", target: "", word: "RESUME" } as const;

async function askForAll(fixture: HaltTableFixture): Promise<Asked> {
  const by = await fixture.caller("operator");
  const haltRequest: Request = { ...everything, reason: "all clear", code: await fixture.codeOf(by, "right") };
  const { body } = await mustBeGranted(fixture, by, haltRequest);
  return { id: String(body["request_id"]), by };
}

async function mustBeGranted(fixture: HaltTableFixture, by: TableCaller, haltRequest: Request): Promise<SurfaceAnswer> {
  const answer = await fixture.askDirectly(by, haltRequest);
  if (answer.code !== "") throw new Error(`the scene of a row was refused: ${answer.code}: ${answer.sentence}`);
  return answer;
}

async function callerOf(fixture: HaltTableFixture, row: Row, requester: TableCaller | undefined): Promise<TableCaller> {
  const { who } = row;
  if (
    who === "the requester" ||
    who === "the requester in a second session" ||
    who === "somebody of the requester's name"
  ) {
    if (requester === undefined) throw new Error("nobody has asked");
    if (who === "the requester") return requester;
    const isSame = who === "the requester in a second session";
    return fixture.again(requester, isSame ? "in a second session" : "somebody else of that name");
  }
  return fixture.caller(who, row.code === "none set up" ? "none" : "enrolled");
}

async function requestOf(
  fixture: HaltTableFixture,
  row: Row,
  caller: TableCaller,
  standing: Standing,
  requestId: string | undefined,
): Promise<Request> {
  const { verb, level } = row;
  const own = verb === "halt" ? "halt" : row.target === "halted" ? "resume" : row.target;
  const isScoped = verb === "halt" || verb === "resume";
  const code = row.code === undefined ? undefined : await codeFor(fixture, caller, row.code);
  const right = verb === "halt" ? "HALT" : "RESUME";
  const words = { right, missing: undefined, wrong: "YES", "wrong case": right.toLowerCase() };
  const word = words[row.word];
  const inForce = level === "STRATEGY_HALT" ? [standing.strategy] : [standing.fund];
  const shown = isScoped ? inForce : await fixture.inForce();
  return {
    verb,
    level,
    target: isScoped ? targets[own][level] : "",
    ...(row.reason === "given" && { reason: "as the table says" }),
    ...(word !== undefined && { word }),
    ...(code !== undefined && { code }),
    ...(requestId !== undefined && { requestId }),
    ...(row.cosignedBy === "the caller" && { cosignedBy: caller.actor }),
    ...(row.cosignedBy === "another" && { cosignedBy: "operator:somebody-else" }),
    ...(row.haltIds === "those in force" && { haltIds: shown }),
    ...(row.haltIds === "others" && { haltIds: [...shown, "another-one"] }),
  };
}

async function codeFor(fixture: HaltTableFixture, caller: TableCaller, code: Code): Promise<string | undefined> {
  if (code === "missing") return undefined;
  // Whoever may not is turned away whatever the code says, and has none.
  if (code === "none set up" || caller.kind !== "operator") return "123456";
  return fixture.codeOf(caller, code);
}
