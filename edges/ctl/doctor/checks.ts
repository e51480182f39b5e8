// The checks of `ctl doctor`, one function each: a name, a state, what was seen, and what to do about it.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";
import type { Client } from "../../client/src/types.ts";
import type { Halt } from "../../words/halt-words.ts";
import { dataFolders, operatorAddress, readRunFacts, runningPlatform } from "../data-folder.ts";
import { type Failure, failureOf, Refusal } from "../failure.ts";
import { ensureWritable, exposure, profileOnDisk, removeMade } from "../login/profile.ts";
import { fromPortcullis, notPortcullis } from "../reach.ts";
import {
  configFolder,
  hintFor,
  isLoopback,
  profileNamed,
  profilePathOf,
  type Settings,
  tokenVariable,
} from "../settings.ts";
import { moment, span } from "../text/text.ts";
import type { Context } from "../verbs/verb.ts";
import { alarmsCheck } from "./alarms.ts";
import { fundsCheck } from "./funds.ts";
import { notifiedCheck } from "./notified.ts";
import { pricesCheck } from "./prices.ts";
import { putAside } from "./put-aside.ts";
import { tokensCheck } from "./tokens.ts";
import { webhookCheck } from "./webhook.ts";

export interface Check {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly advice?: string;
}

/** No check: a halt is what somebody wanted, and no fault of the platform. */
export type HaltsSeen =
  | { readonly known: true; readonly in_force: number; readonly strictest?: Halt["severity"] }
  | { readonly known: false; readonly detail: string };

/** No check either: each is a condition under which the platform does what it should, and denies. */
export type BlocksSeen =
  | {
      readonly known: true;
      readonly blocks: readonly { readonly code: string; readonly scope: string; readonly id: string }[];
    }
  | { readonly known: false; readonly detail: string };

/** A one-time code is good for one step of 30 s before and after; half of that is where people begin to be refused. */
const clockWarnMs = 5_000;
const clockFailMs = 30_000;
const checkTimeoutMs = 5_000;

export async function allChecks(context: Context): Promise<readonly Check[]> {
  const checks = await everything(context);
  const { value: profileName } = profileNamedOrDefault(context);
  return checks.map(({ advice, ...check }) => ({
    ...check,
    detail: hintFor(check.detail, profileName),
    ...(advice === undefined ? {} : { advice: hintFor(advice, profileName) }),
  }));
}

const strictestFirst = ["FIRM_HALT", "FUND_HALT", "STRATEGY_HALT"] as const;

/** The halts in force, for callers who may read them; undefined for everybody else. */
export async function haltsSeen(context: Context, checks: readonly Check[]): Promise<HaltsSeen | undefined> {
  // A caller who is not logged in, or is and cannot reach the server, has been told so.
  if (!checks.some(({ name, state }) => name === "login" && state === "ok")) return undefined;
  try {
    const { known, halts } = await (await context.client()).getHaltStatus({}, { timeoutMs: checkTimeoutMs });
    if (!known) return { known, detail: "the platform itself cannot read them" };
    const strictest = strictestFirst.find((level) => halts.some(({ severity }) => severity === level));
    return { known, in_force: halts.length, ...(strictest === undefined ? {} : { strictest }) };
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.forbidden || exit === exitCodes.notLoggedIn ? undefined : { known: false, detail };
  }
}

/** Why new risk is denied; undefined for callers who may not read it, and for servers that cannot say. */
export async function blocksSeen(context: Context, checks: readonly Check[]): Promise<BlocksSeen | undefined> {
  if (!checks.some(({ name, state }) => name === "login" && state === "ok")) return undefined;
  try {
    const blocks = await (await context.client()).listBlocks({}, { timeoutMs: checkTimeoutMs });
    return { known: true, blocks: blocks.map(({ code, scope, ...ids }) => ({ code, scope, id: idOf(ids) })) };
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? { known: false, detail } : undefined;
  }
}

function idOf(ids: { readonly fund_id?: string; readonly strategy_id?: string; readonly symbol?: string }): string {
  return ids.symbol ?? ids.strategy_id ?? ids.fund_id ?? "";
}

function profileNamedOrDefault(context: Context): { readonly value: string } {
  try {
    return profileNamed(context.flags, context.environment);
  } catch {
    // The check of the profile file says what is wrong with the name.
    return { value: "default" };
  }
}

async function everything(context: Context): Promise<readonly Check[]> {
  const here = [nodeVersion(), version(context), ...profileChecks(context), dataFolder(context)];
  const settings = settingsOf(context);
  if ("name" in settings) return [...here, settings];
  const reached = await server(context, settings);
  // Everything else would only say once more that nobody answers.
  if (reached.state === "fail") return [...here, reached];
  const away = [
    health(context),
    issuer(context),
    clock(context),
    login(context, settings),
    putAside(context, settings),
    ...(settings.token === undefined && settings.stored === undefined
      ? []
      : [
          fundsCheck(context),
          pricesCheck(context),
          alarmsCheck(context),
          notifiedCheck(context),
          tokensCheck(context),
          webhookCheck(context),
        ]),
  ];
  return [...here, reached, ...(await Promise.all(away)).flat()];
}

function nodeVersion(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  const advice = "Install Node 20.19 or newer.";
  return { name: "node", state: fits ? "ok" : "fail", detail: process.version, ...(fits ? {} : { advice }) };
}

function version(context: Context): Check {
  const from = context.repository === undefined ? ", installed without the platform" : ` from ${context.repository}`;
  return { name: "version", state: "ok", detail: `ctl ${context.version()}${from}` };
}

function profileChecks(context: Context): readonly Check[] {
  try {
    const path = profilePathOf(context.environment, profileNamed(context.flags, context.environment).value);
    return [loginFolder(dirname(path)), profileFile(context, path)];
  } catch (error) {
    const advice = "Choose another --profile.";
    return [{ name: "profile file", state: "fail", detail: messageOf(error), advice }];
  }
}

/** By doing it: what permissions say is not what a file system does. Nothing of it stays. */
function loginFolder(folder: string): Check {
  const name = "login folder";
  try {
    removeMade(ensureWritable(folder));
    return { name, state: "ok", detail: `${folder} can be written` };
  } catch (error) {
    return { name, state: "fail", detail: messageOf(error), ...adviceOf(error) };
  }
}

function profileFile(context: Context, path: string): Check {
  const name = "profile file";
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { name, state: "ok", detail: `none yet at ${path}` };
    const open = exposure(found);
    if (open !== undefined) return { name, state: "fail", detail: `${path} ${open}`, advice: `chmod 600 ${path}` };
    const folder = statSync(configFolder(context.environment));
    if (process.platform !== "win32" && (folder.mode & 0o022) !== 0) {
      const advice = `chmod 700 ${configFolder(context.environment)}`;
      return { name, state: "warn", detail: `others may write in ${configFolder(context.environment)}`, advice };
    }
    const held = profileOnDisk(path);
    if (held instanceof Refusal) throw held;
    return { name, state: "ok", detail: `${path}, for you alone` };
  } catch (error) {
    return { name, state: "fail", detail: messageOf(error), ...adviceOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function adviceOf(error: unknown): { readonly advice?: string } {
  const advice = error instanceof Refusal ? error.hint : undefined;
  return advice === undefined ? {} : { advice };
}

function dataFolder(context: Context): Check {
  const name = "platform here";
  try {
    const running = runningPlatform(context);
    if (running !== undefined) {
      const address = operatorAddress(running) ?? "no operator address yet";
      return { name, state: "ok", detail: `process ${running.pid}, ${address}, data in ${running.data_dir}` };
    }
    const left = dataFolders(context).find((folder) => readRunFacts(folder) !== undefined);
    if (left === undefined) return { name, state: "ok", detail: `none runs from ${dataFolders(context).join(" or ")}` };
    const advice = "`ctl up` starts it again; what it had acknowledged is kept.";
    return {
      name,
      state: "warn",
      detail: `${left} has a run.json whose process is gone: it did not end properly`,
      advice,
    };
  } catch (error) {
    return { name, state: "warn", detail: messageOf(error) };
  }
}

function settingsOf(context: Context): Settings | Check {
  try {
    return context.settings();
  } catch (error) {
    return { name: "settings", state: "fail", detail: messageOf(error), ...adviceOf(error) };
  }
}

async function server(context: Context, { server: { value, from } }: Settings): Promise<Check> {
  const name = "server";
  const detail = `${value} (from ${from})`;
  const answer = await outcome(context, (client) => client.getLoginConfiguration());
  if (answer.failed !== undefined)
    return {
      name,
      state: "fail",
      detail: `${detail}: ${answer.failed.detail}`,
      advice: reachAdvice(context, answer.failed),
    };
  if (!Array.isArray(answer.value.authorization_servers))
    return { name, state: "fail", detail: notPortcullis(value).message, advice: reachAdvice(context) };
  if (value.startsWith("http:") && !isLoopback(value)) {
    const advice = "Put TLS before it and use its https address: a token can be read on the way.";
    return { name, state: "warn", detail: `${detail}, reached without encryption`, advice };
  }
  return { name, state: "ok", detail };
}

function reachAdvice(context: Context, failed?: Failure): string {
  const running = runningPlatform(context);
  const address = running === undefined ? undefined : operatorAddress(running);
  if (address === undefined || address === context.settings().server.value) {
    if (failed?.hint?.startsWith("Use ") === true) return failed.hint;
    return context.repository === undefined
      ? "PORTCULLIS_URL or --server names another."
      : "`ctl up` starts a platform here; PORTCULLIS_URL names another.";
  }
  return `A platform of this folder listens at ${address}: use --server or PORTCULLIS_URL.`;
}

async function health(context: Context): Promise<Check> {
  const [name, well] = ["health", "every part can do its work"];
  const answer = await outcome(context, (client) => client.getHealth());
  if (answer.failed === undefined) {
    const { notes: said = [], insecure } = answer.value;
    const isReached = insecure === true && !said.some((note) => note.includes("clear text"));
    const notes = isReached ? [...said, "it may be reached from other machines without TLS"] : said;
    // What the check of the funds says better.
    if (notes.every((note) => note.includes("There is no fund"))) return { name, state: "ok", detail: well };
    return {
      name,
      state: "warn",
      detail: `${well}, but ${notes.join("; ")}`,
      advice: notes.some((note) => note.includes("http.trusted_proxies"))
        ? "PORTCULLIS_TRUSTED_PROXIES names proxies; docs/configuration.md says how."
        : "`ctl oms orders list --open` shows the orders; docs/orders.md says what becomes of them.",
    };
  }
  return {
    name,
    state: "fail",
    detail: answer.failed.detail,
    advice: "Its log says more; docs/operations.md says where the log is.",
  };
}

/** Logging in and renewing go there, from this machine. */
async function issuer(context: Context): Promise<Check> {
  const name = "issuer";
  const answer = await outcome(context, (client) => client.getLoginConfiguration());
  const [address] = answer.failed === undefined ? (answer.value.authorization_servers ?? []) : [];
  if (answer.failed !== undefined || address === undefined) {
    const advice = "The server's log and its identity.issuer say why; docs/identity.md explains them.";
    return { name, state: "fail", detail: "the server does not say where to log in", advice };
  }
  try {
    const { client_id, audience } = answer.value;
    const { hasDeviceFlow } = await (await import("../login/issuer.ts")).lookAt(
      { issuer: address, client_id, audience },
      checkTimeoutMs,
    );
    if (hasDeviceFlow) return { name, state: "ok", detail: `${address} answers` };
    const advice =
      "Switch the device flow on there for this client, or set PORTCULLIS_TOKEN to a token from elsewhere.";
    return { name, state: "warn", detail: `${address} answers, but has no device flow: ctl cannot log in`, advice };
  } catch (error) {
    const advice = "Logging in and renewing need it: see that it runs, and that this machine reaches its address.";
    return { name, state: "fail", detail: (await failureOf(error)).detail, advice };
  }
}

async function clock(context: Context): Promise<Check> {
  const name = "clock";
  const askedAt = context.clock.now();
  const answer = await outcome(context, (client) => client.getLoginConfiguration());
  const answeredAt = context.clock.now();
  const theirs = answer.failed === undefined ? tryParse(answer.value.time) : undefined;
  if (theirs === undefined) return { name, state: "warn", detail: "the server did not tell its time" };
  // Its clock was read somewhere between the question and the answer.
  const tripMs = millisecondsBetween(askedAt, answeredAt);
  const differenceMs = Math.abs(millisecondsBetween(askedAt, theirs) - tripMs / 2);
  const state = differenceMs >= clockFailMs ? "fail" : differenceMs >= clockWarnMs ? "warn" : "ok";
  const advice = "Let both machines follow a time server: one-time codes and logins depend on it.";
  return {
    name,
    state,
    detail: `${span(differenceMs)} apart from the server's`,
    ...(state === "ok" ? {} : { advice }),
  };
}

async function login(context: Context, settings: Settings): Promise<readonly Check[]> {
  const name = "login";
  const from = settings.token === undefined ? `profile ${settings.profile.value}` : tokenVariable;
  if (settings.token === undefined && settings.stored === undefined) {
    return [
      {
        name,
        state: "warn",
        detail: `nobody is logged in (${from})`,
        advice: "`ctl auth login`, or `ctl auth login --dev duty` here.",
      },
    ];
  }
  try {
    const identity = await (await context.client()).getIdentity({}, { timeoutMs: checkTimeoutMs });
    const now = context.clock.now();
    const seen: Check = {
      name,
      state: "ok",
      detail: `${identity.actor}${ofFunds(identity.kind, identity.funds)} (${from}), until ${moment(identity.expires_at, now)}`,
    };
    return [seen, ...(identity.second_factor === null ? [] : [factor(identity.second_factor, now)])];
  } catch (error) {
    const { detail, hint } = await failureOf(error);
    return [{ name, state: "fail", detail: `${from}: ${detail}`, ...(hint === undefined ? {} : { advice: hint }) }];
  }
}

function ofFunds(kind: "operator" | "service", funds: readonly string[] | undefined): string {
  if (kind === "operator") return "";
  return `, a machine of ${funds === undefined ? "every fund" : funds.join(", ")}`;
}

type Factor = NonNullable<Awaited<ReturnType<Client["getIdentity"]>>["second_factor"]>;

function factor(seen: Factor, now: Parameters<typeof moment>[1]): Check {
  const name = "second factor";
  if (seen.enrolled_at === null) return { name, state: "warn", detail: "not set up", advice: "`ctl auth enrol-totp`" };
  if (seen.locked_until !== null && !moment(seen.locked_until, now).endsWith("ago)")) {
    return {
      name,
      state: "warn",
      detail: `locked until ${moment(seen.locked_until, now)}`,
      advice: "Wait; then use the right code.",
    };
  }
  // Codes are a convenience: whoever has none, as development operators do, is as safe as anybody.
  const more = seen.recovery_codes_left < 2 ? "; `ctl auth enrol-totp --totp CODE` gives a set" : "";
  return { name, state: "ok", detail: `set up, ${seen.recovery_codes_left} recovery codes left${more}` };
}

type Outcome<Value> = { readonly value: Value; readonly failed: undefined } | { readonly failed: Failure };

/** Asked as nobody: these answers are for anyone. */
async function outcome<Value>(context: Context, ask: (client: Client) => Promise<Value>): Promise<Outcome<Value>> {
  try {
    const client = await context.clientWith(undefined, checkTimeoutMs);
    return { value: await fromPortcullis(context.settings().server.value, () => ask(client)), failed: undefined };
  } catch (error) {
    return { failed: await failureOf(error) };
  }
}
